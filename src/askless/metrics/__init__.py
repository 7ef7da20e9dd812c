"""How good predictions are, and how good they are after each answer.

A metric is a function of the truth and the predictions. It says which `task` it is for, its `label` in a
figure, and whether `greater_is_better`. Classes are given as codes 0..K-1 and predicted as (n, K)
probabilities; of two classes the second one's alone, (n,) or (n, 1), will do. A regression predicts (n,) or
(n, 1).

>>> accuracy([0, 1, 1], [0.2, 0.9, 0.6]), accuracy.label, accuracy.task
(1.0, 'accuracy', 'classification')
"""

from askless.metrics.curves import curve, metric, usual_metric
from askless.metrics.scores import Metric, accuracy, auroc, brier, log_loss, mae, r2, rmse

__all__ = ["Metric", "accuracy", "auroc", "brier", "curve", "log_loss", "mae", "metric", "r2", "rmse", "usual_metric"]
