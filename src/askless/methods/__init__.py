"""Methods: what turns training data into a policy and a predictor. One file each; they do not know one another.

A new method is one file and one line here; the checks, the command line and the estimators then see it.
"""

from askless.methods.all_features import AllFeatures
from askless.methods.attribution import Deeplift, IntegratedGradients
from askless.methods.auto import Auto
from askless.methods.base import Fitted, Method, find_method, list_methods
from askless.methods.center_crop import CenterCrop
from askless.methods.cmi_marginal import CmiMarginal
from askless.methods.cmi_pvae import CmiPvae
from askless.methods.concrete_autoencoder import ConcreteAutoencoder
from askless.methods.fixed_order import FixedOrder
from askless.methods.forward_selection import ForwardSelection
from askless.methods.greedy import Greedy
from askless.methods.lassonet import Lassonet
from askless.methods.mutual_information import MutualInformation
from askless.methods.opportunistic import Opportunistic
from askless.methods.oracle_order import OracleOrder
from askless.methods.permutation import Permutation
from askless.methods.random import Random
from askless.methods.sage import Sage
from askless.methods.stochastic_gates import StochasticGates
from askless.methods.value import Value

__all__ = [
    "AllFeatures",
    "Auto",
    "CenterCrop",
    "CmiMarginal",
    "CmiPvae",
    "ConcreteAutoencoder",
    "Deeplift",
    "Fitted",
    "FixedOrder",
    "ForwardSelection",
    "Greedy",
    "IntegratedGradients",
    "Lassonet",
    "Method",
    "MutualInformation",
    "Opportunistic",
    "OracleOrder",
    "Permutation",
    "Random",
    "Sage",
    "StochasticGates",
    "Value",
    "find_method",
    "list_methods",
]
