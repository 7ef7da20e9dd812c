"""Stochastic gates.

`method` holds the settings, `gates` the gates and their gradients, `fitting` the path of growing penalties.
"""

from askless.methods.stochastic_gates.method import StochasticGates

__all__ = ["StochasticGates"]
