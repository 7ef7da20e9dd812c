"""The pure core: no training, files or network, and no torch. Everything here follows the array API standard."""

from askless.core.arrays import Array
from askless.core.choice import decide
from askless.core.costs import CostModel, PerFeature, Uniform, cost_model
from askless.core.grid import Grid
from askless.core.interview import AnswerCodec, Event, Interview, Question
from askless.core.protocols import Policy, Predictor, TruthPolicy
from askless.core.rollout import Missing, askable, rollout
from askless.core.schema import Feature, Part, Schema
from askless.core.state import Cases, State
from askless.core.stopping import NOTHING_LEFT, MaxFeatures, Progress, StoppingRule
from askless.core.trajectory import Trajectory

__all__ = [
    "NOTHING_LEFT",
    "AnswerCodec",
    "Array",
    "Cases",
    "CostModel",
    "Event",
    "Feature",
    "Grid",
    "Interview",
    "MaxFeatures",
    "Missing",
    "Part",
    "PerFeature",
    "Policy",
    "Predictor",
    "Progress",
    "Question",
    "Schema",
    "State",
    "StoppingRule",
    "Trajectory",
    "TruthPolicy",
    "Uniform",
    "askable",
    "cost_model",
    "decide",
    "rollout",
]
