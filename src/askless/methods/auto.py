"""The default method: cross-fitted networks and boosted trees, asked case by case or in a fixed order.

The file reads from top to bottom: the settings, the models of each split, the candidates (ways to ask), their
comparison on held-out rows, and the trees that learn from the questions of the one that is kept.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from typing import Any, Literal

import numpy as np
import torch
from sklearn.model_selection import KFold, StratifiedKFold

from askless import models
from askless.acquisition import Cases, Policy, Predictor, State
from askless.exceptions import AsklessWarning, ParameterError, TrainingError
from askless.methods.base import Fitted, Kind, Method, NetMethod, find_method
from askless.methods.columns import telling_columns
from askless.methods.greedy import Greedy, GreedyRecipe
from askless.methods.oracle_order import OracleOrder
from askless.methods.settings import NETWORK, Choice, Names, Number
from askless.models import BlendedPredictor, MeanPolicy, NetPolicy, NetPredictor, Ranking
from askless.training import (
    Asked,
    Checkpoint,
    Problem,
    Progress,
    diverged,
    finished,
    fit_forests,
    fit_threads,
    gain_per_price,
    row_losses,
    some_rows,
    static_rates,
)
from askless.training.chains import batches_in_epoch

__all__ = ["Auto"]

PARTS = ("policy", "predictor")
TREES = "boosted trees"  # a stage of the progress
FIXED = "forward_selection"  # beside another method its order is chosen with that method's predictors
WEIGHTS = np.linspace(0.0, 1.0, 11)  # shares of the trees that are compared
SMALL, LARGE = 2500, 20_000  # rows: five folds up to the one, none above the other
ORDER_ROWS, ORDER_VALUES = (256, 2048), 1 << 19  # that a fixed order is chosen with: fewer of wide tables
ORDER_CANDIDATES = 64  # features that are tried after the first step: the best ones alone
TREE_ROWS = 1 << 15  # that trees learn from
FEWEST_STEPS, MOST_STEPS = 500, 2000  # of training a greedy policy
PRETRAINING = 0.4  # steps, as a share of those
ORDER_WORK, TREES_WORK = 3.0, 3.0  # expected times of a fixed order, and of a split's trees; a greedy fit takes 10


@dataclass(eq=False, repr=False, kw_only=True)
class Auto(NetMethod):
    """Fits several networks and boosted trees, each without some of the rows, and keeps what predicts those best.

    The rows are split into folds. For each fold, `greedy` learns from the other rows. Two ways to ask are compared:
    case by case, with the mean of the policies, and in one fixed order, which is chosen by forward selection with the
    same networks. The one with the lower loss on held-out rows is kept. No network was trained on its held-out rows;
    they chose its best epoch and its temperatures. If the difference is less than one standard error, `prefer`
    decides. Then boosted trees learn from what it asks. Held-out rows choose their share in the prediction.

    Images, networks of your own, tables of more than 20,000 rows and fits with `validation=` use one split.

    Parameters
    ----------
    methods : the names of those to try. "forward_selection" shares the networks of the method before it.
    folds : number of folds; None chooses 5, 3 or 1 by the number of rows. 1 trains once, without the validation rows.
    predictor : "auto" blends networks and trees as held-out rows advise; "network" and "trees" use one of them.
    prefer : "dynamic" or "fixed": what is kept where the losses are alike.
    pretrain_epochs, iterations, hidden, dropout, batch_size, learning_rate, weight_decay, epochs : where they are not
        the default, of all methods that have such a setting, as for `Greedy`; else each has its own.
    """

    kind = "dynamic"
    limits = NETWORK | {
        "methods": Names(),
        "folds": Number(1, 100, whole=True, or_none=True),
        "predictor": Choice(("auto", "network", "trees")),
        "prefer": Choice(("dynamic", "fixed")),
        "pretrain_epochs": Number(0, whole=True, or_none=True),
        "iterations": Number(1, whole=True, or_none=True),
    }

    methods: tuple[str, ...] = ("greedy", FIXED)
    folds: int | None = None
    predictor: Literal["auto", "network", "trees"] = "auto"
    prefer: Literal["dynamic", "fixed"] = "dynamic"
    pretrain_epochs: int | None = None
    iterations: int | None = None

    def check(self) -> Auto:
        """Itself; refuses methods that need the truth, and each method's wrong settings."""
        super().check()
        if not self.methods:
            raise ParameterError("required", "methods is empty; give at least one name", name="methods")
        for name in self.methods:
            method = find_method(name)
            reason = "cannot try itself" if isinstance(method, Auto) else None
            if isinstance(method, OracleOrder):
                reason = "looks at the true values and cannot be used in an interview"
            if reason is not None:
                message = f"methods contains {name!r}, which {reason}"
                raise ParameterError("invalid_choice", message, name="methods", value=name)
            self._configured(name).check()
        return self

    @property
    def needs_images(self) -> bool:
        """Whether any of the methods tried cannot learn from a table."""
        return any(self._configured(name).needs_images for name in self.methods)

    @property
    def informative(self) -> bool:
        """Only if all of the methods tried are: any of them may be chosen."""
        return all(find_method(name).informative for name in self.methods)

    def work(self, problem: Problem) -> float:
        """All methods together."""
        return sum(self._configured(name).work(problem) for name in dict.fromkeys(self.methods))

    def _fit(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Fitted:
        with fit_threads(problem.n_threads):
            return self._compared(problem, seed, progress, checkpoint)

    def _compared(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Fitted:
        splits = self._splits(problem, seed)
        checkpoint = None if callable(self.network) else checkpoint  # its stages hold networks of askless only
        names = list(dict.fromkeys(self.methods))
        shared = FIXED in names and len(names) > 1 and problem.schema.grid is None
        fitted_names = [name for name in names if name != FIXED or not shared]
        parts = self._progress(progress, problem, fitted_names, names, len(splits))
        candidates: dict[str, Candidate] = {}
        failed: dict[str, TrainingError] = {}
        for name in fitted_names:
            method = self._shortened(self._configured(name), splits[0])
            try:
                candidates[name] = _cross_fitted(name, method, splits, seed, parts[name], checkpoint)
            except TrainingError as error:
                failed[name] = error
        if shared and candidates:
            candidates[FIXED] = _fixed_order(next(iter(candidates.values())), splits, problem)
            parts[FIXED][0].epoch(1.0, "forward selection", {})
        comparing = splits if len(splits) > 1 else [_halves(problem)[1]]
        for name, candidate in list(candidates.items()):
            candidates[name] = candidate.measured(comparing)
            if not isfinite(candidates[name].loss):
                del candidates[name]
                failed[name] = diverged(name, None, "the validation loss is not finite")
        if not candidates:
            raise _all_failed(failed)
        for name, why in failed.items():
            message = f"{name} is left out: {why}"
            fields = {**why.fields, "method": name}
            warnings.warn(AsklessWarning("method_failed", message, **fields), stacklevel=2)
        best = _kept(candidates, self.prefer)
        chosen, share = candidates[best], 0.0
        predictor = chosen.predictor
        if self.predictor != "network" and problem.schema.grid is None:
            predictor, share = _with_trees(chosen, splits, problem, always=self.predictor == "trees")
            parts[TREES][0].epoch(1.0, TREES, {})
        summary = chosen.summary | {
            "method": best,
            "kind": chosen.kind,
            "folds": len(splits),
            "trees_share": share,
            "losses": {name: candidate.loss for name, candidate in candidates.items()} | dict.fromkeys(failed),
            "seconds": {name: round(candidate.seconds, 3) for name, candidate in candidates.items()},
            "explanation": _explanation(best, candidates, share),
        }
        return Fitted(chosen.policy, predictor, chosen.history, summary, chosen.max_features)

    def _progress(
        self, progress: Progress, problem: Problem, fitted: Sequence[str], names: Sequence[str], splits: int
    ) -> dict[str, list[Progress]]:
        """The parts of the work by candidate: its fits, one for each split, and its trees."""
        stages = [(name, self._configured(name).work(problem)) for name in fitted for _ in range(splits)]
        stages += [(name, ORDER_WORK) for name in names if name not in fitted]
        stages.append((TREES, TREES_WORK * splits))
        parts = progress.parts([work for _, work in stages], [name for name, _ in stages])
        named: dict[str, list[Progress]] = {name: [] for name, _ in stages}
        for (name, _), part in zip(stages, parts, strict=True):
            named[name].append(part)
        return named

    def _splits(self, problem: Problem, seed: int) -> list[Problem]:
        """The problem with other validation rows each time; all rows are held out once."""
        folds = self.folds
        if folds is None:
            n = len(problem.y_train) + len(problem.y_valid)
            single = problem.own_validation or self.network != "mlp" or problem.schema.grid is not None
            folds = 1 if single or n > LARGE else 5 if n <= SMALL else 3
        folds = min(folds, (len(problem.y_train) + len(problem.y_valid)) // 2)
        if folds <= 1:
            return [problem]
        rows = [problem.train, problem.valid]
        cases = Cases(np.concatenate([part.x for part in rows]), np.concatenate([part.present for part in rows]))
        y = np.concatenate([problem.y_train, problem.y_valid])
        common = problem.task == "classification" and bool((np.bincount(y)[np.unique(y)] >= folds).all())
        kind = StratifiedKFold if common else KFold
        parts = kind(folds, shuffle=True, random_state=seed % 2**32).split(np.zeros(len(y)), y if common else None)
        return [
            replace(problem, train=cases[rest], y_train=y[rest], valid=cases[held], y_valid=y[held])
            for rest, held in parts
        ]

    def _configured(self, name: str) -> Method:
        """The method of that name, with the settings that were given to this one, as far as it has such."""
        method, usual = find_method(name), Auto().get_params(deep=False)
        given = {key: value for key, value in self.get_params(deep=False).items() if value != usual[key]}
        theirs = method.get_params(deep=False)
        return method.set_params(**{key: value for key, value in given.items() if key in theirs})

    def _shortened(self, method: Method, problem: Problem) -> Method:
        """The method with fewer steps, unless the user has set its epochs: a mean of networks needs fewer."""
        given = method.get_params(deep=False)
        if not isinstance(method, Greedy) or given["epochs"] is not None or problem.schema.grid is not None:
            return method
        n = len(problem.y_train)
        steps = min(max(n / 10, FEWEST_STEPS), MOST_STEPS)
        chain = batches_in_epoch(n, GreedyRecipe.of(method.recipe).states_per_row, self.batch_size)
        epochs = {"epochs": max(1, round(steps / chain))}
        if given["pretrain_epochs"] is None:
            epochs["pretrain_epochs"] = max(1, round(PRETRAINING * steps / -(-n // self.batch_size)))
        return method.set_params(**epochs, polish=False)


@dataclass(frozen=True)
class Candidate:
    """A way to ask, with the models of each split and those of all."""

    kind: Kind
    policies: list[Policy]  # of each split
    predictors: list[NetPredictor]
    policy: Policy  # of all
    predictor: Predictor
    seconds: float
    history: list[dict[str, Any]]
    summary: dict[str, Any]
    max_features: int | None = None
    rows: np.ndarray | None = None  # (n,) mean losses of the held-out rows of all splits

    def measured(self, splits: Sequence[Problem]) -> Candidate:
        """With the losses of the held-out rows of each split."""
        parts = zip(self.policies, self.predictors, splits, strict=True)
        return replace(self, rows=np.concatenate([row_losses(*part).mean(axis=1) for part in parts]))

    @property
    def loss(self) -> float:
        """The mean loss on held-out rows."""
        assert self.rows is not None
        return float(self.rows.mean())


def _cross_fitted(
    name: str,
    method: Method,
    splits: Sequence[Problem],
    seed: int,
    parts: Sequence[Progress],
    checkpoint: Checkpoint | None,
) -> Candidate:
    """A candidate whose models are those of a method, fitted to each split."""
    begun = time.perf_counter()
    fits = []
    for i, split in enumerate(splits):
        stage = name if len(splits) == 1 else f"{name} {i + 1}"
        attempt = partial(method._fit, split, seed + i, parts[i], checkpoint)
        fits.append(_kept_in(checkpoint, stage, attempt))
    policies = [fit.policy for fit in fits]
    predictors = [fit.predictor for fit in fits if isinstance(fit.predictor, NetPredictor)]
    history = [{"method": name, "fold": i + 1, **row} for i, fit in enumerate(fits) for row in fit.history]
    return Candidate(
        kind=method.kind,
        policies=policies,
        predictors=predictors,
        policy=_mean(policies),
        predictor=BlendedPredictor(predictors) if len(fits) > 1 else predictors[0],
        seconds=time.perf_counter() - begun,
        history=history,
        summary=fits[0].summary,
        max_features=fits[0].max_features,
    )


def _mean(policies: list[Policy]) -> Policy:
    """One policy for several: their mean, if they are networks or rankings; else the first."""
    if len(policies) > 1 and all(type(policy) is NetPolicy for policy in policies):
        return MeanPolicy([policy for policy in policies if isinstance(policy, NetPolicy)])
    rankings = [policy for policy in policies if isinstance(policy, Ranking)]
    if len(rankings) == len(policies):
        return Ranking(np.mean([ranking.scores for ranking in rankings], axis=0))
    return policies[0]


def _fixed_order(like: Candidate, splits: Sequence[Problem], problem: Problem) -> Candidate:
    """The best fixed order by another candidate's predictors; each split's is chosen on the rows of the others."""
    begun = time.perf_counter()
    held = [(predictor, split.valid, split.y_valid) for predictor, split in zip(like.predictors, splits, strict=True)]
    if len(splits) == 1:
        choosing, _ = _halves(problem)
        others = [[(like.predictors[0], choosing.valid, choosing.y_valid)]]
    else:
        others = [[part for j, part in enumerate(held) if j != i] for i in range(len(splits))]
    policies: list[Policy] = [_forward_selection(parts, problem) for parts in others]
    return replace(
        like,
        kind="static",
        policies=policies,
        policy=_forward_selection(held, problem),
        seconds=time.perf_counter() - begun,
        history=[],
    )


def _halves(problem: Problem) -> tuple[Problem, Problem]:
    """Every other validation row: one half chooses a fixed order, the other compares. A single row does both."""
    if len(problem.y_valid) < 2:
        return problem, problem
    first, second = (
        replace(problem, valid=problem.valid[rows], y_valid=problem.y_valid[rows])
        for rows in (slice(0, None, 2), slice(1, None, 2))
    )
    return first, second


def _forward_selection(parts: Sequence[tuple[NetPredictor, Cases, np.ndarray]], problem: Problem) -> Ranking:
    """Adds the feature that lowers the loss most, again and again; a part's rows are predicted by its predictor."""
    rows = min(max(ORDER_ROWS[0], ORDER_VALUES // problem.schema.n_columns), ORDER_ROWS[1])
    each = max(1, rows // len(parts))
    sample = []
    for predictor, cases, y in parts:
        some = some_rows(len(y), each)
        sample.append((predictor, cases[some], y[some]))
    features = len(problem.schema)

    def loss(features_known: list[int]) -> float:
        losses = []
        for predictor, cases, y in sample:
            known = np.zeros(cases.present.shape, dtype=bool)
            known[:, features_known] = True
            state = State.of(cases, problem.schema.column_feature, known)
            losses.append(problem.losses(predictor.predict(state), y))
        return float(np.concatenate(losses).mean())

    chosen: list[int] = []
    candidates, now = list(range(features)), loss([])
    for _ in range(problem.max_features):
        losses = np.array([loss([*chosen, feature]) for feature in candidates])
        gains = now - losses
        if problem.priced:
            gains = gain_per_price(gains, static_rates(problem, chosen)[candidates])
        ranked = np.argsort(-gains, kind="stable")
        now = losses[ranked[0]]
        chosen.append(candidates[ranked[0]])
        rest = max(ORDER_CANDIDATES, problem.max_features)
        candidates = [candidates[i] for i in ranked[1 : rest + 1]]
    scores = np.full(features, -float(features))
    scores[chosen] = -np.arange(len(chosen), dtype=np.float64)
    return Ranking(scores)


def _with_trees(
    chosen: Candidate, splits: Sequence[Problem], problem: Problem, *, always: bool
) -> tuple[Predictor, float]:
    """The candidate's predictor with boosted trees that learn from what it asks, and their share in the prediction.

    The policy of all splits asks, as in use. That of one split leaves out other features late in a case, and trees
    predict badly where a feature is left out that they have always seen.
    """
    column_feature = problem.schema.column_feature
    pairs = []
    for predictor, split in zip(chosen.predictors, splits, strict=True):
        rows = some_rows(len(split.y_train), TREE_ROWS)
        train = Asked.by(chosen.policy, predictor, split.train[rows], split.y_train[rows], split)
        pairs.append((train, Asked.by(chosen.policy, predictor, *split.validation_sample, split)))
    grown = fit_forests(pairs, problem, _tree_columns(problem))
    if grown is None:
        return chosen.predictor, 0.0
    forests, each = grown
    losses = np.zeros(len(WEIGHTS))
    for own, predictor, (_, held) in zip(each, chosen.predictors, pairs, strict=True):
        alone = BlendedPredictor([predictor], own, weight=1.0, column_feature=column_feature)
        for known in range(1, held.order.shape[1] + 1):
            rows, state = held.at(known, column_feature)
            net, trees, y = predictor.predict(state), alone.predict(state), held.y[rows]
            losses += [problem.losses((1.0 - w) * net + w * trees, y).sum() for w in WEIGHTS]
    share = 1.0 if always else float(WEIGHTS[np.argmin(losses)])
    if share == 0.0:
        return chosen.predictor, share
    return BlendedPredictor(chosen.predictors, forests, weight=share, column_feature=column_feature), share


def _tree_columns(problem: Problem) -> np.ndarray:
    """The encoded columns without those that trees cannot tell apart from another one of the same feature."""
    features = problem.schema.features
    return np.concatenate(
        [f.start + np.array(telling_columns(problem.train.x[:, f.start : f.stop])) for f in features]
    )


def _kept(candidates: dict[str, Candidate], prefer: str) -> str:
    """The name of the best one; of those within one standard error of it, the first of the kind that is preferred."""
    best = min(candidates, key=lambda name: candidates[name].loss)
    if (candidates[best].kind == "dynamic") == (prefer == "dynamic"):
        return best
    for name, candidate in candidates.items():
        if (candidate.kind == "dynamic") == (prefer == "dynamic"):
            worse, error = _difference(candidate, candidates[best])
            if worse <= error:
                return name
    return best


def _difference(one: Candidate, other: Candidate) -> tuple[float, float]:
    """The mean difference of the losses, row by row, and its standard error."""
    assert one.rows is not None
    assert other.rows is not None
    difference = one.rows - other.rows
    error = difference.std(ddof=1) / np.sqrt(len(difference)) if len(difference) > 1 else np.inf
    return float(difference.mean()), float(error)


def _explanation(best: str, candidates: dict[str, Candidate], share: float) -> str:
    """Says what was kept, and compares its loss on held-out rows with those of the others."""
    chosen = candidates[best]
    fixed = "a fixed order: everyone is asked the same questions, unless values are missing"
    kept = f"{best}: questions chosen case by case" if chosen.kind == "dynamic" else fixed
    text = f"kept {kept}; loss of the networks on held-out rows {chosen.loss:.4f}"
    for name, other in candidates.items():
        if name != best:
            difference, error = _difference(other, chosen)
            text += f", {name} {other.loss:.4f} (difference {difference:+.4f} ± {error:.4f})"
    return f"{text}; boosted trees have a share of {share:.0%} in the prediction" if share else text


def _kept_in(checkpoint: Checkpoint | None, stage: str, attempt: Callable[[], Fitted]) -> Fitted:
    """What a fit came to; with a checkpoint it is fitted once, whatever happens to the process."""
    if checkpoint is None:
        return attempt()

    def packed() -> tuple[dict[str, torch.Tensor], list[dict[str, Any]]]:
        fitted = attempt()
        parts: dict[str, Any] = {part: getattr(fitted, part) for part in PARTS}
        tensors = {
            f"{part}.{key}": torch.from_numpy(array.copy())
            for part, model in parts.items()
            for key, array in model.arrays().items()
        }
        described = {part: {"name": type(model).__name__, "config": model.config()} for part, model in parts.items()}
        last = {"summary": fitted.summary, "max_features": fitted.max_features}
        return tensors, [*fitted.history, described | last]

    tensors, rows = finished(checkpoint, stage, packed)
    *history, last = rows

    def built(part: str) -> Any:
        arrays = {key.removeprefix(f"{part}."): t.numpy() for key, t in tensors.items() if key.startswith(f"{part}.")}
        return getattr(models, last[part]["name"]).build(last[part]["config"], arrays)

    policy, predictor = (built(part) for part in PARTS)
    return Fitted(policy, predictor, history, last["summary"], last["max_features"])


def _all_failed(failed: dict[str, TrainingError]) -> TrainingError:
    """The error where no method could be fitted: that of the first, with the names of all."""
    first = next(iter(failed.values()))
    message = f"all of {', '.join(failed)} failed; the first: {first}"
    return TrainingError(first.code, message, **{**first.fields, "method": "auto", "methods": list(failed)})
