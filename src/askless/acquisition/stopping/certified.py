"""Stop with a promise: of the cases that stop, at most a stated share is wrong.

The threshold of the rule is found by Learn then Test (Angelopoulos et al., "Learn then Test: Calibrating predictive
algorithms to achieve risk control", 2021) on cases that neither training nor the choice of a model has seen.
Thresholds are tested from strict to lax, each by an exact binomial test of "too many are wrong". The first ones stop
too few cases to show anything, so testing begins at three places, which the predictions for a small part of the cases
say; each has a third of the error that the confidence allows. From there it goes on while every test shows it, and
one that arrives at the next place brings along what it had (the fallback procedure, Wiens 2003): so there is no
correction for the number of tests, and no single unlucky place ends it all.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, inf, lgamma, log, log1p

import numpy as np

from askless.acquisition.progress import Progress
from askless.acquisition.stopping.rules import MaxFeatures, StoppingRule
from askless.exceptions import CertificationWarning, ParameterError

MIXED = "a set of features that differs between the cases"  # followed by a hash of these sets
LOST = "the file does not say at what costs it was certified"  # of format version 1

PILOT = 0.1  # share of the cases that says where to begin; their classes are not looked at
BEGINS = (1 / 8, 1 / 4, 1 / 2)  # shares of the cases that stop where testing begins
STRICTEST, STEPS = 1e-4, 200  # thresholds leave from 1e-4 on for all other classes together
FEWEST = 10  # cases, below which there is nothing to test with


@dataclass(frozen=True)
class Certified(StoppingRule):
    """Stop once the prediction is so sure that at most `risk` of the cases that stop are wrong, with `confidence`.

    Given to `fit`, some rows are held out to find the threshold; `model.certify(X, y)` finds it on rows of your own.
    Cases that never become sure enough abstain: they keep their last prediction, and their stop reason says so. The
    promise holds for the same model and for cases like those that the threshold was found on, asked in the same way:
    one question at a time in the model's order, no fewer of them, with the same costs, other rules, known and
    unavailable features. Otherwise the rule stops no case, and the stop reason says why.
    """

    risk: float = 0.05
    confidence: float = 0.95
    threshold: float | None = None  # of the most probable class; None stops no case
    cases: int = 0  # how many the threshold was tested on; 0: not yet
    within: int | None = None  # questions; a case that becomes sure later was not tested
    manner: tuple[str, ...] = ()  # the conditions of the certification, see `manner_of`
    model: str | None = None  # its fingerprint; None in files of before
    task = "classification"
    promises = True

    def __post_init__(self) -> None:
        for name in ("risk", "confidence"):
            self._check_number(name, f"the {name}", high=1)
            number = getattr(self, name)
            if number in (0.0, 1.0):
                message = f"the {name} is {number:g}; it must be above 0 and below 1"
                raise ParameterError("out_of_range", message, name=name, value=number, low=0, high=1)
        if self.threshold is not None:
            self._check_number("threshold", "the threshold", high=1)
        self._check_number("cases", "the number of cases", whole=True)
        if self.within is not None:
            self._check_number("within", "the number of questions", whole=True)
        object.__setattr__(self, "manner", tuple(map(str, self.manner)))  # JSON's lists

    @property
    def reason(self) -> str:
        return f"sure enough: certified for at most {self.risk:.3g} wrong, with confidence {self.confidence:.3g}"

    @property
    def otherwise(self) -> str:
        return f"abstains: not sure enough for at most {self.risk:.3g} wrong"

    def stops(self, progress: Progress) -> np.ndarray:
        if not self.cases:
            message = (
                "Certified has no threshold yet: give it to `fit`, which holds out rows for it, or use the rule that "
                "`model.certify(X, y)` returns"
            )
            raise ParameterError("required", message, name="threshold")
        sure: np.ndarray = progress.prediction.max(axis=1) >= (2.0 if self.threshold is None else self.threshold)
        return sure if self.within is None else sure & (progress.count <= self.within)


@dataclass(frozen=True)
class NotUsed(StoppingRule):
    """Stands in for a certified rule whose conditions have changed: it stops no case, and says why."""

    why: str

    @property
    def reason(self) -> str:
        return f"the certified stopping rule was not used: {self.why}"

    @property
    def otherwise(self) -> str:
        return self.reason

    def stops(self, progress: Progress) -> np.ndarray:
        return np.zeros(len(progress.count), dtype=bool)


def not_used(rules: Sequence[StoppingRule], why: str) -> tuple[StoppingRule, ...]:
    """The rules without their certified one, whose place says why."""
    return tuple(NotUsed(why) if isinstance(rule, Certified) else rule for rule in rules)


def manner_of(
    rules: Sequence[StoppingRule],
    *,
    prices: Sequence[str] = (),
    known: Sequence[str] = (),
    unavailable: Sequence[str] = (),
    batch: int = 1,
) -> tuple[str, ...]:
    """The conditions under which cases are asked, as "kind: what"; empty for those of the model itself.

    Limits on the number of questions are not among them: `rules_in_force` compares them with `Certified.within`.
    """
    beside = [repr(rule) for rule in rules if not isinstance(rule, (Certified, NotUsed, MaxFeatures))]
    kinds = {"rule": beside, "cost": prices, "known": known, "unavailable": unavailable}
    batches = [f"batch: {batch}"] if batch > 1 else []
    return (*(f"{kind}: {what}" for kind, each in kinds.items() for what in sorted(each)), *batches)


def rules_in_force(
    rules: Sequence[StoppingRule], manner: tuple[str, ...], model: str | None, *, warn: bool = True
) -> tuple[StoppingRule, ...]:
    """The rules; a certified one is not used, with a warning, where its conditions are others than these.

    Its conditions are `manner`, the fingerprint of the model, and that no fewer questions are allowed.
    """
    most = min((rule.limit for rule in rules if isinstance(rule, MaxFeatures)), default=inf)
    for rule in rules:
        if not isinstance(rule, Certified) or not rule.cases:
            continue
        certified, now = list(rule.manner), list(manner)
        if rule.within is not None and most < rule.within:
            certified.append(f"questions: {rule.within}")
            now.append(f"questions: {most}")
        if None not in (rule.model, model) and rule.model != model:
            certified.append(f"model: {rule.model}")
            now.append(f"model: {model}")
        if set(certified) != set(now):
            why = _difference(certified, now)
            if warn:
                message = (
                    f"the certified stopping rule is not used: {why}. Its promise holds only for cases that are "
                    "asked like those of its certification; use `certify` with the same options"
                )
                warning = CertificationWarning("conditions_changed", message, certified=certified, now=now)
                warnings.warn(warning, stacklevel=4)
            return not_used(rules, why)
    return tuple(rules)


CHANGES = {  # by kind: what to say of conditions that came, and of those that went
    "model": ("it was certified for another model", "it was certified for another model"),
    "rule": ("the rule {} was added", "the rule {} was removed"),
    "cost": ("the costs differ", "the costs differ"),
    "known": ("{} was known beforehand", "{} was not known beforehand"),
    "unavailable": ("{} was unavailable", "{} was available"),
    "batch": ("features were asked in batches", "features were asked one at a time"),
}


def _difference(certified: Sequence[str], now: Sequence[str]) -> str:
    """How the conditions differ from those of the certification."""
    if f"cost: {LOST}" in certified:
        return LOST
    phrases: list[str] = []
    for kind, (came, went) in CHANGES.items():
        for phrase, here, there in ((came, now, certified), (went, certified, now)):
            words = [item.removeprefix(f"{kind}: ") for item in here if item.startswith(kind) and item not in there]
            if words:
                quoted = words[0] if kind == "rule" or words[0].startswith(MIXED) else repr(words[0])
                more = f" and {len(words) - 1} more" if len(words) > 1 else ""
                phrases.append(phrase.format(quoted + more).replace("more was", "more were"))
    limits = [item.removeprefix("questions: ") for item in (*now, *certified) if item.startswith("questions: ")]
    if limits:
        plural = "" if limits[0] == "1" else "s"
        phrases.append(f"at most {limits[0]} question{plural} instead of {limits[1]}")
    return "; ".join(dict.fromkeys(phrases)) or "the conditions differ"


def certified_on(rule: Certified, predictions: np.ndarray, y: np.ndarray, within: int | None = None) -> Certified:
    """The rule for cases whose predictions (n, steps, classes) after each answer and classes (n,) are these."""
    order = np.random.default_rng(0).permutation(len(y))
    pilot, rest = np.split(order, [round(PILOT * len(y))])
    threshold, error = None, 0.0  # of the chain of tests that has come here
    if len(y) >= FEWEST:
        grid = _grid(predictions.shape[2])
        begins = _begins(predictions[pilot], grid)
        for place, (stopped, wrong) in enumerate(_counts(predictions[rest], y[rest], grid)):
            error += (1.0 - rule.confidence) * begins.count(place) / len(begins)
            if binomial_tail(wrong, stopped, rule.risk) > error:
                error = 0.0
            else:
                threshold = float(grid[place])
    return replace(rule, threshold=threshold, cases=max(len(rest), 1), within=within)


def binomial_tail(wrong: int, stopped: int, risk: float) -> float:
    """The probability of so few wrong among the stopped, or fewer, if each is wrong with probability `risk`.

    >>> round(binomial_tail(0, 58, 0.05), 4), round(binomial_tail(1, 2, 0.5), 4)
    (0.051, 0.75)
    """
    logs = (
        lgamma(stopped + 1) - lgamma(k + 1) - lgamma(stopped - k + 1) + k * log(risk) + (stopped - k) * log1p(-risk)
        for k in range(wrong + 1)
    )
    return min(1.0, sum(map(exp, logs)))


def _grid(n_classes: int) -> np.ndarray:
    """(STEPS,) thresholds from strict to lax, denser where they are strict."""
    laxest = 1.0 - 1.0 / n_classes
    return 1.0 - np.geomspace(STRICTEST, laxest, STEPS)


def _counts(predictions: np.ndarray, y: np.ndarray, grid: np.ndarray) -> list[tuple[int, int]]:
    """For each threshold, how many cases would stop, and how many of these would be wrong."""
    sure = predictions.max(axis=2)  # (n, steps)
    right = predictions.argmax(axis=2) == y[:, None]
    counts = []
    for level in grid:
        enough = sure >= level
        stopped = enough.any(axis=1)
        first = enough.argmax(axis=1)
        counts.append((int(stopped.sum()), int((stopped & ~right[np.arange(len(y)), first]).sum())))
    return counts


def _begins(predictions: np.ndarray, grid: np.ndarray) -> list[int]:
    """The places on the grid at which about so many cases stop as BEGINS says, by those (n, steps, classes)."""
    surest = predictions.max(axis=(1, 2))  # (n,)
    levels = np.maximum(np.quantile(surest, [1.0 - share for share in BEGINS]), grid[-1])
    return [int(np.argmax(grid <= level)) for level in levels]
