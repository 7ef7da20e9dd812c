"""A user's own module as a network over partial records."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from askless.exceptions import ParameterError
from askless.models import NetworkFactory
from askless.networks.served import ServedByTorch

__all__ = ["CustomNetwork"]

TRIED_ROWS = 2


class CustomNetwork(ServedByTorch):
    """The module of a user's function, for these columns and features.

    The module's `forward(values, mask)` takes values (b, columns), 0 where they are unknown, and the mask
    (b, features) of what is known, and returns (b, outputs). In training the mask has numbers between 0 and 1.
    """

    def __init__(self, factory: NetworkFactory, column_feature: Tensor, n_outputs: int) -> None:
        super().__init__(column_feature, n_outputs)
        self.register_buffer("column_feature", column_feature)  # a file holds it
        self.factory = factory
        self.module = self._tried_out(factory(self.n_columns, self.n_features, n_outputs))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """(b, outputs)."""
        return self.module(x * mask.index_select(1, self.column_feature), mask)

    def description(self) -> dict[str, Any]:
        """That the module is a user's own."""
        return {"kind": "custom", "outputs": self.n_outputs}

    @torch.no_grad()
    def _tried_out(self, module: Any) -> nn.Module:
        """The module, if its outputs have the right shape."""
        if not isinstance(module, nn.Module):
            raise ParameterError(
                "wrong_type",
                f"the function given as `network` must return an nn.Module, not {module!r}",
                name="network",
                value=module,
            )
        module.eval()
        found = module(torch.zeros(TRIED_ROWS, self.n_columns), torch.zeros(TRIED_ROWS, self.n_features))
        module.train()
        shape, expected = getattr(found, "shape", None), (TRIED_ROWS, self.n_outputs)
        if shape != expected:
            raise ParameterError(
                "wrong_shape",
                f"for values ({TRIED_ROWS}, {self.n_columns}) and a mask ({TRIED_ROWS}, {self.n_features}) the "
                f"module of `network` must return a tensor of shape {expected}, not {type(found).__name__} of shape "
                f"{None if shape is None else tuple(shape)}",
                name="network",
                expected=expected,
            )
        return module
