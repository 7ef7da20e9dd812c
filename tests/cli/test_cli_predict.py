import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from askless import DynamicClassifier, load
from askless.cli import main
from tests.cli.cli_helpers import FEATURES, messy_frame, refused


def predicted(path):
    return pd.read_csv(path, keep_default_na=False)


def test_one_row_a_case(run, table, model, tmp_path):
    output = tmp_path / "out.csv"
    result = run("predict", model, table, "-o", output, "--keep", "grade")
    assert (result.code, result.out) == (0, "")
    found = predicted(output)
    names = ["grade", "prediction", "p(no)", "p(yes)", "features asked", "number asked", "cost", "stop reason"]
    assert list(found.columns) == names
    estimator, frame = load(model), messy_frame()
    trajectory = estimator.rollout(frame[FEATURES])
    np.testing.assert_allclose(found[["p(no)", "p(yes)"]], trajectory.predictions[:, -1], rtol=1e-5)
    assert found["prediction"].tolist() == estimator.predict(frame[FEATURES]).tolist()
    assert found["features asked"].tolist() == ["; ".join(trajectory.names(i)) for i in range(len(frame))]
    assert found["number asked"].tolist() == trajectory.n_asked.tolist()
    assert found["cost"].tolist() == trajectory.cost[:, -1].tolist()
    assert found["stop reason"].tolist() == trajectory.stop_reason.tolist()
    assert found["grade"].astype(str).tolist() == frame["grade"].tolist()  # 01 is still 01


def test_unseen_values_are_counted(run, table, model, tmp_path):
    """Unknown words, and numbers far outside; for a table like the training's there is no note."""
    assert run("predict", model, table, "-o", tmp_path / "out.csv").notes == {}
    odd = messy_frame()
    odd.loc[:4, "age"] = 4711
    odd["grade"] = "new"
    odd.to_csv(tmp_path / "odd.csv", index=False)
    notes = run("predict", model, tmp_path / "odd.csv", "-o", tmp_path / "out.csv", "--chunk-rows", 50).notes
    (outside,) = notes["outside_training_range"]
    assert outside.startswith(f"age: 5 of {odd['age'].count()} values are outside of the training range, ")
    assert outside.endswith("such as 4711")
    assert notes["unseen_categories"] == [
        "grade: 160 of 160 values are not in the training data, such as 'new', and count as unknown"
    ]
    assert notes == run("evaluate", model, tmp_path / "odd.csv").notes


def test_words_in_other_capitals_are_read_as_the_choice_with_a_note(run, table, model, tmp_path):
    frame = messy_frame()
    frame["colour"] = frame["colour"].str.upper()
    frame.to_csv(tmp_path / "loud.csv", index=False)
    run("predict", model, table, "-o", tmp_path / "quiet.csv")
    result = run("predict", model, tmp_path / "loud.csv", "-o", tmp_path / "loud_out.csv")
    (note,) = result.notes["other_capitals"]
    named = frame["colour"].count()
    assert note.startswith(f"colour: {named} of {named} values are in other capitals than in training, such as '")
    first = frame["colour"].value_counts().index[0]
    assert note.endswith(f"such as {first!r} for {first.lower() if first != 'NONE' else 'None'!r}")
    assert predicted(tmp_path / "loud_out.csv").equals(predicted(tmp_path / "quiet.csv"))


