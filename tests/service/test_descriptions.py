"""Wording, units and codes: kept by a fit, and reworded where the model is served."""

import json

import pytest

from askless import load
from askless.acquisition import Part
from askless.cli import main
from askless.exceptions import ParameterError
from askless.service.descriptions import Description, valid_range
from askless.service.models import read_models
from askless.service.views import fields_of
from tests.cli.cli_helpers import GROUPS, QUICK, messy_frame
from tests.coded import raises
from tests.service.conftest import running

KEPT = {
    "age": {"text": "How old is the patient?", "unit": "a", "loinc": "30525-0", "low": 0, "high": 120},
    "pressure": {"text": "What is the blood pressure?"},
    "high": {"unit": "mm[Hg]", "loinc": "8480-6"},
}


@pytest.fixture(scope="module")
def fit(tmp_path_factory):
    """`askless fit` with a file of descriptions."""
    folder = tmp_path_factory.mktemp("described")
    table, groups, features = folder / "table.csv", folder / "groups.json", folder / "features.json"
    messy_frame().drop(columns=["score"]).to_csv(table, index=False)
    groups.write_text(json.dumps(GROUPS))

    def fit(descriptions, output):
        features.write_text(json.dumps(descriptions))
        words = [
            "fit",
            table,
            "--target",
            "ill",
            "--groups",
            groups,
            "--features",
            features,
            "--budget",
            2,
            "--category",
            "grade",
        ]
        return main([str(word) for word in (*words, "--method", "greedy", *QUICK, "-o", output)])

    return fit


@pytest.fixture(scope="module")
def described(fit, tmp_path_factory):
    """A model that keeps its descriptions."""
    path = tmp_path_factory.mktemp("described") / "ill.askless"
    assert fit(KEPT, path) == 0
    return path


def test_a_model_keeps_what_is_said_of_its_features(described, tmp_path):
    assert load(described).model_.descriptions == KEPT
    load(described).save(tmp_path / "again.askless")
    assert (tmp_path / "again.askless").read_bytes() == described.read_bytes()
    with running(read_models([str(described)])) as service:
        features = {each["name"]: each for each in service.client.get("/api/models/ill").json()["features"]}
        assert features["age"]["text"] == "How old is the patient?"
        assert features["age"]["parts"][0]["unit"] == "a"
        assert features["pressure"]["text"] == "What is the blood pressure?"
        assert features["pressure"]["parts"][0]["loinc"] == "8480-6"
        assert service.next({"answers": {"age": 121}}, "ill").status_code == 422
        assert service.next({"answers": {"age": 119}}, "ill").status_code == 200


def test_what_the_service_is_told_wins(described, tmp_path):
    given = tmp_path / "features.json"
    given.write_text(json.dumps({"age": {"text": "Alter?", "high": 99}, "low": {"unit": "mm[Hg]"}}))
    model = next(iter(read_models([str(described)], str(given))))
    questions = {each["name"]: each for each in model.questions}
    age = questions["age"]["parts"][0]
    assert (age["text"], age["high"], age["low"], age["unit"], age["loinc"]) == ("Alter?", 99, 0, "a", "30525-0")
    assert [part["unit"] for part in questions["pressure"]["parts"]] == ["mm[Hg]", "mm[Hg]"]


def test_both_together_must_make_sense(described, tmp_path):
    given = tmp_path / "features.json"
    given.write_text(json.dumps({"age": {"low": 130}}))
    path = str(described)
    with raises(ParameterError, "out_of_range", name="low", feature="age", low=130, high=120, path=path) as caught:
        read_models([path], str(given))
    assert "ill.askless: 'age': low must be below high" in str(caught.value)


@pytest.mark.parametrize(
    ("descriptions", "words"),
    [
        ({"agee": {}}, "unknown feature 'agee' (did you mean 'age'?)"),
        ({"ill": {}}, "unknown feature 'ill'"),  # it is the target
        ({"age": {"unit": "years"}}, "not a UCUM unit"),
        ({"age": {"loinc": "30525-1"}}, "not a LOINC code"),
    ],
)
def test_a_fit_refuses_before_it_trains(fit, tmp_path, capsys, descriptions, words):
    assert fit(descriptions, tmp_path / "m.askless") == 2
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1
    assert not (tmp_path / "m.askless").exists()


@pytest.mark.parametrize(
    ("seen", "said", "limits"),
    [
        ((10, 50), {}, (0, 90)),
        ((-10, 50), {}, (-70, 110)),
        ((0, 50), {"low": 20}, (20, 100)),
        ((100, 150), {"high": 400}, (50, 400)),
        ((0, 50), {"low": 200}, (200, None)),  # the width once more ends at 100
        ((0, 50), {"low": 100}, (100, None)),
        ((100, 150), {"high": 40}, (0, 40)),  # the width once more begins at 50, and no number was negative
        ((-50, -40), {"high": -80}, (None, -80)),
        ((10, 50), {"high": -5}, (None, -5)),
        ((-1.7e308, 1.7e308), {}, (None, None)),
        ((0, 1.7e308), {}, (0, None)),
        ((0, 1.7e308), {"high": 9}, (0, 9)),
    ],
)
def test_described_limits_and_those_of_training_leave_numbers(seen, said, limits):
    part = Part("age", "number", low=float(seen[0]), high=float(seen[1]))
    assert valid_range(part, Description.of("age", said)) == limits


@pytest.mark.parametrize(
    "limit", [10**400, -(10**400), float("inf"), float("nan"), True, "5"], ids=lambda limit: str(limit)[:9]
)
def test_a_limit_is_a_number(limit):
    with raises(ParameterError, "wrong_type", name="high", feature="age"):
        Description.of("age", {"high": limit})


def test_a_large_limit_can_be_shown(described, tmp_path):
    given = tmp_path / "features.json"
    given.write_text(json.dumps({"low": {"high": 10**30}}))
    with running(read_models([str(described)], str(given))) as service:
        features = {each["name"]: each for each in service.client.get("/api/models/ill").json()["features"]}
    assert features["pressure"]["parts"][1]["high"] == 1e30


@pytest.mark.parametrize(
    ("said", "words"),
    [({"high": -1000}, "Accepted: -1000 or less."), ({"low": 1000}, "Accepted: 1000 or more."), ({}, " to ")],
)
def test_the_page_shows_a_single_limit(described, tmp_path, said, words):
    given = tmp_path / "features.json"
    given.write_text(json.dumps({"low": said}))
    model = next(iter(read_models([str(described)], str(given))))
    fields = fields_of(model, model.schema.index("pressure"))
    assert words in fields[1].hint
