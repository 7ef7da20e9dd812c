"""The one fit loop: epochs, early stopping, schedules, history, checkpoints, progress. Imports torch."""

from askless.training.calibration import calibrated
from askless.training.chain_learner import ChainLearner, first_question
from askless.training.chains import Chains, States, epoch_batches
from askless.training.checkpoint import Checkpoint, finished
from askless.training.loop import Learner, Phase, Row, diverged, enough_epochs, seeded, train
from askless.training.predictor import (
    NetSettings,
    chain_work,
    enough_for_policy,
    exported_predictor,
    new_policy_predictor,
    new_predictor,
    polishing,
    pretraining,
    seldom_validated,
    train_predictor,
    training_summary,
)
from askless.training.prices import gain_per_price, paid_sets, price_rates, some_prices, static_rates
from askless.training.problem import Problem, Rows, some_rows
from askless.training.progress import Progress, progress_bar
from askless.training.subsets import (
    Sampler,
    SubsetLearner,
    bernoulli_sets,
    full_sets,
    mixed_sets,
    prefix_sets,
    uniform_sets,
)
from askless.training.threads import fit_threads, one_thread
from askless.training.validation import validation_loss, validation_rollout

__all__ = [
    "ChainLearner",
    "Chains",
    "Checkpoint",
    "Learner",
    "NetSettings",
    "Phase",
    "Problem",
    "Progress",
    "Row",
    "Rows",
    "Sampler",
    "States",
    "SubsetLearner",
    "bernoulli_sets",
    "calibrated",
    "chain_work",
    "diverged",
    "enough_epochs",
    "enough_for_policy",
    "epoch_batches",
    "exported_predictor",
    "finished",
    "first_question",
    "fit_threads",
    "full_sets",
    "gain_per_price",
    "mixed_sets",
    "new_policy_predictor",
    "new_predictor",
    "one_thread",
    "paid_sets",
    "polishing",
    "prefix_sets",
    "pretraining",
    "price_rates",
    "progress_bar",
    "seeded",
    "seldom_validated",
    "some_prices",
    "some_rows",
    "static_rates",
    "train",
    "train_predictor",
    "training_summary",
    "uniform_sets",
    "validation_loss",
    "validation_rollout",
]
