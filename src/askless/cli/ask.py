"""`askless ask`: an interview in the terminal."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from askless.cli.console import count, interactive, make_console, say
from askless.cli.errors import note
from askless.cli.parser import Commands, positive, text_help
from askless.cli.rules import STOP_HELP, add_asking, asking

if TYPE_CHECKING:
    from rich.console import Console

    from askless.acquisition import Interview, StoppingRule
    from askless.cli.session import Session
    from askless.exceptions import AsklessError

__all__ = ["add", "run"]

DESCRIPTION = """\
Ask one case, question by question, and show the prediction after each answer.

What to type:
  a value, or the number of a choice    the answer
  an empty line, ?, -, NA or unknown    the value is unknown (words given to `fit --na` work, too)
  later                                 postpone the question until nothing else is left
  back, or undo                         take the last answer back
  tell NAME=VALUE                       give the value of a feature that was not asked
  why                                   list what else could be asked now
  quit                                  end with the current prediction

Answers can also come from a pipe, one on each line. The interview ends with the input. A line that cannot be used
ends it with an error. Lines after the last question are not used."""
EPILOG = (
    """\
examples:
  askless ask m.askless
  askless ask m.askless --known age=51 sex=female
  askless ask m.askless --max-cost 20 --stop confidence=0.95
  printf '%s\\n' 51 female 140 | askless ask m.askless

"""
    + STOP_HELP
)


def add(commands: Commands) -> None:
    """Describe the command."""
    parser = commands.add_parser("ask", help="interview one case in the terminal", **text_help(DESCRIPTION, EPILOG))
    add = parser.add_argument
    add("model", help="a model file of `askless fit`")
    add("--known", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="values that are known, at no "
        "cost, before the first question")  # fmt: skip
    add("--budget", type=positive, metavar="K", help="ask at most K features (default: the model's budget)")
    add_asking(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Ask until the interview or the input ends."""
    from askless.cli.session import Session, known_values, not_recorded
    from askless.cli.wording import Wording
    from askless.encoding import TableEncoder
    from askless.exceptions import InterviewError
    from askless.model_file import read_model

    model = read_model(args.model)
    if not isinstance(model.encoder, TableEncoder):
        message = f"{args.model} asks for patches of images, which cannot be typed; use the model from Python"
        raise InterviewError("not_supported", message, path=args.model)
    wording = Wording(model.descriptions, model.missing_words)
    known = known_values(args.known, model.encoder, wording)
    options = asking(args, model)
    interview = model.interview(known=known, unavailable=args.unavailable, **options)
    screen = _Screen(make_console())
    budget = model.max_features if args.budget is None else args.budget
    screen.say_limits(budget, interview.rules)
    session = Session(interview, model.encoder, wording)
    screen.lead(session)
    if names := session.unrecorded:
        ended = "interview" if screen.quit else "input"
        message = f"{not_recorded(names)}: the {ended} ended before the last part of the question"
        if not interactive():
            raise InterviewError("unfinished_group", message, parts=names)
        note(message, "unfinished_group")
    if not sys.stdin.isatty() and (lines := _lines_left()):
        were = "was" if lines == 1 else "were"
        note(f"{count(lines, 'line')} of the input {were} not used: the interview was over", "unused_input")


def _lines_left() -> int:
    """Count unread lines of a pipe without blocking: its writer may be waiting for this process to end."""
    import select

    try:
        source = sys.stdin.fileno()
    except (OSError, ValueError):  # not a file, so all of it has arrived
        return len(sys.stdin.readlines())
    lines = 0
    with suppress(OSError):  # on Windows, select works for sockets only
        while select.select([source], [], [], 0)[0] and sys.stdin.readline():
            lines += 1
    return lines


def _ends_earlier(rule: StoppingRule, budget: int) -> bool:
    """Whether a rule can end an interview before the budget is used up."""
    from askless.acquisition import MaxFeatures
    from askless.acquisition.stopping.certified import Certified, NotUsed

    if isinstance(rule, Certified):
        return rule.threshold is not None
    return not isinstance(rule, NotUsed) and not (isinstance(rule, MaxFeatures) and rule.limit >= budget)


