"""scikit-learn's own checks, for both estimators."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from askless import DynamicClassifier, DynamicRegressor
from askless.methods import Greedy

# Where the estimators deviate on purpose.
DEVIATIONS = {
    "check_methods_sample_order_invariance": "float32: sums in another order differ in the seventh digit",
    "check_methods_subset_invariance": "float32: sums in another order differ in the seventh digit",
}

QUICK = Greedy(hidden=(32, 32), epochs=40, pretrain_epochs=20)


@pytest.mark.filterwarnings("ignore:training has:askless.exceptions.AsklessWarning")  # many checks fit 20 rows
@parametrize_with_checks(
    [DynamicClassifier(method=QUICK), DynamicRegressor(method=QUICK)],
    expected_failed_checks=lambda estimator: DEVIATIONS,
)
def test_scikit_learn(estimator, check):
    check(estimator)
