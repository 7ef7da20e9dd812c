"""What must hold of every fitted model and every method: one function each.

The checks of models take the model and a table that it can read; those of methods a trial, the method fitted twice.
"""

from __future__ import annotations

import pickle
import random
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from askless import models
from askless.acquisition import MaxFeatures, Predictor, State, Task, Trajectory, TruthPolicy, rollout
from askless.checks.examples import GROUPS, IMAGE, example_images, example_table
from askless.checks.policies import PASSED, asked_once, require, require_refusal, require_valid
from askless.encoding.cells import is_missing
from askless.estimators import DynamicClassifier, DynamicRegressor
from askless.methods import Method
from askless.model import FittedModel
from askless.model_file import read_model, write_model

INTERVIEWS = 4  # rows that are interviewed
ROUNDING = 1e-6  # of numbers about 1: a library may add up one network's products otherwise than those of two at once

BUDGET = 3


def questions_obey_the_budget(model: FittedModel, table: pd.DataFrame) -> None:
    """Nobody is asked more than the budget, twice, or for what is missing and to be skipped; each pays its prices."""
    t = model.rollout(table)
    most = int(t.n_asked.max(initial=0))
    budget = model.max_features
    require(most <= budget, model, f"a case was asked {most} questions; the budget is {budget}")
    asked = asked_once(t, model, budget)
    absent = asked & ~model.encoder.transform(table).present
    require(model.missing == "answer" or not absent.any(), model, f"{absent.sum()} questions had no answer to find")
    paid, due = t.cost[:, -1], asked @ model.schema.prices
    off = float(np.abs(paid - due).max())
    require(off < 1e-9, model, f"the cost of a case is off the sum of its prices by {off:.3g}")


def groups_are_asked_as_a_whole(model: FittedModel, table: pd.DataFrame) -> None:
    """All columns of a feature show together, and what was not asked is 0."""
    cases, seen = model.encoder.transform(table), _Recorder(model.predictor)
    rollout(model.policy, seen, cases, model.schema, stopping=MaxFeatures(model.max_features), missing=model.missing)
    for step, state in enumerate(seen.states):
        expected = np.where(state.known[:, model.schema.column_feature], cases.x, 0.0)
        wrong = int(np.sum(state.x != expected))
        require(wrong == 0, model, f"{wrong} of {expected.size} entries are wrongly shown after {step} questions")


def predictions_are_valid_at_every_step(model: FittedModel, table: pd.DataFrame) -> None:
    """Probabilities lie between 0 and 1 and add up to 1, and means are finite, from before the first question on."""
    require_valid(model, model.rollout(table).predictions, model.task)


def unasked_cells_do_not_matter(model: FittedModel, table: pd.DataFrame) -> None:
    """A cell that was not asked can change without changing any question or prediction up to that point."""
    # Every case by itself: how many others stand in the same state may change the last digit of a sum.
    model = replace(model, predictor=_Recorder(model.predictor))
    before = model.rollout(table)
    for step in range(before.order.shape[1]):
        other = _swapped_cells(model, table, before.selected(step), step)
        after = model.rollout(other, max_features=step + 1)
        width = min(step + 1, after.order.shape[1])
        same = (after.order[:, :width] == before.order[:, :width]).all(axis=1)
        same &= (after.predictions[:, :width] == before.predictions[:, :width]).all(axis=(1, 2))
        require(
            width == step + 1 and bool(same.all()),
            model,
            f"it peeks: other values in cells that had not been asked changed one of the first {step + 1} questions, "
            f"or the predictions before them, of {np.sum(~same)} of {len(table)} cases",
        )


def cases_are_encoded_alone(model: FittedModel, table: pd.DataFrame) -> None:
    """A row alone is encoded as it is among others: no statistic of the table at hand is used."""
    many = model.encoder.transform(table)
    for i in range(len(table)):
        one = model.encoder.transform(table.iloc[i : i + 1])
        same = bool((one.x[0] == many.x[i]).all() and (one.present[0] == many.present[i]).all())
        require(same, model, f"row {i} is encoded differently alone")


def tables_are_left_alone(model: FittedModel, table: pd.DataFrame) -> None:
    """A roll-out does not change the table."""
    mine = table.copy(deep=True)
    model.rollout(mine)
    require(mine.equals(table), model, "a roll-out changed the table that it was given")


def interviews_agree_with_rollouts(model: FittedModel, table: pd.DataFrame) -> None:
    """An interview answered from a row asks what a roll-out of it asks, and predicts the same but for rounding."""
    for i in range(min(INTERVIEWS, len(table))):
        row = table.iloc[i : i + 1]
        t = model.rollout(row)
        names, predictions = _interviewed(model, row)
        require(names == t.names(0), model, f"an interview of row {i} asks {names}, a roll-out {t.names(0)}")
        off = float(np.abs(predictions - t.predictions[0]).max())
        same = off <= ROUNDING * max(1.0, float(np.abs(predictions).max()))
        require(same, model, f"an interview of row {i} predicts otherwise than a roll-out (by up to {off:.3g})")


def unknown_answers_leave_the_prediction(model: FittedModel, table: pd.DataFrame) -> None:
    """An interview in which nothing is known predicts the same all the way."""
    talk = model.interview()
    before = talk.prediction
    for _ in model.schema.features:  # there cannot be more questions
        if talk.done:
            break
        talk.unknown()
        require(talk.prediction == before, model, f'"unknown" changed the prediction {before} to {talk.prediction}')


