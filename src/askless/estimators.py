"""`DynamicClassifier` and `DynamicRegressor`: dynamic feature selection as scikit-learn estimators."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from askless.acquisition import (
    Costs,
    Grid,
    Precedence,
    Reference,
    Schema,
    StoppingRule,
    Task,
    cost_model,
)
from askless.acquisition.costs import split_costs
from askless.acquisition.numbers import checked_number, is_whole
from askless.acquisition.schema import checked_precedence
from askless.acquisition.stopping import Certified, as_rules, check_rules
from askless.asking import Asking
from askless.encoding import encode_rows, learn_encoder
from askless.exceptions import AsklessWarning, ModelFileError, ParameterError, TableError, bad_value
from askless.hints import listed
from askless.inputs import (
    checked_labels,
    checked_numbers,
    checked_table,
    seed_of,
    table_again,
    warn_of_labels,
    warn_of_scale,
)
from askless.methods import Method, find_method, list_methods
from askless.methods.base import method_from_json, method_to_json, plain_json
from askless.methods.settings import RUNNING, check_settings
from askless.model import FittedModel, checked_budget
from askless.model_file import read_model, write_model
from askless.models import NetworkFactory
from askless.remarks import warn_of_data, warn_of_telling_gaps
from askless.tables import check_row_labels, from_dask, holdout, sample_rows, take_rows

DEFAULT_BUDGET = 10
PROOF = 0.2  # share of the rows that a fit holds out, where a rule is to be certified


class _DynamicEstimator(Asking, BaseEstimator):  # type: ignore[misc]
    """The base class of both estimators."""

    def __init__(
        self,
        max_features: int | None = None,
        method: str | Method = "auto",
        groups: Mapping[str, Sequence[Any]] | None = None,
        costs: Costs | None = None,
        stopping: StoppingRule | Sequence[StoppingRule] | None = None,
        missing: str = "skip",
        patch_size: int | None = None,
        random_state: Any = 0,
        validation_fraction: float = 0.2,
        verbose: bool | None = None,
        precedence: Mapping[str, Sequence[str]] | None = None,
        reference_rows: int = 0,
        device: str = "cpu",
        n_threads: int | None = 1,
        max_rows: int | None = 1_000_000,
    ) -> None:
        self.max_features = max_features
        self.method = method
        self.groups = groups
        self.costs = costs
        self.stopping = stopping
        self.missing = missing
        self.patch_size = patch_size
        self.random_state = random_state
        self.validation_fraction = validation_fraction
        self.verbose = verbose
        self.precedence = precedence
        self.reference_rows = reference_rows
        self.device = device
        self.n_threads = n_threads
        self.max_rows = max_rows

    # Learning

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        validation: tuple[Any, Any] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Fit the model to a table and its labels.

        Suspicious data raises an `AsklessWarning` for each finding: duplicate rows and columns, constant columns,
        identifiers, codes such as -999, a column that predicts the target alone, and very few rows.

        Parameters
        ----------
        X : a pandas, polars or Dask DataFrame, a pyarrow table, a 2-D array (possibly memory-mapped), or an
            `askless.tables.ParquetTable`, with one row per case. Missing values and categories are supported.
        y : class labels of any type, or numbers for a regression.
        validation : a pair (X, y) on which training chooses the best weights. None holds out some of the rows.
        checkpoint : a file for the progress of training. If the process dies, the same call continues from the file
            and returns the same model. Delete the file after saving the model.
        """
        method, rules = self._check_parameters()
        self.__dict__.pop("model_", None)  # if this fit fails, the model of an earlier fit must not remain
        seed = seed_of(self.random_state)
        X, y, n_rows = from_dask(X, y, self.max_rows, seed)
        X = checked_table(self, X)
        grid = self._image_grid()
        target = getattr(y, "name", None)
        y = self._encode_target(y, X)
        sample = sample_rows(len(y), self.max_rows, seed)
        n_rows = len(y) if n_rows is None else n_rows
        if len(sample) < n_rows:
            message = f"training uses a random sample of {len(sample):,} of {n_rows:,} rows; change it with max_rows"
            warnings.warn(AsklessWarning("sampled_rows", message, rows=n_rows, used=len(sample)), stacklevel=2)
        rows, proof = sample, sample[:0]
        if rules and rules[0].promises:  # such a rule comes first
            kept, held = holdout(y[sample], PROOF, stratify=True, seed=seed)
            if len(kept) < len(sample):
                rows, proof = sample[kept], sample[held]
        if validation is None:
            kept, held = holdout(y[rows], self.validation_fraction, self._task == "classification", seed)
            X_valid, y_valid, rows, held = X, y, rows[kept], rows[held]
        else:
            if not isinstance(validation, tuple | list) or len(validation) != 2:
                kind = type(validation).__name__
                raise ParameterError(
                    "wrong_type", f"validation must be a pair (X, y), not a {kind}", name="validation", value=kind
                )
            X_valid = table_again(self, validation[0])
            y_valid = self._encode_target(validation[1], X_valid, known_classes=True)
            held = np.arange(len(X_valid))
        named, costs = split_costs(self.costs)
        encoder = learn_encoder(X, rows, groups=self.groups, costs=named, grid=grid, seed=seed)
        if validation is not None:
            warn_of_scale(encoder, X_valid)
        warn_of_data(X if grid is None else None, y, self._task, (self.groups or {}).values())
        prices = cost_model(None, encoder.schema, costs)
        precedence = Precedence.of(self.precedence, encoder.schema)
        budget = checked_budget(self.max_features or DEFAULT_BUDGET, len(encoder.schema))
        train = encode_rows(encoder, X, rows)
        valid = encode_rows(encoder, X_valid, held)
        if len(proof):
            encode_rows(encoder, X, proof)  # raises for bad cells now, not after training
        classes = np.asarray(getattr(self, "classes_", ())).tolist()
        warn_of_telling_gaps(encoder, train, y[rows], valid, y_valid[held], classes)
        from askless.training import Problem, progress_bar

        problem = Problem(
            schema=encoder.schema,
            train=train,
            y_train=y[rows],
            valid=valid,
            y_valid=y_valid[held],
            task=self._task,
            n_classes=len(classes),
            max_features=budget,
            missing=self.missing,  # type: ignore[arg-type]
            costs=prices,
            precedence=precedence,
            device=self.device,
            n_threads=self.n_threads,
            own_validation=validation is not None,
        )
        settings = self._settings(method, encoder.schema, target)  # raises now, not after training
        with progress_bar(self.verbose) as progress:
            fitted = method.fit(problem, seed=seed, progress=progress, checkpoint=checkpoint)
        n = self.reference_rows
        reference = Reference.sample(train, y[rows], self._task, n, seed) if n else None
        model = FittedModel(
            task=self._task,
            classes=tuple(classes),
            encoder=encoder,
            policy=fitted.policy,
            predictor=fitted.predictor,
            max_features=fitted.max_features or budget,
            missing=self.missing,  # type: ignore[arg-type]
            settings=settings,
            summary=fitted.summary,
            image_shape=getattr(self, "image_shape_", None),
            costs=costs,
            precedence=checked_precedence(self.precedence),
            reference=reference,
        )
        if rules and isinstance(rules[0], Certified):
            rules = (model.certified(rules[0], rules[1:], take_rows(X, proof), y[proof]), *rules[1:])
        self.history_, self.model_ = fitted.history, replace(model, stopping=rules)
        return self

    def _check_parameters(self) -> tuple[Method, tuple[StoppingRule, ...]]:
        if self.missing not in ("skip", "answer"):
            choices = ["skip", "answer"]
            raise bad_value("invalid_choice", "missing", self.missing, "'skip' or 'answer'", choices=choices)
        if not 0.0 < self.validation_fraction < 1.0:
            fraction = self.validation_fraction
            raise bad_value("out_of_range", "validation_fraction", fraction, "between 0 and 1", low=0, high=1)
        if self.max_features is not None:
            checked_budget(self.max_features, 1)
        checked_number(self.reference_rows, "reference_rows", low=0, whole=True)
        checked_precedence(self.precedence)
        running = ("device", "n_threads", "max_rows")
        check_settings(RUNNING, {name: getattr(self, name) for name in running})
        method = find_method(self.method).check()
        rules = as_rules(self.stopping)
        check_rules(rules, self._task, stored=self.reference_rows > 0, informative=method.informative)
        return method, rules

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the method (`method__epochs=5`) if it is given by name."""
        if isinstance(self.method, str) and any(name.startswith("method__") for name in params):
            self.method = find_method(self.method)
        return super().set_params(**params)

    def _image_grid(self) -> Grid | None:
        """How images are cut into patches, or None for a table."""
        shape = getattr(self, "image_shape_", None)
        if shape is None and self.patch_size is not None:
            message = "patch_size is for images: arrays of shape (n, height, width[, channels])"
            raise ParameterError("conflicting_settings", message, name="patch_size", value=self.patch_size)
        if shape is not None and self.groups is not None:
            message = "groups are for tables; the features of images are their pixels or patches"
            raise ParameterError("conflicting_settings", message, name="groups")
        if shape is None:
            return None
        size = 1 if self.patch_size is None else self.patch_size
        if not is_whole(size) or size < 1:
            code = "out_of_range" if is_whole(size) else "wrong_type"
            raise bad_value(code, "patch_size", size, "an integer of at least 1", low=1)
        height, width, channels = (*shape, 1)[:3]
        return Grid(height, width, channels, int(size))

    def _settings(self, method: Method, schema: Schema, target: Any) -> dict[str, Any]:
        """The parameters as JSON, from which `load` rebuilds the estimator, and the name of the target."""
        prices = {feature.name: feature.cost for feature in schema.features if feature.cost != 1.0}
        groups = None if self.groups is None else {str(k): list(v) for k, v in self.groups.items()}
        settings = {
            "max_features": None if self.max_features is None else int(self.max_features),
            "method": method_to_json(method),
            "groups": groups,
            "costs": None if self.costs is None else prices,
            "missing": self.missing,
            "patch_size": None if self.patch_size is None else int(self.patch_size),
            "random_state": int(self.random_state) if is_whole(self.random_state) else None,
            "validation_fraction": float(self.validation_fraction),
            "precedence": None if self.precedence is None else checked_precedence(self.precedence),
            "reference_rows": int(self.reference_rows),
            "named_columns": hasattr(self, "feature_names_in_"),
            "target": target if isinstance(target, str) else None,
        }
        return plain_json(settings)

    # Files and facts

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file, which `askless.load` reads. An existing file is overwritten."""
        check_is_fitted(self, "model_")
        try:
            write_model(self.model_, path)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise ParameterError(
                "file_not_found" if isinstance(error, FileNotFoundError) else "cannot_write",
                f"the model cannot be saved as {os.fspath(path)}: {reason}",
                path=os.fspath(path),
            ) from error

    @property
    def schema_(self) -> Schema:
        """The features with their kinds, costs and columns."""
        check_is_fitted(self, "model_")
        return self.model_.schema

    @property
    def summary_(self) -> dict[str, Any]:
        """What the fit kept and why, also after `load`.

        Returns
        -------
        A dict with these entries, and what else the method reports:

        - "method": the name of the method that was kept; of `auto`, that of the best method it tried.
        - "kind": "dynamic", "static" or "control".
        - "explanation": a sentence that says what was kept and why.
        - "losses": the validation loss of each method that was tried, by name.
        - "seconds": the training time of each method, by name; not after `load`.
        - "stored_rows": how many encoded training rows, with labels, the model and its file hold.
        """
        check_is_fitted(self, "model_")
        reference = self.model_.reference
        return self.model_.summary | {"stored_rows": 0 if reference is None else len(reference.y)}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags


