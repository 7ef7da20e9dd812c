"""Small fits give the same questions and predictions as before.

A change that is not meant to change results must leave this test green. After a change that is meant to:

    python tests/test_consistency.py        writes tests/consistency.json anew; say in the commit why results changed
"""

import json
from pathlib import Path

import numpy as np
import pytest

from askless import DynamicClassifier, DynamicRegressor
from askless.datasets import load_dataset

STORED = Path(__file__).with_name("consistency.json")
SMALL = {"hidden": (16,), "batch_size": 64}
EPOCHS = {"pretrain_epochs": 3, "epochs": 3}
CASES = {
    "greedy": {**SMALL, **EPOCHS},
    "greedy, regression": {**SMALL, **EPOCHS},
    "greedy, costs": {**SMALL, **EPOCHS},
    "value": {**SMALL, **EPOCHS},
    "value, regression": {**SMALL, **EPOCHS},
    "opportunistic": {**SMALL, "epochs": 2},
    "concrete_autoencoder": {**SMALL, **EPOCHS, "select_epochs": 4},
    "stochastic_gates": {**SMALL, "stages": 2, "stage_epochs": 2},
    "cmi_pvae": {**SMALL, "vae_epochs": 2},
    "cmi_marginal": {**SMALL, "epochs": 3},
    "forward_selection": {**SMALL, "iterations": 2, "epochs": 3},
    "mutual_information": {**SMALL, "epochs": 3},
    "permutation": {**SMALL, "epochs": 3},
    "random": {**SMALL, "epochs": 3},
}
ROWS = 300  # the last 5 are asked


def fitted(case):
    """The model of a case, and the rows that it is asked for."""
    name, _, variant = case.partition(", ")
    regression = variant == "regression"
    data = load_dataset("diabetes") if regression else load_dataset("triage", n=ROWS)
    costs = data.costs if variant == "costs" else None
    kind = DynamicRegressor if regression else DynamicClassifier
    model = kind(max_features=4, method=name, groups=data.groups, costs=costs, random_state=0)
    known = model.set_params(method=_method(name)).method.get_params()
    model.set_params(**{f"method__{key}": value for key, value in CASES[case].items() if key in known})
    X, y = data.frame[:ROWS], data.target[:ROWS]
    return model.fit(X[:-5], y[:-5]), X[-5:]


def _method(name):
    from askless.methods import list_methods

    return list_methods()[name]()


def outcome(case):
    """What is compared: the features asked and the predictions after each answer."""
    model, X = fitted(case)
    t = model.rollout(X)
    return {"order": t.order.tolist(), "predictions": np.round(t.predictions, 5).tolist()}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore")
def test_results_are_as_before(case):
    stored, now = json.loads(STORED.read_text())[case], outcome(case)
    hint = "if the change is meant, run: python tests/test_consistency.py"
    assert now["order"] == stored["order"], hint
    np.testing.assert_allclose(now["predictions"], stored["predictions"], rtol=1e-3, atol=1e-3, err_msg=hint)


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    STORED.write_text(json.dumps({case: outcome(case) for case in CASES}) + "\n")
