"""Reading TOML with errors that name the file, the line if it is certain, and the key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from askless.exceptions import ExperimentError
from askless.hints import did_you_mean, listed, nearest

__all__ = ["Section", "TomlFile", "read_toml"]


@dataclass(frozen=True)
class TomlFile:
    """The path and the text of a file, to locate errors."""

    path: Path
    text: str

    def fail(
        self, code: str, message: str, *, key: str | None = None, quoted: str | None = None, **fields: Any
    ) -> NoReturn:
        """Raise an error. It names the line if exactly one line has this key or this quoted value."""
        if quoted is not None:
            pattern = rf"""["']{re.escape(quoted)}["']"""
        else:
            pattern = rf"""(^|[\s{{,."']){re.escape(key or "")}["']?\s*=|^\s*\[+[^\]]*\b{re.escape(key or "")}\]"""
        lines = [i for i, line in enumerate(self.text.splitlines(), 1) if re.search(pattern, line.partition("#")[0])]
        line = lines[0] if len(lines) == 1 and (key or quoted) else None
        where = str(self.path) if line is None else f"{self.path}, line {line}"
        raise ExperimentError(code, f"{where}: {message}", **{**fields, "path": str(self.path), "line": line})


def read_toml(path: Path) -> tuple[TomlFile, dict[str, Any]]:
    """The file and its parsed content."""
    content = path.read_bytes()
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ExperimentError(
            "unreadable_file", f"{path}, line {line}: the file is not UTF-8 text", path=str(path), line=line
        ) from None
    try:
        return TomlFile(path, text), tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(path, text, str(error)) from None


def _syntax_error(path: Path, text: str, message: str) -> ExperimentError:
    """Python's "Invalid value (at line 3, column 5)" with the file and the line itself."""
    found = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", message)
    lines = text.splitlines() or [""]
    number = int(found[2]) if found else len(lines)  # else "at end of document"
    column = f", column {found[3]}" if found else ""
    line = lines[min(number, len(lines)) - 1].strip()
    what = (found[1] if found else message.partition(" (")[0]).rstrip(".")
    return ExperimentError(
        "unreadable_file",
        f"{path}, line {number}{column}: {what[:1].lower()}{what[1:]}: {line}",
        path=str(path),
        line=number,
    )


@dataclass(frozen=True)
class Section:
    """A table of the file. Each method returns a checked value or raises an error."""

    file: TomlFile
    name: str  # in messages; empty for the top of the file
    data: Mapping[str, Any]

    def fail(self, code: str, key: str, message: str, **fields: Any) -> NoReturn:
        """Raise an error about one key; `message` follows its name."""
        called = f"{key} of {self.name}" if self.name else key
        about = {"name": key, "section": self.name, "value": self.data.get(key)}
        self.file.fail(code, f"{called} {message}", key=key, **{**about, **fields})

    def allow(self, known: Iterable[str]) -> None:
        """Refuse unknown keys."""
        known = list(known)
        for key in self.data:
            if key not in known:
                where = f" in {self.name}" if self.name else ""
                self.file.fail(
                    "unknown_name",
                    f"unknown key {key!r}{where}{did_you_mean(key, known)}; the keys are {listed(known, most=99)}",
                    key=key,
                    name=key,
                    section=self.name,
                    nearest=nearest(key, known),
                    choices=known,
                )

    def whole(self, key: str, default: int | None = None, least: int = 0) -> int | None:
        """An integer."""
        value = self.data.get(key, default)
        if value is not None and (type(value) is not int or not least <= value < 2**31):
            code = "wrong_type" if type(value) is not int else "out_of_range"
            self.fail(code, key, f"must be an integer of at least {least}, not {value!r}", low=least)
        return value

    def wholes(self, key: str, least: int) -> tuple[int, ...] | None:
        """One or more distinct integers: a list, or one alone."""
        value = self.data.get(key)
        if value is None:
            return None
        numbers = value if isinstance(value, list) else [value]
        if not numbers or any(type(n) is not int or not least <= n < 2**31 for n in numbers):
            code = "wrong_type" if any(type(n) is not int for n in numbers) else "out_of_range"
            self.fail(code, key, f"must be one or more integers of at least {least}, not {value!r}", low=least)
        return tuple(dict.fromkeys(numbers))

    def share(self, key: str, default: float) -> float:
        """A number between 0 and 1."""
        value = self.data.get(key, default)
        if type(value) not in (int, float) or not 0.0 < value < 1.0:
            code = "wrong_type" if type(value) not in (int, float) else "out_of_range"
            self.fail(code, key, f"must be a number between 0 and 1, not {value!r}", low=0.0, high=1.0)
        return float(value)

    def text(self, key: str, default: str | None = None) -> str | None:
        """A text that is not empty."""
        value = self.data.get(key, default)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            code = "required" if isinstance(value, str) else "wrong_type"
            self.fail(code, key, f"must be text, not {value!r}")
        return value

    def word(self, key: str, words: Iterable[str], default: str | None = None) -> str | None:
        """One of several words."""
        value, words = self.text(key, default), list(words)
        if value is not None and value not in words:
            self.fail(
                "invalid_choice",
                key,
                f"must be one of {listed(words, most=99)}, not {value!r}{did_you_mean(value, words)}",
                nearest=nearest(value, words),
                choices=words,
            )
        return value

    def words(self, key: str) -> list[str] | None:
        """A list of words."""
        value = self.data.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not value or any(not isinstance(item, str) for item in value):
            code = "required" if value == [] else "wrong_type"
            self.fail(code, key, f"must be a list of names, not {value!r}")
        return value

    def section(self, key: str) -> Section:
        """A table in the table; empty if there is none."""
        value = self.data.get(key, {})
        if not isinstance(value, dict):
            self.fail("wrong_type", key, f"must be a table, not {value!r}")
        return Section(self.file, f"{key} of {self.name}" if self.name else f"[{key}]", value)

    def sections(self, key: str, kind: str) -> list[Section]:
        """A list of names, or of tables with a name; at least one."""
        value = self.data.get(key)
        if value is None:
            self.file.fail("required", f"{key} is missing; add a list such as {key} = [...]", name=key)
        if not isinstance(value, list) or not value:
            code = "required" if value == [] else "wrong_type"
            self.fail(code, key, f"must be a list of names or tables with at least one item, not {value!r}")
        sections = []
        for item in value:
            table = {"name": item} if isinstance(item, str) else item
            if not isinstance(table, dict) or not isinstance(table.get("name"), str):
                self.fail("wrong_type", key, f"must hold names or tables with a name, not {item!r}", value=item)
            sections.append(Section(self.file, f"the {kind} {table['name']!r}", table))
        return sections
