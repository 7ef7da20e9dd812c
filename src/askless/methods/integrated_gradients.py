"""Integrated gradients."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

from askless.methods.attribution import AttributionMethod
from askless.methods.settings import NETWORK, Number

__all__ = ["IntegratedGradients"]

AT_ONCE = 4096


@dataclass(eq=False, repr=False, kw_only=True)
class IntegratedGradients(AttributionMethod):
    """Ranks features by a network's gradients on the line from the mean row to each row.

    The method of Sundararajan, Taly and Yan, "Axiomatic Attribution for Deep Networks" (2017). One network is trained
    on all features. Each prediction's difference from the prediction for the mean training row is the integral of the
    gradient on the straight line between the two rows, with a part for each feature. The mean absolute part for the
    true class ranks them. It needs the package captum.

    Parameters
    ----------
    steps : points on the line at which the gradient is taken.
    hidden, dropout, batch_size, learning_rate, weight_decay, epochs : of the networks, as for `Greedy`.
    """

    limits = NETWORK | {"steps": Number(1, whole=True)}

    steps: int = 50

    def _attributions(self, network: nn.Sequential, inputs: Tensor, baseline: Tensor, y: Tensor | None) -> Tensor:
        model = network if y is None else nn.Sequential(*network, nn.Softmax(dim=1))
        integrated = self._captum().IntegratedGradients(model)
        target = 0 if y is None else y
        rows = max(len(inputs), AT_ONCE)  # of all the points between, which bounds the memory
        each: Tensor = integrated.attribute(
            inputs, baseline, target=target, n_steps=self.steps, internal_batch_size=rows
        )
        return each
