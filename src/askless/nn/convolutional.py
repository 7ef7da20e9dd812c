"""Residual convolutional networks over partial images.

They are trained on a device of the user's choice. Inputs go there and outputs and gradients come back within a pass,
so that learners, which chain passes by hand, need not know.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import torch
from torch import Tensor

from askless.core import Grid
from askless.core.state import Answer, State
from askless.exceptions import ParameterError
from askless.models import ConvNetwork, NetworkLike
from askless.nn.base import MaskedNet, PolicyPredictor
from askless.nn.products import sixteen_bits
from askless.nn.residual import SIZES, ClassHead, PatchHead, Trunk

__all__ = ["ConvNet", "ConvPass", "LiveConv", "SharedConv", "conv_pair", "conv_predictor"]

AT_ONCE = 128  # rows that are evaluated together, whose maps stay in the processor's cache
AT_ONCE_ON_GPU = 4096


def conv_predictor(grid: Grid, n_outputs: int, size: str, generator: torch.Generator, device: str = "cpu") -> ConvNet:
    """A convolutional network for predictions."""
    trunk = Trunk(grid, SIZES[size], generator)
    return ConvNet(grid, trunk, ClassHead(trunk.width, n_outputs, generator)).to(chosen_device(device))


def conv_pair(
    grid: Grid, n_outputs: int, size: str, *, shared: bool, generator: torch.Generator, device: str = "cpu"
) -> PolicyPredictor:
    """Convolutional networks for a policy and a predictor."""
    predictor = conv_predictor(grid, n_outputs, size, generator, device)
    trunk = predictor.trunk if shared else Trunk(grid, SIZES[size], generator)
    policy = ConvNet(grid, trunk, PatchHead(trunk, grid, generator)).to(chosen_device(device))
    return SharedConv(predictor, policy) if shared else PolicyPredictor(predictor, policy)


def chosen_device(name: str) -> torch.device:
    """The device of that name, if torch has it; "auto" is the first of CUDA, MPS and the processor that it has."""
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(device for device, available in there.items() if available))
    if not there[name]:
        raise ParameterError(
            "not_supported",
            f"device is {name!r}, but torch finds no such device on this machine",
            name="device",
            value=name,
        )
    return torch.device(name)


class ConvNet(MaskedNet):
    """A trunk over masked pixels and the mask, and a head."""

    first_trials = 1 << 16  # an evaluation costs a thousand times that of a small dense network

    def __init__(self, grid: Grid, trunk: Trunk, head: ClassHead | PatchHead) -> None:
        super().__init__()
        self.grid, self.n_columns = grid, grid.n_columns
        self.trunk, self.head = trunk, head

    @property
    def device(self) -> torch.device:
        """Where it lives."""
        return next(self.parameters()).device

    def forward(self, inputs: Tensor, dropout: Any = None, *, to_inputs: bool = False) -> ConvPass:
        """A training pass; batch normalisation stands in for dropout."""
        self.train()
        return ConvPass(self, inputs, to_inputs=to_inputs)

    def evaluated(self, inputs: Tensor) -> Tensor:
        """(b, outputs) by the running statistics of the normalisation."""
        return self._evaluated(inputs, training=False)

    def roughly(self, inputs: Tensor) -> Tensor:
        """(b, outputs) as `evaluated`, in sixteen bits where training is: half the time."""
        return self._evaluated(inputs, training=True)

    def _evaluated(self, inputs: Tensor, *, training: bool) -> Tensor:
        maps = self.maps(inputs, training=training)
        return torch.cat([self.headed(part, training=training).to(inputs.dtype) for part in maps]).cpu()

    @torch.no_grad()
    def maps(self, inputs: Tensor, *, training: bool = False) -> list[Tensor]:
        """The trunk's maps (some, width, rows, columns) of some rows after another, in use."""
        self.eval()
        runs = torch.split(inputs, AT_ONCE if self.device.type == "cpu" else AT_ONCE_ON_GPU)
        with self.precision(training=training):
            return [self.trunk(self.pixels(run.to(self.device))) for run in runs]

    @torch.no_grad()
    def headed(self, h: Tensor, *, training: bool = False) -> Tensor:
        """(some, outputs) from a map, in use."""
        self.eval()
        with self.precision(training=training):
            outputs: Tensor = self.head(h)
        return outputs

    def computed(self, inputs: Tensor, *heads: ClassHead | PatchHead) -> list[Tensor]:
        """(b, outputs) of each head on this trunk, on the device, with autograd, in the mode that is set."""
        with self.precision(training=True):
            h = self.trunk(self.pixels(inputs))
            return [head(h).to(inputs.dtype) for head in heads]  # sixteen bits are too few for a loss

    def pixels(self, inputs: Tensor) -> Tensor:
        """(b, channels + 1, height, width) from what `masked_inputs` made; in memory the channels come last."""
        values = self.grid.to_pixels(inputs[:, : self.n_columns])
        mask = self.grid.upsample(inputs[:, self.n_columns :])
        return torch.cat([values, mask[..., None]], dim=3).permute(0, 3, 1, 2)

    def precision(self, *, training: bool = False) -> Any:
        """Sixteen bits on a GPU that has them without the narrow range of halves, else as it is.

        On a processor that has them only training is in sixteen bits, for saved models run in single precision; and
        only on one thread, the default: on two, torch 2.13 spoils memory on the way back through few images.
        """
        device = self.device.type
        if device == "cuda":
            supported = torch.cuda.is_bf16_supported()
        else:
            supported = device == "cpu" and training and sixteen_bits() and torch.get_num_threads() == 1
        return torch.autocast(device, torch.bfloat16) if supported else nullcontext()

    def network(self) -> ConvNetwork:
        """The same network for the torch-free runtime; it keeps the weights of this moment."""
        kind = "classes" if isinstance(self.head, ClassHead) else "patches"
        return ConvNetwork(self.trunk.exported(self.grid), kind, self.head.arrays())

    def live(self) -> NetworkLike:
        """The module itself, which is faster than numpy."""
        return LiveConv(self)


