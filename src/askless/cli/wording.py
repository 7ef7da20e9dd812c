"""The wording, units and valid ranges of features in the terminal, from the model file."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from askless.exceptions import InterviewError
from askless.service.descriptions import Description, Plain, described, limits_text, valid_range, within

if TYPE_CHECKING:
    from askless.acquisition.schema import Part

__all__ = ["Wording"]


class Wording:
    """The descriptions that `askless fit --features` stored in the model file, and the words of `--na`."""

    def __init__(self, kept: Plain, missing: Collection[str] = ()) -> None:
        self._descriptions = described(kept, {})
        self.missing = frozenset(missing)

    def text(self, name: str) -> str:
        """The wording of a feature or a part; its name if there is none."""
        return self._of(name).text or name

    def unit(self, name: str) -> str:
        """The unit, or an empty text."""
        return self._of(name).unit or ""

    def check(self, part: Part, value: Any) -> None:
        """Refuse the numbers that the service refuses."""
        if part.kind != "number" or isinstance(value, (str, type(None))):
            return
        description = self._of(part.name)
        limits = valid_range(part, description)
        if not within(value, limits):
            message = f"{self.text(part.name)!r} takes {limits_text(limits)}"
            if description.low is None and description.high is None:  # the limits follow from the training range
                message += (
                    f"; values in training range from {part.low:g} to {part.high:g}; "
                    "`askless fit --features` can allow more"
                )
            raise InterviewError("bad_answer", message, feature=part.name, value=value, low=limits[0], high=limits[1])

    def _of(self, name: str) -> Description:
        return self._descriptions.get(name, Description())
