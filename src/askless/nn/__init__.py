"""Networks over partial records, the Concrete relaxation, and noise that is drawn once. Imports torch."""

from askless.nn.concrete import relaxed_selection
from askless.nn.masked import MaskedMLP, MaskedTrunk, PolicyPredictor
from askless.nn.noise import NoiseBank, gumbel_noise

__all__ = ["MaskedMLP", "MaskedTrunk", "NoiseBank", "PolicyPredictor", "gumbel_noise", "relaxed_selection"]
