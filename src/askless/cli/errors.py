"""How a command ends: 0, 2 with one line for what the user can mend, 130 for Ctrl-C, 143 for TERM."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from askless.exceptions import UnseenWarning
from askless.signals import Terminated

__all__ = ["complain", "guarded", "one_line"]

BAD_INPUT, STOPPED, BROKEN_PIPE, TERMINATED = 2, 130, 141, 143  # but for the first, what a shell reports for signals


def guarded(run: Callable[[], int]) -> int:
    """The exit code of `run`; expected errors are one line each, anything else is a bug and keeps its traceback."""
    try:
        with warnings.catch_warnings():
            # What askless itself warns of is a note to the user; other packages' warnings are left as they are.
            warnings.filterwarnings("always", category=UserWarning, module=r"askless\b")
            warnings.showwarning = _show_warning
            warnings.simplefilter("ignore", UnseenWarning)  # `unseen` tells of them with their numbers
            code = run()
        sys.stdout.flush()
        return code
    except KeyboardInterrupt as stop:
        complain(f"stopped{''.join(f'; {word}' for word in stop.args)}")
        return TERMINATED if isinstance(stop, Terminated) else STOPPED
    except BrokenPipeError:  # the reader, such as `head`, has had enough
        _discard_output()
        return BROKEN_PIPE
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.partition(".")[0] == "askless":
            raise  # a bug: nothing that could be installed
        complain(one_line(error))
        return BAD_INPUT
    except (ValueError, OSError) as error:
        complain(one_line(error))
        return BAD_INPUT


def complain(message: str) -> None:
    """One line on standard error."""
    print(f"askless: {' '.join(message.split())}", file=sys.stderr)


def one_line(error: Exception) -> str:
    """What an error says; one of the operating system names the file first."""
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror[:1].lower()}{error.strerror[1:]}"
    return str(error) or type(error).__name__


def _show_warning(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    complain(f"note: {message}")


def _discard_output() -> None:
    """Let nothing more be written to the closed pipe, also not when Python ends."""
    with suppress(OSError, ValueError):  # standard output may be no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
