"""Networks over partial records, the Concrete relaxation, and noise that is drawn once. Imports torch.

Learners chain passes by hand, each of which knows its own way back. Through dense layers gradients are written out,
which at these sizes is faster; convolutions leave them to autograd.
"""

from askless.nn.base import Layout, MaskedNet, PolicyPredictor, Run, mask_gradient, masked_inputs
from askless.nn.concrete import relaxed_gradient, relaxed_selection
from askless.nn.convolutional import ConvNet, conv_pair, conv_predictor
from askless.nn.layers import Dropout, Layers, Pass
from askless.nn.masked import MaskedMLP, mlp_pair
from askless.nn.noise import GumbelBank, gumbel_noise

__all__ = [
    "ConvNet",
    "Dropout",
    "GumbelBank",
    "Layers",
    "Layout",
    "MaskedMLP",
    "MaskedNet",
    "Pass",
    "PolicyPredictor",
    "Run",
    "conv_pair",
    "conv_predictor",
    "gumbel_noise",
    "mask_gradient",
    "masked_inputs",
    "mlp_pair",
    "relaxed_gradient",
    "relaxed_selection",
]
