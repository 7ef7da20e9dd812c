import json
import subprocess
import sys

import pytest

from askless import DynamicClassifier, load
from askless.methods import FixedOrder
from tests.cli.cli_helpers import FEATURES, messy_frame, refused


@pytest.mark.usefixtures("no_pyplot")
def test_a_table_of_scores_a_picture_and_numbers(run, table, model, tmp_path):
    picture, numbers = tmp_path / "curve.png", tmp_path / "curve.json"
    result = run("evaluate", model, table, "--target", "ill", "--plot", picture, "--json", numbers)
    assert result.code == 0, result.err
    assert "on 160 rows of" in result.out
    assert "95% interval" in result.out
    assert picture.read_bytes().startswith(b"\x89PNG")
    told = json.loads(numbers.read_text())
    assert (told["metric"], told["rows"]) == ("auroc", 160)
    frame = messy_frame()
    expected = load(model).curve(frame[FEATURES], frame["ill"])
    assert [row["budget"] for row in told["curve"]] == [0, 1, 2, 3]
    assert [row["score"] for row in told["curve"]] == pytest.approx(expected["score"].tolist())
    assert all(row["low"] <= row["score"] <= row["high"] for row in told["curve"])


def test_another_metric_and_a_smaller_budget(run, table, model, regressor):
    result = run("evaluate", model, table, "--target", "ill", "--metric", "accuracy", "--budget", 1)
    assert "accuracy" in result.out
    assert result.out.count(" to ") == 2  # the intervals of 0 and 1
    result = run("evaluate", regressor, table, "--target", "score", "--metric", "mae")
    assert "MAE" in result.out
    assert "R²" not in result.out
    assert "RMSE" in result.out


def test_labels_of_another_type_are_the_same_labels(run, tmp_path):
    from askless import DynamicClassifier
    from askless.methods import Greedy

    frame = messy_frame()[["age", "low"]].assign(y=messy_frame()["ill"].eq("yes").astype(int))
    model = tmp_path / "m.askless"
    quick = Greedy(epochs=1, pretrain_epochs=1, hidden=(4,))
    DynamicClassifier(1, quick).fit(frame[["age", "low"]], frame["y"]).save(model)
    path = tmp_path / "t.csv"
    frame.assign(y=frame["y"].astype(float)).to_csv(path, index=False)
    assert run("evaluate", model, path, "--target", "y").code == 0


def test_rows_of_one_class_have_an_accuracy(run, model, tmp_path):
    frame = messy_frame()
    frame[frame["ill"] == "yes"].to_csv(tmp_path / "one.csv", index=False)
    words = ["evaluate", model, tmp_path / "one.csv", "--target", "ill"]
    assert run(*words, "--metric", "accuracy").code == 0
    assert "AUROC is undefined" in run(*words).complaint


@pytest.mark.parametrize(
    ("absent", "words", "notes"),
    [
        (["c"], [], {"absent_class": ["no row has the class 'c'; AUROC is the mean over the other classes"]}),
        (
            ["b", "c"],
            ["--metric", "accuracy"],
            {"absent_class": ["no row has the classes 'b', 'c'; AUROC is the mean over the other classes"]},
        ),
        (["c"], ["--metric", "brier"], {}),
        ([], [], {}),
    ],
)
def test_absent_classes_are_a_note(run, tmp_path, absent, words, notes):
    frame = messy_frame()[["age", "low"]].assign(y=["a", "b", "c", "d"] * 40)
    method = FixedOrder(order=("age",), hidden=(4,), epochs=1)
    DynamicClassifier(1, method, verbose=False).fit(frame[["age", "low"]], frame["y"]).save(tmp_path / "m.askless")
    frame[~frame["y"].isin(absent)].to_csv(tmp_path / "t.csv", index=False)
    result = run("evaluate", tmp_path / "m.askless", tmp_path / "t.csv", "--target", "y", *words)
    assert result.code == 0, result.err
    assert result.notes == notes


def test_a_feature_is_no_target(table, model):
    refused("conflicting_settings", "evaluate", model, table, "--target", "age", option="--target", column="age")


@pytest.fixture(scope="module")
def orders(tmp_path_factory):
    """Models that ask everyone for age, which costs 1, and then for low: with a price for `high`, and without."""
    from askless import DynamicClassifier
    from askless.methods import FixedOrder

    folder, frame = tmp_path_factory.mktemp("orders"), messy_frame()
    frame = frame[frame["age"].notna()]
    for name, costs in (("priced", {"high": 4.0}), ("plain", None)):
        method = FixedOrder(order=["age", "low"], epochs=1, hidden=(4,))
        model = DynamicClassifier(2, method, costs=costs).fit(frame[["age", "low", "high"]], frame["ill"])
        model.save(folder / f"{name}.askless")
    frame.to_csv(folder / "t.csv", index=False)
    (folder / "costs.json").write_text('{"high": 7}')
    return folder


@pytest.mark.parametrize(
    ("name", "words", "money"),
    [
        ("priced", [], True),
        ("plain", [], False),
        ("plain", ["--stop", "max_features=1"], False),
        ("plain", ["--max-cost", 5], True),
        ("plain", ["--costs", "costs.json"], True),
        ("plain", ["--stop", '{"and": [{"max_cost": 1}, {"confidence": 0.5}]}'], True),
    ],
)
def test_money_is_told_though_all_that_was_asked_costs_1(run, orders, name, words, money):
    words = [orders / word if word == "costs.json" else word for word in words]
    result = run("evaluate", orders / f"{name}.askless", orders / "t.csv", "--target", "ill", *words)
    assert result.code == 0, result.err
    assert ("mean cost" in result.out, "money spent" in result.out) == (money, money)


def test_files_are_written_though_nobody_reads_on(table, model, tmp_path):
    numbers = tmp_path / "n.json"
    words = ["evaluate", model, table, "--target", "ill", "--json", numbers]
    command = [sys.executable, "-m", "askless", *map(str, words)]
    reader = subprocess.Popen(["true"], stdin=subprocess.PIPE)
    reader.wait()
    subprocess.run(command, stdout=reader.stdin, timeout=120, check=False)
    reader.stdin.close()
    assert json.loads(numbers.read_text())["rows"] == 160


@pytest.mark.parametrize("option", ["--json", "--plot"])
def test_an_output_is_none_of_the_inputs(table, model, option):
    before = {path: path.read_bytes() for path in (table, model)}
    for path in before:
        refused("conflicting_settings", "evaluate", model, table, "--target", "ill", option, path, option=option)
        assert path.read_bytes() == before[path]
