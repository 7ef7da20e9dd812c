"""Every bad input is one line on standard error that begins with "askless: ", and exit code 2."""

import json

import pandas as pd
import pytest

from tests.cli.cli_helpers import messy_frame

FRAME = messy_frame(40)[["age", "colour", "low", "ill"]]


def with_cell(column, value):
    frame = FRAME.astype(object)
    frame.loc[7, column] = value
    return frame


TABLES = {
    "empty file": ("", "is empty"),
    "no rows": (FRAME.iloc[:0], "no rows"),
    "one row": (FRAME.iloc[:1], "sample"),
    "one class": (FRAME.assign(ill="yes"), "only one class, 'yes'"),
    "no target": (FRAME.drop(columns="ill"), "no column 'ill'"),
    "no feature": (FRAME[["ill"]], "no columns left"),
    "missing targets": (with_cell("ill", None), "missing in 1 of 40 rows, the first in row 7"),
    "text in a number column": (with_cell("low", "high"), "--category COL reads a column as categories"),
    "infinity": (with_cell("low", "inf"), "infinity"),
    "twice the same name": ("age,age,ill\n1,2,yes\n", "same name: 'age'"),
    "ragged": ("age,ill\n1,yes\n1,2,no\n", "line 3 has 3 cells, and the header 2; put cells"),
    "not text": (b"\xff\xfe\x00\x01", "UTF-8"),
}


@pytest.mark.parametrize("case", TABLES)
def test_tables(case, run, tmp_path):
    content, words = TABLES[case]
    path = tmp_path / "t.csv"
    if isinstance(content, pd.DataFrame):
        content.to_csv(path, index=False)
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert words in run("fit", path, "--target", "ill", "-o", tmp_path / "m.askless").complaint
    assert sorted(tmp_path.iterdir()) == [path]


OPTIONS = {
    "budget 0": (["--budget", "0"], "--budget"),
    "negative budget": (["--budget", "-3"], "--budget"),
    "budget of text": (["--budget", "many"], "--budget"),
    "test share": (["--test-fraction", "1.5"], "--test-fraction"),
    "seed": (["--seed", "-1"], "--seed"),
    "method": (["--method", "gredy"], "did you mean 'greedy'"),
    "drop": (["--drop", "agee"], "did you mean 'age'"),
    "category": (["--category", "nonsense"], "--category"),
    "drop the target": (["--drop", "ill"], "target"),
    "regression of text": (["--task", "regression"], "not a number"),
    "classification of fractions": (["--target", "low", "--task", "classification"], "continuous"),
    "validation": (["--validation", "no.csv"], "no.csv"),
    "no folder": (["-o", "nowhere/m.askless"], "nowhere"),
    "a folder": (["-o", "."], "folder"),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_options(case, run, tmp_path, monkeypatch):
    words, expected = OPTIONS[case]
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("t.csv", index=False)
    assert expected in run("fit", "t.csv", "--target", "ill", "-o", "m.askless", *words).complaint


def test_a_misspelt_option_is_named_before_what_seems_to_be_missing(run):
    complaint = run("fit", "t.csv", "--traget", "ill").complaint
    assert "there is no option --traget (did you mean '--target'?)" in complaint
    assert "askless fit --help" in complaint


JSON_FILES = {
    "not JSON": ("--groups", "{'a': [", "not JSON (line 1"),
    "not text": ("--costs", b"\xff\xfe\xff", "not JSON"),
    "a list": ("--groups", "[1]", "must hold an object"),
    "twice": ("--costs", '{"age": 1, "age": 2}', "'age' is there twice"),
    "unknown column": ("--groups", '{"g": ["age", "hight"]}', "no column 'hight'"),
    "overlap": ("--groups", '{"g": ["age", "low"], "h": ["low"]}', "in two groups"),
    "empty group": ("--groups", '{"g": []}', "is empty"),
    "no list": ("--groups", '{"g": "age"}', "must list columns"),
    "unknown cost": ("--costs", '{"hight": 2}', "no feature 'hight'"),
    "cost of text": ("--costs", '{"age": "much"}', "cost of 'age'"),
    "negative cost": ("--costs", '{"age": -1}', "cost of 'age'"),
    "NaN": ("--costs", '{"age": NaN}', "cost of 'age'"),
}


@pytest.mark.parametrize("case", JSON_FILES)
def test_json_files(case, run, tmp_path):
    option, content, words = JSON_FILES[case]
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, index=False)
    file = tmp_path / "given.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert words in run("fit", path, "--target", "ill", option, file, "-o", tmp_path / "m.askless").complaint


