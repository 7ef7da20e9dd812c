"""A task: one data set, one method, one seed. Its key names its result file, so no task runs twice."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

from askless.exceptions import ExperimentError
from askless.hints import did_you_mean, nearest

__all__ = ["Task", "canonical_json", "default_label"]

KEY_LENGTH = 16  # hexadecimal digits


def canonical_json(data: Any) -> bytes:
    """The one way to write `data`: sorted keys, no spaces, floats by `repr`; no NaN and no infinity."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()


def default_label(method: str, options: dict[str, Any]) -> str:
    """The name of a method in tables, with its options in brackets if there are any.

    >>> default_label("greedy", {"subsets": "random", "epochs": 5})
    'greedy (epochs=5, subsets=random)'
    """
    settings = ", ".join(f"{name}={value}" for name, value in sorted(options.items()))
    return f"{method} ({settings})" if settings else method


@dataclass(frozen=True, kw_only=True)
class Task:
    """A fit and its evaluation.

    `rows` is how many of the table's rows are used, drawn at random; None uses all of them. The test rows, the
    validation rows and the drawn rows follow from `split_seed` alone, so that methods can be compared case by case.

    >>> task = Task(dataset="wine", method="greedy", max_features=3)
    >>> task.label, len(task.key), Task.from_json(task.to_json()) == task
    ('greedy', 16, True)
    """

    dataset: str
    method: str
    max_features: int
    dataset_options: dict[str, Any] = field(default_factory=dict)
    method_options: dict[str, Any] = field(default_factory=dict)
    label: str = ""  # the name of the method in tables
    seed: int = 0
    test_fraction: float = 0.2
    validation_fraction: float = 0.2
    split_seed: int = 0
    missing: Literal["skip", "answer"] = "skip"
    rows: int | None = None
    costs: Literal["used", "ignored"] = "used"  # whether the fit and the choice see the data set's prices
    device: str = "cpu"  # where convolutional networks are trained

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or default_label(self.method, self.method_options))
        for name in ("test_fraction", "validation_fraction"):
            object.__setattr__(self, name, float(getattr(self, name)))

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        return f"{self.dataset}, {self.label}, seed {self.seed}"

    @cached_property
    def key(self) -> str:
        """The name of the task's files: a hash of everything that the result depends on."""
        return hashlib.sha256(canonical_json(self.to_json())).hexdigest()[:KEY_LENGTH]

    def to_json(self) -> dict[str, Any]:
        """The task as JSON can hold it; tuples become lists."""
        plain: dict[str, Any] = json.loads(canonical_json(asdict(self)))
        for name, usual in (("costs", "used"), ("device", "cpu")):  # added later: older keys stay as they were
            if plain[name] == usual:
                del plain[name]
        return plain

    @classmethod
    def from_json(cls, data: Any) -> Task:
        """The task that `to_json` described."""
        if not isinstance(data, dict):
            raise ExperimentError("wrong_type", f"a task must be an object, not {data!r}", name="task", value=data)
        known = [item.name for item in fields(cls)]
        for name in data:
            if name not in known:
                raise ExperimentError(
                    "unknown_name",
                    f"unknown key {name!r} in a task{did_you_mean(name, known)}",
                    name=name,
                    nearest=nearest(name, known),
                )
        lacking = [name for name in ("dataset", "method", "max_features") if name not in data]
        if lacking:
            raise ExperimentError("required", f"the key {lacking[0]!r} is missing in a task", name=lacking[0])
        try:
            return cls(**data)
        except (TypeError, ValueError) as error:
            raise ExperimentError("wrong_type", f"a value in a task has the wrong type ({error})") from error
