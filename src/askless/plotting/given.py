"""What the figures are given, checked: errors say what it is, and what to give instead."""

from __future__ import annotations

from operator import index
from typing import Any

from askless.core.grid import Grid
from askless.core.trajectory import Trajectory
from askless.exceptions import ParameterError

__all__ = ["check_grid", "check_trajectory", "is_regression", "whole_numbers"]


def check_trajectory(given: object) -> None:
    """Refuse what is no trajectory, such as the model that makes one."""
    if not isinstance(given, Trajectory):
        raise ParameterError(f"give a trajectory, such as model.rollout(X); this is a {type(given).__name__}")


def check_grid(grid: object, trajectory: Trajectory) -> None:
    """Refuse what is no grid, or the grid of other images than the trajectory's."""
    if not isinstance(grid, Grid):
        what = "None" if grid is None else f"a {type(grid).__name__}"
        raise ParameterError(
            f"grid is {what}; it must be that of a model of images, model.schema_.grid (a model of a table has none)"
        )
    last = int(trajectory.order.max(initial=-1))
    if last >= grid.n_patches:
        raise ParameterError(
            f"grid has the patches 0 to {grid.n_patches - 1}, and the trajectory asked for {last}; it must be the "
            "grid of the model that asked"
        )


def whole_numbers(name: str, given: Any, what: str) -> list[int]:
    """The argument of that name as integers, where `what` says what they count.

    >>> whole_numbers("rows", range(2), "places of cases")
    [0, 1]
    """
    try:
        return [index(number) for number in given]
    except TypeError:
        raise ParameterError(f"{name} is {given!r}; it must be a list of whole numbers, {what}") from None


def is_regression(trajectory: Trajectory) -> bool:
    """Whether a mean is predicted, not classes."""
    return trajectory.predictions.shape[2] == 1 and trajectory.outputs in ((), ("mean",))
