"""What users write as `method=`, and what they are told."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from askless import DynamicClassifier, DynamicRegressor
from askless.methods import FixedOrder, MutualInformation, Permutation, Sage

X = np.random.default_rng(0).normal(size=(60, 3))
y = (X[:, 1] > 0).astype(int)


def test_settings_of_a_method_that_was_given_by_name_can_be_searched():
    model = DynamicClassifier(2, method="mutual_information")
    search = GridSearchCV(model, {"method__bins": [4, 8], "method__epochs": [1]}, cv=2, error_score="raise").fit(X, y)
    assert isinstance(search.best_estimator_.method, MutualInformation)
    assert search.best_params_["method__bins"] in (4, 8)


def test_a_class_is_no_method():
    with pytest.raises(ValueError, match=r"class.*Sage\(\)"):
        DynamicClassifier(2, method=Sage).fit(X, y)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (FixedOrder(order="x1"), "order.*'x1'"),
        (FixedOrder(order=5), "order.*5"),
        (Permutation(metric=3), "metric.*3"),
        (Sage(samples=-3), "samples.*-3"),
    ],
)
def test_settings_are_refused_before_the_table_is_looked_at(method, message):
    with pytest.raises(ValueError, match=message):
        DynamicClassifier(2, method=method).fit("no table at all", y)


def test_a_metric_of_the_other_task_is_refused():
    model = DynamicRegressor(2, method=FixedOrder(epochs=1, hidden=(8,))).fit(X, X[:, 0] + X[:, 1])
    with pytest.raises(ValueError, match=r"'auroc'.*classification.*regression"):
        model.curve(X, X[:, 0], metric="auroc")
