import json
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from safetensors import safe_open

from askless import load
from askless.acquisition import Trajectory
from askless.cli.parser import UsageError
from askless.cli.remarks import remarks
from askless.cli.scores import Scores, leaking_features
from askless.cli.settings import configured_method
from askless.cli.tables import ParquetFile
from askless.cli.target import choose_task
from askless.metrics import accuracy, auroc
from tests.cli.cli_helpers import COSTS, GROUPS, QUICK, QUICKEST, messy_frame, refused


@pytest.fixture
def options(tmp_path):
    (tmp_path / "groups.json").write_text(json.dumps(GROUPS))
    (tmp_path / "costs.json").write_text(json.dumps(COSTS))
    return ["--groups", tmp_path / "groups.json", "--costs", tmp_path / "costs.json", "--category", "grade"]


def test_fit_a_messy_table(run, table, tmp_path, options):
    output = tmp_path / "m.askless"
    result = run("fit", table, "--target", "ill", "--drop", "score", *options, "--budget", 2, *QUICK, "-o", output)
    assert result.code == 0, result.err
    assert "ill: classification, because it holds text (2 different values)" in result.out
    assert "Scores on 32 test rows" in result.out
    assert "AUROC" in result.out
    assert "without the test rows" in result.out
    assert "asked most" in result.out
    assert not (tmp_path / "m.askless.part").exists()
    model = load(output)
    assert model.schema_.names == ("age", "colour", "smokes", "grade", "pressure")
    assert model.max_features == 2
    kinds = {feature.name: feature.kind for feature in model.schema_.features}
    assert kinds == {
        "age": "number",
        "colour": "category",
        "smokes": "boolean",
        "grade": "category",
        "pressure": "group",
    }
    assert model.schema_.features[1].choices == ("None", "green", "red")
    assert model.schema_.features[3].choices == ("01", "2", "3+")
    assert model.schema_.prices.tolist() == [2, 1, 1, 1, 5]


def test_device_and_threads_go_to_the_estimator(run, table, tmp_path, options, monkeypatch):
    seen = []

    def fit(estimator, *given, **options):
        seen.append((estimator.device, estimator.n_threads))
        raise UsageError("usage", "enough")

    monkeypatch.setattr("askless.cli.fit.fit_or_resume", fit)
    for words in ((), ("--device", "auto", "--threads", 3)):
        run("fit", table, "--target", "ill", "--drop", "score", *options, *words, "-o", tmp_path / "m.askless")
    assert seen == [("cpu", 1), ("auto", 3)]


def test_money_is_shown_though_all_that_was_asked_costs_1(run, table, tmp_path):
    (tmp_path / "costs.json").write_text('{"high": 4}')
    words = ["fit", table, "--target", "ill", "--drop", "score", "colour", "grade", "smokes", "--budget", 1]
    words += ["--method", "fixed_order", "--set", 'order=["age","low"]', "epochs=1", "hidden=[4]"]
    result = run(*words, "--costs", tmp_path / "costs.json", "-o", tmp_path / "m.askless")
    assert result.code == 0, result.err
    assert "mean cost" in result.out
    assert "money spent" in result.out
    result = run(*words, "-o", tmp_path / "plain.askless")
    assert "mean cost" not in result.out
    assert "money spent" not in result.out


def test_regression_is_chosen_for_numbers(run, table, tmp_path):
    words = ["--target", "score", "--drop", "ill", "grade", "--budget", 1, *QUICK]
    result = run("fit", table, *words, "-o", tmp_path / "m.askless")
    assert "score: regression, because it holds numbers with decimals" in result.out
    assert "R²" in result.out
    assert load(tmp_path / "m.askless").model_.task == "regression"


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["a", "b"], "classification"),
        ([True, False], "classification"),
        (list(range(20)), "classification"),
        (list(range(21)), "regression"),
        ([0.5, 1.0], "regression"),
    ],
)
def test_the_task_follows_from_the_target(values, task):
    assert choose_task(pd.Series(values))[0] == task


