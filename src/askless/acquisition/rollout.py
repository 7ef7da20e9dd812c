"""The one acquisition loop: hide, score, forbid, weigh cost, pick, reveal, stop.

Evaluation, `predict`, plots and training's validation run `rollout`; an interview decides likewise for one live case
and lets a person reveal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from askless.acquisition.batches import choose_batch
from askless.acquisition.choice import decide
from askless.acquisition.costs import CostModel, Uniform
from askless.acquisition.policy import Policy, Predictor, refuse_truth
from askless.acquisition.progress import Context, Progress
from askless.acquisition.reference import Reference
from askless.acquisition.schema import Precedence, Schema
from askless.acquisition.state import Cases, State
from askless.acquisition.stopping import StoppingRule, as_rules, stop_reason
from askless.acquisition.trajectory import Trajectory
from askless.exceptions import ParameterError

FEWEST, CASES_AT_ONCE, VALUES_AT_ONCE = 256, 1024, 1 << 22  # the last for tables of many columns

Missing = Literal["skip", "answer"]
"""A missing value cannot be asked ("skip"), or asking it costs and answers "unknown" ("answer")."""


def askable(present: np.ndarray, missing: Missing, available: np.ndarray | None = None) -> np.ndarray:
    """(n, features) bool: what can be asked of each case at all."""
    can = present if missing == "skip" else np.ones_like(present)
    return can if available is None else can & available


def cases_at_once(schema: Schema) -> int:
    """How many cases to ask together: as many as fit into memory well.

    >>> cases_at_once(Schema.of_numbers(["age", "weight"]))
    1024
    """
    return min(CASES_AT_ONCE, max(FEWEST, VALUES_AT_ONCE // schema.n_columns))


def rollout(
    policy: Policy,
    predictor: Predictor,
    cases: Cases,
    schema: Schema,
    *,
    stopping: StoppingRule | Sequence[StoppingRule] | None = None,
    costs: CostModel | None = None,
    missing: Missing = "skip",
    available: np.ndarray | None = None,  # (n, features) bool
    known: np.ndarray | None = None,  # (n, features) bool: free, and there from the start
    precedence: Precedence | None = None,
    reference: Reference | None = None,  # stored rows, for rules and batches that imagine answers
    batch: int = 1,  # how many features are asked at once
    allow_truth: bool = False,
) -> Trajectory:
    """Ask each case of the batch for features until one of the rules says stop or nothing is left."""
    rules = as_rules(stopping)
    context = Context(policy, predictor, schema, costs=costs or Uniform(), precedence=precedence, reference=reference)
    if not allow_truth:
        refuse_truth(policy)
    if batch > 1 and policy.needs_truth:
        message = f"batch must be 1, not {batch}, for a policy that looks at the true values"
        raise ParameterError("not_supported", message, name="batch", value=batch)
    start = np.zeros_like(cases.present) if known is None else known
    allowed = askable(cases.present, missing, available) & ~start
    state = State.of(cases, schema.column_feature, start)
    count, spent = np.zeros(len(cases), dtype=np.int64), np.zeros(len(cases))
    prediction = predictor.predict(state)
    steps: list[np.ndarray] = []
    predictions, costs_so_far = [prediction], [spent]  # not the states, which are large
    while True:
        progress = Progress(
            state=state,
            count=count,
            spent=spent,
            prediction=prediction,
            context=context,
            allowed=allowed,
            given=known,
            truth=cases.x if policy.needs_truth else None,
        )
        if batch > 1:
            members, fired = choose_batch(progress, rules, batch)
        else:
            pick, fired = decide(progress, rules)
            members = [(pick, progress.price_of(pick))] if (pick >= 0).any() else []
        if not members:
            break
        for pick, price in members:
            count, spent = count + (pick >= 0), spent + price
            state = state.after(pick, cases, schema)
            allowed = allowed & ~state.asked
            prediction = predictor.predict(state)
            steps.append(pick)
            predictions.append(prediction)
            costs_so_far.append(spent)
    reasons = np.array([*(stop_reason(rules, i) for i in range(len(rules))), stop_reason(rules, -1)], dtype=object)
    t = Trajectory(
        order=np.stack(steps, axis=1) if steps else np.empty((len(cases), 0), dtype=np.int64),
        predictions=np.stack(predictions, axis=1),
        cost=np.stack(costs_so_far, axis=1),
        stop_reason=reasons[fired],
        feature_names=schema.names,
        sd=progress.spread,
    )
    return _without_gaps(t) if batch > 1 and steps else t


def _without_gaps(t: Trajectory) -> Trajectory:
    """A case may have had fewer questions in a batch than others: its next ones move up."""
    asked = t.order >= 0
    counts = asked.sum(axis=1, keepdims=True)
    steps = np.argsort(~asked, axis=1, kind="stable")  # the steps in which each case was asked, then the others
    ended = np.arange(t.order.shape[1]) >= counts
    last = np.take_along_axis(steps, np.maximum(counts - 1, 0), axis=1) + 1
    after = np.where(ended, np.where(counts > 0, last, 0), steps + 1)  # a case that ended keeps its last prediction
    after = np.concatenate([np.zeros((len(t), 1), dtype=after.dtype), after], axis=1)  # (n, k + 1)
    return replace(
        t,
        order=np.take_along_axis(t.order, steps, axis=1),
        predictions=np.take_along_axis(t.predictions, after[:, :, None], axis=1),
        cost=np.take_along_axis(t.cost, after, axis=1),
    )
