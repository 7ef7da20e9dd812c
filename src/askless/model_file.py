"""Model files: one safetensors file whose metadata holds a JSON manifest and a SHA-256 over every byte.

Nothing in a file is ever run: tensors are numbers, the manifest is JSON, and classes are looked up by name among
those that askless exports. The checksum covers the whole file, with its own place filled with zeros, so any change of
any byte is found before anything is believed.

The format has a version. A file of an older version is brought up to date in memory, one version after another
(`_UPDATES`). A newer one is refused. Whatever a file holds must be used by the model: unknown keys and tensors are
errors. Keys that only newer code writes may be absent, so a `config()` can gain a key with a default.
"""

from __future__ import annotations

import hashlib
import hmac
import inspect
import json
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from askless import models
from askless.acquisition import Reference, costs
from askless.acquisition.stopping import rule_from_json, rule_to_json
from askless.acquisition.stopping.certified import LOST, MIXED
from askless.encoding import encoder_from_json
from askless.exceptions import AsklessError, ModelFileError, ParameterError
from askless.files import write_atomic
from askless.model import FittedModel
from askless.models import Networked, NetworkFactory, NetworkLike

__all__ = ["FORMAT_VERSION", "read_model", "write_model"]

FORMAT_VERSION = 3
TRUNK = "trunk."  # in front of the names of the layers that two image networks may share
LARGEST = 1 << 30  # bytes; a larger file is no model of ours
NOT_STORED = ("seconds",)  # keys of the summary: times differ, and the same fit must give the same file

RECIPES = {
    "greedy": (
        "average",
        "candidates",
        "depths",
        "expected_epochs",
        "patience",
        "predictor_epochs",
        "predictor_rate",
        "random_starts",
        "stages",
        "states_per_row",
        "walks",
    ),
    "value": ("average", "random_starts", "states_per_row", "walks"),
}
"""Settings that methods had themselves up to version 2, and that their recipe has since."""

_NO_DIGEST = "0" * 64
_DIGEST = re.compile(rb'"sha256":"([0-9a-f]{64})"')
_PLAIN = (str, bytes, int, float, complex, np.generic, np.ndarray, dict, type(None))


def write_model(model: FittedModel, path: str | os.PathLike[str]) -> None:
    """Write a model file in one step; the same model gives the same bytes.

    The content is read back before it replaces the file, so that what was saved can be loaded.
    """
    content = _written(model)
    _check_same(model, content)
    digest = hashlib.sha256(content).hexdigest().encode()
    write_atomic(path, content.replace(b'"sha256":"' + _NO_DIGEST.encode(), b'"sha256":"' + digest, 1))