class DynamicClassifier(ClassifierMixin, _DynamicEstimator):  # type: ignore[misc]
    """Predicts a class from few features, which it chooses for each case.

    Parameters
    ----------
    max_features : the largest number of features that may be asked per case. The model is trained for this budget.
        None means 10, or all features if there are fewer. Larger numbers are clipped to the number of features.
    method : the training method, by name ("greedy", "value", "forward_selection", ...; see
        `askless.methods.list_methods()`) or as an object such as `askless.methods.Greedy(hidden=(256, 256))`.
    groups : columns that are asked together, such as `{"blood pressure": ["sbp", "dbp"]}`.
    costs : the cost of features by name; the default cost is 1. Or a cost model of `askless.acquisition.costs`, such
        as `Panels`. Costs influence what is asked next (docs/real_life.md).
    stopping : rules of `askless.acquisition.stopping` that can end the questions before the budget is used up, such
        as `Confidence(0.95) | MaxCost(20)`.
    missing : "skip": a missing value cannot be asked in that row. "answer": it can be asked, counts towards the
        budget, and the answer is "unknown".
    patch_size : for images, arrays of shape (n, height, width[, channels]): the side of the square patches that are
        asked, in pixels. None asks for single pixels.
    random_state : the seed. The same integer gives the same model.
    validation_fraction : the share of the rows that training holds out to choose the best weights.
    verbose : whether `fit` shows its progress on standard error: a bar in a terminal, a line in a notebook, lines
        elsewhere. None shows it in a terminal or notebook only.
    precedence : features that can be asked only after others, such as `{"result": ["consent"]}`.
    reference_rows : the number of encoded training rows, with their labels, that are stored in the model and its
        file. The default 0 stores none. **Values and labels of these rows can be read back from the file.**
        `rollout(batch=...)` and the rule `DecisionStable` need stored rows; 256 are enough.
    device : where convolutional networks are trained: "cpu", "cuda", "mps", or "auto" for a GPU if torch finds one.
    n_threads : threads of torch in training. None uses as many as torch does by default. More than one is faster for
        large dense networks only.
    max_rows : the number of rows that training reads. A larger table is sampled at random, with a warning; None reads
        all rows. Training visits at most 131,072 partial records in an epoch, so more rows add little.

    Attributes
    ----------
    classes_ : the labels, in the order of the columns of `predict_proba`.
    schema_ : the features with their kinds and costs.
    summary_ : which method was kept and why, and how many training rows the model holds.
    history_ : a list with a dict for each training epoch; empty after `load`.
    n_features_in_, feature_names_in_ : the number and the names of the columns in `fit`.

    Examples
    --------
    >>> from askless import DynamicClassifier
    >>> from askless.datasets import load_dataset
    >>> data = load_dataset("breast_cancer")
    >>> model = DynamicClassifier(max_features=3).fit(data.frame, data.target)
    >>> model.rollout(data.frame).order.shape
    (569, 3)
    """

    _task: Task = "classification"

    def _encode_target(self, y: Any, X: Any, *, known_classes: bool = False) -> np.ndarray:
        labels = checked_labels(y, X)
        if not known_classes:
            self.classes_ = np.unique(labels)
            if len(self.classes_) < 2:
                only = self.classes_.tolist()[0]
                raise TableError(
                    "one_class", f"y has only one class, {only!r}; a classifier needs at least two", label=only
                )
            warn_of_labels(self.classes_.tolist())
        elif self.classes_.dtype.kind in "UO" and labels.dtype.kind in "iufb":
            labels = labels.astype(str)  # as at `fit`, where text and numbers were mixed
        codes = np.searchsorted(self.classes_, labels).clip(max=len(self.classes_) - 1)
        strange = np.flatnonzero(self.classes_[codes] != labels)
        if len(strange):
            row = int(strange[0])
            label = labels[row : row + 1].tolist()[0]
            classes = self.classes_.tolist()
            message = f"unknown label {label!r} in y, row {row} (0-based); `fit` saw {listed(classes)}"
            raise TableError("unknown_label", message, label=label, row=row, choices=classes)
        return codes

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities (n, classes) after the last question."""
        return self.rollout(X).predictions[:, -1]

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class (n,) after the last question."""
        codes = self.predict_proba(X).argmax(axis=1)
        return self.classes_[codes]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy."""
        check_row_labels(X, y, "y")
        return float(super().score(X, y, sample_weight))


class DynamicRegressor(RegressorMixin, _DynamicEstimator):  # type: ignore[misc]
    """Predicts a number and a standard deviation from few features, which it chooses for each case.

    The parameters are those of `DynamicClassifier`.

    Attributes
    ----------
    schema_ : the features with their kinds and costs.
    summary_ : which method was kept and why, and how many training rows the model holds.
    history_ : a list with a dict for each training epoch; empty after `load`.
    n_features_in_, feature_names_in_ : the number and the names of the columns in `fit`.

    Examples
    --------
    >>> from askless import DynamicRegressor
    >>> from askless.datasets import load_dataset
    >>> data = load_dataset("diabetes")
    >>> model = DynamicRegressor(max_features=3).fit(data.frame, data.target)
    >>> sorted(model.interview().prediction)
    ['mean', 'sd']
    """

    _task: Task = "regression"

    def _encode_target(self, y: Any, X: Any, *, known_classes: bool = False) -> np.ndarray:
        return checked_numbers(y, X)

    def predict(self, X: Any) -> np.ndarray:
        """The predicted mean (n,) after the last question."""
        return self.rollout(X).predictions[:, -1, 0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The R² of the predictions."""
        check_row_labels(X, y, "y")
        return float(super().score(X, y, sample_weight))