def test_columns_that_go_by_position_are_not_added_to(run, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    DynamicClassifier(2, method="fixed_order").fit(X, X[:, 0] > 0).save(tmp_path / "m.askless")
    pd.DataFrame(X, columns=["u", "v", "w"]).to_csv(tmp_path / "t.csv", index=False)
    result = run(
        "predict", tmp_path / "m.askless", tmp_path / "t.csv", "--unavailable", "x2", "-o", tmp_path / "o.csv"
    )
    assert result.code == 0, result.err


def test_what_is_kept_is_as_it_was_written(run, table, model, tmp_path):
    frame = pd.read_csv(table, dtype=str, keep_default_na=False)
    country = ["NA", "?", "null", "", " DE", "007"] * (len(frame) // 6) + ["AT"] * (len(frame) % 6)
    frame.assign(country=country).to_csv(tmp_path / "t.csv", index=False)
    words = ["predict", model, tmp_path / "t.csv", "-o", tmp_path / "o.csv", "--keep", "country", "colour"]
    assert run(*words).code == 0
    found = pd.read_csv(tmp_path / "o.csv", dtype=str, keep_default_na=False)
    assert found["country"].tolist() == [cell.lstrip() for cell in country]
    assert found["colour"].tolist() == frame["colour"].tolist()
    assert run("predict", model, table, "-o", tmp_path / "p.csv").code == 0
    assert found["prediction"].tolist() == predicted(tmp_path / "p.csv")["prediction"].tolist()


def test_one_style_of_decimals_in_what_is_written(run, model, tmp_path):
    """Numbers that are kept have points, as predictions do; words and lists of choices stay as they are."""
    frame = messy_frame(30).assign(income="1200,50", answers=["1,2", "1,2,3"] * 15, id=["007", "NA", "8"] * 10)
    frame.to_csv(tmp_path / "t.csv", index=False, sep=";", decimal=",")
    keep = ["--keep", "income", "answers", "id", "low"]
    for rows in (1, 1000):
        words = ["predict", model, tmp_path / "t.csv", "-o", tmp_path / "o.csv", *keep, "--chunk-rows", rows]
        result = run(*words)
        assert result.code == 0, result.err
        found = pd.read_csv(tmp_path / "o.csv", dtype=str, keep_default_na=False)
        assert found["income"].tolist() == ["1200.50"] * 30
        assert found["answers"].tolist() == ["1,2", "1,2,3"] * 15
        assert found["id"].tolist() == ["007", "NA", "8"] * 10
        assert found["low"].tolist() == [str(each) for each in frame["low"]]


def test_whole_numbers_stay_whole_beside_missing_ones(run, model, tmp_path):
    """In a Parquet file; also where they have more digits than a fraction holds, and whatever the chunks."""
    ids = [2**53 + 1 + 2 * i for i in range(160)]
    ids[150] = None
    frame = messy_frame().assign(id=pd.array(ids, dtype="Int64"))
    frame.to_parquet(tmp_path / "t.parquet")
    for rows in (100, 1000):
        words = ["predict", model, tmp_path / "t.parquet", "-o", tmp_path / "o.csv", "--keep", "id"]
        result = run(*words, "--chunk-rows", rows)
        assert result.code == 0, result.err
        found = pd.read_csv(tmp_path / "o.csv", dtype=str, keep_default_na=False)["id"].tolist()
        assert found == ["" if each is None else str(each) for each in ids]


def test_columns_of_unavailable_features_are_not_needed(run, table, model, tmp_path):
    lacking = tmp_path / "lacking.csv"
    pd.read_csv(table, dtype=str, keep_default_na=False).drop(columns=["high", "low"]).to_csv(lacking, index=False)
    message = refused("missing_column", "predict", model, lacking, column="high", columns=["high", "low"])
    assert "--unavailable pressure" in message
    result = run("predict", model, lacking, "-o", tmp_path / "out.csv", "--unavailable", "pressure")
    assert result.code == 0, result.err
    assert not predicted(tmp_path / "out.csv")["features asked"].str.contains("pressure").any()
    assert run("evaluate", model, lacking, "--unavailable", "pressure").code == 0


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_chunks_do_not_matter(run, table, model, tmp_path, rows):
    run("predict", model, table, "-o", tmp_path / "whole.csv")
    run("predict", model, table, "-o", tmp_path / "pieces.csv", "--chunk-rows", rows)
    whole, pieces = predicted(tmp_path / "whole.csv"), predicted(tmp_path / "pieces.csv")
    pd.testing.assert_frame_equal(whole, pieces, rtol=1e-5)


def test_a_kept_column_must_not_have_the_name_of_an_output(table, model):
    frame = pd.read_csv(table).assign(cost=1)
    frame.to_csv(table, index=False)
    refused("duplicate_name", "predict", model, table, "--keep", "cost", option="--keep", name="cost")


def test_standard_output_and_a_smaller_budget(table, model, capfdbinary):
    assert main(["predict", str(model), str(table), "--budget", "1"]) == 0
    printed = capfdbinary.readouterr()
    found = pd.read_csv(io.BytesIO(printed.out))
    assert len(found) == 160
    assert (found["number asked"] == 1).all()
    assert printed.err == b""


def test_columns_in_another_order_and_strange_chunks(run, model, tmp_path):
    frame = messy_frame(6).astype(object)
    frame["smokes"] = ["yes", "no", "1", "0", "TRUE", ""]
    frame["grade"] = ["01", "2", "2", "", "9", "3+"]  # digits only, missing and never seen, in chunks of their own
    frame["age"] = ["51", " 60.0", "NA", "", "7e1", "33"]
    shuffled = frame[frame.columns[::-1]].assign(extra="x")
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    frame.to_csv(one, index=False)
    shuffled.to_csv(two, index=False)
    assert run("predict", model, one, "-o", tmp_path / "a.csv").code == 0
    assert run("predict", model, two, "-o", tmp_path / "b.csv", "--chunk-rows", 1).code == 0
    pd.testing.assert_frame_equal(predicted(tmp_path / "a.csv"), predicted(tmp_path / "b.csv"), rtol=1e-5)


def test_parquet_in_and_out(run, table, model, tmp_path):
    pytest.importorskip("pyarrow")
    frame = messy_frame()
    frame = frame.assign(age=frame["age"].astype(float), high=frame["high"].astype(float))
    frame.to_parquet(tmp_path / "data.parquet")
    run("predict", model, table, "-o", tmp_path / "out.csv")
    run("predict", model, tmp_path / "data.parquet", "-o", tmp_path / "out.parquet", "--chunk-rows", 50)
    found = pd.read_parquet(tmp_path / "out.parquet")
    pd.testing.assert_frame_equal(found, predicted(tmp_path / "out.csv"), check_dtype=False, rtol=1e-5)


def test_other_outputs(run, table, regressor, tmp_path):
    for name in ("out.csv", "out.csv.gz", "out.tsv"):
        run("predict", regressor, table, "-o", tmp_path / name, "--chunk-rows", 60)
    whole = predicted(tmp_path / "out.csv")
    assert list(whole.columns) == ["prediction", "sd", "features asked", "number asked", "cost", "stop reason"]
    np.testing.assert_allclose(whole["sd"], load(regressor).rollout(pd.read_csv(table)).sd, rtol=1e-5)
    pd.testing.assert_frame_equal(whole, predicted(tmp_path / "out.csv.gz"))
    pd.testing.assert_frame_equal(whole, pd.read_csv(tmp_path / "out.tsv", sep="\t"))


def test_a_failure_leaves_the_old_file(run, model, tmp_path):
    path, output = tmp_path / "bad.csv", tmp_path / "out.csv"
    messy_frame(30).astype(object).assign(low=[*["80"] * 29, "x"]).to_csv(path, index=False)
    output.write_text("old")
    assert run("predict", model, path, "-o", output, "--chunk-rows", 10).code == 2
    assert output.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.csv", "out.csv"]
    refused("wrong_file", "predict", model, path, "-o", tmp_path / "out.xlsx")


def test_prediction_and_interviews_load_neither_torch_nor_scikit_learn(table, model, tmp_path):
    code = (
        "import sys, json, os\nfrom askless.cli import main\n"
        f"assert main(['predict', {str(model)!r}, {str(table)!r}, '-o', {str(tmp_path / 'o.csv')!r}]) == 0\n"
        "sys.stdin = open(os.devnull)\n"
        f"assert main(['ask', {str(model)!r}]) == 0\n"
        "print(json.dumps([name for name in ('torch', 'sklearn', 'matplotlib') if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == []
