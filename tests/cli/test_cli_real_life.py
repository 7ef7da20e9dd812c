"""Prices, panels, precedence, stopping rules and what is known, from the command line."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from askless import load
from askless.acquisition.stopping import Certified, Confidence, MaxCost, MaxFeatures
from askless.cli.rules import read_stop
from askless.model_file import read_model, write_model
from tests.cli.cli_helpers import FEATURES, QUICK, messy_frame, refused, spawn


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A model of every option of `fit`."""
    folder = tmp_path_factory.mktemp("real_life")
    table, model = folder / "t.csv", folder / "m.askless"
    messy_frame().drop(columns="score").to_csv(table, index=False)
    for name, content in {
        "costs": {"age": 2.0, "colour": 3.0, "high": 6.0, "low": 5.0},
        "panels": {"visit": {"high": 1.0, "low": 1.0}},
        "order": {"low": ["smokes"]},
    }.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    result = spawn(
        "fit", table, "--target", "ill", "-o", model, "--method", "value", *QUICK, "--budget", 5,
        "--category", "grade",
        "--costs", folder / "costs.json", "--panels", folder / "panels.json", "--precedence", folder / "order.json",
        "--stop", "confidence=0.99", "max_cost=14", "--reference-rows", 100,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return folder, table, model, result.stdout


def test_fit_keeps_all_of_it(fitted):
    _, _, path, out = fitted
    model = load(path)
    assert model.costs.config()["panels"] == {"visit": {"high": 1.0, "low": 1.0}}
    assert model.precedence == {"low": ["smokes"]}
    assert model.model_.stopping == (Confidence(0.99), MaxCost(14))
    assert "money spent" in out
    assert "stopped: " in out


def test_predict_spends_no_more_than_allowed(run, fitted, tmp_path):
    _, table, model, _ = fitted
    out = tmp_path / "out.csv"
    result = run("predict", model, table, "--max-cost", 4, "--known", "age", "--unavailable", "grade", "-o", out)
    assert result.code == 0, result.err
    told = pd.read_csv(out)
    assert told["cost"].max() <= 4.0
    asked = ";".join(told["features asked"].dropna())
    assert "age" not in asked
    assert "grade" not in asked
    assert "nothing affordable left of 4" in set(told["stop reason"])


def test_other_rules_and_prices_for_one_call(run, fitted, tmp_path):
    _, table, model, _ = fitted
    out, prices = tmp_path / "out.csv", tmp_path / "prices.json"
    prices.write_text('{"age": 1000}')
    result = run("predict", model, table, "--costs", prices, "--stop", "max_features=2", "--batch", 2, "-o", out)
    assert result.code == 0, result.err
    told = pd.read_csv(out)
    assert set(told["stop reason"]) == {"asked 2 features"}
    same = load(model).rollout(messy_frame()[FEATURES], costs={"age": 1000}, stopping=(), max_features=2, batch=2)
    assert told["features asked"].tolist() == ["; ".join(same.names(i)) for i in range(len(same))]


def test_evaluate_reports_what_was_spent(run, fitted, tmp_path):
    _, table, model, _ = fitted
    numbers = tmp_path / "n.json"
    result = run("evaluate", model, table, "--max-cost", 6, "--json", numbers)
    assert result.code == 0, result.err
    assert "features asked" in result.out
    assert "stopped: nothing affordable left of 6" in result.out
    told = json.loads(numbers.read_text())
    assert told["money_spent"]["most"] <= 6.0
    assert told["money_spent"]["least"] <= told["money_spent"]["median"] <= told["money_spent"]["p90"]
    assert sum(told["stop_reasons"].values()) == told["rows"]
    t = load(model).rollout(messy_frame()[FEATURES], stopping=(Confidence(0.99), MaxCost(6), MaxCost(14)))
    assert told["money_spent"]["mean"] == pytest.approx(t.cost[:, -1].mean())
    assert told["features_asked"]["mean"] == pytest.approx(t.n_asked.mean())


def test_ask_says_why(fitted):
    _, _, model, _ = fitted
    result = spawn("ask", model, "--max-cost", 3, "--unavailable", "grade", given="why\n\n\n\n\n\n\n")
    assert result.returncode == 0, result.stderr
    assert "information" in result.stdout
    ends = ("confidence of 0.99 reached", "nothing affordable left of 14", "nothing affordable left of 3")
    assert f"It ends earlier with: {'; '.join(ends)}." in result.stdout
    assert "(nothing affordable left of 3; cost" in result.stdout
    assert ". grade" not in result.stdout


@pytest.mark.parametrize(
    ("words", "code", "fields"),
    [
        (["--stop", "confidence"], "usage", {"option": "--stop", "value": "confidence"}),
        (["--stop", "max_cost=1", "max_cost=2"], "duplicate_name", {"option": "--stop", "name": "max_cost"}),
        (["--stop", "{"], "usage", {"option": "--stop", "value": "{"}),
        (["--stop", "confidence=0,9"], "usage", {"option": "--stop", "expected": "confidence=0.9"}),
        (["--stop", "certified=0.05"], "not_supported", {"option": "--stop", "name": "certified"}),
        (["--max-cost", "-1"], "usage", {"option": "--max-cost"}),
        (["--max-cost", "nan"], "usage", {"option": "--max-cost"}),
        (["--batch", "0"], "usage", {"option": "--batch"}),
    ],
)
def test_bad_words(run, fitted, words, code, fields):
    _, table, model, _ = fitted
    for command in ("predict", "evaluate"):
        refused(code, command, model, table, *words, **fields)
        assert run(command, model, table, *words).error == code


def test_a_batch_needs_training_rows_in_the_model(run, table, tmp_path):
    model = tmp_path / "m.askless"
    words = ["fit", table, "--target", "ill", "--drop", "score", "grade", *QUICK, "--method", "greedy", "-o", model]
    assert run(*words).code == 0
    assert load(model).model_.reference is None  # no training rows in the file unless the user wants it
    message = refused("not_supported", "predict", model, table, "--batch", 2, option="--batch")
    assert "--reference-rows" in message


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--stop", "confidense=0.9"], "'confidense' (did you mean 'confidence'?)"),
        (["--stop", "confidence=2"], "2"),
        (["--stop", "spread=1"], "spread"),
        (["--stop", "confidence=nan"], "'nan'"),
        (["--stop", "confidence=-inf"], "'-inf'"),
        (["--known", "agee"], "'agee' (did you mean 'age'?)"),
        (["--unavailable", "agee"], "'agee' (did you mean 'age'?)"),
    ],
)
def test_bad_words_for_a_rule_or_a_model(run, fitted, words, shown):
    _, table, model, _ = fitted
    for command in ("predict", "evaluate"):
        complaint = run(command, model, table, *words).complaint
        assert shown in complaint
        assert ("--stop: " in complaint) == ("--stop" in words)