def test_rows_without_a_target_can_be_left_out(run, tmp_path):
    frame = messy_frame().assign(label=lambda f: (f["ill"] == "yes").astype(int).astype(object))
    frame.loc[[3, 9], "label"] = None
    path = tmp_path / "holes.csv"
    frame[["age", "low", "label"]].to_csv(path, index=False)
    words = [
        "fit",
        path,
        "--target",
        "label",
        "--budget",
        1,
        "--test-fraction",
        0,
        *QUICK,
        "-o",
        tmp_path / "m.askless",
    ]
    refused("bad_label", *words, path=str(path), column="label", row=3, rows=2)
    result = run(*words, "--drop-missing-target")
    assert "its 2 values are integers (2 rows without a target left out)" in result.out
    assert "trained on 158 rows" in result.out
    assert "AUROC" not in result.out  # no test rows, no score
    assert load(tmp_path / "m.askless").classes_.tolist() == [0, 1]


def test_a_validation_table_and_other_options(run, table, tmp_path):
    other = tmp_path / "valid.csv"
    messy_frame(60, seed=5).to_csv(other, index=False)
    words = [
        "fit",
        table,
        "--target",
        "ill",
        "--drop",
        "score",
        "grade",
        "--validation",
        other,
        "--missing",
        "answer",
    ]
    result = run(*words, "--method", "random", "--set", "epochs=1", "--seed", 4, "-o", tmp_path / "m.askless")
    assert result.code == 0, result.err
    model = load(tmp_path / "m.askless")
    assert (model.missing, model.random_state, model.method.epochs) == ("answer", 4, 1)


def test_a_test_share_that_cannot_be_scored_does_not_spoil_the_fit(run, tmp_path):
    path = tmp_path / "small.csv"
    pd.DataFrame({"x": range(8), "y": [0] * 7 + [1]}).to_csv(path, index=False)  # the only 1 stays in training
    result = run("fit", path, "--target", "y", *QUICK, "-o", tmp_path / "m.askless")
    assert result.code == 0, result.err
    assert "no score: AUROC is undefined" in result.out
    assert load(tmp_path / "m.askless").classes_.tolist() == [0, 1]


def test_an_empty_column_is_a_note(run, tmp_path):
    path = tmp_path / "t.csv"
    messy_frame()[["age", "ill"]].assign(nothing=None).to_csv(path, index=False)
    result = run("fit", path, "--target", "ill", *QUICK, "-o", tmp_path / "m.askless")
    assert result.code == 0
    assert "'nothing'" in result.err
    assert "160 rows, 1 column to ask for" in result.out


def test_columns_that_are_copies_are_a_note(run, tmp_path):
    frame = pd.DataFrame({"a": [1.5, 2.5, None, 4.0] * 30, "y": ["no", "yes"] * 60})
    frame = frame.assign(b=frame["a"], word=["x", "z"] * 60, same=1, again=1).assign(**{"a word": ["x", "z"] * 60})
    found = remarks(frame[["a"]].assign(b=frame["a"].fillna(0.0)), frame["y"])
    assert "duplicate_column" not in coded(found)
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = ["fit", tmp_path / "t.csv", "--target", "y", "-o", tmp_path / "m.askless", *QUICKEST]
    notes = run(*words).notes["duplicate_column"]
    assert "b is a copy of a; to ask only one of them, add --drop b" in notes
    assert any("a word is a copy of word" in note and "--drop 'a word'" in note for note in notes)
    (tmp_path / "groups.json").write_text(json.dumps({"both": ["a", "b"]}))
    notes = run(*words, "--force", "--groups", tmp_path / "groups.json").notes["duplicate_column"]
    assert not any("copy of a;" in note for note in notes)  # they are one question


def coded(found):
    """The messages of notes by code."""
    return dict(found)