class ConvPass:
    """One pass in training, to one head or several, and its way back by autograd."""

    def __init__(
        self, net: ConvNet, inputs: Tensor, *other_heads: ClassHead | PatchHead, to_inputs: bool = False
    ) -> None:
        self._leaf = inputs.detach().to(net.device).requires_grad_(to_inputs)  # which costs time
        with torch.enable_grad():
            self._computed = net.computed(self._leaf, net.head, *other_heads)
        self.outputs = self._computed[0].detach().cpu()  # (b, outputs)
        # (b, outputs) the gradients of the other heads: none, unless somebody gives them
        self._others = [torch.zeros_like(other) for other in self._computed[1:]]

    def backward(self, gradient: Tensor) -> Tensor:
        """Add the gradients of a loss to the parameters'; returns that of the inputs (b, inputs), if it is wanted."""
        gradients = [g.to(self._leaf.device) for g in (gradient, *self._others)]
        torch.autograd.backward(self._computed, gradients)
        return gradient if self._leaf.grad is None else self._leaf.grad.cpu()

    def input_gradient(self, g: Tensor) -> Tensor:
        """(b, inputs) what `backward` returned."""
        assert self._leaf.requires_grad
        return g


class TwofoldConvPass(ConvPass):
    """One pass in training through a shared trunk, to the policy's head and the predictor's."""

    def __init__(self, pair: SharedConv, inputs: Tensor) -> None:
        super().__init__(pair.policy, inputs, pair.predictor.head)
        self.predictions = self._computed[1].detach().cpu()  # (b, outputs)

    def teach(self, gradient: Tensor) -> None:
        """Let `backward`, which is to follow, take the predictor's gradient (b, outputs) along."""
        self._others = [gradient]


class SharedConv(PolicyPredictor):
    """A policy and a predictor on one trunk."""

    predictor: ConvNet
    policy: ConvNet

    def twofold(self, inputs: Tensor) -> TwofoldConvPass:
        """A training pass through the trunk to both heads."""
        self.train()
        return TwofoldConvPass(self, inputs)


class LiveConv:
    """A convolutional network that answers as its exported self would, while it is trained."""

    def __init__(self, net: ConvNet) -> None:
        self.net = net

    def outputs(self, state: State) -> np.ndarray:
        """(n, outputs), or (outputs,) for a single case."""
        parts = [self.net.headed(part) for part in self._of(state)]
        return _alone(torch.cat(parts).float().cpu().numpy(), state)

    def _of(self, state: State) -> list[Tensor]:
        """The trunk's maps, which the state's memo keeps: another network may stand on the same trunk."""
        if self.net.trunk not in state.memo:
            state.memo[self.net.trunk] = self._maps(state.x, state.known)
        maps: list[Tensor] = state.memo[self.net.trunk]
        return maps

    def _maps(self, x: np.ndarray, known: np.ndarray) -> list[Tensor]:
        inputs = np.concatenate([x, known.astype(x.dtype)], axis=1)
        return self.net.maps(torch.from_numpy(inputs))

    @property
    def n_features(self) -> int:
        """How many patches there are."""
        return self.net.grid.n_patches

    @property
    def n_outputs(self) -> int:
        """How many outputs there are."""
        return self.net.network().n_outputs

    def config(self) -> dict[str, Any]:
        """That of the exported network."""
        return self.net.network().config()

    def arrays(self) -> dict[str, np.ndarray]:
        """Those of the exported network."""
        return self.net.network().arrays()


def _alone(outputs: np.ndarray, state: State) -> np.ndarray:
    return outputs[0] if type(state.told) is Answer or len(state) == 1 else outputs
