"""What the figures are given, checked: errors say what it is, and what to give instead."""

from __future__ import annotations

from operator import index
from typing import Any

from askless.acquisition.grid import Grid
from askless.acquisition.trajectory import Trajectory
from askless.exceptions import ParameterError

__all__ = ["check_grid", "check_trajectory", "is_regression", "whole_numbers"]


def check_trajectory(given: object) -> None:
    """Refuse what is no trajectory, such as the model that makes one."""
    if not isinstance(given, Trajectory):
        raise ParameterError(
            "wrong_type",
            f"trajectory must be a trajectory, such as model.rollout(X), not a {type(given).__name__}",
            name="trajectory",
            value=given,
        )


def check_grid(grid: object, trajectory: Trajectory) -> None:
    """Refuse what is no grid, or the grid of other images than the trajectory's."""
    if not isinstance(grid, Grid):
        what = "None" if grid is None else f"a {type(grid).__name__}"
        raise ParameterError(
            "wrong_type",
            f"grid must be that of a model of images, model.schema_.grid, not {what} (a model of a table has none)",
            name="grid",
            value=grid,
        )
    last = int(trajectory.order.max(initial=-1))
    if last >= grid.n_patches:
        raise ParameterError(
            "wrong_shape",
            f"grid has the patches 0 to {grid.n_patches - 1}, but the trajectory asked for {last}; use the grid of "
            "the same model",
            name="grid",
            value=last,
            high=grid.n_patches - 1,
        )


def whole_numbers(name: str, given: Any, what: str) -> list[int]:
    """The argument of that name as integers, where `what` says what they count.

    >>> whole_numbers("rows", range(2), "places of cases")
    [0, 1]
    """
    try:
        return [index(number) for number in given]
    except TypeError:
        raise ParameterError(
            "wrong_type", f"{name} must be a list of integers, {what}, not {given!r}", name=name, value=given
        ) from None


def is_regression(trajectory: Trajectory) -> bool:
    """Whether a mean is predicted, not classes."""
    return trajectory.predictions.shape[2] == 1 and trajectory.outputs in ((), ("mean",))