def test_rows_that_are_copies_and_numbers_of_rows_are_notes():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(100, 3)), columns=list("abc"))
    y = pd.Series(rng.integers(0, 2, 100), name="y")
    assert list(remarks(frame, y)) == []
    twice = pd.concat([frame, frame[:60]], ignore_index=True)
    found = coded(remarks(twice, pd.concat([y, y[:60]], ignore_index=True)))
    assert list(found) == ["duplicate_rows"]
    assert found["duplicate_rows"].startswith("60 rows of 160 are copies")
    found = coded(remarks(twice.assign(id=np.arange(160)[::-1] + 7), pd.concat([y, y[:60]], ignore_index=True)))
    assert list(found) == ["row_numbers"]
    assert found["row_numbers"].endswith("add --drop id")
    wide = pd.DataFrame(rng.random((1000, 30)) < 0.05)  # few are ill, and of little: chance repeats rows
    assert wide.duplicated().sum() > 300
    assert list(remarks(wide.set_axis([f"x{i}" for i in range(30)], axis=1), pd.Series(y.to_list() * 10))) == []
    few = pd.DataFrame({"sex": ["m", "f"] * 100, "smokes": ["no", "no", "yes", "no"] * 50})
    assert list(remarks(few, pd.Series([0, 1] * 100, name="y"))) == []  # rows must repeat


def test_codes_of_a_parquet_file_stay_text(run, tmp_path):
    frame = messy_frame()
    frame[["age", "low"]].assign(age=frame["age"].astype(float), kind=["01", "02"] * 80).to_parquet(
        tmp_path / "t.parquet"
    )
    done = run("fit", tmp_path / "t.parquet", "--target", "kind", *QUICK, "-o", tmp_path / "m.askless")
    assert done.code == 0, done.err
    assert load(tmp_path / "m.askless").classes_.tolist() == ["01", "02"]
    assert run("evaluate", tmp_path / "m.askless", tmp_path / "t.parquet").code == 0


def test_a_target_in_disguise_is_a_note(run, tmp_path):
    frame = messy_frame()
    codes = {label: 10 + i for i, label in enumerate(frame["ill"].unique())}
    frame = frame.assign(status=frame["ill"].map(codes))[["status", "age", "ill"]]
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = ["fit", tmp_path / "t.csv", "--target", "ill", *QUICK, "-o", tmp_path / "m.askless", "--force"]
    leak = "status alone predicts the target; if it is known only afterwards (a leak), add --drop status"
    assert leak in run(*words).notes["target_leak"]
    done = run(*words, "--drop", "status")
    assert done.code == 0, done.err
    assert "target_leak" not in done.notes


def test_two_first_questions_that_leak_are_named_together():
    names = ("age", "ward", "crp")
    first = np.repeat([2, 1], [25, 15])[:, None]
    asked = Trajectory(first, np.zeros((40, 2, 2)), np.zeros((40, 2)), np.array(["done"] * 40), names, ("a", "b"))
    frame = pd.DataFrame({"budget": [0, 1], "score": [0.5, 1.0]})
    assert leaking_features(asked, Scores(auroc, accuracy, frame, 40)) == ["crp", "ward"]
    assert leaking_features(asked, Scores(auroc, accuracy, frame.assign(score=0.9), 40)) == []
    assert leaking_features(asked, Scores(auroc, accuracy, frame, 20)) == []  # may be chance


def test_suspicious_columns_are_notes(run, tmp_path):
    frame = pd.DataFrame(
        {
            "clinic": ["North"] * 120,
            "crp": [3.5, 80.0, -999.0, 12.0] * 30,
            "age": [5, 99, 41, 62] * 30,  # 99 is an age
            "flag": [0.0, 1.0] * 60,
            "once": [1.0] * 60 + [2.0] * 59 + [-999.0],
        }
    )
    y = pd.Series(["home", "ward", "Home ", "ward"] * 30, name="outcome")
    found = coded(remarks(frame, y))
    assert list(found) == ["constant_column", "missing_code"]
    assert "North" in found["constant_column"]
    assert found["constant_column"].endswith("--drop clinic")
    assert found["missing_code"].startswith("crp is -999 in 30 rows")
    assert found["missing_code"].endswith("--na -999")
    frame.assign(outcome=y.str.strip()).to_csv(tmp_path / "t.csv", index=False)
    words = ["--target", "outcome", "-o", tmp_path / "m.askless", *QUICKEST]
    done = run("fit", tmp_path / "t.csv", *words)
    assert all(message in done.notes[code] for code, message in found.items())
    assert "'Home', 'home'" in done.err


