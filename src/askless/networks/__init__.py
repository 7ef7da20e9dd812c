"""Networks over partial records, as ordinary `nn.Module`s."""

from askless.networks.convolutional import ConvNetwork, conv_pair, conv_predictor
from askless.networks.masked import (
    Hidden,
    MaskedMLP,
    MaskedNetwork,
    PolicyPredictor,
    UnitDropout,
    bfloat16_is_fast,
    linear,
    masked_inputs,
)
from askless.networks.relaxation import GumbelBank, gumbel_noise, relaxed_selection
from askless.networks.served import CustomNetwork, TorchNetwork

__all__ = [
    "ConvNetwork",
    "CustomNetwork",
    "GumbelBank",
    "Hidden",
    "MaskedMLP",
    "MaskedNetwork",
    "PolicyPredictor",
    "TorchNetwork",
    "UnitDropout",
    "bfloat16_is_fast",
    "conv_pair",
    "conv_predictor",
    "gumbel_noise",
    "linear",
    "masked_inputs",
    "relaxed_selection",
]
