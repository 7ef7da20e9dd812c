"""The one acquisition loop: hide, score, forbid, weigh cost, pick, reveal, stop.

Evaluation, `predict`, plots and training's validation run `rollout`; an interview decides likewise for one live case
and lets a person reveal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from askless.core.arrays import Array, array_namespace, constant_like, device, to_numpy
from askless.core.batches import Member, choose_batch
from askless.core.choice import ceiling_of, close, decide
from askless.core.costs import CostModel, Uniform
from askless.core.precedence import Precedence
from askless.core.progress import Asker, Progress
from askless.core.protocols import Policy, Predictor, refuse_truth
from askless.core.reference import Reference
from askless.core.schema import Schema
from askless.core.state import Cases, State
from askless.core.stopping import StoppingRule, as_rules, stop_reason
from askless.core.trajectory import Trajectory
from askless.core.twins import Twins, all_treat_alike
from askless.exceptions import ParameterError

__all__ = ["Missing", "askable", "cases_at_once", "rollout"]

FEWEST, CASES_AT_ONCE, VALUES_AT_ONCE = 256, 4096, 1 << 22  # the last for tables of many columns

Missing = Literal["skip", "answer"]
"""A missing value cannot be asked ("skip"), or asking it costs and answers "unknown" ("answer")."""


def askable(present: Array, missing: Missing, available: Array | None = None) -> Array:
    """(n, features) bool: what can be asked of each case at all."""
    xp = array_namespace(present)
    can = present if missing == "skip" else xp.ones_like(present)
    return can if available is None else can & available


def cases_at_once(schema: Schema) -> int:
    """How many cases are best asked together: the more, the more stand in the same state, until memory counts.

    >>> cases_at_once(Schema.of_numbers(["age", "weight"]))
    4096
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
    available: Array | None = None,  # (n, features) bool
    known: Array | None = None,  # (n, features) bool: free, and there from the start
    precedence: Precedence | None = None,
    reference: Reference | None = None,  # stored rows, for rules and batches that imagine answers
    batch: int = 1,  # how many features are asked at once
    allow_truth: bool = False,
) -> Trajectory:
    """Ask each case of the batch for features until one of the rules says stop or nothing is left."""
    xp = array_namespace(cases.x)
    rules = as_rules(stopping)
    if not allow_truth:
        refuse_truth(policy)
    needs_truth = getattr(policy, "needs_truth", False)
    if batch > 1 and needs_truth:
        raise ParameterError(
            "not_supported",
            f"batch must be 1, not {batch}, for a policy that looks at the true values",
            name="batch",
            value=batch,
        )
    if batch > 1 and not isinstance(cases.x, np.ndarray):
        raise ParameterError(
            "not_supported",
            f"batches need numpy arrays; the cases are a {type(cases.x).__name__}",
            name="batch",
            value=batch,
        )
    asker = Asker(policy, predictor, schema, costs or Uniform(), precedence, reference)
    can_ask, twins = askable(cases.present, missing, available), Twins(cases)
    alone = needs_truth or known is not None or batch > 1 or not isinstance(cases.x, np.ndarray)
    if not alone and all_treat_alike(policy, predictor, asker.costs, *rules):
        twins, can_ask = Twins.before_answers(cases, can_ask, schema)
    # Until the end, a row stands for a state; where no twins are known, for a case.
    start = xp.zeros_like(can_ask) if known is None else known
    state = State.of(twins.cases, constant_like(schema.column_feature, cases.x), start)
    spent = xp.zeros(len(state), dtype=xp.float64, device=device(cases.x))
    count, prediction = xp.astype(spent, xp.int64), predictor.predict(state)
    ceiling = ceiling_of(can_ask & ~start, cases.x)
    steps: list[Array] = []
    predictions, costs_so_far = [twins.to_all(prediction)], [twins.to_all(spent)]  # not the states: they are large
    while True:
        truth = cases.x if needs_truth else None
        progress = Progress(state, count, spent, prediction, asker, ceiling, known, truth)
        members, fired = choose_batch(progress, rules, batch) if batch > 1 else _single(progress, rules)
        if not members:
            break
        for pick, price in members:
            count, spent = count + xp.astype(pick >= 0, xp.int64), spent + price
            twins, before = twins.after(pick)
            if before is not None:  # answers tell some apart
                state, ceiling = state.at(before), ceiling[before]
                pick, count, spent = pick[before], count[before], spent[before]
            state, ceiling = state.after(pick, twins.cases, schema), close(ceiling, pick)
            prediction = predictor.predict(state)
            steps.append(twins.to_all(pick))
            predictions.append(twins.to_all(prediction))
            costs_so_far.append(twins.to_all(spent))
    reasons = np.array([*(stop_reason(rules, i) for i in range(len(rules))), stop_reason(rules, -1)], dtype=object)
    t = Trajectory(
        order=to_numpy(xp.stack(steps, axis=1)) if steps else np.empty((len(cases), 0), dtype=np.int64),
        predictions=to_numpy(xp.stack(predictions, axis=1)),
        cost=to_numpy(xp.stack(costs_so_far, axis=1)),
        stop_reason=reasons[to_numpy(twins.to_all(fired))],
        feature_names=schema.names,
        sd=None if progress.spread is None else to_numpy(twins.to_all(progress.spread)),
    )
    return _without_gaps(t) if batch > 1 and steps else t


def _single(progress: Progress, rules: Sequence[StoppingRule]) -> tuple[list[Member], Array]:
    """The next question of each case as a batch of one; none where nobody is asked anything more."""
    pick, fired = decide(progress, rules)
    return ([(pick, progress.price_of(pick))] if bool(array_namespace(pick).any(pick >= 0)) else []), fired


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
