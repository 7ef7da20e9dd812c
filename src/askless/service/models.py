"""The served models. Each has the name of its file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from askless.acquisition.schema import Feature, Part
from askless.encoding.category import Choices
from askless.exceptions import AsklessError, ParameterError
from askless.hints import nearest
from askless.model import FittedModel
from askless.model_file import read_model
from askless.service.descriptions import Description, Limits, described, read_descriptions, valid_range
from askless.service.errors import invalid, not_found

__all__ = ["AskedPart", "Models", "ServedModel", "label_text", "read_models"]

NAME = re.compile(r"[A-Za-z0-9\-.]{1,64}")  # also the syntax of a FHIR id
OTHERS = re.compile(r"[^A-Za-z0-9\-.]+")


@dataclass(frozen=True)
class AskedPart:
    """One value of a question, with its description."""

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
        """The wording, or the name if there is none."""
        return self.description.text or self.part.name

    @cached_property
    def valid(self) -> Limits:
        """The lowest and the highest accepted number."""
        return valid_range(self.part, self.description) if self.kind == "number" else (None, None)

    @cached_property
    def choices(self) -> Choices:
        """The choices of a category."""
        return Choices(self.part.choices or ())

    def unusual(self, number: float | None) -> bool:
        """Whether a number is outside the range of the training data."""
        low, high = self.part.low, self.part.high
        return number is not None and low is not None and high is not None and not low <= number <= high

    def to_json(self) -> dict[str, Any]:
        """The part as the API returns it."""
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
    """A model with its name and the descriptions of its features."""

    def __init__(
        self, name: str, fitted: FittedModel, fingerprint: str, descriptions: Mapping[str, Description]
    ) -> None:
        if not NAME.fullmatch(name) or not name.strip("-."):
            raise ParameterError(
                "not_supported",
                f"a model cannot be served as {name!r}; name its file with 1 to 64 letters and digits",
                name=name,
            )
        if fitted.image_shape is not None:
            raise ParameterError(
                "not_supported",
                "the model asks for patches of images, which cannot be typed into a form; use it from Python",
                name=name,
            )
        self.name, self.fitted, self.fingerprint = name, fitted, fingerprint
        self.schema = fitted.schema
        nothing = Description()
        self.descriptions = tuple(descriptions.get(feature.name, nothing) for feature in self.schema.features)
        self.parts = tuple(
            tuple(AskedPart(part, descriptions.get(part.name, nothing)) for part in feature.parts)
            for feature in self.schema.features
        )
        self.labels = tuple(label_text(label) for label in fitted.classes) or ("mean",)
        # Copied for each interview. Raises now if the model cannot interview.
        self.fresh = fitted.interview(check_values=False)

    @property
    def target(self) -> str | None:
        """The name of the predicted column, if the training table had one."""
        target = self.fitted.settings.get("target")
        return target if isinstance(target, str) else None

    @property
    def fixed_order(self) -> bool:
        """Whether the order of the questions is the same for everyone."""
        return self.fresh.fixed_order

    @property
    def title(self) -> str:
        """The name, for people."""
        words = re.sub(r"[-.]+", " ", self.name).strip() or self.name
        return words[0].upper() + words[1:]

    def index(self, name: str, where: str | None = None) -> int:
        """The position of a feature. The error for an unknown name has the nearest one."""
        try:
            return self.schema.index(name)
        except ValueError:
            shown = name if len(name) <= 60 else name[:57] + "..."
            raise invalid(
                f"unknown feature {shown!r}{self.schema.hint(name)}",
                where,
                code="unknown_name",
                name=shown,
                nearest=nearest(name, self.schema.names),
            ) from None

    def text(self, index: int) -> str:
        """The wording of a feature's question."""
        return self.descriptions[index].text or self.schema.features[index].name

    @cached_property
    def questions(self) -> tuple[dict[str, Any], ...]:
        """All features as the API returns them, without costs."""
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
        """The description of the model: its features and its training."""
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
    """All served models, by name."""

    def __init__(self, models: Sequence[ServedModel]) -> None:
        self._by_name = {model.name: model for model in models}
        if len(self._by_name) < len(models):
            raise ParameterError(
                "duplicate_name", "two models have the same file name; a model is served under the name of its file"
            )
        if not models:
            raise ParameterError("required", "there is no model to serve", name="models")

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
    """The models in the files. Descriptions in `descriptions`, a JSON file, replace those that the models have."""
    fitted = {path: read_model(path) for path in paths}
    names = {name for model in fitted.values() for name in model.schema.all_names}
    given = {} if descriptions is None else read_descriptions(descriptions, names)
    return Models([_served(path, fitted[path], given) for path in paths])


def _served(path: str, model: FittedModel, given: Mapping[str, Mapping[str, Any]]) -> ServedModel:
    try:
        return ServedModel(
            OTHERS.sub("-", Path(path).stem), model, _fingerprint(path), described(model.descriptions, given)
        )
    except AsklessError as error:
        raise ParameterError(error.code, f"{path}: {error}", **error.fields | {"path": path}) from None


def label_text(label: Any) -> str:
    """A class label as the name of a JSON field."""
    return label if isinstance(label, str) else str(label).lower() if isinstance(label, bool) else str(label)


def _fingerprint(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]