@pytest.mark.parametrize("command", ["predict", "evaluate", "ask"])
def test_model_files(command, run, tmp_path, table, model):
    more = {"predict": [table], "evaluate": [table, "--target", "ill"], "ask": []}[command]
    assert "no file" in run(command, tmp_path / "no.askless", *more).complaint
    damaged = tmp_path / "damaged.askless"
    content = bytearray(model.read_bytes())
    content[-3] ^= 1
    damaged.write_bytes(content)
    assert "damaged" in run(command, damaged, *more).complaint
    damaged.write_bytes(content[:100])
    assert "not an askless model" in run(command, damaged, *more).complaint
    assert "not an askless model" in run(command, table, *more).complaint


def test_tables_for_a_model(run, tmp_path, model):
    path, frame = tmp_path / "t.csv", messy_frame(30)
    frame.drop(columns="low").rename(columns={"age": "Age"}).to_csv(path, index=False)
    complaint = run("predict", model, path).complaint
    assert "'age' (did you mean 'Age'?)" in complaint
    assert "'low'" in complaint
    assert complaint == run("evaluate", model, path, "--target", "ill").complaint
    frame.astype(object).assign(low=[*["81"] * 20, "tall", *["80"] * 9]).to_csv(path, index=False)
    told = f"{path}: column 'low', row 20 (counting from 0): 'tall' is not a number (--na "
    assert told in run("predict", model, path, "--chunk-rows", 7).complaint
    assert told in run("evaluate", model, path, "--target", "ill").complaint
    frame.astype(object).assign(low=[*["81"] * 20, "tall", *["80"] * 9], ill=[None, *frame["ill"][1:]]).to_csv(
        path, index=False
    )
    assert told in run("evaluate", model, path, "--target", "ill", "--drop-missing-target").complaint
    frame.assign(ill=[None, *frame["ill"][1:20], "perhaps", *frame["ill"][21:]]).to_csv(path, index=False)
    complaint = run("evaluate", model, path, "--target", "ill", "--drop-missing-target").complaint
    assert "row 20 (counting from 0) has the label 'perhaps'" in complaint
    frame.iloc[:0].to_csv(path, index=False)
    assert "no rows" in run("predict", model, path).complaint
    assert "no rows" in run("evaluate", model, path, "--target", "ill").complaint


def test_evaluate(run, tmp_path, model, regressor, table):
    words = ["evaluate", model, table, "--target"]
    assert "no column 'il'" in run(*words, "il").complaint
    assert "does not know" in run(*words, "score").complaint
    assert "r2 is for regression" in run(*words, "ill", "--metric", "r2").complaint
    assert "no metric" in run(*words, "ill", "--metric", "nonsense").complaint
    assert ".png" in run(*words, "ill", "--plot", tmp_path / "curve.xyz").complaint
    assert "nowhere" in run(*words, "ill", "--json", tmp_path / "nowhere" / "x.json").complaint
    assert "not a number" in run("evaluate", regressor, table, "--target", "ill").complaint
    frame = messy_frame(30)
    frame[frame["ill"] == "yes"].to_csv(tmp_path / "one.csv", index=False)
    assert "undefined" in run("evaluate", model, tmp_path / "one.csv", "--target", "ill").complaint


@pytest.mark.parametrize(
    ("known", "words"),
    [("age", "NAME=VALUE"), ("agee=3", "did you mean 'age'"), ("age=old", "not a number"), ("colour=pink", "choices"),
     ("pressure=3", "high, low")],
)  # fmt: skip
def test_ask(known, words, run, model):
    assert words in run("ask", model, "--known", known).complaint


def test_data_sets(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASKLESS_DATA", str(tmp_path / "empty"))
    assert "did you mean 'triage'" in run("datasets", "get", "triag").complaint
    assert "Download Spambase" in run("datasets", "get", "spam").complaint
    assert "has no option" in run("datasets", "get", "wine", "--rows", 10).complaint
    assert ".csv" in run("datasets", "get", "wine", "-o", "wine.xlsx").complaint
    assert "no data set" in run("demo", "--dataset", "nonsense").complaint
    assert json.dumps([path.name for path in tmp_path.glob("*.csv")]) == "[]"
