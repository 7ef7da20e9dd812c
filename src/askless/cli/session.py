"""An interview by lines of text: what is asked now, and what a typed line means. This module prints nothing."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from askless.exceptions import AsklessError, InterviewError, UnseenWarning

if TYPE_CHECKING:
    from askless.acquisition import Candidate, Interview
    from askless.acquisition.schema import Feature, Part, Schema
    from askless.cli.wording import Wording
    from askless.encoding import TableEncoder

__all__ = ["HELP", "Reply", "Session", "explain", "known_values", "numbered", "parse_value"]

HELP = (
    "Answer with a value, or with the number of a choice. An empty line, ?, -, NA or `unknown` means unknown. "
    "`later` postpones the question. `back` or `undo` takes the last answer back. `tell NAME=VALUE` gives the value "
    "of any other feature. `why` lists what else could be asked. `quit` ends the interview."
)
LEADING = 5  # candidates that `why` lists


@dataclass(frozen=True)
class Reply:
    """The outcome of a line."""

    # moved: what is known has changed; part: the next part of a group is asked; refused: see `problem`
    kind: Literal["moved", "part", "again", "refused", "quit"]
    text: str = ""
    problem: AsklessError | None = None


class Session:
    """An interview that is led by lines of text. The parts of a group are asked one after another."""

    def __init__(self, interview: Interview, encoder: TableEncoder, wording: Wording) -> None:
        self.interview = interview
        self.wording = wording
        self._encoder = encoder
        self._given: dict[str, Any] = {}  # answered parts of the current question; None for unknown

    @property
    def schema(self) -> Schema:
        """The features."""
        return self._encoder.schema

    @property
    def part(self) -> Part | None:
        """The part to answer now; None when the interview is done."""
        question = self.interview.question
        return None if question is None else question.parts[len(self._given)]

    @property
    def unrecorded(self) -> list[str]:
        """The parts of the current question that have a value, which is recorded with the last part only."""
        return [name for name, value in self._given.items() if value is not None]

    def take(self, line: str) -> Reply:
        """Act on a line. A line that cannot be used gives a reply that says why, and changes nothing."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UnseenWarning)  # the reply has them
                return self._act(line.strip())
        except AsklessError as problem:
            return Reply("refused", problem.message, problem)

    def _act(self, words: str) -> Reply:
        command, _, rest = words.partition(" ")
        match command.casefold():
            case "quit" | "exit" if not rest:
                return Reply("quit")
            case "help" if not rest:
                return Reply("again", HELP)
            case "back" | "undo" if not rest:
                return self._back()
            case "why" if not rest:
                return Reply("again", explain(self.interview.candidates[:LEADING], self.interview.fixed_order))
            case "later" if not rest:
                return self._later()
            case "tell" if rest:
                return self._tell(rest)
            case _:
                return self._answer(words)

    def _back(self) -> Reply:
        if self._given:
            self._given.popitem()
            return Reply("part")
        self.interview.undo()
        return Reply("moved", "took the last answer back")

    def _later(self) -> Reply:
        self.interview.later()
        return Reply("moved", self._drop_given())

    def _tell(self, assignment: str) -> Reply:
        feature, part, text = _assigned(assignment, self._encoder.schema)
        value = self._checked(feature, part, text)
        new = {**_answered(self.interview, feature), part.name: value} if feature.is_group else value
        asked = self.interview.question
        self.interview.tell(feature.name, new)
        same = self.interview.question is not None and self.interview.question == asked
        dropped = "" if same else self._drop_given()
        return Reply("moved", "; ".join(filter(None, (_warning(part, value), dropped))))

    def _drop_given(self) -> str:
        """Forget the answered parts of a question that was left early; returns a message about them, if any."""
        names, self._given = self.unrecorded, {}
        if not names:
            return ""
        return f"{not_recorded(names)}: the question was left before its last part"

    def _answer(self, text: str) -> Reply:
        question, part = self.interview.question, self.part
        if question is None or part is None:
            raise InterviewError(
                "interview_done", "there are no more questions; `back` takes the last answer back, `quit` ends"
            )
        feature = self._encoder.schema.features[self._encoder.schema.index(question.name)]
        value = self._checked(feature, part, text)
        given = {**self._given, part.name: value}
        if len(given) < len(question.parts):
            self._given = given
            return Reply("part", _warning(part, value))
        known = {name: each for name, each in given.items() if each is not None}
        if not known:
            self.interview.unknown()
        else:
            self.interview.answer(known if feature.is_group else value)
        self._given = {}
        return Reply("moved", _warning(part, value))

    def _checked(self, feature: Feature, part: Part, text: str) -> Any:
        """The value of a text, if the encoder accepts it; None for unknown."""
        value = parse_value(part, text, self.wording.missing)
        self.wording.check(part, value)
        columns = self._encoder.encode_answer(self._encoder.schema.index(feature.name), {part.name: value})
        return None if columns is None else value


def not_recorded(names: Sequence[str]) -> str:
    """That the values of these parts are not recorded.

    >>> not_recorded(["high"]), not_recorded(["high", "low"])
    ('high is not recorded', 'high and low are not recorded')
    """
    return f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} not recorded"


