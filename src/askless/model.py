"""A fitted model: encoder, policy and predictor together. Runs on numpy; loads neither torch nor scikit-learn."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, get_args

import numpy as np

from askless import models
from askless.acquisition import (
    Candidate,
    Cases,
    Context,
    CostModel,
    Costs,
    Interview,
    MaxFeatures,
    Missing,
    Part,
    Policy,
    Precedence,
    Predictor,
    Reference,
    Schema,
    State,
    StoppingRule,
    Task,
    Trajectory,
    askable,
    cases_at_once,
    cost_model,
    rollout,
)
from askless.acquisition.choice import candidates_after
from askless.acquisition.costs import checked_price
from askless.acquisition.interview import check_unavailable, checked_known
from askless.acquisition.numbers import Limits, checked_number, is_whole, limits_text, plausible_limits, within
from askless.acquisition.stopping import Certified, as_rules, check_rules
from askless.acquisition.stopping.certified import MIXED, certified_on, manner_of, rules_in_force
from askless.encoding import Encoder
from askless.encoding.cells import as_numbers, is_missing
from askless.exceptions import CertificationWarning, InterviewError, ParameterError, UnseenWarning, bad_value
from askless.hints import listed
from askless.tables import check_row_labels, row_chunks, take_rows

ROWS_AT_ONCE = 16384  # encoded in chunks of this many rows, so that memory stays bounded


@dataclass(frozen=True, kw_only=True)
class FittedModel:
    """What a model file holds, and what it can do."""

    task: Task
    classes: tuple[Any, ...]  # labels of a classification, in the order of the outputs; empty for a regression
    encoder: Encoder
    policy: Policy
    predictor: Predictor
    max_features: int  # the budget it was trained for
    missing: Missing = "skip"
    stopping: tuple[StoppingRule, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)  # JSON: the estimator's parameters, how its table is read
    summary: dict[str, Any] = field(default_factory=dict)  # JSON: what training reported
    image_shape: tuple[int, ...] | None = None  # (height, width[, channels]) where the cases are images
    costs: CostModel | None = None  # where one price for each feature, the schema's, does not say it all
    precedence: dict[str, list[str]] = field(default_factory=dict)  # by feature: what is asked before it
    reference: Reference | None = None  # training rows, from which answers are imagined
    descriptions: dict[str, dict[str, Any]] = field(default_factory=dict)  # by feature or part, as the service reads

    @property
    def schema(self) -> Schema:
        """The features."""
        return self.encoder.schema

    @property
    def informative(self) -> bool:
        """Whether the policy's scores are information, as rules and prices can weigh it."""
        return self.policy.informative

    @property
    def predicts_spread(self) -> bool:
        """Whether predictions come with a standard deviation."""
        return self.predictor.spread(State.empty(1, self.schema)) is not None

    @cached_property
    def fingerprint(self) -> str | None:
        """A short hash of the policy and the predictor; None where one of them cannot be written to a file."""
        found = hashlib.blake2b(digest_size=8)
        for part in (self.policy, self.predictor):
            if getattr(models, type(part).__name__, None) is not type(part):
                return None
            stored: Any = part
            found.update(json.dumps([type(part).__name__, stored.config()], sort_keys=True, default=repr).encode())
            for name, array in sorted(stored.arrays().items()):
                found.update(f"{name} {array.dtype} {array.shape}".encode())
                found.update(np.ascontiguousarray(array).data)
        return found.hexdigest()

    @property
    def missing_words(self) -> tuple[str, ...]:
        """What stood for a missing value in the files of its fit, beside the words that always do."""
        return tuple(self.settings.get("na", ()))

    def rollout(
        self,
        table: Any,
        max_features: int | None = None,
        stopping: StoppingRule | Sequence[StoppingRule] | None = None,
        costs: Costs | None = None,
        available: Any = None,
        known: Any = None,
        batch: int = 1,
        *,
        row_numbers: Sequence[int] | np.ndarray | None = None,
    ) -> Trajectory:
        """Ask every row of the table; `row_numbers` are the rows' places in a larger one, for errors to name."""
        context = self.context(costs)
        rules = self._rules(max_features, stopping)
        available = self.mask(available, "available", table)
        known = self.mask(known, "known", table)
        checked_number(batch, "batch", low=1, whole=True)
        if any(rule.promises for rule in rules):
            manner = self.manner(rules, costs, known, available, int(batch))
            rules = rules_in_force(rules, manner, self.fingerprint)
        parts = []
        for rows, cases in self._chunks(table, row_numbers):
            part = rollout(
                self.policy,
                self.predictor,
                cases,
                self.schema,
                stopping=rules,
                costs=context.costs,
                missing=self.missing,
                available=None if available is None else available[rows],
                known=None if known is None else known[rows],
                precedence=context.precedence,
                reference=self.reference,
                batch=batch,
            )
            parts.append(part)
        return replace(Trajectory.join(parts), outputs=self.classes or ("mean",))

    def candidates(
        self,
        table: Any,
        row: int,
        asked: Sequence[str] = (),
        *,
        max_features: int | None = None,
        stopping: StoppingRule | Sequence[StoppingRule] | None = None,
        costs: Costs | None = None,
        available: Any = None,
        known: Any = None,
    ) -> tuple[Candidate, ...]:
        """What can be asked next of a row after the features `asked`, the best first; empty where a rule stops it."""
        context = self.context(costs)
        rules = self._rules(max_features, stopping)
        available = self.mask(available, "available", table)
        known = self.mask(known, "known", table)
        if not is_whole(row) or not -len(table) <= row < len(table):
            last = len(table) - 1
            raise bad_value("out_of_range", "row", row, f"an integer from 0 to {last}", low=0, high=last)
        if isinstance(asked, str):
            raise bad_value("wrong_type", "asked", asked, f"a list of feature names, such as [{asked!r}]")
        order = [self.schema.index(name) for name in asked]
        if len(set(order)) < len(order):
            message = f"asked names a feature twice: {listed(asked)}"
            raise ParameterError("duplicate_name", message, name="asked", value=list(asked))
        if any(rule.promises for rule in rules):
            manner = self.manner(rules, costs, known, available)
            rules = rules_in_force(rules, manner, self.fingerprint, warn=False)
        row = range(len(table))[row]
        one = slice(row, row + 1)
        case = self.encoder.transform(take_rows(table, np.array([row])), [row])
        can_ask = askable(case.present, self.missing, None if available is None else available[one])
        given = np.zeros_like(case.present) if known is None else known[one]
        return candidates_after(context, rules, case, order, can_ask=can_ask, known=given)

    def interview(
        self,
        known: Mapping[str, Any] | None = None,
        unavailable: Iterable[str] = (),
        max_features: int | None = None,
        stopping: StoppingRule | Sequence[StoppingRule] | None = None,
        costs: Costs | None = None,
        *,
        check_values: bool = True,
    ) -> Interview:
        """Begin an interview of one case.

        Without `check_values`, numbers are taken as they are: a caller that has its own limits checks them itself.
        """
        rules = self._rules(max_features, stopping)
        known = checked_known(known)
        check_unavailable(unavailable)
        unavailable = list(unavailable)
        if any(rule.promises for rule in rules):
            manner = manner_of(rules, prices=self._other_prices(costs), known=list(known), unavailable=unavailable)
            rules = rules_in_force(rules, manner, self.fingerprint)
        return Interview(
            self.context(costs),
            self if check_values else self.encoder,
            stopping=rules,
            describe=self.describe,
            known=known,
            unavailable=unavailable,
            missing=self.missing,
        )

    def encode_answer(self, feature: int, answer: Any) -> np.ndarray | None:
        """The encoded columns of an answer that `check_answer` allows; None where it says nothing."""
        columns = self.encoder.encode_answer(feature, answer)
        if columns is not None:
            self.check_answer(self.schema.names[feature], answer)
        return columns

    def check_answer(self, name: str, answer: Any) -> None:
        """Refuse a number outside the feature's limits; warn of one far outside the training range.

        The limits are `low` and `high` of the model's `descriptions`.
        """
        for part in self.schema.features[self.schema.index(name)].parts:
            value = answer.get(part.name) if isinstance(answer, Mapping) else answer
            if part.kind != "number" or is_missing(value):
                continue
            number = float(as_numbers(np.array([value], dtype=object))[0])
            low, high = limits = self.limits(part.name)
            fields = {"feature": name, "column": part.name, "value": value, "low": low, "high": high}
            if not within(number, limits):
                message = f"{part.name!r} must be {limits_text(limits)}, not {number:g}"
                raise InterviewError("bad_answer", message, **fields)
            assert part.low is not None
            assert part.high is not None
            if not within(number, plausible_limits(part.low, part.high)):
                message = (
                    f"{part.name!r} is {number:g}, far outside the training range from {part.low:g} to "
                    f"{part.high:g}; the prediction may be wrong"
                )
                fields |= {"low": part.low, "high": part.high}
                warnings.warn(UnseenWarning("outside_training_range", message, **fields), stacklevel=4)

    def limits(self, name: str) -> Limits:
        """The lowest and the highest number that the descriptions allow for a feature or a column; None for none."""
        described = self.descriptions.get(name, {})
        return described.get("low"), described.get("high")

    def manner(
        self,
        rules: Sequence[StoppingRule],
        costs: Costs | None = None,
        known: np.ndarray | None = None,
        available: np.ndarray | None = None,
        batch: int = 1,
    ) -> tuple[str, ...]:
        """The conditions under which a table is asked with these options; the masks are (rows, features)."""
        return manner_of(
            rules,
            prices=self._other_prices(costs),
            known=self._names(known),
            unavailable=self._names(None if available is None else ~available),
            batch=batch,
        )

    def _names(self, mask: np.ndarray | None) -> list[str]:
        """The features of a mask (rows, features) by name, where all rows have the same."""
        if mask is None or not mask.any():
            return []
        if (mask.any(axis=0) != mask.all(axis=0)).any():
            sets = hashlib.blake2b(np.unique(np.packbits(mask, axis=1), axis=0).tobytes(), digest_size=4)
            return [f"{MIXED} ({sets.hexdigest()})"]
        return [name for name, one in zip(self.schema.names, mask[0], strict=True) if one]

    def _other_prices(self, costs: Costs | None) -> list[str]:
        """What differs from the costs of the fit."""
        own, other = (cost_model(each, self.schema, self.costs) for each in (None, costs))
        if not (own.fixed and other.fixed):
            return [] if repr(own) == repr(other) else [repr(other)]
        mask = np.zeros((1, len(self.schema)), dtype=bool)
        nothing = State(np.zeros((1, self.schema.n_columns), dtype=np.float32), mask, mask)
        before, after = own.prices(nothing)[0], other.prices(nothing)[0]
        return [f"{name}={after[i]:g}" for i, name in enumerate(self.schema.names) if before[i] != after[i]]

    def certified(
        self, rule: Certified, others: Sequence[StoppingRule], table: Any, y: np.ndarray, **options: Any
    ) -> Certified:
        """The rule with a threshold from cases with the classes y (n,), which the model has not seen.

        `others` are the rules that it will be used with. `options` go to the roll-out of these cases: prices, what is
        known beforehand, and so on.
        """
        if options.get("batch", 1) != 1:
            message = f"batch must be 1, not {options['batch']!r}: a rule is certified for questions one at a time"
            raise ParameterError("not_supported", message, name="batch", value=options["batch"])
        if len(y):
            trajectory = self.rollout(table, stopping=others, **options)
            predictions, within = trajectory.predictions, trajectory.order.shape[1]
            known, available = (self.mask(options.get(name), name, table) for name in ("known", "available"))
            manner = self.manner(others, options.get("costs"), known, available)
        else:
            predictions, within, manner = np.empty((0, 1, len(self.classes))), 0, self.manner(others)
        found = replace(certified_on(rule, predictions, y, within), manner=manner, model=self.fingerprint)
        if found.threshold is None:
            message = (
                f"with these {len(y)} cases, no threshold keeps the share of wrong predictions below {rule.risk:g} "
                f"with confidence {rule.confidence:g}; the rule stops no case. Use more cases, more features or a "
                "larger risk"
            )
            fields = {"rows": len(y), "risk": rule.risk, "confidence": rule.confidence}
            warnings.warn(CertificationWarning("no_threshold", message, **fields), stacklevel=3)
        return found

    def context(self, costs: Costs | None = None) -> Context:
        """The acquisition context, with the prices of the fit or others."""
        return Context(
            self.policy,
            self.predictor,
            self.schema,
            costs=cost_model(costs, self.schema, self.costs),
            precedence=Precedence.of(self.precedence, self.schema),
            reference=self.reference,
        )

    def describe(self, output: np.ndarray, state: State) -> dict[Any, float]:
        """The prediction of a batch of one, in words: {class: probability}, or {"mean": .., "sd": ..}."""
        if self.task == "classification":
            return dict(zip(self.classes, output.tolist()[0], strict=True))
        mean = {"mean": float(output[0, 0])}
        sd = self.predictor.spread(state)
        return mean if sd is None else mean | {"sd": float(sd[0])}

    def checked(self) -> FittedModel:
        """Itself, if its parts fit one another."""
        if self.task not in get_args(Task) or self.missing not in get_args(Missing):
            raise ValueError(f"the task is {self.task!r} and missing is {self.missing!r}")
        distinct = len(set(self.classes))
        if distinct < len(self.classes) or (distinct < 2 if self.task == "classification" else distinct > 0):
            raise ValueError(f"a {self.task} has the classes {self.classes!r}")
        if checked_budget(self.max_features, len(self.schema)) != self.max_features:
            raise ValueError(f"max_features is {self.max_features!r} for {len(self.schema)} features")
        for feature in self.schema.features:
            checked_price(feature.name, feature.cost)
        self.context()  # checks the policy, the predictor, costs and precedence
        self._rules(None, self.stopping)
        if self.image_shape is not None and not all(type(size) is int and size > 0 for size in self.image_shape):
            raise ValueError(f"the shape of an image is {self.image_shape!r}")
        if not isinstance(self.settings, dict) or not isinstance(self.summary, dict):
            raise ValueError("the settings and the summary are mappings")
        words = self.settings.get("na", [])
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise ValueError(f"the words for missing values are {words!r}")
        if not self.schema.all_names >= self.descriptions.keys():
            raise ValueError(f"some of {list(self.descriptions)} are described, but are no features")
        self._try_out(known=False)
        self._try_out(known=True)
        if self.reference is not None:
            self.reference.checked(self.schema, len(self.classes) or 1)
        return self

    def _try_out(self, *, known: bool) -> None:
        """Raise an error if the encoder, the policy and the predictor do not fit one another."""
        mask = np.full((1, len(self.schema)), known)
        x = np.zeros((1, self.schema.n_columns), dtype=np.float32)
        outputs = len(self.classes) or 1
        with np.errstate(all="ignore"):
            for i, feature in enumerate(self.schema.features if known else ()):
                example = {part.name: _example(part) for part in feature.parts}
                x[0, feature.start : feature.stop] = self.encoder.encode_answer(i, example)
            state = State(x, mask, mask)
            scores = np.asarray(self.policy.score_with_truth(state, x))
            predicted = self.predictor.predict(state)
        for name, shape, expected in (
            ("policy", scores.shape, mask.shape),
            ("predictor", predicted.shape, (1, outputs)),
        ):
            if shape != expected:
                message = f"the output of the {name} for one case has the shape {shape}, not {expected}"
                raise ParameterError("wrong_shape", message, name=name, shape=shape, expected=expected)
        if not np.isfinite(x).all() or not np.isfinite(predicted).all():
            raise ValueError("an example case does not lead to a finite prediction")

    def _rules(
        self, max_features: int | None, stopping: StoppingRule | Sequence[StoppingRule] | None
    ) -> tuple[StoppingRule, ...]:
        budget = self.max_features if max_features is None else checked_budget(max_features, len(self.schema))
        rules = self.stopping if stopping is None else as_rules(stopping)
        check_rules(rules, self.task, stored=self.reference is not None, informative=self.informative)
        return (*rules, MaxFeatures(budget))

    def _chunks(self, table: Any, numbers: Sequence[int] | np.ndarray | None) -> Iterator[tuple[slice, Cases]]:
        """The encoded rows, some at a time, with their place in the table."""
        for rows, part in row_chunks(table, ROWS_AT_ONCE):
            named: Any = range(rows.start, rows.stop) if numbers is None else numbers[rows]
            cases = self.encoder.transform(part, named)
            size = cases_at_once(self.schema)
            for start in range(0, len(cases), size):
                batch = cases[start : start + size]
                yield slice(rows.start + start, rows.start + start + len(batch)), batch

    def mask(self, mask: Any, name: str, table: Any) -> np.ndarray | None:
        """(rows, features) bool: an array or a frame of that shape, or the names of features for all rows."""
        if mask is None:
            return None
        if isinstance(mask, str | Mapping):
            example = [mask] if isinstance(mask, str) else list(mask)
            raise bad_value("wrong_type", name, mask, f"a list of feature names, such as {example}")
        shape = (len(table), len(self.schema))
        if isinstance(mask, Iterator):
            mask = list(mask)
        if not hasattr(mask, "columns") and np.ndim(mask) < 2 and all(isinstance(item, str) for item in mask):
            row = np.zeros(len(self.schema), dtype=bool)
            row[[self.schema.index(item) for item in mask]] = True
            return np.broadcast_to(row, shape)
        check_row_labels(table, mask, name)
        array = np.asarray(_in_order(mask, name, self.schema))
        if array.dtype != bool or array.shape != shape:
            message = (
                f"{name} must be a boolean array of shape {shape} or a list of feature names, not {array.dtype} of "
                f"shape {array.shape}"
            )
            right_type = array.dtype == bool
            raise ParameterError(
                "wrong_shape" if right_type else "wrong_type", message, name=name, shape=array.shape, expected=shape
            )
        return array


def _in_order(mask: Any, name: str, schema: Schema) -> Any:
    """A frame's columns in the order of the features, which they must name; what has no names as it is."""
    columns = list(getattr(mask, "columns", ()))
    if not any(isinstance(column, str) for column in columns):
        return mask
    if sorted(map(str, columns)) != sorted(schema.names):
        message = f"the columns of {name} must be the features, not {listed(columns)}"
        raise ParameterError("missing_column", message, name=name, value=columns, expected=list(schema.names))
    return mask[list(schema.names)]


def checked_budget(max_features: Any, n_features: int) -> int:
    """A budget as an integer of at least 1, clipped to the number of features."""
    return min(int(checked_number(max_features, "max_features", low=1, whole=True)), n_features)


def _example(part: Part) -> Any:
    """A value that the part must take."""
    if part.kind in ("number", "patch"):
        return part.low
    return True if part.choices is None else part.choices[0]
