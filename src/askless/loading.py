"""Estimators from model files."""

from __future__ import annotations

import os
from inspect import signature
from typing import Any

import numpy as np

from askless.estimators import DynamicClassifier, DynamicRegressor
from askless.exceptions import ModelFileError
from askless.hints import listed
from askless.methods import find_method, list_methods
from askless.methods.base import method_from_json
from askless.model_file import read_model
from askless.models import NetworkFactory

__all__ = ["load"]


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
