"""How a model's features are worded in the terminal, which numbers are accepted and what is unknown: as its file
says."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from askless.exceptions import InterviewError
from askless.service.descriptions import Description, Plain, described, limits_text, valid_range, within

if TYPE_CHECKING:
    from askless.acquisition.schema import Part

__all__ = ["Wording"]


class Wording:
    """The descriptions that `askless fit --features` has kept in the model's file, and the words of `--na`."""

    def __init__(self, kept: Plain, missing: Collection[str] = ()) -> None:
        self._each = described(kept, {})
        self.missing = frozenset(missing)

    def text(self, name: str) -> str:
        """The wording of a feature or of a part, or else its name."""
        return self._of(name).text or name

    def unit(self, name: str) -> str:
        """The unit, or nothing."""
        return self._of(name).unit or ""

    def check(self, part: Part, value: Any) -> None:
        """Refuse a number that the service would refuse."""
        if part.kind != "number" or isinstance(value, (str, type(None))):
            return
        said = self._of(part.name)
        limits = valid_range(part, said)
        if not within(value, limits):
            told = f"{self.text(part.name)!r} takes {limits_text(limits)}"
            if said.low is None and said.high is None:  # the limits are a guess
                told += f": training has seen {part.low:g} to {part.high:g}; `askless fit --features` can allow more"
            raise InterviewError(told)

    def _of(self, name: str) -> Description:
        return self._each.get(name, Description())
