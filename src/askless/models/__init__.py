"""Fitted policies and predictors: what a model file holds. Numpy runs them; image networks and users' own need torch.

A model file names these classes, and `askless.model_file` looks them up by `getattr` over `__all__`. A new one
needs `config()` (JSON), `arrays()` (tensors by name) and a class method `build(config, arrays)`.
"""

from askless.models.ensemble import BlendedPredictor, Forests, MeanPolicy
from askless.models.generative import GenerativePolicy, Heads, PartialVae
from askless.models.imagined import AnswerBook, MarginalPolicy
from askless.models.network import NetPolicy, NetPredictor, Network, Networked, NetworkFactory, NetworkLike
from askless.models.policies import NetValue, OraclePolicy, RandomOrder, Ranking

__all__ = [
    "AnswerBook",
    "BlendedPredictor",
    "Forests",
    "GenerativePolicy",
    "Heads",
    "MarginalPolicy",
    "MeanPolicy",
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