# Files


def load(path: str | os.PathLike[str], network: NetworkFactory | None = None) -> DynamicClassifier | DynamicRegressor:
    """Load an estimator from a model file. Runs no code from the file. Raises `ModelFileError` if it is damaged.

    A model with a network of your own needs its function again: `network` is what the method's `network` was.
    """
    model = read_model(path, network)
    kind = DynamicClassifier if model.task == "classification" else DynamicRegressor
    try:
        settings = dict(model.settings)
        strange = _strange_settings(settings, kind)
        named, _, _ = settings.pop("named_columns"), settings.pop("target"), settings.pop("na", None)
        if not strange:
            settings["method"] = method_from_json(settings["method"], network)
            settings["costs"] = model.costs or settings["costs"]
            estimator = kind(**settings, stopping=model.stopping or None)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelFileError(
            "unreadable_file", f"{path} has settings that cannot be read ({error!r})", path=str(path)
        ) from error
    if strange:
        message = f"{path} has settings that this version of askless does not know: {listed(strange)}"
        raise ModelFileError("newer_format", message, path=str(path), name=strange[0])
    estimator.model_ = model
    estimator.history_ = []  # not in the file
    if model.image_shape is not None:
        estimator.image_shape_ = model.image_shape
    names = model.encoder.columns
    estimator.n_features_in_ = len(names)
    estimator._by_name = model.encoder.named
    if named:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    if model.task == "classification":
        estimator.classes_ = np.array(model.classes)
    return estimator


def _strange_settings(settings: dict[str, Any], kind: type) -> list[str]:
    """The settings in a model file that the estimator or its method does not have."""
    strange = settings.keys() - {*signature(kind).parameters, "named_columns", "target", "na"}
    method = settings["method"]
    if method["name"] in list_methods():
        strange |= method["params"].keys() - find_method(method["name"]).get_params(deep=False).keys()
    return sorted(strange)