@pytest.mark.parametrize("good", [[0, 1], [1.5, 2.25]])
def test_a_code_in_the_target_is_a_note(good):
    y = pd.Series([*good, -999] * 20, name="died")
    found = coded(remarks(pd.DataFrame({"age": range(3, 183, 3)}), y))
    assert list(found) == ["missing_code"]
    assert "the target died is -999 in 20 rows" in found["missing_code"]
    assert "--na -999 --drop-missing-target" in found["missing_code"]


def test_a_line_of_totals_is_a_note(run, tmp_path):
    rng = np.random.default_rng(0)
    lines = [
        f"{a:.2f};{b:.2f};{s};{a + b:.2f}" for a, b, s in zip(*rng.normal(9, 1, (2, 80)), "mf" * 40, strict=True)
    ]
    lines[4] = lines[4].rpartition(";")[0] + ";"
    text = "\n".join(["a;b;sex;y", *lines]).replace(".", ",")
    words = ["--target", "y", "-o", tmp_path / "m.askless", "--force", *QUICKEST]
    words += ["--drop-missing-target"]
    for last in (";;;1432,5", ";;Summe;1432,5"):
        (tmp_path / "t.csv").write_text(f"{text}\n{last}\n")
        done = run("fit", tmp_path / "t.csv", *words)
        assert done.code == 0, done.err
        (note,) = done.notes["target_only_rows"]
        assert note.startswith("row 80 (0-based) has a target but no other value")
        assert "y is 1432.5 in row 80" in note
    for last in (";;m;18", "9;;Summe;1432,5"):  # a case of which little is known, and one like others
        (tmp_path / "t.csv").write_text(f"{text}\n{last}\n")
        assert "target_only_rows" not in run("fit", tmp_path / "t.csv", *words).notes


def test_rows_without_values_are_a_note_with_targets_of_any_kind():
    frame = pd.DataFrame({"a": [1.5, None, 2.5, None, 4.0] * 4, "b": [None, None, "x", None, "y"] * 4})
    y = pd.Series([1.0, 2.0, 3.0, 4.0, 5.0] * 4, name="y")
    for target in (y, y.astype(str)):
        note = coded(remarks(frame, target))["target_only_rows"]
        assert note.startswith("8 rows, the first is row 1 (0-based), have a target but no other value")
        assert note.endswith("such as a line of totals")


def test_codes_with_leading_zeros_are_a_note(run, tmp_path):
    codes = [f"{i % 7:05d}" if i else None for i in range(60)]
    frame = pd.DataFrame({"zip": codes, "age": range(60), "y": ["a", "b"] * 30})
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = ["fit", tmp_path / "t.csv", "--target", "y", "-o", tmp_path / "m.askless", "--force"]
    words += QUICKEST
    (note,) = run(*words).notes["leading_zeros"]
    assert note.startswith("zip has leading zeros, as in 00001")
    assert note.endswith("--category zip")
    assert "leading_zeros" not in run(*words, "--category", "zip").notes


def test_lines_without_a_target_may_be_short(run, tmp_path):
    (tmp_path / "t.csv").write_text("age,crp,y\n" + "1,2,a\n2,3,b\n" * 20 + "7,8\n")
    words = ["fit", tmp_path / "t.csv", "--target", "y", "-o", tmp_path / "m.askless"]
    message = refused("bad_label", *words, column="y", row=40)
    assert "--drop-missing-target; 1 line ends before the last column (the first is line 42)" in message