def oracles_are_refused(model: FittedModel, table: pd.DataFrame) -> None:
    """With a policy that needs the truth, neither roll-outs nor interviews work."""
    cheat = replace(model, policy=_Oracle())
    require_refusal(model, "rollout", lambda: cheat.rollout(table))
    require_refusal(model, "interview", cheat.interview)


def a_file_keeps_the_model(model: FittedModel, table: pd.DataFrame) -> str | None:
    """A saved and loaded model gives the same numbers bit for bit, and writes the same file."""
    for part in (model.policy, model.predictor):
        if getattr(models, type(part).__name__, None) is not type(part):
            return f"it cannot be saved: {type(part).__name__} is not in askless.models"
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder, "first.askless"), Path(folder, "second.askless")
        write_model(model, first)
        loaded = read_model(first)
        write_model(loaded, second)
        require(first.read_bytes() == second.read_bytes(), model, "the loaded model writes another file")
    _require_same_trajectory(model, model.rollout(table), loaded.rollout(table), "the loaded model")
    return None


def pickling_keeps_the_model(model: FittedModel, table: pd.DataFrame) -> None:
    """A pickled copy gives the same numbers bit for bit."""
    copy = pickle.loads(pickle.dumps(model))
    _require_same_trajectory(model, model.rollout(table), copy.rollout(table), "the pickled copy")


class _Oracle(TruthPolicy):
    def score_with_truth(self, state: State, truth: np.ndarray) -> np.ndarray:
        return np.zeros(state.asked.shape)


class _Recorder(Predictor):
    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor
        self.states: list[State] = []

    def predict(self, state: State) -> np.ndarray:
        self.states.append(state)
        return self.predictor.predict(state)


def _interviewed(model: FittedModel, row: pd.DataFrame) -> tuple[list[str], np.ndarray]:
    """The names that an interview of one row asks for, and its predictions (questions + 1, outputs)."""
    cells = {str(name): row.iloc[0][name] for name in row.columns}
    answers = {f.name: {part.name: cells[part.name] for part in f.parts} for f in model.schema.features}
    absent = [name for name, parts in answers.items() if all(is_missing(value) for value in parts.values())]
    unseen = ~model.encoder.transform(row).present[0]  # missing, or a category that training did not have
    talk = model.interview(
        unavailable=[model.schema.names[i] for i in np.flatnonzero(unseen)] if model.missing == "skip" else (),
        check_values=False,  # a roll-out does not check them
    )
    names, predictions = [], [talk.prediction]
    while (question := talk.question) is not None:
        require(question.name not in names, model, f"an interview asks for {question.name!r} twice")
        names.append(question.name)
        if question.name in absent:
            talk.unknown()
        else:
            talk.answer(answers[question.name])
        predictions.append(talk.prediction)
    labels = model.classes or ("mean",)
    return names, np.array([[told[label] for label in labels] for told in predictions])


def _swapped_cells(model: FittedModel, table: pd.DataFrame, asked: np.ndarray, seed: int) -> pd.DataFrame:
    """The table with other values of the same columns in every cell that was not asked."""
    rng = np.random.default_rng(seed)
    other = table.copy(deep=True)
    for i, feature in enumerate(model.schema.features):
        for part in feature.parts:
            cells = table[part.name].to_numpy(dtype=object)
            present = np.array([not is_missing(cell) for cell in cells])
            swapped = np.array([None, *cells], dtype=object)[1:]
            if present.any():
                free = ~asked[:, i] & present
                swapped[free] = rng.choice(cells[present], int(free.sum()))
            if model.missing == "answer":
                swapped[~asked[:, i] & (rng.random(len(cells)) < 0.3)] = None
            other[part.name] = other[part.name].astype(object)
            other[part.name] = swapped
    return other


def _require_same_path(subject: object, a: Trajectory, b: Trajectory, what: str) -> None:
    asked = int(np.sum(a.order != b.order)) if a.order.shape == b.order.shape else a.order.size
    require(asked == 0, subject, f"{what} asks {asked} of {a.order.size} questions differently")
    told = int(np.sum(a.predictions != b.predictions))
    require(told == 0, subject, f"{what} predicts {told} of {a.predictions.size} numbers differently")


def _require_same_trajectory(model: FittedModel, a: Trajectory, b: Trajectory, what: str) -> None:
    _require_same_path(model, a, b, what)
    require(bool((a.cost == b.cost).all()), model, f"{what} reports other costs")
    require(list(a.stop_reason) == list(b.stop_reason), model, f"{what} stops for other reasons")


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
    _require_same_path(trial.method, a, b, "a second fit")


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
    import torch

    return {
        "random": repr(random.getstate()).encode(),
        "numpy": repr(np.random.get_state(legacy=False)).encode(),  # noqa: NPY002
        "torch": torch.random.get_rng_state().numpy().tobytes(),
    }


MODEL_CHECKS = (  # the simplest property first
    questions_obey_the_budget,
    groups_are_asked_as_a_whole,
    predictions_are_valid_at_every_step,
    unasked_cells_do_not_matter,
    cases_are_encoded_alone,
    tables_are_left_alone,
    interviews_agree_with_rollouts,
    unknown_answers_leave_the_prediction,
    oracles_are_refused,
    a_file_keeps_the_model,
    pickling_keeps_the_model,
)
METHOD_CHECKS = (  # the simplest property first
    fitting_leaves_its_input_alone,
    fitting_leaves_random_numbers_alone,
    settings_are_kept_as_given,
    information_is_promised_as_it_is_given,
    the_same_seed_gives_the_same_model,
    the_same_seed_gives_the_same_file,
)
