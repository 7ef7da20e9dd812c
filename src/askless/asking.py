"""What a fitted estimator can be asked to do: roll-outs, interviews and curves."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from askless import metrics
from askless.acquisition import Candidate, Costs, Interview, StoppingRule, Task, Trajectory
from askless.acquisition.stopping import Certified, as_rules, check_rules
from askless.exceptions import ParameterError
from askless.inputs import table_again
from askless.model import FittedModel

if TYPE_CHECKING:
    import pandas as pd


class Asking:
    """The part of the estimators that asks."""

    model_: FittedModel
    _task: Task

    @abstractmethod
    def _encode_target(self, y: Any, X: Any, *, known_classes: bool = False) -> np.ndarray:
        """(n,) what the loss takes, of the rows of X; a fit learns the classes, everything else must know them."""

    def rollout(
        self,
        X: Any,
        max_features: int | None = None,
        stopping: StoppingRule | Sequence[StoppingRule] | None = None,
        costs: Costs | None = None,
        available: Any = None,
        known: Any = None,
        batch: int = 1,
    ) -> Trajectory:
        """Ask every row of the table, and keep what was asked and predicted on the way.

        Parameters
        ----------
        X : a table like the one of `fit`.
        max_features : another budget than the one of `fit`.
        stopping : other rules than those of `fit`; the budget stays.
        costs : other prices than those of `fit`, by name, or a cost model. Nothing is trained again.
        available : which features can be asked of each row, (n, features) bool, or a list of names for all rows.
        known : which features are known before the first question, and free; likewise.
        batch : how many features are asked at once, chosen together.
        """
        check_is_fitted(self, "model_")
        return self.model_.rollout(table_again(self, X), max_features, stopping, costs, available, known, batch)

    def candidates(self, X: Any, row: int, asked: Sequence[str] = (), **options: Any) -> tuple[Candidate, ...]:
        """What can be asked next of a row of the table, the best first; empty where a rule stops it.

        Parameters
        ----------
        X : a table like the one of `fit`.
        row : the row's position, from 0 on.
        asked : the names of the features asked so far, in order, such as `trajectory.names(row)[:2]`.
        options : `max_features`, `stopping`, `costs`, `available` and `known`, as for `rollout`.
        """
        check_is_fitted(self, "model_")
        return self.model_.candidates(table_again(self, X), row, asked, **options)

    def interview(
        self,
        known: Mapping[str, Any] | None = None,
        unavailable: Iterable[str] = (),
        max_features: int | None = None,
        stopping: StoppingRule | Sequence[StoppingRule] | None = None,
        costs: Costs | None = None,
    ) -> Interview:
        """Begin to ask one case, question by question.

        Parameters
        ----------
        known : what is known beforehand, by feature.
        unavailable : features that cannot be had for this case.
        max_features, stopping, costs : others than those of `fit`.
        """
        check_is_fitted(self, "model_")
        return self.model_.interview(known, unavailable, max_features, stopping, costs)

    def certify(
        self,
        X: Any,
        y: Any,
        risk: float = 0.05,
        confidence: float = 0.95,
        *,
        stopping: StoppingRule | Sequence[StoppingRule] | None = None,
        **options: Any,
    ) -> Certified:
        """A stopping rule with a promise: of the cases that it stops, at most `risk` are wrong, with `confidence`.

        Parameters
        ----------
        X, y : cases that neither `fit` nor the choice of a model has seen; the more, the earlier the rule can stop.
        risk : the share of wrong predictions among the cases that stop.
        confidence : how sure the promise is, over the draw of these cases.
        stopping : the rules that it will be used with, if any; None: those of the model.
        options : how the cases will be asked, where it is not as at `fit`: `max_features`, `costs`, `known` and
            so on, as for `rollout`. Use the rule with the same ones: `rollout(X, stopping=[rule, *others])`.
        """
        check_is_fitted(self, "model_")
        rule = Certified(risk, confidence)
        model = self.model_
        check_rules((rule,), self._task, stored=model.reference is not None, informative=model.informative)
        beside = model.stopping if stopping is None else as_rules(stopping)
        others = [other for other in beside if not isinstance(other, Certified)]
        table = table_again(self, X)
        codes = self._encode_target(y, table, known_classes=True)
        return model.certified(rule, others, table, codes, **options)

    def curve(
        self,
        X: Any,
        y: Any,
        metric: str | None = None,
        *,
        budgets: Iterable[int] | None = None,
        interval: float | None = None,
        n_boot: int = 200,
        random_state: int | np.random.Generator | None = 0,
        **options: Any,
    ) -> pd.DataFrame:
        """The score after each number of answers: a frame with a row for each budget from 0 on.

        Parameters
        ----------
        X, y : labelled cases that `fit` has not seen.
        metric : a name in `askless.metrics`; None is the AUROC, or R² for a regression.
        budgets, interval, n_boot, random_state : as for `askless.metrics.curve`: which numbers of answers, and
            columns `low` and `high` of a confidence band, such as `interval=0.95`, by a bootstrap over the cases.
        options : how the cases are asked, where it is not as at `fit`: `max_features`, `stopping`, `known` and so
            on, as for `rollout`.
        """
        chosen = metrics.metric(metric) if metric else metrics.usual_metric(self._task)
        if chosen.task != self._task:
            message = f"the metric {metric!r} is for a {chosen.task}; this is a {self._task}"
            raise ParameterError("invalid_choice", message, name="metric", value=metric, expected=self._task)
        trajectory = self.rollout(X, **options)
        target = self._encode_target(y, X, known_classes=True)
        return metrics.curve(
            trajectory, target, chosen, budgets, interval=interval, n_boot=n_boot, random_state=random_state
        )
