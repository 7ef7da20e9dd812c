"""The one fit loop: epochs, early stopping, schedules, history, checkpoints, progress. Imports torch."""

from askless.training.checkpoint import Checkpoint
from askless.training.data import Problem, Tensors, some_rows
from askless.training.loop import Learner, Phase, enough_epochs, train
from askless.training.predictor import exported_predictor, fit_predictor, with_spread
from askless.training.progress import Progress, progress_bar
from askless.training.subsets import Sampler, SubsetLearner, bernoulli_sets, prefix_sets, uniform_sets
from askless.training.threads import one_thread
from askless.training.validation import mean_loss, validation_rollout

__all__ = [
    "Checkpoint",
    "Learner",
    "Phase",
    "Problem",
    "Progress",
    "Sampler",
    "SubsetLearner",
    "Tensors",
    "bernoulli_sets",
    "enough_epochs",
    "exported_predictor",
    "fit_predictor",
    "mean_loss",
    "one_thread",
    "prefix_sets",
    "progress_bar",
    "some_rows",
    "train",
    "uniform_sets",
    "validation_rollout",
    "with_spread",
]
