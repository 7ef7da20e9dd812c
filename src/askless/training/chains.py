"""Persistent chains of states: what policies that learn from their own questions are trained on.

No gradient flows between selections, so every visited state is a training example of its own. Each training row keeps
a few states at random depths; a minibatch of states gets one forward and one backward pass, and the selections made
on the way move the states on. A chain that has come to its end starts again, empty or, now and then, from a random
set: whatever is known before the first question, policy and predictor have seen the like.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from askless.acquisition import State
from askless.training.loop import enough_epochs
from askless.training.problem import Problem, Rows, rates
from askless.training.subsets import ROWS_PER_EPOCH, affordable, uniform_sets

__all__ = ["Chains", "States", "batches_in_epoch", "price_rates", "row_sums", "states_of", "with_little_money"]

MOST_VISITS = 1 << 17  # of states in an epoch
TO_THE_END = {"early": 0.0, "mixed": 0.5, "even": 1.0}  # by `depths`, the share of chains that ask the last question
FEWEST_BATCHES = 4  # that the states are enough for
MOST_BYTES = 1 << 27  # of states
EPOCHS, STEPS = 30, 1000  # at least
WORK = 4.0  # expected time of a step that trains policy and predictor, compared with one of pretraining
STARTS = 1 << 12  # random sets that are drawn once, for chains to start from
AT_ONCE = 1 << 14  # states that are made together


@dataclass(frozen=True)
class States:
    """A minibatch of states."""

    x: Tensor  # (b, columns) complete values
    y: Tensor  # (b,)
    asked: Tensor  # (b, features) 0 or 1
    present: Tensor | None = None  # (b, features) 0 or 1; None where nothing is missing
    askable: Tensor | None = None  # (b, features) 0 or 1; None where everything can be asked

    @cached_property
    def known(self) -> Tensor:
        """(b, features) of 0 and 1."""
        return self.asked.to(self.x.dtype) if self.present is None else self.present * self.asked

    @cached_property
    def blocked(self) -> Tensor:
        """(b, features) of 0 and 1: what cannot be asked next."""
        if self.askable is None:
            return self.known if self.present is None else self.asked.to(self.x.dtype)
        return 1 - self.askable * (1 - self.asked.to(self.x.dtype))

    def answered(self, candidates: Tensor) -> Tensor:
        """(b, m) 1 where asking a candidate (b, m) gives a value."""
        if self.present is None:
            return torch.ones(candidates.shape, dtype=self.x.dtype)
        return self.present.gather(1, candidates)

    def with_pick(self, pick: Tensor) -> Tensor:
        """(b, features) what is known after asking for feature `pick[i]` of state i."""
        return self.known.scatter(1, pick[:, None], self.answered(pick[:, None]))

    def __getitem__(self, rows: Tensor | slice) -> States:
        """Some of the states."""
        parts = (self.x, self.y, self.asked, self.present, self.askable)
        return States(*(None if part is None else part[rows] for part in parts))  # type: ignore[arg-type]

    @classmethod
    def start(cls, rows: Rows) -> States:
        """All rows, with nothing asked."""
        asked = torch.zeros_like(rows.present, dtype=torch.uint8)
        return cls(rows.x, rows.y, asked, *(part.to(rows.x.dtype) for part in (rows.present, rows.askable)))


def states_of(rows: Rows, row: Tensor, asked: Tensor) -> States:
    """The states of the given rows (b,) with what was asked of them (b, features)."""
    x, y = rows.x.index_select(0, row), rows.y.index_select(0, row)
    if rows.complete:
        return States(x, y, asked)
    present, askable = (part.index_select(0, row).to(x.dtype) for part in (rows.present, rows.askable))
    return States(x, y, asked, present, askable)


def price_rates(problem: Problem, states: States) -> Tensor | None:
    """(b, features) what to multiply gains with, more for a cheaper question; None where all cost the same."""
    if not problem.priced:
        return None
    if problem.costs.fixed:
        row = torch.from_numpy(rates(problem, problem.first_prices)).to(states.x.dtype)
        return row.expand(states.asked.shape)
    known = states.known.bool()
    x = states.x * known[:, torch.from_numpy(problem.schema.column_feature)]
    prices = problem.costs.prices(State(x.numpy(), states.asked.bool().numpy(), known.numpy()))
    return torch.from_numpy(rates(problem, prices)).to(states.x.dtype)


def with_little_money(states: States, problem: Problem) -> States:
    """The states, some of which cannot pay for everything; each can pay for something that is not asked yet."""
    can = affordable(problem, len(states.asked)).to(states.x.dtype)
    left = can * (1 - states.blocked)
    can = torch.where(left.any(dim=1, keepdim=True), can, 1.0)
    return replace(states, askable=can if states.askable is None else can * states.askable)


def batches_in_epoch(n_rows: int, states_per_row: int, batch_size: int) -> int:
    """How many minibatches of states an epoch has; it visits at most 2^17 states."""
    return -(-min(n_rows * states_per_row, MOST_VISITS) // batch_size)


class Chains:
    """The states of the training rows.

    There are `states_per_row` of them for each row, unless in so many epochs the chains could not be walked to their
    end `walks` times: then there are fewer, and a chain that starts again takes another row. Without `epochs` there
    are enough of them for a thousand steps.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        batch_size: int,
        states_per_row: int,
        epochs: int | None,
        random_subsets: bool,
        random_starts: float,
        augment: str = "none",
        depths: str = "early",
        walks: int = 4,
    ) -> None:
        self.rows = problem.rows("train")
        self._to_the_end = TO_THE_END[depths]
        self.batch_size = batch_size
        self.random_subsets = random_subsets
        self.random_starts = random_starts
        self._sampler = uniform_sets(problem.max_features - 1)
        able = row_sums(self.rows.askable)
        self._last = able.clamp(max=problem.max_features)  # (rows,) how many questions are the most
        self._useful = able.nonzero().squeeze(1)  # a row without any value teaches nothing
        self._starts = self._drawn(self._some_rows(STARTS))  # (STARTS, features)
        self.n_batches = batches_in_epoch(len(self.rows), states_per_row, batch_size)
        self.epochs = enough_epochs(self.n_batches, EPOCHS, STEPS) if epochs is None else epochs
        # expected time of an epoch, compared with one of pretraining
        self.work = WORK * self.n_batches / -(-min(len(self.rows), ROWS_PER_EPOCH) // batch_size)
        visits = self.epochs * self.n_batches * batch_size
        most = visits // (walks * problem.max_features)
        live = max(min(most, MOST_BYTES // len(problem.schema)), FEWEST_BATCHES * batch_size)
        self._wanders = len(self._useful) * states_per_row > live
        if self._wanders:
            self.row = self._some_rows(live)
        else:
            self.row = self._useful.repeat(states_per_row)  # (states,) the training row of each state
        self.asked = torch.empty(len(self.row), len(problem.schema), dtype=torch.uint8)
        for start in range(0, len(self.row), AT_ONCE):
            some = slice(start, start + AT_ONCE)
            self.asked[some] = self._start(self.row[some])
        self._count = row_sums(self.asked)  # (states,)
        self._end = torch.empty_like(self._count)  # (states,) after how many questions each chain ends
        self._draw_ends(torch.arange(len(self.row)))
        self._views = problem.views(augment)
        # (states,) the view that each state has of its image; it goes on to one like it until its chain begins anew
        self.view = None if self._views is None else self._views.beginning(len(self.row))
        self.first = torch.zeros(len(problem.schema))  # scores of the first question

    def batches(self) -> Sequence[Tensor]:
        """Random batches of states, none of which is visited again in an epoch before all others were."""
        batches: list[Tensor] = []
        while len(batches) < self.n_batches:
            batches += torch.split(torch.randperm(len(self.row)), self.batch_size)
        return batches[: self.n_batches]

    def states(self, batch: Tensor) -> States:
        """The states of a batch."""
        states = states_of(self.rows, self.row.index_select(0, batch), self.asked.index_select(0, batch))
        if self._views is None or self.view is None:
            return states
        return replace(states, x=self._views.show(states.x, self.view.index_select(0, batch)))

    def move(self, batch: Tensor, pick: Tensor) -> None:
        """Ask each state of the batch for what was picked (b,); a state that is at its end starts again."""
        if self.random_subsets:
            if self._wanders:
                self.row.index_copy_(0, batch, self._some_rows(len(batch)))
            self.asked.index_copy_(0, batch, self._drawn(self.row.index_select(0, batch)))
            if self._views is not None and self.view is not None:
                self.view.index_copy_(0, batch, self._views.beginning(len(batch)))
            return
        self.asked.view(-1).index_fill_(0, batch * self.asked.shape[1] + pick, 1)
        if self._views is not None and self.view is not None:
            self.view.index_copy_(0, batch, self._views.going_on(self.view.index_select(0, batch)))
        count = self._count.index_select(0, batch) + 1
        self._count.index_copy_(0, batch, count)
        ended = batch.index_select(0, (count >= self._end.index_select(0, batch)).nonzero().squeeze(1))
        if len(ended):
            self._restart(ended)

    def spread(self, pick: Callable[[States], Tensor]) -> None:
        """Begin all chains anew and walk each to a random depth by what `pick` says (b,).

        Then no state is of another policy's making, and every batch has states of all depths.
        """
        if self.random_subsets:
            return
        for batch in torch.split(torch.arange(len(self.row)), self.batch_size):
            self._restart(batch)
            to_come = self._end.index_select(0, batch) - self._count.index_select(0, batch)
            steps = (torch.rand(len(batch)) * to_come).long()
            for step in range(int(steps.max())):
                walking = batch[steps > step]
                self.move(walking, pick(self.states(walking)))

    def _restart(self, states: Tensor) -> None:
        """Begin the chains of the states anew, empty or from a random set; where states are few, on other rows."""
        if self._wanders:
            self.row.index_copy_(0, states, self._some_rows(len(states)))
        self.asked.index_fill_(0, states, 0)
        self._count.index_fill_(0, states, 0)
        again = states[torch.rand(len(states)) < self.random_starts]
        if len(again):
            drawn = self._start(self.row[again])
            self.asked.index_copy_(0, again, drawn)
            self._count.index_copy_(0, again, row_sums(drawn))
        self._draw_ends(states)
        if self._views is not None and self.view is not None:
            self.view.index_copy_(0, states, self._views.beginning(len(states)))

    def _some_rows(self, count: int) -> Tensor:
        return self._useful[torch.randint(len(self._useful), (count,))]

    def _draw_ends(self, states: Tensor) -> None:
        """Let the chains of the states end after the last question, or after any number that there are to come.

        In the latter case early questions are trained on more often than late ones: every case is asked them, and
        much depends on them.
        """
        last = self._last.index_select(0, self.row.index_select(0, states))
        if self._to_the_end < 1.0:
            count = self._count.index_select(0, states)
            place = (torch.rand(len(states)) - self._to_the_end) / (1.0 - self._to_the_end)
            last = torch.where(place < 0.0, last, count + 1 + (place * (last - count)).long())
        self._end.index_copy_(0, states, last)

    def tensors(self) -> dict[str, Tensor]:
        """Where each state stands, and the first question."""
        kept = {"row": self.row, "asked": self.asked, "count": self._count, "end": self._end}
        return kept | {"first": self.first} | ({} if self.view is None else {"view": self.view})

    def _start(self, row: Tensor) -> Tensor:
        """(b, features) random sets to start from: some that were drawn before, without what cannot be asked."""
        drawn = self._starts.index_select(0, torch.randint(len(self._starts), (len(row),)))
        if self.rows.complete:
            return drawn
        askable = self.rows.askable.index_select(0, row)
        drawn &= askable
        return drawn * (askable & ~drawn.bool()).any(dim=1, keepdim=True)

    def _drawn(self, row: Tensor) -> Tensor:
        """(b, features) random sets of fewer than `max_features` features that leave something to ask."""
        askable = self.rows.askable.index_select(0, row)
        drawn = self._sampler(askable)
        return (drawn & (askable & ~drawn).any(dim=1, keepdim=True)).to(torch.uint8)


def row_sums(flags: Tensor) -> Tensor:
    """(n,) how many of (n, features) are set; torch would first make a copy in 64 bits."""
    return torch.from_numpy(flags.numpy().sum(axis=1, dtype=np.int64))
