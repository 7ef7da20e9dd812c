"""What must hold of every method: one function each, called with a trial, which is the method fitted twice."""

from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from askless.acquisition import Task
from askless.checks.examples import GROUPS, IMAGE, example_images, example_table
from askless.checks.models import a_file_keeps_the_model
from askless.checks.running import PASSED, require
from askless.estimators import DynamicClassifier, DynamicRegressor
from askless.methods import Method
from askless.persistence import write_model

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "fitting_leaves_its_input_alone",
    "fitting_leaves_random_numbers_alone",
    "information_is_promised_as_it_is_given",
    "settings_are_kept_as_given",
    "the_same_seed_gives_the_same_file",
    "the_same_seed_gives_the_same_model",
]

BUDGET = 3


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A method, fitted twice with the same seed on a small table with a group, categories and missing values.

    One that needs images gets small ones, whose pixels the table holds.

    Make one with `Trial.of(method, task)`; every function of `method_checks()` takes one.
    """

    method: Method
    settings: dict[str, Any]  # of the method, before the first fit
    table: pd.DataFrame  # that both fits were given
    target: np.ndarray
    first: DynamicClassifier | DynamicRegressor
    second: DynamicClassifier | DynamicRegressor
    drew_from: tuple[str, ...]  # libraries whose global random numbers the fits moved on

    @classmethod
    def of(cls, method: Method, task: Task) -> Trial:
        """Fit the method to a classification (missing values skipped) or a regression (answered "unknown")."""
        table, target = _example(method, task)
        kind = DynamicClassifier if task == "classification" else DynamicRegressor
        missing = "skip" if task == "classification" else "answer"
        settings = dict(method.get_params())

        def fitted(chosen: Method) -> DynamicClassifier | DynamicRegressor:
            estimator = kind(BUDGET, method=chosen, missing=missing, random_state=1)
            if method.needs_images:
                estimator.set_params(costs={"row 1, column 1": 2.0})
                return estimator.fit(table.to_numpy().reshape(-1, *IMAGE), target)
            estimator.set_params(groups=GROUPS, costs={"pressure": 2.0})
            return estimator.fit(table, target)

        first, before = fitted(method), _random_states()  # what loads with the first fit may draw, as rich does
        second = fitted(clone(method))
        drew_from = tuple(name for name, state in _random_states().items() if state != before[name])
        return cls(
            method=method,
            settings=settings,
            table=table,
            target=target,
            first=first,
            second=second,
            drew_from=drew_from,
        )


def fitting_leaves_its_input_alone(trial: Trial) -> None:
    """A fit changes neither the table nor the labels."""
    table, target = _example(trial.method, trial.first.model_.task)
    require(trial.table.equals(table), trial.method, "fitting changed the table that it was given")
    changed = int(np.sum(trial.target != target))
    require(changed == 0, trial.method, f"fitting changed {changed} of {len(target)} labels")


def fitting_leaves_random_numbers_alone(trial: Trial) -> None:
    """A fit draws from generators of its own: what the user draws after it is as it would have been without."""
    moved = " and ".join(trial.drew_from)
    require(not moved, trial.method, f"fitting moved the global random numbers of {moved} on")


def settings_are_kept_as_given(trial: Trial) -> None:
    """A fit changes none of the method's settings, so that it can be cloned and searched."""
    now = trial.method.get_params()
    changed = [name for name, value in trial.settings.items() if now[name] is not value]
    require(not changed, trial.method, f"fitting changed the setting(s) {', '.join(changed)}")


def information_is_promised_as_it_is_given(trial: Trial) -> None:
    """A method that says that its scores are information has a policy that says so."""
    promised, given = trial.method.informative, trial.first.model_.informative
    require(given or not promised, trial.method, "it says that its scores are information, and its policy does not")


def the_same_seed_gives_the_same_model(trial: Trial) -> None:
    """Two fits with one seed ask and predict the same, bit for bit."""
    a, b = trial.first.rollout(trial.table), trial.second.rollout(trial.table)
    asked = int(np.sum(a.order != b.order)) if a.order.shape == b.order.shape else a.order.size
    require(asked == 0, trial.method, f"a second fit asks {asked} of {a.order.size} questions differently")
    told = int(np.sum(a.predictions != b.predictions))
    require(told == 0, trial.method, f"a second fit predicts {told} of {a.predictions.size} numbers differently")


def the_same_seed_gives_the_same_file(trial: Trial) -> str | None:
    """Two fits with one seed write the same model file, byte for byte."""
    saved = a_file_keeps_the_model(trial.first.model_, trial.table)
    if saved not in (None, PASSED):
        return saved
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("first.askless", "second.askless")]
        write_model(trial.first.model_, files[0])
        write_model(trial.second.model_, files[1])
        first, second = (file.read_bytes() for file in files)
    differing = sum(a != b for a, b in zip(first, second, strict=False)) + abs(len(first) - len(second))
    require(first == second, trial.method, f"the files of two fits differ in {differing} of {len(first)} bytes")
    return None


def _example(method: Method, task: Task) -> tuple[pd.DataFrame, np.ndarray]:
    return example_images(task) if method.needs_images else example_table(task)


def _random_states() -> dict[str, bytes]:
    """Where the global generators stand, by library."""
    import torch

    return {
        "random": repr(random.getstate()).encode(),
        "numpy": repr(np.random.get_state(legacy=False)).encode(),  # noqa: NPY002
        "torch": torch.random.get_rng_state().numpy().tobytes(),
    }
