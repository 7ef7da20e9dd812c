"""Every bad input is one line on standard error that begins with "askless: ", and exit code 2."""

import json

import pandas as pd
import pytest

from tests.cli.cli_helpers import messy_frame, refused

FRAME = messy_frame(40)[["age", "colour", "low", "ill"]]


def with_cell(column, value):
    frame = FRAME.astype(object)
    frame.loc[7, column] = value
    return frame


TABLES = {
    "empty file": ("", "unreadable_file", ["is empty"]),
    "no rows": (FRAME.iloc[:0], "too_few_rows", ["no rows"]),
    "one row": (FRAME.iloc[:1], "too_few_rows", ["sample"]),
    "one class": (FRAME.assign(ill="yes"), "one_class", ["one class", "'yes'"]),
    "no target": (FRAME.drop(columns="ill"), "missing_column", ["'ill'"]),
    "no feature": (FRAME[["ill"]], "missing_column", ["t.csv"]),
    "missing targets": (with_cell("ill", None), "bad_label", ["1 of 40 rows", "row 7", "--drop-missing-target"]),
    "text in a number column": (
        with_cell("low", "high"),
        "bad_cell",
        ["row 7", "'high'", "--category COL", "--drop COL"],
    ),
    "infinity": (with_cell("low", "inf"), "bad_cell", ["'low'", "row 7"]),
    "twice the same name": ("age,age,ill\n1,2,yes\n", "duplicate_name", ["'age'"]),
    "ragged": ("age,ill\n1,yes\n1,2,no\n", "unreadable_file", ["line 3 has 3 cells", "header has 2", "quotes"]),
    "not text": (b"\xff\xfe\x00\x01", "unreadable_file", ["UTF-8", "iconv"]),
}


@pytest.mark.parametrize("case", TABLES)
def test_tables(case, run, tmp_path):
    content, code, shown = TABLES[case]
    path = tmp_path / "t.csv"
    if isinstance(content, pd.DataFrame):
        content.to_csv(path, index=False)
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    result = run("fit", path, "--target", "ill", "-o", tmp_path / "m.askless")
    assert [words for words in shown if words not in result.complaint] == []
    assert result.error == code
    assert sorted(tmp_path.iterdir()) == [path]