def _written(model: FittedModel) -> bytes:
    """The file's bytes, without their checksum."""
    from safetensors.numpy import save

    try:
        model.checked()
        manifest = _manifest(model)
        tensors = _tensors(model)
    except AsklessError:
        raise
    except Exception as error:  # a part is not what it should be
        raise ParameterError("cannot_save", f"the model cannot be saved: {error}", name=None) from error
    for name, part in manifest.items():
        try:
            json.dumps(part, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ParameterError("cannot_save", f"the model cannot be saved: {name}: {error}", name=name) from error
    metadata = {"askless": json.dumps(manifest, sort_keys=True, allow_nan=False), "sha256": _NO_DIGEST}
    content = _in_order(save(tensors, metadata))
    if len(content) > LARGEST:
        message = f"the model has {len(content)} bytes; a model file holds at most {LARGEST}"
        raise ParameterError("too_large", message, value=len(content), high=LARGEST)
    return content


def _check_same(model: FittedModel, content: bytes) -> None:
    """Refuse a model that would come back from the file's bytes as another one, or not at all."""
    try:
        again = _read(content, _factory(model))
    except Exception as error:
        raise ParameterError("cannot_save", f"the model could not be loaded again: {error}", name=None) from error
    for name in ("encoder", "policy", "predictor", "costs", "stopping", "reference"):
        other = _other_class(getattr(model, name), getattr(again, name), name)
        if other is not None:
            raise ParameterError("cannot_save", f"the model cannot be saved: {other}", name=name)
    if _written(again) != content:
        raise ParameterError("cannot_save", "the model would be loaded with other contents", name=None)


def _other_class(before: Any, after: Any, name: str) -> str | None:
    """Where an object differs in class from its copy; parts that are plain data have no class to differ in."""
    if isinstance(before, _PLAIN) and isinstance(after, _PLAIN):
        return None
    if type(before) is not type(after):
        return f"{name} is a {type(before).__name__}, which would be loaded as a {type(after).__name__}"
    if isinstance(before, NetworkLike):  # its description and its arrays say everything
        return None
    if isinstance(before, tuple | list):
        parts = {f"{name}[{i}]": pair for i, pair in enumerate(zip(before, after, strict=True))}
    else:
        keys = [
            key for key in inspect.signature(type(after)).parameters if hasattr(before, key) and hasattr(after, key)
        ]
        parts = {f"{name}.{key}": (getattr(before, key), getattr(after, key)) for key in keys}  # what it is made of
    found = (_other_class(*pair, part) for part, pair in parts.items())
    return next((other for other in found if other is not None), None)


def read_model(path: str | os.PathLike[str], network: NetworkFactory | None = None) -> FittedModel:
    """The model in the file; a file that holds anything else raises `ModelFileError`.

    `network` is the function that makes a user's own network, where the model has one.
    """
    content = _verified(Path(path))
    try:
        model = _read(content, network)
    except ModelFileError as error:
        raise ModelFileError(error.code, f"{path}: {error}", **{**error.fields, "path": str(path)}) from error
    except ModuleNotFoundError as error:
        message = f"{path} holds an image network or a network of your own, which needs {error.name}; install it"
        raise ModelFileError("missing_package", message, name=error.name, path=str(path)) from error
    except Exception as error:  # whatever went wrong, the content is the reason
        message = f"{path} is not a model file that this version of askless can read ({error!r})"
        raise ModelFileError("unreadable_file", message, path=str(path)) from error
    if network is not None and _factory(model) is None:
        raise ParameterError(
            "not_supported", f"{path} has no network of your own; load it without `network`", name="network"
        )
    return model


def _factory(model: FittedModel) -> NetworkFactory | None:
    """The function that makes the model's networks, if they are a user's own."""
    networked = (part for part in (model.policy, model.predictor) if isinstance(part, Networked))
    made_by = (network.factory for part in networked for network in part.networks)
    return next((factory for factory in made_by if factory is not None), None)


def _read(content: bytes, network: NetworkFactory | None = None) -> FittedModel:
    """The model that a file's bytes describe; all sorts of errors where they do not describe one."""
    from safetensors.numpy import load

    tensors = load(content)
    manifest = _up_to_date(json.loads(_header(content)["__metadata__"]["askless"]), tensors)
    policy, predictor, stored = (_part(tensors, prefix) for prefix in ("policy.", "predictor.", "reference."))
    priced = manifest.get("costs")
    model = FittedModel(
        task=manifest["task"],
        classes=tuple(manifest["classes"]),
        encoder=encoder_from_json(manifest["encoder"]),
        policy=_built(manifest["policy"], policy, network),
        predictor=_built(
            manifest["predictor"], predictor if _trunk(predictor) else predictor | _trunk(policy), network
        ),
        max_features=manifest["max_features"],
        missing=manifest["missing"],
        stopping=tuple(rule_from_json(rule) for rule in manifest["stopping"]),
        settings=manifest["settings"],
        summary=manifest["summary"],
        image_shape=None if manifest["image_shape"] is None else tuple(manifest["image_shape"]),
        costs=_found(costs, priced["name"])(**priced["config"]) if priced else None,
        precedence=manifest.get("precedence", {}),
        reference=Reference.build(stored) if stored else None,
        descriptions=manifest.get("descriptions", {}),
    ).checked()
    unused = _unused(manifest, json.loads(json.dumps(_manifest(model), allow_nan=False)), "the manifest")
    if unused is not None:
        raise ValueError(f"{unused} is not part of the model")
    if extra := sorted(tensors.keys() - _tensors(model).keys()):
        raise ValueError(f"the tensors {extra} are not part of the model")
    return model


def _up_to_date(manifest: Any, tensors: dict[str, np.ndarray]) -> Any:
    """The manifest as the present version would write it; the tensors are changed in place."""
    version = manifest["format"]
    if type(version) is not int or version < 1:
        raise ValueError(f"the format version is {version!r}")
    if version > FORMAT_VERSION:
        message = (
            f"the file has format version {version}; this version of askless reads up to {FORMAT_VERSION}: "
            "update askless"
        )
        raise ModelFileError("newer_format", message, version=version, supported=FORMAT_VERSION)
    for older in range(version, FORMAT_VERSION):
        _UPDATES[older](manifest, tensors)
        manifest["format"] = older + 1
    return manifest


STATIC_1 = (
    "forward_selection",
    "mutual_information",
    "permutation",
    "sage",
    "deeplift",
    "integrated_gradients",
    "concrete_autoencoder",
    "stochastic_gates",
    "lassonet",
)
CONTROLS_1 = ("random", "fixed_order", "all_features", "oracle_order", "center_crop")
KINDS_1 = {
    "dynamic": "questions are chosen case by case",
    "static": "a fixed order, everyone is asked the same questions, unless values are missing",
    "control": "a control for comparisons",
}


def _update_1(manifest: Any, tensors: dict[str, np.ndarray]) -> None:
    """Version 1 said whether a sigmoid squashed values, and had other words in summaries and certified rules."""
    if manifest["policy"]["name"] == "NetValue" and manifest["policy"]["config"].pop("squashed") is not False:
        raise ValueError("the policy was made by an early development version: fit the model again")
    summary = manifest["summary"]
    for old, new in (("chosen", "method"), ("validation_losses", "losses"), ("why", "explanation")):
        if old in summary:
            summary[new] = summary.pop(old)
    name = summary.setdefault("method", manifest["settings"]["method"]["name"])
    kind = summary.setdefault(
        "kind", "static" if name in STATIC_1 else "control" if name in CONTROLS_1 else "dynamic"
    )
    summary.setdefault("losses", {})
    summary.setdefault("explanation", f"used {name}: {KINDS_1[kind]}")
    names = encoder_from_json(manifest["encoder"]).schema.names
    for rule in manifest["stopping"]:
        if rule["name"] == "Certified":
            manner = rule["config"].get("manner", [])
            rule["config"]["manner"] = [new for old in manner for new in _condition_1(old, names)]


def _condition_1(old: str, names: Sequence[str]) -> list[str]:
    """A condition of a certified rule in version 1, in the words of version 2."""
    if old.startswith("beside "):
        return [f"rule: {old.removeprefix('beside ')}"]
    if old == "at other prices":
        return [f"cost: {LOST}"]
    kind, _, rest = old.partition(": ")
    if rest == "other features of each case":
        return [f"{kind}: {MIXED}"]
    found = []
    while rest:  # the names are joined by commas, and may hold some
        name = max((name for name in names if f"{rest}, ".startswith(f"{name}, ")), key=len, default=rest)
        found.append(f"{kind}: {name}")
        rest = rest[len(name) + 2 :]
    return found


def _update_2(manifest: Any, tensors: dict[str, np.ndarray]) -> None:
    """Version 2 had image networks with the normalisation folded into their convolutions, and no recipes."""
    method = manifest["settings"].get("method", {})
    params, names = method.get("params", {}), RECIPES.get(method.get("name"), ())
    recipe = {name: params.pop(name) for name in names if name in params}
    if recipe:
        params["recipe"] = recipe
    shared = _trunk(_part(tensors, "policy."))
    for part in ("policy", "predictor"):
        config = manifest[part]["config"]
        for key in [key for key in config if key.endswith("network")]:  # a value policy has two
            from askless.networks.stored import unfolded_network

            prefix = f"{part}.{key.removesuffix('network')}"
            own = {n: a for n, a in _part(tensors, prefix).items() if n.startswith((TRUNK, "head."))}
            trunk = _trunk(own) or shared
            config[key], arrays = unfolded_network(config[key], _part(trunk, TRUNK), _part(own, "head."))
            for name in own:
                del tensors[prefix + name]
            tensors |= {prefix + n: a for n, a in arrays.items() if _trunk(own) or not n.startswith(TRUNK)}


_UPDATES: dict[int, Callable[[Any, dict[str, np.ndarray]], None]] = {1: _update_1, 2: _update_2}
"""By version: what makes its manifest and tensors those of the next version, in place."""


def _unused(read: Any, known: Any, name: str) -> str | None:
    """The first place in what was read that the model, written again, would not have in the same way."""
    if isinstance(read, dict) and isinstance(known, dict):
        for key, value in read.items():
            if key not in known:
                return f"{name}: {key!r}"
            if (found := _unused(value, known[key], f"{name}: {key!r}")) is not None:
                return found
        return None
    if isinstance(read, list) and isinstance(known, list) and len(read) == len(known):
        pairs = enumerate(zip(read, known, strict=True))
        return next((found for i, pair in pairs if (found := _unused(*pair, f"{name}: {i}")) is not None), None)
    return None if type(read) is type(known) and read == known else name


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
        "summary": {key: part for key, part in model.summary.items() if key not in NOT_STORED},
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
        f"{part}.{name}": np.asarray(array, order="C")
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
    """The file's bytes, if they match their checksum."""
    try:
        if not path.is_file():
            told = f"{path} is a folder" if path.is_dir() else f"there is no file {path}"
            raise ModelFileError("wrong_file" if path.is_dir() else "file_not_found", told, path=str(path))
        size = path.stat().st_size
        if size > LARGEST:
            raise ModelFileError(
                "too_large", f"{path} is too large to be a model file", path=str(path), value=size, high=LARGEST
            )
        content = path.read_bytes()
    except OSError as error:
        raise ModelFileError(
            "unreadable_file", f"{path} cannot be read ({error.strerror})", path=str(path)
        ) from error
    length = int.from_bytes(content[:8], "little")
    stamp = _DIGEST.search(content, 8, 8 + length) if len(content) >= 8 and 8 + length <= len(content) else None
    if stamp is None:
        raise ModelFileError("wrong_file", f"{path} is not an askless model file", path=str(path))
    digest = hashlib.sha256(content[: stamp.start(1)])
    digest.update(_NO_DIGEST.encode())
    digest.update(content[stamp.end(1) :])
    if not hmac.compare_digest(digest.hexdigest().encode(), stamp.group(1)):
        raise ModelFileError(
            "damaged_file", f"{path} is damaged: its content does not match its checksum", path=str(path)
        )
    return content


def _header(content: bytes) -> dict[str, Any]:
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length])


