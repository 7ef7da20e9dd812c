"""The models that are served, each under its file's name, with all that is shown of them prepared once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from askless.core.schema import Feature, Part
from askless.encoding.choices import Choices
from askless.fitted import FittedModel
from askless.persistence import read_model
from askless.service.descriptions import Description, Limits, described, read_descriptions, valid_range
from askless.service.errors import Problem, not_found

__all__ = ["AskedPart", "Models", "ServedModel", "label_text", "read_models"]

NAME = re.compile(r"[A-Za-z0-9\-.]{1,64}")  # what a FHIR id may be, too
OTHERS = re.compile(r"[^A-Za-z0-9\-.]+")


@dataclass(frozen=True)
class AskedPart:
    """One value that is asked for, and how it is shown."""

    part: Part
    description: Description

    @property
    def name(self) -> str:
        """The column's name."""
        return self.part.name

    @property
    def kind(self) -> str:
        """number, category or boolean."""
        return self.part.kind

    @property
    def text(self) -> str:
        """The wording, or else the name."""
        return self.description.text or self.part.name

    @cached_property
    def valid(self) -> Limits:
        """The lowest and the highest number that is accepted."""
        return valid_range(self.part, self.description) if self.kind == "number" else (None, None)

    @cached_property
    def choices(self) -> Choices:
        """What a category takes."""
        return Choices(self.part.choices or ())

    def unusual(self, number: float | None) -> bool:
        """Whether a number is beyond what training has seen."""
        low, high = self.part.low, self.part.high
        return number is not None and low is not None and high is not None and not low <= number <= high

    def to_json(self) -> dict[str, Any]:
        """The part, as the API shows it."""
        low, high = self.valid
        return {
            "name": self.name,
            "text": self.text,
            "help": self.description.help,
            "kind": self.kind,
            "choices": None if self.part.choices is None else list(self.part.choices),
            "unit": self.description.unit,
            "loinc": self.description.loinc,
            "low": low,
            "high": high,
        }


class ServedModel:
    """A model, its name, and how its features are worded."""

    def __init__(
        self, name: str, fitted: FittedModel, fingerprint: str, descriptions: Mapping[str, Description]
    ) -> None:
        if not NAME.fullmatch(name) or not name.strip("-."):
            raise ValueError(f"a model cannot be served as {name!r}; name its file with 1 to 64 letters and digits")
        if fitted.image_shape is not None:
            raise ValueError("the model asks for patches of images, which nobody can type; use it from Python")
        self.name, self.fitted, self.fingerprint = name, fitted, fingerprint
        self.schema = fitted.schema
        nothing = Description()
        self.descriptions = tuple(descriptions.get(feature.name, nothing) for feature in self.schema.features)
        self.parts = tuple(
            tuple(AskedPart(part, descriptions.get(part.name, nothing)) for part in feature.parts)
            for feature in self.schema.features
        )
        self.labels = tuple(label_text(label) for label in fitted.classes) or ("mean",)
        self.fresh = fitted.interview(
            check_values=False
        )  # not begun, to be copied; a model that cannot lead one says so now

    @property
    def target(self) -> str | None:
        """What is predicted, where the training table had a name for it."""
        target = self.fitted.settings.get("target")
        return target if isinstance(target, str) else None

    @property
    def title(self) -> str:
        """The name, for people."""
        words = re.sub(r"[-.]+", " ", self.name).strip() or self.name
        return words[0].upper() + words[1:]

    def index(self, name: str, where: str | None = None) -> int:
        """The position of a feature; an unknown name is a problem that says which is near."""
        try:
            return self.schema.index(name)
        except ValueError:
            shown = name if len(name) <= 60 else name[:57] + "..."
            raise Problem(422, f"there is no feature {shown!r}{self.schema.hint(name)}", where) from None

    def text(self, index: int) -> str:
        """How a feature is asked for."""
        return self.descriptions[index].text or self.schema.features[index].name

    @cached_property
    def questions(self) -> tuple[dict[str, Any], ...]:
        """Every feature as the API shows it, but for its price."""
        return tuple(self._question(i, feature) for i, feature in enumerate(self.schema.features))

    def _question(self, index: int, feature: Feature) -> dict[str, Any]:
        return {
            "name": feature.name,
            "text": self.text(index),
            "help": self.descriptions[index].help,
            "kind": feature.kind,
            "loinc": self.descriptions[index].loinc,
            "parts": [part.to_json() for part in self.parts[index]],
        }

    @cached_property
    def card(self) -> dict[str, Any]:
        """What the model is: its features, and how it was made."""
        method = self.fitted.settings.get("method")
        return {
            "name": self.name,
            "title": self.title,
            "task": self.fitted.task,
            "target": self.target,
            "classes": list(self.labels) if self.fitted.classes else [],
            "max_features": self.fitted.max_features,
            "fingerprint": self.fingerprint,
            "features": [
                {**question, "cost": feature.cost}
                for question, feature in zip(self.questions, self.schema.features, strict=True)
            ],
            "method": method.get("name") if isinstance(method, dict) else method,
            "training": dict(self.fitted.summary),
        }


class Models:
    """All that is served, by name."""

    def __init__(self, models: Sequence[ServedModel]) -> None:
        self._by_name = {model.name: model for model in models}
        if len(self._by_name) < len(models):
            raise ValueError("two models have the same file name; a model is served under the name of its file")
        if not models:
            raise ValueError("there is no model to serve")

    def __iter__(self) -> Iterator[ServedModel]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def find(self, name: str) -> ServedModel:
        """The model of that name."""
        try:
            return self._by_name[name]
        except KeyError:
            raise not_found("there is no model of that name; GET /api/models lists them") from None


def read_models(paths: Sequence[str], descriptions: str | None = None) -> Models:
    """The models in the files, described as they say themselves and, where there is one, as another file says."""
    fitted = {path: read_model(path) for path in paths}
    names = {name for model in fitted.values() for name in model.schema.all_names}
    given = {} if descriptions is None else read_descriptions(descriptions, names)
    return Models([_served(path, fitted[path], given) for path in paths])


def _served(path: str, model: FittedModel, given: Mapping[str, Mapping[str, Any]]) -> ServedModel:
    try:
        return ServedModel(
            OTHERS.sub("-", Path(path).stem), model, _fingerprint(path), described(model.descriptions, given)
        )
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def label_text(label: Any) -> str:
    """A class label as the name of a JSON field."""
    return label if isinstance(label, str) else str(label).lower() if isinstance(label, bool) else str(label)


def _fingerprint(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]
