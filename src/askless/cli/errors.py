"""Exit codes and messages: 0, 2 with one line for an error of the user's, 130 for Ctrl-C, 143 for TERM."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from askless.exceptions import AsklessError, AsklessWarning, UnseenWarning
from askless.signals import Terminated

__all__ = ["complain", "guarded", "note"]

BAD_INPUT, STOPPED, BROKEN_PIPE, TERMINATED = 2, 130, 141, 143  # the last three are what a shell reports for signals


def guarded(run: Callable[[], int]) -> int:
    """The exit code of `run`. Expected errors are one line each; any other error is a bug and keeps its traceback."""
    try:
        with warnings.catch_warnings():
            # Warnings of askless are notes to the user. Those of other packages keep their filters.
            warnings.filterwarnings("always", category=UserWarning, module=r"askless\b")
            warnings.showwarning = _show_warning
            warnings.simplefilter("ignore", UnseenWarning)  # `unseen` counts these values instead
            code = run()
        sys.stdout.flush()
        return code
    except KeyboardInterrupt as stop:
        complain(f"stopped{''.join(f'; {word}' for word in stop.args)}")
        return TERMINATED if isinstance(stop, Terminated) else STOPPED
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        _discard_output()
        return BROKEN_PIPE
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.partition(".")[0] == "askless":
            raise  # a bug: no package that the user could install
        complain(str(error))
        return BAD_INPUT
    except AsklessError as error:
        complain(error.message, error.code)
        return BAD_INPUT
    except FileNotFoundError as error:
        complain(_one_line(error), "file_not_found")
        return BAD_INPUT
    except OSError as error:
        complain(_one_line(error), "system_error")
        return BAD_INPUT
    except ValueError as error:
        complain(_one_line(error))
        return BAD_INPUT


def complain(message: str, code: str | None = None) -> None:
    """Print one line on standard error; the code of an error or a warning follows in brackets."""
    bracket = "" if code is None else f" [{code}]"
    print(f"askless: {' '.join(message.split())}{bracket}", file=sys.stderr)


def note(message: str, code: str) -> None:
    """Print a warning on standard error."""
    complain(f"note: {message}", code)


def _one_line(error: Exception) -> str:
    """The message of an error; an error of the operating system begins with the name of the file."""
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror[:1].lower()}{error.strerror[1:]}"
    return str(error) or type(error).__name__


def _show_warning(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    if isinstance(message, AsklessWarning):
        note(message.message, message.code)
    else:
        complain(f"note: {message}")


def _discard_output() -> None:
    """Redirect standard output to nowhere, so that Python's exit does not write to the closed pipe."""
    with suppress(OSError, ValueError):  # standard output may not be a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