class _Screen:
    """Shows a session on a console and reads its answers."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.ascii_only = not console.encoding.lower().startswith("utf")
        self.scale: tuple[float, float] | None = None
        self.lines = 0  # read from a pipe
        self.quit = False

    def say_limits(self, budget: int, rules: Sequence[StoppingRule]) -> None:
        """Say how long the interview can take, and what can end it earlier."""
        say(self.console, f"At most {count(budget, 'question')}. Type `help` for help.", "dim")
        reasons = [rule.reason for rule in rules if _ends_earlier(rule, budget)]
        if reasons:
            say(self.console, f"It ends earlier with: {'; '.join(reasons)}.", "dim")

    def lead(self, session: Session) -> None:
        """Run the interview from the first question to the summary."""
        from askless.cli.views import summary

        interview = session.interview
        prior = interview.prediction
        if set(prior) == {"mean", "sd"}:
            self.scale = prior["mean"] - 3 * prior["sd"], prior["mean"] + 3 * prior["sd"]
        self._show_prediction(interview, "before the first question")
        reason = self._questions(session)
        if interview.history:
            self.console.print(summary(interview))
        if interview.postponed:
            say(self.console, f"postponed, and not asked again: {', '.join(interview.postponed)}", "yellow")
        self._show_prediction(interview, f"at the end ({reason}; cost {interview.cost:g})")

    def _questions(self, session: Session) -> str:
        """Ask all questions; returns the reason why the interview ended."""
        while True:
            line = self._read(session)
            if line is None:
                return session.interview.stop_reason or "no more answers"
            reply = session.take(line)
            if reply.kind == "quit":
                self.quit = True
                return session.interview.stop_reason or "you ended it"
            if reply.problem is not None and not sys.stdin.isatty():
                self._refuse(line, reply.problem)
            if reply.text:
                say(self.console, f"  {reply.text}", "yellow")
            if reply.kind == "moved":
                self._show_prediction(session.interview, f"now (cost so far: {session.interview.cost:g})")

    def _refuse(self, line: str, problem: AsklessError) -> NoReturn:
        """End the interview at a bad line of a pipe: the next lines would answer the wrong questions."""
        from askless.exceptions import InterviewError

        message = f"line {self.lines} of the input, {line.strip()!r}: {problem.message}"
        raise InterviewError(problem.code, message, **{**problem.fields, "line": self.lines})

    def _read(self, session: Session) -> str | None:
        """Show the question and read a line; None at the end of the input."""
        from askless.cli.views import alternatives, choices_of, title

        question, part = session.interview.question, session.part
        if question is None or part is None:
            return self._last_chance(session)
        number = 1 + sum(event.action in ("answer", "unknown") for event in session.interview.history)
        self.console.print()
        self.console.print(title(number, question, session.wording, part))
        if part is question.parts[0]:
            say(self.console, f"   {alternatives(session)}", "dim")
        for choice in choices_of(part, session.wording):
            say(self.console, f"   {choice}")
        return self._line()

    def _last_chance(self, session: Session) -> str | None:
        """Let a person take the last answer back when the interview is over; a pipe cannot."""
        if not interactive():
            return None
        say(
            self.console,
            f"\nThe interview is over ({session.interview.stop_reason}). Press Enter, or type `back`.",
            "dim",
        )
        line = self._line()
        return None if line is None or not line.strip() else line

    def _line(self) -> str | None:
        if interactive():
            try:
                return input("> ")
            except EOFError:
                self.console.print()
                return None
        line = sys.stdin.readline()
        if line:
            self.lines += 1
            say(self.console, f"> {line.rstrip()}")
        return line or None

    def _show_prediction(self, interview: Interview, when: str) -> None:
        from askless.cli.views import picture

        say(self.console, f"\nprediction {when}", "dim")
        self.console.print(picture(interview.prediction, self.scale, self.ascii_only))
