"""Fitted policies and predictors: what a model file holds. Numpy is enough to run them; torch is not needed.

A model file names these classes, and `askless.persistence` looks them up by `getattr` over `__all__`. A new one
needs `config()` (JSON), `arrays()` (tensors by name) and a class method `build(config, arrays)`.
"""

from askless.models.convolutional import ConvNetwork
from askless.models.generative import GenerativePolicy
from askless.models.imagined import AnswerBook
from askless.models.marginal import MarginalPolicy
from askless.models.network import Network, NetworkLike
from askless.models.networked import NetPolicy, NetPredictor
from askless.models.oracle import OraclePolicy
from askless.models.orders import RandomOrder, Ranking
from askless.models.partial_vae import Heads, PartialVae
from askless.models.values import NetValue

__all__ = [
    "AnswerBook",
    "ConvNetwork",
    "GenerativePolicy",
    "Heads",
    "MarginalPolicy",
    "NetPolicy",
    "NetPredictor",
    "NetValue",
    "Network",
    "NetworkLike",
    "OraclePolicy",
    "PartialVae",
    "RandomOrder",
    "Ranking",
]
