"""`askless ask`: an interview in the terminal."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from askless.cli.console import count, interactive, make_console, say
from askless.cli.errors import complain
from askless.cli.parser import Commands, positive, text_help
from askless.cli.rules import STOP_HELP, add_asking, asking

if TYPE_CHECKING:
    from rich.console import Console

    from askless.acquisition import Interview, StoppingRule
    from askless.cli.session import Session

__all__ = ["add", "run"]

DESCRIPTION = """\
Ask one case, question by question, and show the prediction after each answer.

  a value, or the number of a choice    the answer
  an empty line, ?, -, NA or unknown    unknown: not asked again; so are the words that fit was given as --na
  later                                 ask it when nothing else is left
  back, or undo                         take the last answer back
  tell NAME=VALUE                       say something that was not asked
  why                                   what else could be asked now, and what it is worth
  quit                                  end with the prediction so far

Answers may come from a pipe, one in a line; the end of input ends the interview. A line of a pipe that cannot be
used ends it with an error, for the lines after it would meet other questions; lines after the last question are
not used, and a note tells how many."""
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
    parser = commands.add_parser("ask", help="an interview in the terminal", **text_help(DESCRIPTION, EPILOG))
    add = parser.add_argument
    add("model", help="a model file that `askless fit` wrote")
    add(
        "--known", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="what is known beforehand; free"
    )
    add("--budget", type=positive, metavar="K", help="ask at most so many features (default: the model's budget)")
    add_asking(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Ask until there is nothing more to ask, or the answers end."""
    from askless.cli.session import Session, known_values
    from askless.cli.wording import Wording
    from askless.encoding import TableEncoder
    from askless.exceptions import InterviewError
    from askless.persistence import read_model

    model = read_model(args.model)
    if not isinstance(model.encoder, TableEncoder):
        raise InterviewError(f"{args.model} asks for patches of images, which cannot be typed; use it from Python")
    wording = Wording(model.descriptions, model.missing_words)
    known = known_values(args.known, model.encoder, wording)
    how = asking(args, model)
    talk = model.interview(known=known, unavailable=args.unavailable, **how)
    screen = _Screen(make_console())
    budget = model.max_features if args.budget is None else args.budget
    screen.say_limits(budget, model.stopping if how["stopping"] is None else how["stopping"])
    session = Session(talk, model.encoder, wording)
    screen.lead(session)
    if session.unrecorded:
        ended = "interview" if screen.quit else "input"
        told = f"{session.unrecorded} not recorded: the {ended} ended before the last part of the question"
        if not interactive():
            raise InterviewError(told)
        complain(f"note: {told}")
    if not sys.stdin.isatty() and (lines := _lines_left()):
        unused = f"{count(lines, 'line')} of the input {'was' if lines == 1 else 'were'} not used"
        complain(f"note: {unused}: the interview had ended")


def _lines_left() -> int:
    """How many lines of a pipe nobody has read. Whoever writes it may wait for our end: nothing is waited for."""
    import select

    try:
        source = sys.stdin.fileno()
    except (OSError, ValueError):  # no file, so that all of it is there
        return len(sys.stdin.readlines())
    lines = 0
    with suppress(OSError):  # Windows can select among sockets only
        while select.select([source], [], [], 0)[0] and sys.stdin.readline():
            lines += 1
    return lines


class _Screen:
    """Shows a session on a console and reads its answers."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.ascii_only = not console.encoding.lower().startswith("utf")
        self.scale: tuple[float, float] | None = None
        self.lines = 0  # read from a pipe
        self.quit = False

    def say_limits(self, budget: int, rules: Sequence[StoppingRule]) -> None:
        """How long the interview may take, and what may end it before."""
        from askless.acquisition import MaxFeatures

        say(self.console, f"At most {count(budget, 'question')}. `help` lists what can be typed.", "dim")
        ends = [rule.reason for rule in rules if not (isinstance(rule, MaxFeatures) and rule.limit >= budget)]
        if ends:
            say(self.console, f"It also ends with: {'; '.join(ends)}.", "dim")

    def lead(self, session: Session) -> None:
        """The whole interview."""
        from askless.cli.views import summary

        talk = session.talk
        prior = talk.prediction
        if set(prior) == {"mean", "sd"}:
            self.scale = prior["mean"] - 3 * prior["sd"], prior["mean"] + 3 * prior["sd"]
        self._show_prediction(talk, "before the first question")
        why = self._questions(session)
        if talk.history:
            self.console.print(summary(talk))
        if talk.postponed:
            say(self.console, f"postponed, and not asked again: {', '.join(talk.postponed)}", "yellow")
        self._show_prediction(talk, f"in the end ({why}; cost {talk.cost:g})")

    def _questions(self, session: Session) -> str:
        """Ask until the end; returns why it ended."""
        while True:
            line = self._read(session)
            if line is None:
                return session.talk.stop_reason or "no more answers"
            reply = session.take(line)
            if reply.kind == "quit":
                self.quit = True
                return session.talk.stop_reason or "you ended it"
            if reply.kind == "refused" and not sys.stdin.isatty():
                self._refuse(line, session, reply.text)
            if reply.text:
                say(self.console, f"  {reply.text}", "yellow")
            if reply.kind == "moved":
                self._show_prediction(session.talk, f"now (cost so far: {session.talk.cost:g})")

    def _refuse(self, line: str, session: Session, why: str) -> NoReturn:
        """End where a line of a pipe cannot be used: the next one was not meant for the same question."""
        from askless.exceptions import InterviewError

        assert session.part is not None  # nothing is read after the last question
        said, asked = line.strip(), session.part.name
        raise InterviewError(f"line {self.lines} of the input, {said!r} for {asked!r}, cannot be used: {why}")

    def _read(self, session: Session) -> str | None:
        """Put the question, and get the line that is typed; None at the end of input."""
        from askless.cli.views import choices_of, reasons, title

        question, part = session.talk.question, session.part
        if question is None or part is None:
            return self._last_chance(session)
        number = 1 + sum(event.action in ("answer", "unknown") for event in session.talk.history)
        self.console.print()
        self.console.print(title(number, question, session.wording, part))
        if part is question.parts[0]:
            say(self.console, f"   {reasons(session.talk.candidates, session.talk.postponed)}", "dim")
        for choice in choices_of(part, session.wording):
            say(self.console, f"   {choice}")
        return self._line()

    def _last_chance(self, session: Session) -> str | None:
        """When all is asked, a person may still take the last answer back; a pipe may not."""
        if not interactive():
            return None
        say(self.console, f"\nThat is all ({session.talk.stop_reason}). Press Enter, or type `back`.", "dim")
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

    def _show_prediction(self, talk: Interview, when: str) -> None:
        from askless.cli.views import picture

        say(self.console, f"\nprediction {when}", "dim")
        self.console.print(picture(talk.prediction, self.scale, self.ascii_only))