def test_a_checkpoint_of_other_settings_is_refused(run, table, tmp_path):
    words = ["fit", table, "--target", "ill", "--drop", "score", "grade", *QUICK, "-o", tmp_path / "m.askless"]
    checkpoint = tmp_path / "m.askless.part"
    checkpoint.write_bytes(b"nothing of the kind")
    result = run(*words)
    assert str(checkpoint) in result.complaint
    assert "(the file is named by --checkpoint, or by -o with .part added)" in result.complaint
    assert checkpoint.read_bytes() == b"nothing of the kind"
    assert not (tmp_path / "m.askless").exists()
    checkpoint.unlink()
    assert run(*words).code == 0


@pytest.mark.parametrize(("how", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_fit_that_is_ended_says_how_to_go_on(table, tmp_path, how, code):
    words = ["fit", table, "--target", "ill", "--drop", "score", "grade", "--method", "greedy"]
    words += ["--set", "epochs=100000", "pretrain_epochs=5", "hidden=[16]", "-o", tmp_path / "m.askless"]
    part = tmp_path / "m.askless.part"
    command = [sys.executable, "-m", "askless", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not part.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(how)
        told = process.communicate(timeout=60)[1]
    assert process.returncode == code
    assert told.splitlines()[-1] == f"askless: stopped; run the same command again to continue from {part}"
    assert part.exists()


def phase_in(checkpoint):
    """The phase that a checkpoint is in; -1 where there is none."""
    if not checkpoint.exists():
        return -1
    with safe_open(checkpoint, framework="np") as file:
        return json.loads(file.metadata()["notes"])["now"]["phase"]


def test_killed_and_resumed_gives_the_same_model(run, table, tmp_path):
    words = ["fit", table, "--target", "ill", "--drop", "score", "grade", "--budget", 2]
    words += ["--set", "epochs=100", "pretrain_epochs=5", "hidden=[16]"]
    undisturbed, resumed = tmp_path / "a.askless", tmp_path / "b.askless"
    assert run(*words, "-o", undisturbed).code == 0
    command = [sys.executable, "-m", "askless", *map(str, words), "-o", str(resumed)]
    part = tmp_path / "b.askless.part"
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while phase_in(part) < 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert part.exists()
    assert not resumed.exists()
    result = run(*words, "-o", resumed)
    assert str(part) in result.err
    assert resumed.read_bytes() == undisturbed.read_bytes()
    assert not part.exists()


def test_settings_of_a_method():
    method = configured_method("greedy", ["hidden=[4,5]", "epochs=3", "schedule=staged", "dropout=0", "shared=true"])
    assert (method.hidden, method.epochs, method.schedule, method.dropout, method.shared) == (
        (4, 5),
        3,
        "staged",
        0,
        True,
    )
    for wrong in ("epochs", "nonsense=1", "epochs=many", "epochs=0", "hidden=3", "shared=1"):
        with pytest.raises(UsageError) as caught:
            configured_method("greedy", [wrong])
        assert caught.value.fields["option"] == "--set"
        assert f"--set {wrong}" in str(caught.value)


@pytest.fixture
def parquet(tmp_path):
    """The messy table as a Parquet file of several row groups, with rows that lack a target."""
    frame = messy_frame().assign(code=lambda frame: frame["low"].astype(int) % 3)
    frame = frame.astype({"age": float, "high": float, "colour": "str"})
    frame["smokes"] = frame["smokes"].astype("boolean")
    frame.loc[[3, 9], "ill"] = None
    frame.to_parquet(tmp_path / "data.parquet", row_group_size=50)
    return tmp_path / "data.parquet"


def test_a_large_parquet_file_stays_on_disk(run, parquet, tmp_path, monkeypatch):
    words = ["fit", parquet, "--target", "ill", "--drop", "score", "--category", "code", "grade", *QUICK]
    words += ["--drop-missing-target", "-o", tmp_path / "m.askless"]
    assert run(*words).code == 0
    in_memory = load(tmp_path / "m.askless")
    words += ["--force"]
    taken = []
    monkeypatch.setattr(ParquetFile, "read", lambda *_: taken.append("whole"))
    result = run(*words, "--max-rows", 157, "--validation", parquet)
    assert result.code == 0, result.err
    assert "158 rows, 7 columns to ask for" in result.out
    assert "2 rows without a target left out" in result.out
    assert "test rows" in result.out
    on_disk = load(tmp_path / "m.askless")
    assert [(f.name, f.kind, f.choices) for f in on_disk.schema_.features] == [
        (f.name, f.kind, f.choices) for f in in_memory.schema_.features
    ]
    assert on_disk.model_.settings["target"] == "ill"
    assert taken == []


def test_mistakes_in_a_parquet_file_that_stays_on_disk(run, parquet, tmp_path):
    frame = pd.read_parquet(parquet)
    words = ["fit", parquet, "--target", "ill", "--max-rows", 157, "--category", "grade", *QUICK]
    words += ["-o", tmp_path / "m.askless"]
    refused("bad_label", *words, column="ill", row=3, rows=2)
    frame.fillna({"ill": "no"}).to_parquet(parquet)
    refused("missing_column", *words, "--drop", "scor", option="--drop", column="scor", nearest="score")
    frame = frame.fillna({"ill": "no"}).assign(low=frame["low"].astype(str).where(frame.index != 133, "tall"))
    frame.to_parquet(parquet)
    complaint = run(*words).complaint
    assert "column 'low', row 133 " in complaint
    assert "'tall' is not a number" in complaint


FEW = ["--method", "fixed_order", "--set", "epochs=1", "hidden=[4]"]


def test_a_model_is_not_overwritten_unless_forced(run, table, tmp_path):
    output = tmp_path / "m.askless"
    fit = ["fit", table, "--target", "ill", "--drop", "score", "grade", *FEW, "-o", output]
    output.write_bytes(b"years of work")
    message = refused("file_exists", *fit, option="-o", path=str(output))
    assert "--force" in message
    assert run(*fit).error == "file_exists"
    assert output.read_bytes() == b"years of work"
    assert sorted(tmp_path.iterdir()) == [table, output]
    assert run(*fit, "--force").code == 0
    assert load(output).model_.task == "classification"


def test_a_link_to_a_model_is_not_overwritten_either(table, tmp_path):
    (tmp_path / "kept.askless").write_bytes(b"years of work")
    (tmp_path / "m.askless").symlink_to(tmp_path / "kept.askless")
    refused("file_exists", "fit", table, "--target", "ill", *FEW, "-o", tmp_path / "m.askless")


def test_the_end_sums_the_fit_up(run, table, tmp_path):
    words = ["fit", table, "--target", "ill", "--drop", "score", "grade", "--budget", 2, *FEW]
    result = run(*words, "-o", tmp_path / "m.askless")
    *_, last, following = result.out.splitlines()
    assert re.fullmatch(
        r"AUROC \d\.\d{3} with at most 2 questions; first question: \w+; "
        r"time: \d+ s \(reading \d+ s, training \d+ s, scoring \d+ s\)",
        last,
    )
    assert following.startswith("next: askless ask ")
    result = run(*words, "--test-fraction", 0, "-o", tmp_path / "all.askless")
    assert result.out.splitlines()[-2].startswith("first question: ")


def test_the_method_that_auto_kept_is_explained(run, table, tmp_path):
    words = ["fit", table, "--target", "ill", "--drop", "score", "grade", "--budget", 2, *QUICK]
    shown = run(*words, "-o", tmp_path / "m.askless").out.splitlines()
    assert load(tmp_path / "m.askless").model_.summary["explanation"] in shown
    assert [line for line in shown if line.startswith("kept ") and "held-out rows" in line]
    assert "kept " not in run(*words, "--method", "greedy", "-o", tmp_path / "greedy.askless").out
