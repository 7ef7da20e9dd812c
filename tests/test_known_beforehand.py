"""Any features may be known before the first question: predictions stay close to the exact posterior."""

import numpy as np

from askless import DynamicClassifier
from askless.datasets import load_dataset, triage_posterior
from askless.methods import Greedy
from askless.metrics import log_loss


def test_one_feature_known_beforehand():
    train = load_dataset("triage", n=4000, random_state=0)
    test = load_dataset("triage", n=2000, random_state=1)
    method = Greedy(hidden=(64, 64), epochs=20, pretrain_epochs=15)
    model = DynamicClassifier(max_features=5, method=method, groups=train.groups).fit(train.frame, train.target)
    y = np.searchsorted(model.classes_, test.target)
    lost = []
    for feature in model.schema_.features:
        told = model.rollout(test.frame, known=[feature.name], max_features=1).at(0)
        exact = triage_posterior(test.frame[[part.name for part in feature.parts]]).to_numpy()
        lost.append(log_loss(y, told) - log_loss(y, exact))
    assert np.mean(lost) < 0.02
    assert max(lost) < 0.05
