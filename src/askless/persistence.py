"""Model files: one safetensors file whose metadata holds a JSON manifest and a SHA-256 over every byte.

Nothing in a file is ever run: tensors are numbers, the manifest is JSON, and classes are looked up by name among
those that askless exports. The checksum covers the whole file, with its own place filled with zeros, so any change of
any byte is found before anything is believed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from askless import models
from askless.core import Reference, costs
from askless.core.stopping import rule_from_json, rule_to_json
from askless.encoding import encoder_from_json
from askless.exceptions import ModelFileError, ParameterError
from askless.files import write_atomic
from askless.fitted import FittedModel
from askless.models.convolutional import TRUNK

__all__ = ["FORMAT_VERSION", "read_model", "write_model"]

FORMAT_VERSION = 1
LARGEST = 1 << 30  # bytes; a larger file is no model of ours

_NO_DIGEST = "0" * 64
_DIGEST = re.compile(rb'"sha256":"([0-9a-f]{64})"')


def write_model(model: FittedModel, path: str | os.PathLike[str]) -> None:
    """Write a model file in one step; the same model gives the same bytes."""
    from safetensors.numpy import save

    model.checked()
    metadata = {"askless": json.dumps(_manifest(model), sort_keys=True, allow_nan=False), "sha256": _NO_DIGEST}
    content = _in_order(save(_tensors(model), metadata))
    if len(content) > LARGEST:
        raise ParameterError(f"the model has {len(content)} bytes; a file holds at most {LARGEST}")
    digest = hashlib.sha256(content).hexdigest().encode()
    write_atomic(path, content.replace(b'"sha256":"' + _NO_DIGEST.encode(), b'"sha256":"' + digest, 1))


def read_model(path: str | os.PathLike[str]) -> FittedModel:
    """The model in the file; anything that is not exactly what was written raises `ModelFileError`."""
    content = _verified(Path(path))
    try:
        return _read(content)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from error
    except Exception as error:  # whatever went wrong, the content is the reason
        raise ModelFileError(f"{path} is not a model that this askless can read ({error!r})") from error


def _read(content: bytes) -> FittedModel:
    """The model that a file's bytes describe; all sorts of errors where they do not describe one."""
    from safetensors.numpy import load

    text = _header(content)["__metadata__"]["askless"]
    manifest = json.loads(text)
    version = manifest["format"]
    if version != FORMAT_VERSION:
        raise ModelFileError(
            f"the format has version {version}; this askless reads version {FORMAT_VERSION}: update askless"
        )
    tensors = load(content)
    policy, predictor = (_part(tensors, prefix) for prefix in ("policy.", "predictor."))
    model = FittedModel(
        task=manifest["task"],
        classes=tuple(manifest["classes"]),
        encoder=encoder_from_json(manifest["encoder"]),
        policy=_built(manifest["policy"], policy),
        predictor=_built(manifest["predictor"], predictor if _trunk(predictor) else predictor | _trunk(policy)),
        max_features=manifest["max_features"],
        missing=manifest["missing"],
        stopping=tuple(rule_from_json(rule) for rule in manifest["stopping"]),
        settings=manifest["settings"],
        summary=manifest["summary"],
        image_shape=None if manifest["image_shape"] is None else tuple(manifest["image_shape"]),
        costs=_priced(manifest["costs"]) if "costs" in manifest else None,
        precedence=manifest.get("precedence", {}),
        reference=_stored_rows(tensors),
        descriptions=manifest.get("descriptions", {}),
    ).checked()
    if (
        json.dumps(_manifest(model), sort_keys=True, allow_nan=False) != text
        or _tensors(model).keys() != tensors.keys()
    ):
        raise ValueError("the file holds more or other things than its model")
    return model


def _manifest(model: FittedModel) -> dict[str, Any]:
    """All of the model but the tensors, as JSON can hold it; what most models do not have is left out."""
    manifest = {
        "format": FORMAT_VERSION,
        "task": model.task,
        "classes": [_plain(label) for label in model.classes],
        "encoder": model.encoder.to_json(),
        "policy": _described(models, model.policy),
        "predictor": _described(models, model.predictor),
        "max_features": model.max_features,
        "missing": model.missing,
        "stopping": [rule_to_json(rule) for rule in model.stopping],
        "settings": model.settings,
        "summary": model.summary,
        "image_shape": model.image_shape,
    }
    if model.costs is not None:
        manifest["costs"] = _described(costs, model.costs)
    if model.precedence:
        manifest["precedence"] = model.precedence
    if model.descriptions:
        manifest["descriptions"] = model.descriptions
    return manifest


