"""Fitted policies and predictors: what a model file holds. Numpy runs them; image networks and users' own need torch.

A model file names these classes, and `askless.model_file` looks them up by `getattr` over `__all__`. A new one
needs `config()` (JSON), `arrays()` (tensors by name) and a class method `build(config, arrays)`.
"""

from askless.models.generative import GenerativePolicy
from askless.models.imagined import AnswerBook
from askless.models.marginal import MarginalPolicy
from askless.models.network import Network, NetworkFactory, NetworkLike
from askless.models.networked import NetPolicy, NetPredictor, Networked
from askless.models.oracle import OraclePolicy
from askless.models.orders import RandomOrder, Ranking
from askless.models.partial_vae import Heads, PartialVae
from askless.models.values import NetValue

__all__ = [
    "AnswerBook",
    "GenerativePolicy",
    "Heads",
    "MarginalPolicy",
    "NetPolicy",
    "NetPredictor",
    "NetValue",
    "Network",
    "NetworkFactory",
    "NetworkLike",
    "Networked",
    "OraclePolicy",
    "PartialVae",
    "RandomOrder",
    "Ranking",
]
