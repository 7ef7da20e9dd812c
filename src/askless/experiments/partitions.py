"""Roll-outs of a Dask DataFrame: tables larger than a machine, partition by partition."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from askless.model import FittedModel

__all__ = ["rollout_frame"]

_models: dict[bytes, FittedModel] = {}  # by the file's content: a worker reads a model once


def rollout_frame(model: str | os.PathLike[str], table: Any, **options: Any) -> Any:
    """Roll out every row of a Dask DataFrame; returns a lazy Dask DataFrame.

    It has the rows of `Trajectory.frame()`, one for each case and answer; `case` is the row's label in the index of
    `table`. The content of the model file is sent with the tasks: workers need askless, but not the file.

    Parameters
    ----------
    model : a saved model's file.
    table : a `dask.dataframe.DataFrame` with the columns of the model.
    options : of `rollout`: max_features, stopping, costs; available and known as lists of names.
    """
    from askless.model_file import read_model

    meta = _example(read_model(model)).iloc[:0].astype({"case": table._meta.index.dtype})
    dask: Any = import_module("dask")
    content = dask.delayed(Path(model).read_bytes())  # once for all partitions, not with each of them
    return table.map_partitions(_asked, content, meta, options, meta=meta)


def _asked(part: pd.DataFrame, content: bytes, meta: pd.DataFrame, options: dict[str, Any]) -> pd.DataFrame:
    """The roll-out of one partition."""
    if len(part) == 0:
        return meta
    frame = _model(content).rollout(part, **options).frame()
    frame["case"] = part.index.take(frame["case"].to_numpy())
    return frame.astype(meta.dtypes.to_dict())  # without answers pandas infers other types


def _model(content: bytes) -> FittedModel:
    """The model in a file's content; a process reads it once."""
    from askless.model_file import read_model

    model = _models.get(content)  # one step: another thread may clear the dict at any time
    if model is None:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "model.askless"
            file.write_bytes(content)
            model = read_model(file)
        _models.clear()
        _models[content] = model
    return model


def _example(model: FittedModel) -> pd.DataFrame:
    """A roll-out of one case, for the columns and their types."""
    from askless.acquisition import Trajectory

    names, outputs = model.schema.names, model.classes or ("mean",)
    predictions = np.zeros((1, 2, len(outputs)), dtype=np.float32)
    order, reason = np.zeros((1, 1), dtype=np.int64), np.array(["budget"])
    has_sd = model.task == "regression" and "sd" in model.interview().prediction
    sd = np.zeros(1, dtype=np.float32) if has_sd else None
    return Trajectory(order, predictions, np.zeros((1, 2)), reason, tuple(names), outputs, sd).frame()