def parse_value(part: Part, text: str, missing: Collection[str] = ()) -> Any:
    """The answer that a text means; None for unknown. A choice is given by its text or by its number, from 1.

    `missing` are the model's own words for unknown. Text that is no number or boolean is returned as it is, for the
    encoder to refuse.
    """
    from askless.encoding.category import Choices
    from askless.encoding.cells import is_missing, is_unknown, read_boolean, typed
    from askless.hints import listed

    text = text.strip()
    if is_missing(text) or text in missing:
        return None
    if part.kind == "number":
        value = typed(text)
        if value is None:
            return None if is_unknown(text) else text
        _refuse_thousands(part, text, value)
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    if part.choices is None:
        if is_unknown(text):
            return None
        answer = read_boolean(text)
        return text if answer is None else answer
    place = Choices(part.choices).find(text)
    if place is not None:
        return part.choices[place]
    if numbered(part) and text.isdecimal() and 1 <= int(text) <= len(part.choices):
        return part.choices[int(text) - 1]
    if is_unknown(text):
        return None
    hint = f", or its number from 1 to {len(part.choices)}" if numbered(part) else ""
    choices = [str(choice) for choice in part.choices]
    raise InterviewError(
        "bad_answer",
        f"{part.name!r} has no choice {text!r}; give one of {listed(choices)}{hint}",
        feature=part.name,
        value=text,
        choices=list(part.choices),
    )


def _refuse_thousands(part: Part, text: str, value: float) -> None:
    """Refuse 2.500 if training values lie around 2500 and not around 2.5: the point may separate thousands."""
    from askless.encoding.cells import POINTS

    if part.low is None or part.high is None or not POINTS.fullmatch(text):
        return
    if not part.low <= value <= part.high and part.low <= 1000 * value <= part.high:
        raise InterviewError(
            "bad_answer",
            f"{text!r} is ambiguous: {part.name!r} ranged from {part.low:g} to {part.high:g} in training; write "
            f"{1000 * value:.0f} if the point separates thousands, or else {value:g}",
            feature=part.name,
            value=text,
            low=part.low,
            high=part.high,
        )


def numbered(part: Part) -> bool:
    """Whether choices can be given by number: not if one of the choices looks like a number itself."""
    return not any(str(choice).strip().lstrip("-").isdecimal() for choice in part.choices or ())


def known_values(assignments: Iterable[str], encoder: TableEncoder, wording: Wording) -> dict[str, Any]:
    """The values of `NAME=VALUE` arguments by feature. The parts of a group are put together."""
    known: dict[str, Any] = {}
    for assignment in assignments:
        feature, part, text = _assigned(assignment, encoder.schema)
        value = parse_value(part, text, wording.missing)
        wording.check(part, value)
        known[feature.name] = {**known.get(feature.name, {}), part.name: value} if feature.is_group else value
    return known


def _assigned(assignment: str, schema: Schema) -> tuple[Feature, Part, str]:
    """The feature, its part and the text of NAME=VALUE. A name may contain equal signs."""
    from askless.hints import did_you_mean, nearest

    cuts = [i for i, sign in enumerate(assignment) if sign == "="]
    named = {part.name: (feature, part) for feature in schema.features for part in feature.parts}
    named |= {feature.name: (feature, feature.parts[0]) for feature in schema.features if not feature.is_group}
    for cut in cuts:
        if assignment[:cut].strip() in named:
            return (*named[assignment[:cut].strip()], assignment[cut + 1 :])
    if not cuts:
        example = assignment.strip() if assignment.strip() in named else next(iter(named))
        message = f"write NAME=VALUE, such as {example}=..., instead of {assignment!r}"
        raise InterviewError("bad_answer", message, value=assignment)
    name = assignment[: cuts[0]].strip()
    group = next((feature for feature in schema.features if feature.name == name), None)
    if group is not None:
        parts = [part.name for part in group.parts]
        message = f"{name!r} is a group; give one of its parts: {', '.join(parts)}"
        raise InterviewError("bad_answer", message, feature=name, choices=parts)
    raise InterviewError(
        "unknown_name",
        f"there is no feature {name!r}{did_you_mean(name, named)}",
        name=name,
        nearest=nearest(name, named),
    )


def _answered(interview: Interview, feature: Feature) -> Mapping[str, Any]:
    """The parts of a group that are known so far."""
    from askless.acquisition.interview import last_said

    value = last_said(interview.history, feature.name)
    return value if isinstance(value, Mapping) else {}


def explain(candidates: Sequence[Candidate], fixed_order: bool = False) -> str:
    """The candidates with their scores, information and costs, one in a line; in a fixed order their costs alone."""
    if not candidates:
        return "nothing is left to ask"
    if fixed_order:
        lines = [f"{each.name}: cost {each.price:g}" for each in candidates]
        return "\n  ".join([*lines, "this model asks everyone the same questions in the same order"])
    lines = []
    for each in candidates:
        information = "" if each.information is None else f", information {each.information:.3g}"
        free = each.price == 0 and each.score > 0 and each.information is not None  # the score would be huge
        score = "free, so it comes first" if free else f"score {each.score:.3g}"
        lines.append(f"{each.name}: {score}{information}, cost {each.price:g}")
    lines.append("the higher the score, the sooner it is asked; scores of different steps are not comparable")
    if candidates[0].information is not None:
        lines.append("information is the expected decrease of the loss (in nats for classes)")
    return "\n  ".join(lines)


def _warning(part: Part, value: Any) -> str:
    """A warning about a number outside of the training range; empty for other values."""
    if part.kind != "number" or part.low is None or part.high is None or isinstance(value, (str, type(None))):
        return ""
    if part.low <= value <= part.high:
        return ""
    return f"warning: {value} is outside of the training range ({part.low:g} to {part.high:g})"
