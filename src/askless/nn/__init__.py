"""Networks over partial records, the Concrete relaxation, and noise that is drawn once. Imports torch.

Gradients are written out rather than left to autograd: a pass through a network knows its own way back.
"""

from askless.nn.concrete import relaxed_gradient, relaxed_selection
from askless.nn.layers import Dropout, Layers, Pass
from askless.nn.masked import Layout, MaskedMLP, PolicyPredictor, mask_gradient, masked_inputs
from askless.nn.noise import GumbelBank, gumbel_noise

__all__ = [
    "Dropout",
    "GumbelBank",
    "Layers",
    "Layout",
    "MaskedMLP",
    "Pass",
    "PolicyPredictor",
    "gumbel_noise",
    "mask_gradient",
    "masked_inputs",
    "relaxed_gradient",
    "relaxed_selection",
]
