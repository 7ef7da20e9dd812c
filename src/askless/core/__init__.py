"""The pure core, in numpy: no training, files or network, and no torch."""

from askless.core.choice import Candidate, decide, weigh
from askless.core.costs import CostModel, Costs, Depends, Panels, PerFeature, Uniform, cost_model
from askless.core.grid import Grid
from askless.core.interview import AnswerCodec, Event, Interview
from askless.core.policy import Policy, Predictor, Task, TruthPolicy
from askless.core.precedence import Precedence
from askless.core.progress import Context, Progress
from askless.core.reference import Reference
from askless.core.rollout import Missing, askable, cases_at_once, rollout
from askless.core.schema import Feature, Part, Question, Schema
from askless.core.state import Cases, State
from askless.core.stopping import NOTHING_LEFT, MaxFeatures, StoppingRule
from askless.core.trajectory import Trajectory

__all__ = [
    "NOTHING_LEFT",
    "AnswerCodec",
    "Candidate",
    "Cases",
    "Context",
    "CostModel",
    "Costs",
    "Depends",
    "Event",
    "Feature",
    "Grid",
    "Interview",
    "MaxFeatures",
    "Missing",
    "Panels",
    "Part",
    "PerFeature",
    "Policy",
    "Precedence",
    "Predictor",
    "Progress",
    "Question",
    "Reference",
    "Schema",
    "State",
    "StoppingRule",
    "Task",
    "Trajectory",
    "TruthPolicy",
    "Uniform",
    "askable",
    "cases_at_once",
    "cost_model",
    "decide",
    "rollout",
    "weigh",
]