def _tensors(model: FittedModel) -> dict[str, np.ndarray]:
    """Every array of policy, predictor and stored rows by a name; a trunk that both share is the policy's alone."""
    parts = {part: getattr(model, part).arrays() for part in ("policy", "predictor")}
    trunks = [_trunk(arrays) for arrays in parts.values()]
    if trunks[0].keys() == trunks[1].keys() and all(
        np.array_equal(trunks[0][name], trunks[1][name]) for name in trunks[0]
    ):
        parts["predictor"] = {name: array for name, array in parts["predictor"].items() if name not in trunks[0]}
    tensors = {
        f"{part}.{name}": np.ascontiguousarray(array)
        for part, arrays in parts.items()
        for name, array in arrays.items()
    }
    if model.reference is not None:
        tensors |= {f"reference.{name}": np.ascontiguousarray(a) for name, a in model.reference.arrays().items()}
    return tensors or {"empty": np.zeros(1, dtype=np.float32)}  # safetensors writes no file without any


def _trunk(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The part of a network's arrays that another network may share."""
    return {name: array for name, array in arrays.items() if name.startswith(TRUNK)}


def _verified(path: Path) -> bytes:
    """The file's bytes, if they are those that were written."""
    try:
        if not path.is_file():
            raise ModelFileError(f"{path} is a folder" if path.is_dir() else f"there is no file {path}")
        if path.stat().st_size > LARGEST:
            raise ModelFileError(f"{path} is too large to be a model file")
        content = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read ({error.strerror})") from error
    length = int.from_bytes(content[:8], "little")
    stamp = _DIGEST.search(content, 8, 8 + length) if len(content) >= 8 and 8 + length <= len(content) else None
    if stamp is None:
        raise ModelFileError(f"{path} is not an askless model file")
    digest = hashlib.sha256(content[: stamp.start(1)])
    digest.update(_NO_DIGEST.encode())
    digest.update(content[stamp.end(1) :])
    if not hmac.compare_digest(digest.hexdigest().encode(), stamp.group(1)):
        raise ModelFileError(f"{path} is damaged: its content does not match its checksum")
    return content


def _header(content: bytes) -> dict[str, Any]:
    length = int.from_bytes(content[:8], "little")
    header: dict[str, Any] = json.loads(content[8 : 8 + length])
    return header


def _in_order(content: bytes) -> bytes:
    """The same file with its header's keys sorted: safetensors writes metadata in no fixed order."""
    length = int.from_bytes(content[:8], "little")
    header = json.dumps(_header(content), sort_keys=True, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + content[8 + length :]


def _described(module: Any, part: Any) -> dict[str, Any]:
    name = type(part).__name__
    if getattr(module, name, None) is not type(part):
        raise ParameterError(f"{name} cannot be saved: a file holds what {module.__name__} exports")
    if not hasattr(part, "config"):
        raise ParameterError(f"{name} cannot be saved: a file holds no functions; give it to rollout and interview")
    return {"name": name, "config": part.config()}


def _part(tensors: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): array for name, array in tensors.items() if name.startswith(prefix)}


def _built(description: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    return _found(models, description["name"]).build(description["config"], arrays)


def _priced(description: dict[str, Any]) -> costs.CostModel:
    model: costs.CostModel = _found(costs, description["name"])(**description["config"])
    return model


def _stored_rows(tensors: dict[str, np.ndarray]) -> Reference | None:
    arrays = _part(tensors, "reference.")
    return Reference.build(arrays) if arrays else None


def _found(module: Any, name: str) -> Any:
    """The class called `name`, among those the module exports."""
    if name not in module.__all__ or not isinstance(getattr(module, name), type):
        raise ModelFileError(f"the model needs {name!r}, which this askless does not have: update askless")
    return getattr(module, name)


def _plain(label: Any) -> Any:
    """A class label as JSON can hold it."""
    value = label.item() if isinstance(label, np.generic) else label
    if not isinstance(value, (str, int, float, bool)):
        raise ParameterError(
            f"the class label {label!r} is a {type(label).__name__}; a file holds text and numbers only"
        )
    return value
