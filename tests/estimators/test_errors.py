"""What a user does wrong is an `AsklessError`, what looks odd an `AsklessWarning`: one class to catch."""

import pandas as pd
import pytest

from askless import DynamicClassifier
from askless.acquisition.stopping import Confidence
from askless.exceptions import AsklessWarning, ParameterError, TableError
from askless.methods import FixedOrder

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
    "a risk": (lambda m: m.certify(FRAME, LABELS, risk=5), "the risk is 5"),
    "a name that is known": (lambda m: m.interview(known={"agee": 1}), "no feature 'agee'.*did you mean 'age'"),
    "a name that is unavailable": (lambda m: m.interview(unavailable=["agee"]), "no feature 'agee'"),
    "a name with a price": (lambda m: m.rollout(FRAME, costs={"agee": 1}), "no feature 'agee'"),
    "a price": (lambda m: m.rollout(FRAME, costs={"age": -1}), "the cost of 'age' is -1"),
    "a part of a group": (lambda m: m.interview().tell("sbp", 150), "'sbp': it is a part of the group 'pressure'"),
    "a budget": (lambda m: m.rollout(FRAME, max_features=0), "max_features is 0"),
    "a batch": (lambda m: m.rollout(FRAME, batch=0), "batch is 0"),
    "a mask": (lambda m: m.rollout(FRAME, available="age"), "available is 'age'"),
    "a metric": (lambda m: m.curve(FRAME, LABELS, metric="aurok"), "no metric 'aurok'"),
    "a rule": (lambda m: m.rollout(FRAME, stopping=Confidence), "Confidence is a class"),
    "the budget of a fit": (lambda m: untrained(max_features=0).fit(FRAME, LABELS), "max_features is 0"),
    "a method": (lambda m: untrained(method="gredy").fit(FRAME, LABELS), "no method 'gredy'"),
    "a method's setting": (lambda m: untrained(method=FixedOrder(epochs=0)).fit(FRAME, LABELS), "epochs is 0"),
    "precedence": (lambda m: untrained(precedence=3).fit(FRAME, LABELS), "precedence is 3"),
}
TABLES = {
    "a label unknown to training": (lambda m: m.curve(FRAME, ["ill", "dead"] * 20), "the label 'dead'"),
    "labels in another order": (lambda m: m.score(FRAME, LABELS[::-1]), "in another order"),
    "no labels": (lambda m: untrained().fit(FRAME, None), "a target is needed"),
    "one label": (lambda m: untrained().fit(FRAME, ["ill"] * 40), "only one class"),
    "labels with gaps": (lambda m: untrained().fit(FRAME, [None, "ill"] * 20), "20 missing value"),
    "a table of another width": (lambda m: m.predict(FRAME.to_numpy()[:, :2]), "X has 2 features"),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_arguments(name, model):
    call, message = PARAMETERS[name]
    with pytest.raises(ParameterError, match=message):
        call(model)


@pytest.mark.parametrize("name", TABLES)
def test_tables_and_labels(name, model):
    call, message = TABLES[name]
    with pytest.raises(TableError, match=message):
        call(model)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["F", "f"] * 20, "column 'sex' holds 'F', 'f'"),
        ([None] * 40, "left out, because every value is missing"),
        (["01", "02"] * 20, "zeros in front"),
        (["10%", "20%"] * 20, "looks like a number with a unit"),
    ],
)
def test_what_looks_odd(column, message):
    frame = pd.DataFrame({"age": range(40), "sex": column})
    method = FixedOrder(hidden=(4,), epochs=1, order=("age",))
    with pytest.warns(AsklessWarning, match=message):
        untrained(groups=None, method=method).fit(frame, LABELS)
