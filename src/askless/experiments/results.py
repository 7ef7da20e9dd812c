"""Result files: one for each task, canonical JSON, whole or not there."""

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

from askless.experiments.task import ExperimentError, Task, canonical_json
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
LOWEST_SCALE = -1022  # the least power of two that a float holds to the last digit
PARTS = ("task", "versions", "data", "curves", "per_case", "order", "summary", "measured")


def result_path(folder: str | os.PathLike[str], task: Task) -> Path:
    """Where the result of a task belongs."""
    return Path(folder) / "results" / f"{task.key}.json"


def checkpoint_path(folder: str | os.PathLike[str], task: Task) -> Path:
    """Where the progress of a task's fit is kept until its result is there."""
    return Path(folder) / "checkpoints" / f"{task.key}.part"


def write_result(folder: str | os.PathLike[str], result: dict[str, Any]) -> Path:
    """Put a result into its place in the folder, in one step."""
    path = result_path(folder, Task.from_json(result["task"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, canonical_json(result))
    return path


def read_results(folder: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Every result in the folder, by file name; a corrupt file is left out, with a warning, and stays as it is."""
    read = (read_result(path) for path in sorted((Path(folder) / "results").glob("*.json")))
    return [result for result in read if result is not None]


def read_result(path: Path, *, set_aside: bool = False) -> dict[str, Any] | None:
    """The result in a file; None where there is no file, or a corrupt one, of which a warning tells.

    With `set_aside`, which is for those who run the task again, a corrupt file is renamed to `<name>.corrupt`. A
    result of a newer askless is an error, and stays.
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
        why = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        become = "it is left out; running the experiment again replaces it"
        if set_aside:
            become = f"it is set aside as {_set_aside(path).name}, and its task is run again"
        warnings.warn(f"{path} is not a whole result ({why}); {become}", UserWarning, stacklevel=2)
        return None
    if newer is not None:
        raise ExperimentError(f"{path} was made by a newer askless ({newer}); upgrade askless to read it")
    return dict(result)


def _set_aside(path: Path) -> Path:
    """Rename a corrupt file, to a name that no other has; returns the new path."""
    aside, number = path.with_name(f"{path.name}.corrupt"), 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}.corrupt-{number}")
    with suppress(FileNotFoundError):  # another runner was faster
        os.replace(path, aside)
    return aside


def _newer(result: Any) -> str | None:
    """By what a result shows that a newer version has made it; None where nothing says so."""
    if not isinstance(result, dict):
        return None
    made = result.get("format")
    if type(made) is int and made > FORMAT:
        return f"its format is {made}, and this one reads {FORMAT}"
    task, known = result.get("task"), {item.name for item in fields(Task)}
    unknown = sorted(set(task) - known) if isinstance(task, dict) else []
    if not unknown or result.get("sha256") != checksum(result):  # without it, a known key may be damaged
        return None
    return f"its task has the unknown key {unknown[0]!r}"


def _check(result: Any, key: str) -> None:
    """Raise an error if something is missing or does not fit together."""
    if not isinstance(result, dict) or result.get("format") != FORMAT:
        raise ExperimentError(f"its format is not {FORMAT}")
    for part in PARTS:
        if not isinstance(result[part], dict):
            raise ExperimentError(f"{part!r} is not an object")
    own = Task.from_json(result["task"]).key
    if own != key:
        raise ExperimentError(f"it is the result of the task {own}")
    if "sha256" in result and result["sha256"] != checksum(result):
        raise ExperimentError("its checksum is another")
    budgets = result["curves"]["budget"]
    if any(len(curve) != len(budgets) for curve in result["curves"].values()):
        raise ExperimentError("its curves are not equally long")
    if len(unpack_order(result)) != result["data"]["rows"]["test"]:
        raise ExperimentError("its orders are not those of the test rows")
    unpack_loss(result)


def checksum(result: dict[str, Any]) -> str:
    """SHA-256 of all that is the same whenever the task is run: everything but the measured times."""
    lasting = {name: part for name, part in result.items() if name not in ("measured", "sha256")}
    return hashlib.sha256(canonical_json(lasting)).hexdigest()


def without_losses(result: dict[str, Any]) -> dict[str, Any]:
    """The result without the loss of each test case, which takes most of a file's room."""
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
        raise ExperimentError(f"the order's type is {packed['dtype']!r}")
    numbers = _unpack(packed["data"], packed["dtype"]).reshape(packed["shape"])
    return np.where(numbers == NOTHING[packed["dtype"]], -1, numbers.astype(np.int64))


def pack_loss(loss: np.ndarray) -> dict[str, Any]:
    """(n, budgets) losses, divided by `scale`: a power of two that makes the best of half precision.

    The largest one comes to lie just below 32,768, so that none is too large and few are too small.
    """
    largest = float(np.max(loss, initial=0.0, where=np.isfinite(loss)))
    power = math.frexp(largest)[1] - TOP_HALF
    scale = math.ldexp(1.0, max(power, LOWEST_SCALE)) if largest > 0.0 else 1.0
    return {"loss": pack((loss / scale).astype(np.float16)), "scale": scale}


def unpack_loss(result: dict[str, Any]) -> np.ndarray | None:
    """(n, budgets) the log loss or squared error of each test case at each budget of the curves.

    None where it was left out (`without_losses`).
    """
    packed = result["per_case"]
    if not packed:
        return None
    loss = _unpack(packed["loss"], "float16").astype(np.float64) * float(packed.get("scale", 1.0))
    return np.reshape(loss, (result["data"]["rows"]["test"], len(result["curves"]["budget"])))


def _unpack(text: str, dtype: str) -> np.ndarray:
    content = zlib.decompress(base64.b64decode(text, validate=True))
    return np.frombuffer(content, np.dtype(dtype).newbyteorder("<"))
