"""Result files: one for each task, canonical JSON, written in one step."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import warnings
import zlib
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from askless.exceptions import AsklessWarning, ExperimentError
from askless.experiments.task import Task, canonical_json
from askless.files import write_atomic

__all__ = [
    "checkpoint_path",
    "checksum",
    "pack",
    "pack_loss",
    "pack_order",
    "read_result",
    "read_results",
    "result_path",
    "unpack_loss",
    "unpack_order",
    "without_losses",
    "write_result",
]

FORMAT = 1
NOTHING = {"uint8": 255, "uint16": 65535}  # stands for -1
TOP_HALF = 15  # losses are kept below 2 to this power, half of what half precision reaches
LOWEST_SCALE = -1022  # the smallest power of two that is a normal float
PARTS = ("task", "versions", "data", "curves", "per_case", "order", "summary", "measured")


def result_path(folder: str | os.PathLike[str], task: Task) -> Path:
    """The file of a task's result."""
    return Path(folder) / "results" / f"{task.key}.json"


def checkpoint_path(folder: str | os.PathLike[str], task: Task) -> Path:
    """The checkpoint of a task's fit, which exists until the result is written."""
    return Path(folder) / "checkpoints" / f"{task.key}.part"


def write_result(folder: str | os.PathLike[str], result: dict[str, Any]) -> Path:
    """Write a result to its file in the folder, in one step."""
    path = result_path(folder, Task.from_json(result["task"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, canonical_json(result))
    return path


def read_results(folder: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Every result in the folder, by file name; a damaged file is skipped with a warning."""
    read = (read_result(path) for path in sorted((Path(folder) / "results").glob("*.json")))
    return [result for result in read if result is not None]


def read_result(path: Path, *, set_aside: bool = False) -> dict[str, Any] | None:
    """The result in a file; None if there is no file, or, with a warning, if it is damaged.

    With `set_aside` a damaged file is renamed to `<name>.corrupt`, so that the task can run again. A result of a
    newer askless raises an error and stays.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        result = json.loads(content)
        newer = _newer(result)
        if newer is None:
            _check(result, path.stem)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, zlib.error) as error:
        why = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        action = "it is skipped; run the experiment again to replace it"
        aside = _set_aside(path) if set_aside else None
        if aside is not None:
            action = f"it was renamed to {aside.name} and its task runs again"
        warnings.warn(
            AsklessWarning(
                "damaged_file",
                f"{path} is damaged ({why}); {action}",
                path=str(path),
                renamed=None if aside is None else str(aside),
            ),
            stacklevel=2,
        )
        return None
    if newer is not None:
        raise ExperimentError(
            "newer_format",
            f"{path} was written by a newer version of askless ({newer}); upgrade askless to read it",
            path=str(path),
        )
    return dict(result)


def _set_aside(path: Path) -> Path:
    """Rename a damaged file to an unused name; returns the new path."""
    aside, number = path.with_name(f"{path.name}.corrupt"), 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}.corrupt-{number}")
    with suppress(FileNotFoundError):  # another runner has renamed it
        os.replace(path, aside)
    return aside


def _newer(result: Any) -> str | None:
    """The evidence that a newer version wrote the result, or None."""
    if not isinstance(result, dict):
        return None
    made = result.get("format")
    if type(made) is int and made > FORMAT:
        return f"its format is {made}; this version reads format {FORMAT}"
    task, known = result.get("task"), {item.name for item in fields(Task)}
    unknown = sorted(set(task) - known) if isinstance(task, dict) else []
    if not unknown or result.get("sha256") != checksum(result):  # else a damaged key would look unknown
        return None
    return f"its task has the unknown key {unknown[0]!r}"


def _check(result: Any, key: str) -> None:
    """Raise an error if a part is missing or inconsistent."""
    if not isinstance(result, dict) or result.get("format") != FORMAT:
        raise ValueError(f"its format is not {FORMAT}")
    for part in PARTS:
        if not isinstance(result[part], dict):
            raise ValueError(f"{part!r} is not an object")
    own = Task.from_json(result["task"]).key
    if own != key:
        raise ValueError(f"it is the result of the task {own}")
    if "sha256" in result and result["sha256"] != checksum(result):
        raise ValueError("its checksum does not match")
    budgets = result["curves"]["budget"]
    if any(len(curve) != len(budgets) for curve in result["curves"].values()):
        raise ValueError("its curves have different lengths")
    if len(unpack_order(result)) != result["data"]["rows"]["test"]:
        raise ValueError("the length of its order is not the number of test rows")
    unpack_loss(result)


def checksum(result: dict[str, Any]) -> str:
    """SHA-256 of everything except the measured times: the same for every run of the task."""
    lasting = {name: part for name, part in result.items() if name not in ("measured", "sha256")}
    return hashlib.sha256(canonical_json(lasting)).hexdigest()


def without_losses(result: dict[str, Any]) -> dict[str, Any]:
    """The result without the loss of each test case, which takes most of the space."""
    thin = {**result, "per_case": {}}
    return {**thin, "sha256": checksum(thin)}


def pack(array: np.ndarray) -> str:
    """An array's bytes, compressed, as text."""
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return base64.b64encode(zlib.compress(little.tobytes(), 9)).decode()


def pack_order(order: np.ndarray, n_features: int) -> dict[str, Any]:
    """(n, k) features in the order asked; the largest number of the type stands for -1, no question."""
    dtype = "uint8" if n_features < 255 else "uint16"
    numbers = np.where(order < 0, NOTHING[dtype], order).astype(dtype)
    return {"shape": list(order.shape), "dtype": dtype, "data": pack(numbers)}


def unpack_order(result: dict[str, Any]) -> np.ndarray:
    """(n, k) features in the order asked of each test case, -1 where there was no question."""
    packed = result["order"]
    if packed["dtype"] not in NOTHING:
        raise ValueError(f"its order has the type {packed['dtype']!r}")
    numbers = _unpack(packed["data"], packed["dtype"]).reshape(packed["shape"])
    return np.where(numbers == NOTHING[packed["dtype"]], -1, numbers.astype(np.int64))


def pack_loss(loss: np.ndarray) -> dict[str, Any]:
    """(n, budgets) losses as half precision numbers, divided by `scale`.

    The scale is the power of two that brings the largest loss just below 32,768: no loss overflows, few underflow.
    """
    largest = float(np.max(loss, initial=0.0, where=np.isfinite(loss)))
    power = math.frexp(largest)[1] - TOP_HALF
    scale = math.ldexp(1.0, max(power, LOWEST_SCALE)) if largest > 0.0 else 1.0
    return {"loss": pack((loss / scale).astype(np.float16)), "scale": scale}


def unpack_loss(result: dict[str, Any]) -> np.ndarray | None:
    """(n, budgets) the log loss or squared error of each test case at each budget of the curves.

    None if it was removed (`without_losses`).
    """
    packed = result["per_case"]
    if not packed:
        return None
    loss = _unpack(packed["loss"], "float16").astype(np.float64) * float(packed.get("scale", 1.0))
    return np.reshape(loss, (result["data"]["rows"]["test"], len(result["curves"]["budget"])))


def _unpack(text: str, dtype: str) -> np.ndarray:
    content = zlib.decompress(base64.b64decode(text, validate=True))
    return np.frombuffer(content, np.dtype(dtype).newbyteorder("<"))
