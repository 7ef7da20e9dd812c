"""Networks that are served by torch, built again from a model file."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from askless.acquisition import Grid
from askless.exceptions import ModelFileError, ParameterError
from askless.models import NetworkFactory
from askless.networks.convolutional import SIZES, ClassHead, Normalised, PatchHead, Trunk, conv_network
from askless.networks.served import CustomNetwork, ServedByTorch, TorchNetwork

__all__ = ["stored_network", "unfolded_network"]


def stored_network(
    description: dict[str, Any], arrays: dict[str, np.ndarray], factory: NetworkFactory | None
) -> TorchNetwork:
    """The network that the description and the arrays came from; `factory` makes the module of a user's own."""
    if not all(array.dtype.kind in "fib" for array in arrays.values()):
        raise ValueError("a network's weights are numbers")
    state = {name: torch.tensor(array) for name, array in arrays.items()}
    with torch.random.fork_rng(devices=[]):  # initial weights are replaced
        network = _built(description, state, factory)
    return TorchNetwork(network.eval())


def _built(description: dict[str, Any], state: dict[str, Tensor], factory: NetworkFactory | None) -> ServedByTorch:
    """The network with its weights."""
    if description["kind"] == "convolutional":
        if description["size"] not in SIZES:
            raise ValueError(f"there is no network {description['size']!r}")
        grid, outputs = Grid(**description["grid"]), description["outputs"]
        network = conv_network(grid, description["size"], outputs if description["head"] == "classes" else None)
        if network.description() != description:
            raise ValueError(f"the network is described as {description!r}")
        network.load_state_dict(state)
        return network
    if description["kind"] != "custom":
        raise ValueError(f"there is no network of the kind {description['kind']!r}")
    if factory is None:
        raise ModelFileError(
            "required",
            "the file holds the weights of a network of your own. Pass the function that makes it, the one that was "
            "given to the method: askless.load(path, network=...)",
            name="network",
        )
    try:
        custom = CustomNetwork(factory, _column_feature(state), description["outputs"])
    except ParameterError as error:
        raise ModelFileError(error.code, error.message, **error.fields) from error
    try:
        custom.load_state_dict(state)
    except RuntimeError as error:
        raise ModelFileError(
            "wrong_shape",
            f"the weights in the file are of another network than the one that `network` makes: {error}",
            name="network",
        ) from error
    return custom


def _column_feature(state: dict[str, Tensor]) -> Tensor:
    """(columns,) which feature each column belongs to, if it can be."""
    found = state["column_feature"]
    steps = found.diff() if found.ndim == 1 and len(found) and found.dtype == torch.int64 else None
    if steps is None or int(found[0]) != 0 or not bool(((steps == 0) | (steps == 1)).all()):
        raise ValueError("the features of the columns are not consecutive")
    return found


def unfolded_network(
    old: dict[str, Any], trunk: dict[str, np.ndarray], head: dict[str, np.ndarray]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The description and the arrays of an image network whose normalisation was folded into its convolutions.

    Formats 1 and 2 held such networks. A folded convolution is one with a normalisation that changes nothing.
    """
    grid, n_classes = Grid(**old["grid"]), len(head["bias"]) if old["head"] == "classes" else None
    found = (conv_network(grid, size, n_classes) for size in SIZES)
    network = next((network for network in found if _looks_like(network.trunk, old, trunk)), None)
    if network is None:
        raise ValueError("the file holds an image network that this version does not have")
    with torch.no_grad():
        for name, convolution in _convolutions(network.trunk).items():
            _unfold(convolution, trunk[f"{name}.weight"], trunk[f"{name}.bias"])
        _unfold_head(network.head, head)
    return network.description(), TorchNetwork(network).arrays()


def _convolutions(trunk: Trunk) -> dict[str, Normalised]:
    """The convolutions of a trunk by their old names."""
    parts = {"stem": trunk.stem}
    for i, block in enumerate(trunk.blocks):
        parts |= {f"{i}.first": block.first, f"{i}.second": block.second}
        parts |= {} if block.shortcut is None else {f"{i}.shortcut": block.shortcut}
    return parts


def _looks_like(trunk: Trunk, old: dict[str, Any], arrays: dict[str, np.ndarray]) -> bool:
    """Whether a trunk has the shape that the old description and arrays tell."""
    blocks = [[block.first.stride, block.shortcut is not None] for block in trunk.blocks]
    same = [trunk.stem.stride, trunk.stem.kernel, blocks] == [old["stem"], old["kernel"], old["blocks"]]
    return same and len(arrays["stem.bias"]) == len(trunk.stem.weight)


def _unfold(part: Normalised, weight: np.ndarray, bias: np.ndarray) -> None:
    """Take over a convolution (kernel * kernel * inputs, outputs) and its bias (outputs,)."""
    outputs, inputs, kernel, _ = part.weight.shape
    part.weight.copy_(torch.tensor(weight).reshape(kernel, kernel, inputs, outputs).permute(3, 2, 0, 1))
    _only_add(part.norm, bias)


def _unfold_head(part: ClassHead | PatchHead, arrays: dict[str, np.ndarray]) -> None:
    """Take over the weights of a head."""
    weight, bias = torch.tensor(arrays["weight"]), torch.tensor(arrays["bias"])
    if isinstance(part, PatchHead):
        width, hidden, factor, _ = part.up.shape
        part.up.copy_(torch.tensor(arrays["up_weight"]).reshape(width, factor, factor, hidden).permute(0, 3, 1, 2))
        _only_add(part.norm, arrays["up_bias"])
    part.weight.copy_(weight.t().reshape(part.weight.shape))
    part.bias.copy_(bias)


def _only_add(norm: nn.BatchNorm2d, bias: np.ndarray) -> None:
    """Let a normalisation do nothing but add a bias (channels,)."""
    norm.reset_running_stats()
    norm.weight.fill_((1.0 + norm.eps) ** 0.5)
    norm.bias.copy_(torch.tensor(bias))