def test_and_in_json(run, fitted):
    _, table, model, _ = fitted
    rule = '{"and": [{"max_features": 1}, {"max_cost": 2}]}'
    result = run("evaluate", model, table, "--stop", rule)
    assert result.code == 0, result.err


@pytest.mark.parametrize(
    ("option", "content", "shown"),
    [
        ("--panels", {"visit": ["high"]}, "'visit'"),
        ("--panels", {"visit": {"hihg": 1}}, "'hihg' (did you mean 'high'?)"),
        ("--panels", {"visit": {"high": -1}}, "'high'"),
        ("--precedence", {"low": ["lwo"]}, "'lwo' (did you mean 'low'?)"),
        ("--precedence", {"low": "age"}, "'low'"),
        ("--precedence", {"low": ["age"], "age": ["low"]}, "circle"),
        ("--precedence", ["low"], "must contain an object"),
    ],
)
def test_bad_files(run, fitted, tmp_path, option, content, shown):
    _, table, _, _ = fitted
    file = tmp_path / "f.json"
    file.write_text(json.dumps(content))
    result = run("fit", table, "--target", "ill", "--category", "grade", "-o", tmp_path / "m.askless", option, file)
    assert shown in result.complaint


@pytest.mark.parametrize(
    ("word", "rule"),
    [
        ("confidence=.9", Confidence(0.9)),
        ("confidence=9e-1", Confidence(0.9)),
        ("max-cost=20.", MaxCost(20)),
        ("max_cost= +2 ", MaxCost(2)),
        ("max_features=3", MaxFeatures(3)),
    ],
)
def test_numbers_of_rules_are_as_python_reads_them(word, rule):
    assert read_stop([word]) == (rule,)


def test_a_rule_that_the_method_cannot_serve_is_named_as_it_was_typed(run, table, model):
    complaint = run("predict", model, table, "--stop", "information_per_cost=.01").complaint
    assert "--stop: " in complaint
    assert "information_per_cost" in complaint


@pytest.mark.parametrize(
    ("threshold", "words", "shown"),
    [(0.9999, (), True), (0.9999, ("--known", "age=51"), False), (None, (), False)],
    ids=["used", "other conditions", "no threshold"],
)
def test_ask_names_a_certified_rule_only_if_it_is_used(model, tmp_path, threshold, words, shown):
    rule = Certified(risk=0.05, threshold=threshold, cases=100, within=3)
    path = tmp_path / "m.askless"
    write_model(replace(read_model(model), stopping=(rule,)), path)
    result = spawn("ask", path, *words, given="\n")
    assert result.returncode == 0, result.stderr
    assert "At most 3 questions." in result.stdout
    assert ("It ends earlier with: sure enough: certified" in result.stdout) is shown
    assert ("It ends earlier" in result.stdout) is shown
