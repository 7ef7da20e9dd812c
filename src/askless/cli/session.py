"""An interview as lines of text: what is asked now, and what a line that was typed means. Prints nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from askless.exceptions import InterviewError

if TYPE_CHECKING:
    from askless.acquisition import Candidate, Interview
    from askless.acquisition.schema import Feature, Part, Schema
    from askless.cli.wording import Wording
    from askless.encoding import TableEncoder

__all__ = ["HELP", "Reply", "Session", "known_values", "numbered", "parse_value", "worths"]

HELP = (
    "Answer with a value, or with the number of a choice. An empty line, ?, -, NA or `unknown` means unknown; "
    "`later` postpones the question; `back` or `undo` takes the last answer back; `tell NAME=VALUE` says something "
    "that was not asked; `why` lists what else could be asked; `quit` ends."
)
LEADING = 5  # candidates that `why` tells of


@dataclass(frozen=True)
class Reply:
    """What became of a line."""

    # moved: something is known now, or no more, that was not before; refused: the line could not be used
    kind: Literal["moved", "part", "again", "refused", "quit"]
    text: str = ""


class Session:
    """An interview that is led by lines of text. The parts of a group are asked one after another."""

    def __init__(self, talk: Interview, encoder: TableEncoder, wording: Wording) -> None:
        self.talk = talk
        self.wording = wording
        self._encoder = encoder
        self._given: dict[str, Any] = {}  # the parts of the present question that were answered; None for unknown

    @property
    def schema(self) -> Schema:
        """What can be asked."""
        return self._encoder.schema

    @property
    def part(self) -> Part | None:
        """What to answer now; None when the interview is done."""
        question = self.talk.question
        return None if question is None else question.parts[len(self._given)]

    @property
    def unrecorded(self) -> str:
        """The parts of the present question that have a value already, and that they are; empty where none has."""
        names = [name for name, value in self._given.items() if value is not None]
        return f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'}" if names else ""

    def take(self, line: str) -> Reply:
        """Act on a line. Whatever cannot be understood is explained, and changes nothing."""
        words = line.strip()
        command, _, rest = words.partition(" ")
        try:
            match command.casefold():
                case "quit" | "exit" if not rest:
                    return Reply("quit")
                case "help" if not rest:
                    return Reply("again", HELP)
                case "back" | "undo" if not rest:
                    return self._back()
                case "why" if not rest:
                    return Reply("again", worths(self.talk.candidates[:LEADING]))
                case "later" if not rest:
                    return self._later()
                case "tell" if rest:
                    return self._tell(rest)
                case _:
                    return self._answer(words)
        except (InterviewError, ValueError) as problem:
            return Reply("refused", str(problem))

    def _back(self) -> Reply:
        if self._given:
            self._given.popitem()
            return Reply("part")
        self.talk.undo()
        return Reply("moved", "took the last answer back")

    def _later(self) -> Reply:
        self.talk.later()
        return Reply("moved", self._dropped())

    def _tell(self, assignment: str) -> Reply:
        feature, part, text = _assigned(assignment, self._encoder.schema)
        value = self._checked(feature, part, text)
        told = {**_answered(self.talk, feature), part.name: value} if feature.is_group else value
        asked = self.talk.question
        self.talk.tell(feature.name, told)
        same = self.talk.question is not None and self.talk.question == asked
        lost = "" if same else self._dropped()
        return Reply("moved", "; ".join(filter(None, (_remark(part, value), lost))))

    def _dropped(self) -> str:
        """That parts of a question which was left before its end are not recorded; empty where there are none."""
        lost, self._given = self.unrecorded, {}
        return lost and f"{lost} not recorded: the question was left before its end"

    def _answer(self, text: str) -> Reply:
        question, part = self.talk.question, self.part
        if question is None or part is None:
            raise InterviewError("there is no question any more; `back` takes the last answer back, `quit` ends")
        feature = self._encoder.schema.features[self._encoder.schema.index(question.name)]
        value = self._checked(feature, part, text)
        given = {**self._given, part.name: value}
        if len(given) < len(question.parts):
            self._given = given
            return Reply("part", _remark(part, value))
        known = {name: each for name, each in given.items() if each is not None}
        if not known:
            self.talk.unknown()
        else:
            self.talk.answer(known if feature.is_group else value)
        self._given = {}
        return Reply("moved", _remark(part, value))

    def _checked(self, feature: Feature, part: Part, text: str) -> Any:
        """The value that a text means, which the encoder must accept; None for unknown."""
        value = parse_value(part, text, self.wording.missing)
        self.wording.check(part, value)
        columns = self._encoder.encode_answer(self._encoder.schema.index(feature.name), {part.name: value})
        return None if columns is None else value


def parse_value(part: Part, text: str, missing: Collection[str] = ()) -> Any:
    """What a text means as an answer; None for unknown. A choice is named by its text or by its number from 1 on.

    `missing` are the model's own words for unknown, beside those that always are.
    """
    from askless.encoding.cells import SAID_FOR_MISSING, is_missing, typed
    from askless.encoding.choices import Choices
    from askless.hints import listed

    text = text.strip()
    if is_missing(text) or text in missing:
        return None
    if part.kind == "number":
        value = typed(text)
        if value is None and text.casefold() in SAID_FOR_MISSING:
            return None
        if value is None:
            return text
        _refuse_thousands(part, text, value)
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    if part.choices is None:
        return None if text.casefold() in SAID_FOR_MISSING else text
    place = Choices(part.choices).find(text)
    if place is not None:
        return part.choices[place]
    if numbered(part) and text.isdecimal() and 1 <= int(text) <= len(part.choices):
        return part.choices[int(text) - 1]
    if text.casefold() in SAID_FOR_MISSING:
        return None
    hint = f", or its number from 1 to {len(part.choices)}" if numbered(part) else ""
    choices = listed([str(choice) for choice in part.choices])
    raise InterviewError(f"{text!r} is none of the choices of {part.name!r}; give one of {choices}{hint}")


def _refuse_thousands(part: Part, text: str, value: float) -> None:
    """Refuse 2.500 where training has seen no 2.5, but numbers about 2500: the point may separate thousands."""
    from askless.encoding.cells import POINTS

    if part.low is None or part.high is None or not POINTS.fullmatch(text):
        return
    if not part.low <= value <= part.high and part.low <= 1000 * value <= part.high:
        raise InterviewError(
            f"{text!r} is {value:g}, and training has seen {part.low:g} to {part.high:g} of {part.name!r}: write "
            f"{1000 * value:.0f} if the point separates thousands, else {value:g}"
        )


def numbered(part: Part) -> bool:
    """Whether choices may be named by their number: not where one of them could be mistaken for that."""
    return not any(str(choice).strip().lstrip("-").isdecimal() for choice in part.choices or ())


def known_values(assignments: Iterable[str], encoder: TableEncoder, wording: Wording) -> dict[str, Any]:
    """What `NAME=VALUE`s say, by feature; the parts of a group are put together."""
    known: dict[str, Any] = {}
    for assignment in assignments:
        feature, part, text = _assigned(assignment, encoder.schema)
        value = parse_value(part, text, wording.missing)
        wording.check(part, value)
        known[feature.name] = {**known.get(feature.name, {}), part.name: value} if feature.is_group else value
    return known


def _assigned(assignment: str, schema: Schema) -> tuple[Feature, Part, str]:
    """The feature, its part and the text of NAME=VALUE; a name may hold equal signs itself."""
    cuts = [i for i, sign in enumerate(assignment) if sign == "="]
    named = {part.name: (feature, part) for feature in schema.features for part in feature.parts}
    named |= {feature.name: (feature, feature.parts[0]) for feature in schema.features if not feature.is_group}
    for cut in cuts:
        if assignment[:cut].strip() in named:
            return (*named[assignment[:cut].strip()], assignment[cut + 1 :])
    name = assignment[: cuts[0]].strip() if cuts else assignment
    if not cuts:
        example = name.strip() if name.strip() in named else next(iter(named))
        raise InterviewError(f"{assignment!r}: give NAME=VALUE, such as {example}=...")
    group = next((feature for feature in schema.features if feature.name == name), None)
    if group is not None:
        raise InterviewError(f"{name!r} is a group; name one of its parts: {', '.join(p.name for p in group.parts)}")
    from askless.hints import did_you_mean

    raise InterviewError(f"there is no feature {name!r}{did_you_mean(name, named)}")


def _answered(talk: Interview, feature: Feature) -> Mapping[str, Any]:
    """What is known of a group so far."""
    from askless.acquisition.interview import last_said

    value = last_said(talk.history, feature.name)
    return value if isinstance(value, Mapping) else {}


def worths(candidates: Sequence[Candidate]) -> str:
    """The candidates, with what each is worth and costs; a line each."""
    if not candidates:
        return "nothing can be asked any more"
    lines = []
    for each in candidates:
        worth = "" if each.information is None else f", information {each.information:.3g}"
        free = each.price == 0 and each.score > 0 and each.information is not None  # the score would be huge
        score = "free, so it comes first" if free else f"score {each.score:.3g}"
        lines.append(f"{each.name}: {score}{worth}, cost {each.price:g}")
    lines.append("the higher the score, the sooner it is asked; scores compare questions of the same moment only")
    if candidates[0].information is not None:
        lines.append("information is by how much the answer is expected to lower the loss, in nats for classes")
    return "\n  ".join(lines)


def _remark(part: Part, value: Any) -> str:
    """A word about a number that training has not seen the like of."""
    if part.kind != "number" or part.low is None or part.high is None or isinstance(value, (str, type(None))):
        return ""
    seen = part.low <= value <= part.high
    return "" if seen else f"{value} is outside of what training has seen ({part.low:g} to {part.high:g})"
