"""The pure core, in numpy: no training, files or network, and no torch."""

from askless.core.candidates import Candidate
from askless.core.choice import decide, weigh
from askless.core.costs import CostModel, Costs, Depends, Panels, PerFeature, Uniform, cost_model
from askless.core.events import AnswerCodec, Event, Question
from askless.core.grid import Grid
from askless.core.interview import Interview
from askless.core.precedence import Precedence
from askless.core.progress import Asker, Progress
from askless.core.protocols import Policy, Predictor, Task, TruthPolicy
from askless.core.reference import Reference
from askless.core.rollout import Missing, askable, cases_at_once, rollout
from askless.core.schema import Feature, Part, Schema
from askless.core.state import Cases, State
from askless.core.stopping import NOTHING_LEFT, MaxFeatures, StoppingRule
from askless.core.trajectory import Trajectory

__all__ = [
    "NOTHING_LEFT",
    "AnswerCodec",
    "Asker",
    "Candidate",
    "Cases",
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
