"""Asking for features, in numpy: no training, files or network, and no torch."""

from askless.acquisition.choice import Candidate, decide, weigh
from askless.acquisition.costs import CostModel, Costs, Depends, Panels, PerFeature, Uniform, cost_model
from askless.acquisition.interview import AnswerCodec, Event, Interview
from askless.acquisition.policy import Policy, Predictor, Task, TruthPolicy
from askless.acquisition.progress import Context, Progress
from askless.acquisition.reference import Reference
from askless.acquisition.rollout import Missing, askable, cases_at_once, rollout
from askless.acquisition.schema import Feature, Grid, Part, Precedence, Question, Schema
from askless.acquisition.state import Cases, State
from askless.acquisition.stopping import NOTHING_LEFT, MaxFeatures, StoppingRule
from askless.acquisition.trajectory import Trajectory

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
