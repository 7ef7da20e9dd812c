"""What a user does wrong is an `AsklessError`, what looks odd an `AsklessWarning`: one class to catch."""

import pandas as pd
import pytest

from askless import DynamicClassifier
from askless.acquisition.stopping import Confidence
from askless.exceptions import AsklessWarning, ParameterError, TableError
from askless.methods import FixedOrder
from tests.coded import raises, warns

FRAME = pd.DataFrame({"age": range(40), "sex": ["f", "m"] * 20, "sbp": range(120, 160), "dbp": range(60, 100)})
LABELS = pd.Series(["ill", "well"] * 20)
GROUPS = {"pressure": ["sbp", "dbp"]}


def untrained(**settings):
    settings = {"method": FixedOrder(hidden=(4,), epochs=1, order=("age", "sex")), "verbose": False, **settings}
    return DynamicClassifier(**{"max_features": 2, "groups": GROUPS, **settings})


@pytest.fixture(scope="module")
def model():
    return untrained().fit(FRAME, LABELS)


PARAMETERS = {
    "a risk": (lambda m: m.certify(FRAME, LABELS, risk=5), "risk.*5"),
    "a name that is known": (lambda m: m.interview(known={"agee": 1}), "'agee'.*did you mean 'age'"),
    "a name that is unavailable": (lambda m: m.interview(unavailable=["agee"]), "'agee'"),
    "a name with a price": (lambda m: m.rollout(FRAME, costs={"agee": 1}), "'agee'"),
    "a price": (lambda m: m.rollout(FRAME, costs={"age": -1}), "'age'.*-1"),
    "a part of a group": (lambda m: m.interview().tell("sbp", 150), "'sbp'.*'pressure'"),
    "a budget": (lambda m: m.rollout(FRAME, max_features=0), r"max_features.*\b0"),
    "a batch": (lambda m: m.rollout(FRAME, batch=0), r"batch.*\b0"),
    "a mask": (lambda m: m.rollout(FRAME, available="age"), "available.*'age'"),
    "a metric": (lambda m: m.curve(FRAME, LABELS, metric="aurok"), "'aurok'"),
    "a rule": (lambda m: m.rollout(FRAME, stopping=Confidence), "Confidence.*class"),
    "the budget of a fit": (lambda m: untrained(max_features=0).fit(FRAME, LABELS), r"max_features.*\b0"),
    "a method": (lambda m: untrained(method="gredy").fit(FRAME, LABELS), "'gredy'"),
    "a method's setting": (lambda m: untrained(method=FixedOrder(epochs=0)).fit(FRAME, LABELS), r"epochs.*\b0"),
    "precedence": (lambda m: untrained(precedence=3).fit(FRAME, LABELS), "precedence.*3"),
}
TABLES = {
    "a label unknown to training": (
        lambda m: m.curve(FRAME, ["ill", "dead"] * 20),
        "unknown_label",
        {"label": "dead", "row": 1, "choices": ["ill", "well"]},
    ),
    "labels in another order": (lambda m: m.score(FRAME, LABELS[::-1]), "row_labels_differ", {"name": "y"}),
    "no labels": (lambda m: untrained().fit(FRAME, None), "required", {"name": "y"}),
    "one label": (lambda m: untrained().fit(FRAME, ["ill"] * 40), "one_class", {"label": "ill"}),
    "labels with gaps": (
        lambda m: untrained().fit(FRAME, [None, "ill"] * 20),
        "bad_label",
        {"row": 0, "rows": 20},
    ),
    "a table of another width": (
        lambda m: m.predict(FRAME.to_numpy()[:, :2]),
        "wrong_shape",
        {"value": 2, "expected": 4},
    ),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_arguments(name, model):
    call, message = PARAMETERS[name]
    with pytest.raises(ParameterError, match=message):
        call(model)


@pytest.mark.parametrize("name", TABLES)
def test_tables_and_labels(name, model):
    call, code, fields = TABLES[name]
    with raises(TableError, code, **fields):
        call(model)


def test_the_message_of_an_unknown_label(model):
    with raises(TableError, "unknown_label") as caught:
        model.curve(FRAME, ["ill", "dead"] * 20)
    assert str(caught.value) == "unknown label 'dead' in y, row 1 (0-based); `fit` saw 'ill', 'well'"


@pytest.mark.parametrize(
    ("column", "code"),
    [
        (["F", "f"] * 20, "similar_spellings"),
        ([None] * 40, "empty_column"),
        (["01", "02"] * 20, "leading_zeros"),
        (["10%", "20%"] * 20, "numbers_as_categories"),
    ],
)
def test_what_looks_odd(column, code):
    frame = pd.DataFrame({"age": range(40), "sex": column})
    method = FixedOrder(hidden=(4,), epochs=1, order=("age",))
    with warns(AsklessWarning, code, column="sex"):
        untrained(groups=None, method=method).fit(frame, LABELS)