OPTIONS = {
    "budget 0": (["--budget", "0"], "usage", {"option": "--budget"}),
    "negative budget": (["--budget", "-3"], "usage", {"option": "--budget"}),
    "budget of text": (["--budget", "many"], "usage", {"option": "--budget"}),
    "test share": (["--test-fraction", "1.5"], "usage", {"option": "--test-fraction"}),
    "seed": (["--seed", "-1"], "usage", {"option": "--seed"}),
    "drop": (["--drop", "agee"], "missing_column", {"option": "--drop", "column": "agee", "nearest": "age"}),
    "category": (["--category", "nonsense"], "missing_column", {"option": "--category", "column": "nonsense"}),
    "drop the target": (["--drop", "ill"], "conflicting_settings", {"column": "ill"}),
    "regression of text": (["--task", "regression"], "bad_label", {"column": "ill", "row": 0}),
    "no folder": (["-o", "nowhere/m.askless"], "file_not_found", {"option": "-o", "path": "nowhere/m.askless"}),
    "a folder": (["-o", "."], "wrong_file", {"option": "-o", "path": "."}),
    "a table": (["-o", "model.csv"], "wrong_file", {"option": "-o", "path": "model.csv"}),
    "method": (["--method", "gredy"], "unknown_name", {"nearest": "greedy"}),
    "setting": (["--set", "hidden=3", "--method", "greedy"], "wrong_type", {"option": "--set", "name": "hidden"}),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a table, as the working directory."""
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("t.csv", index=False)
    return tmp_path


FIT = ["fit", "t.csv", "--target", "ill", "-o", "m.askless"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("case", OPTIONS)
def test_options(case, run):
    words, code, fields = OPTIONS[case]
    refused(code, *FIT, *words, **fields)
    assert run(*FIT, *words).error == code


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--target", "low", "--task", "classification"], "continuous"),
        (["--validation", "no.csv"], "no.csv: no such file or directory"),
    ],
)
def test_errors_of_others(words, shown, run):
    assert shown in run(*FIT, *words).complaint


def test_a_misspelt_option_is_named_before_what_seems_to_be_missing(run):
    message = refused("usage", "fit", "t.csv", "--traget", "ill", option="--traget", nearest="--target")
    assert "did you mean '--target'" in message
    assert "askless fit --help" in message


JSON_FILES = {
    "not JSON": ("--groups", "{'a': [", "unreadable_file", "line 1"),
    "not text": ("--costs", b"\xff\xfe\xff", "unreadable_file", "not text"),
    "a list": ("--groups", "[1]", "wrong_type", "{"),
    "twice": ("--costs", '{"age": 1, "age": 2}', "duplicate_name", "'age'"),
    "unknown column": ("--groups", '{"g": ["age", "hight"]}', "missing_column", "'hight'"),
    "overlap": ("--groups", '{"g": ["age", "low"], "h": ["low"]}', "duplicate_name", "two groups"),
    "empty group": ("--groups", '{"g": []}', "required", "'g'"),
    "no list": ("--groups", '{"g": "age"}', "wrong_type", "'g'"),
    "unknown cost": ("--costs", '{"hight": 2}', "unknown_name", "'hight'"),
    "cost of text": ("--costs", '{"age": "much"}', "out_of_range", "'age'"),
    "negative cost": ("--costs", '{"age": -1}', "out_of_range", "'age'"),
    "NaN": ("--costs", '{"age": NaN}', "out_of_range", "'age'"),
}


@pytest.mark.parametrize("case", JSON_FILES)
def test_json_files(case, run, tmp_path):
    option, content, code, shown = JSON_FILES[case]
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, index=False)
    file = tmp_path / "given.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    words = ["fit", path, "--target", "ill", option, file, "-o", tmp_path / "m.askless"]
    result = run(*words)
    assert shown in result.complaint
    assert result.error == code


@pytest.mark.parametrize("command", ["predict", "evaluate", "ask"])
def test_model_files(command, run, tmp_path, table, model):
    more = {"predict": [table], "evaluate": [table, "--target", "ill"], "ask": []}[command]
    refused("file_not_found", command, tmp_path / "no.askless", *more, path=str(tmp_path / "no.askless"))
    damaged = tmp_path / "damaged.askless"
    content = bytearray(model.read_bytes())
    content[-3] ^= 1
    damaged.write_bytes(content)
    assert run(command, damaged, *more).error == "damaged_file"
    assert str(damaged) in run(command, damaged, *more).complaint
    damaged.write_bytes(content[:100])
    assert run(command, damaged, *more).error == "wrong_file"
    assert run(command, table, *more).error == "wrong_file"


def test_tables_for_a_model(run, tmp_path, model):
    path, frame = tmp_path / "t.csv", messy_frame(30)
    frame.drop(columns="low").rename(columns={"age": "Age"}).to_csv(path, index=False)
    lacking = {"path": str(path), "column": "age", "columns": ["age", "low"], "nearest": "Age"}
    message = refused("missing_column", "predict", model, path, **lacking)
    assert "'age' (did you mean 'Age'?), 'low'" in message
    assert message == refused("missing_column", "evaluate", model, path, "--target", "ill", **lacking)
    low = [*["81"] * 20, "tall", *["80"] * 9]
    frame.astype(object).assign(low=low).to_csv(path, index=False)
    evaluate = ["evaluate", model, path, "--target", "ill"]
    for words in (["predict", model, path, "--chunk-rows", 7], evaluate):
        message = refused("bad_cell", *words, path=str(path), column="low", row=20, value="tall")
        assert message.startswith(f"{path}: column 'low', row 20 (0-based): 'tall' is not a number")
        assert message.endswith("(--na tall reads this as missing)")
    frame.astype(object).assign(low=low, ill=[None, *frame["ill"][1:]]).to_csv(path, index=False)
    refused("bad_cell", *evaluate, "--drop-missing-target", column="low", row=20, value="tall")
    frame.assign(ill=[None, *frame["ill"][1:20], "perhaps", *frame["ill"][21:]]).to_csv(path, index=False)
    fields = {"label": "perhaps", "row": 20, "column": "ill", "choices": ["no", "yes"]}
    message = refused("unknown_label", *evaluate, "--drop-missing-target", **fields)
    assert "unknown label 'perhaps' in 'ill', row 20 (0-based); the model knows 'no', 'yes'" in message
    frame.iloc[:0].to_csv(path, index=False)
    refused("too_few_rows", "predict", model, path, path=str(path))
    refused("too_few_rows", *evaluate, path=str(path))


def test_evaluate(run, tmp_path, model, regressor, table):
    words = ["evaluate", model, table, "--target"]
    refused("missing_column", *words, "il", option="--target", column="il", nearest="ill")
    refused("unknown_label", *words, "score", column="score", row=0)
    refused("invalid_choice", *words, "ill", "--metric", "r2", option="--metric", value="r2")
    assert run(*words, "ill", "--metric", "nonsense").error == "unknown_name"
    refused("wrong_file", *words, "ill", "--plot", tmp_path / "curve.xyz", option="--plot")
    refused("file_not_found", *words, "ill", "--json", tmp_path / "nowhere" / "x.json", option="--json")
    refused("bad_label", "evaluate", regressor, table, "--target", "ill", column="ill", row=0, value="yes")
    frame = messy_frame(30)
    frame[frame["ill"] == "yes"].to_csv(tmp_path / "one.csv", index=False)
    assert "undefined" in run("evaluate", model, tmp_path / "one.csv", "--target", "ill").complaint


@pytest.mark.parametrize(
    ("known", "code", "fields"),
    [
        ("age", "bad_answer", {"value": "age"}),
        ("agee=3", "unknown_name", {"name": "agee", "nearest": "age"}),
        ("colour=pink", "bad_answer", {"feature": "colour", "value": "pink", "choices": ["None", "green", "red"]}),
        ("pressure=3", "bad_answer", {"feature": "pressure", "choices": ["high", "low"]}),
    ],
)
def test_ask(known, code, fields, run, model):
    refused(code, "ask", model, "--known", known, **fields)
    assert run("ask", model, "--known", known).error == code


def test_ask_with_text_for_a_number(run, model):
    assert "'old' is not a number" in run("ask", model, "--known", "age=old").complaint


def test_data_sets(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASKLESS_DATA", str(tmp_path / "empty"))
    refused("unknown_name", "datasets", "get", "triag", nearest="triage")
    assert "Download Spambase" in run("datasets", "get", "spam").complaint
    assert run("datasets", "get", "wine", "--rows", 10).error == "unknown_name"
    refused("wrong_file", "datasets", "get", "wine", "-o", "wine.xlsx", option="-o", path="wine.xlsx")
    assert run("demo", "--dataset", "nonsense").error == "unknown_name"
    assert json.dumps([path.name for path in tmp_path.glob("*.csv")]) == "[]"


@pytest.mark.parametrize("option", ["--costs", "--groups", "--features"])
@pytest.mark.usefixtures("folder")
def test_json_instead_of_the_name_of_a_json_file(option):
    given = '{"age": 1}'
    message = refused("file_not_found", *FIT, option, given, value=given)
    assert message == "a JSON file is expected; '{\"age\": 1}' looks like JSON itself; write it to a file"


@pytest.mark.parametrize(
    ("option", "content", "code", "fields"),
    [
        ("--costs", '{"agee": 1}', "unknown_name", {"name": "agee", "nearest": "age"}),
        ("--costs", '{"age": "much"}', "out_of_range", {"feature": "age", "value": "much"}),
        ("--groups", '{"g": ["age", "hight"]}', "missing_column", {"column": "hight", "nearest": "high"}),
        ("--precedence", '{"age": "low"}', "wrong_type", {"feature": "age", "value": "low"}),
    ],
)
def test_errors_in_a_json_file_name_it(option, content, code, fields, table, tmp_path):
    file = tmp_path / "given.json"
    file.write_text(content)
    words = ["fit", table, "--target", "ill", "--drop", "grade", option, file, "-o", tmp_path / "m.askless"]
    message = refused(code, *words, path=str(file), **fields)
    assert message.startswith(f"{file}: ")
    assert str(table) not in message


def test_a_target_of_one_class_is_named(tmp_path):
    path = tmp_path / "t.csv"
    FRAME.assign(ill="yes").to_csv(path, index=False)
    words = ["fit", path, "--target", "ill", "-o", tmp_path / "m.askless"]
    message = refused("one_class", *words, path=str(path), column="ill", label="yes")
    assert "the target 'ill' has only one class, 'yes'" in message