def _in_order(content: bytes) -> bytes:
    """The same file with its header's keys sorted: safetensors writes metadata in no fixed order."""
    length = int.from_bytes(content[:8], "little")
    header = json.dumps(_header(content), sort_keys=True, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + content[8 + length :]


def _described(module: Any, part: Any) -> dict[str, Any]:
    name = type(part).__name__
    if getattr(module, name, None) is not type(part):
        message = f"{name} cannot be saved: a model file holds only classes that {module.__name__} exports"
        raise ParameterError("cannot_save", message, name=name)
    return {"name": name, "config": part.config()}


def _part(tensors: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): array for name, array in tensors.items() if name.startswith(prefix)}


def _built(description: dict[str, Any], arrays: dict[str, np.ndarray], network: NetworkFactory | None) -> Any:
    cls = _found(models, description["name"])
    if issubclass(cls, Networked):
        return cls.build(description["config"], arrays, network)
    return cls.build(description["config"], arrays)


def _found(module: Any, name: str) -> Any:
    """The class called `name`, among those the module exports."""
    if name not in module.__all__ or not isinstance(getattr(module, name), type):
        raise ModelFileError(
            "unreadable_file", f"the model needs {name!r}, which this version of askless does not have", name=name
        )
    return getattr(module, name)


def _plain(label: Any) -> Any:
    """A class label as JSON can hold it."""
    value = label.item() if isinstance(label, np.generic) else label
    if not isinstance(value, (str, int, float, bool)):
        message = f"the class label {label!r} is a {type(label).__name__}; a model file holds text and numbers only"
        raise ParameterError("cannot_save", message, name="classes", label=label)
    return value
