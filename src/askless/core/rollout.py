"""The one acquisition loop: hide, score, forbid, weigh cost, pick, reveal, stop.

Evaluation, `predict`, plots and training's validation run `rollout`; an interview decides likewise for one live case
and lets a person reveal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from askless.core.arrays import Array, array_namespace, constant_like, device, take_columns
from askless.core.choice import ceiling_of, close, decide_below
from askless.core.costs import CostModel, Uniform
from askless.core.protocols import Policy, Predictor, refuse_truth
from askless.core.schema import Schema
from askless.core.state import Cases, State
from askless.core.stopping import Progress, StoppingRule, as_rules, stop_reason
from askless.core.trajectory import Trajectory

__all__ = ["Missing", "askable", "rollout"]

Missing = Literal["skip", "answer"]
"""A missing value cannot be asked ("skip"), or asking it costs and answers "unknown" ("answer")."""


def askable(present: Array, missing: Missing, available: Array | None = None) -> Array:
    """(n, features) bool: what can be asked of each case at all."""
    xp = array_namespace(present)
    can = present if missing == "skip" else xp.ones_like(present)
    return can if available is None else can & available


def rollout(
    policy: Policy,
    predictor: Predictor,
    cases: Cases,
    schema: Schema,
    *,
    stopping: StoppingRule | Sequence[StoppingRule] | None = None,
    costs: CostModel | None = None,
    missing: Missing = "skip",
    available: Array | None = None,  # (n, features) bool
    known: Array | None = None,  # (n, features) bool: free, and there from the start
    allow_truth: bool = False,
) -> Trajectory:
    """Ask each case of the batch for features until one of the rules says stop or nothing is left."""
    xp = array_namespace(cases.x)
    rules = as_rules(stopping)
    costs = costs or Uniform()
    if not allow_truth:
        refuse_truth(policy)
    needs_truth = getattr(policy, "needs_truth", False)
    n, n_features = cases.present.shape
    can_ask = askable(cases.present, missing, available)
    start = xp.zeros((n, n_features), dtype=xp.bool, device=device(cases.x)) if known is None else known
    state = State.of(cases, constant_like(schema.column_feature, cases.x), start)
    zeros = xp.zeros(n, dtype=xp.float64, device=device(cases.x))
    progress = Progress(state, xp.astype(zeros, xp.int64), zeros, predictor.predict(state))
    ceiling = ceiling_of(can_ask & ~start, cases.x)
    steps: list[Array] = []
    predictions, spent = [progress.prediction], [progress.spent]  # not the states: they are large
    for _ in range(n_features + 1):
        pick, fired = decide_below(policy, progress, ceiling, costs, rules, cases.x if needs_truth else None)
        asks = pick >= 0
        if not bool(xp.any(asks)):
            break
        first = xp.where(asks, pick, xp.zeros_like(pick))
        price = xp.where(asks, take_columns(costs.prices(state), first), zeros)
        state, ceiling = state.after(pick, cases, schema), close(ceiling, pick)
        progress = Progress(
            state,
            progress.count + xp.astype(asks, xp.int64),
            progress.spent + price,
            predictor.predict(state),
        )
        steps.append(pick)
        predictions.append(progress.prediction)
        spent.append(progress.spent)
    return Trajectory(
        order=to_numpy(xp.stack(steps, axis=1)) if steps else np.empty((n, 0), dtype=np.int64),
        predictions=to_numpy(xp.stack(predictions, axis=1)),
        cost=to_numpy(xp.stack(spent, axis=1)),
        stop_reason=np.array([stop_reason(rules, i) for i in to_numpy(fired).tolist()], dtype=object),
        feature_names=schema.names,
    )


def to_numpy(array: Array) -> np.ndarray:
    """Any array as numpy, from whatever library and device."""
    if isinstance(array, np.ndarray):
        return array
    if hasattr(array, "detach"):
        array = array.detach().cpu()
    result: np.ndarray[Any, Any] = np.from_dlpack(array)
    return result
