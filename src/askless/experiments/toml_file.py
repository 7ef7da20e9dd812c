"""Reading TOML with errors that name the file, the line where it is certain, and the key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from askless.experiments.task import ExperimentError
from askless.hints import did_you_mean, listed

__all__ = ["Section", "TomlFile", "read_toml"]


@dataclass(frozen=True)
class TomlFile:
    """A file's path and text, to say where something is wrong."""

    path: Path
    text: str

    def fail(self, message: str, *, key: str | None = None, value: str | None = None) -> NoReturn:
        """Raise an error; the line is the only one with that key or that quoted value, if there is only one."""
        if value is not None:
            pattern = rf"""["']{re.escape(value)}["']"""
        else:
            pattern = rf"""(^|[\s{{,."']){re.escape(key or "")}["']?\s*=|^\s*\[+[^\]]*\b{re.escape(key or "")}\]"""
        lines = [i for i, line in enumerate(self.text.splitlines(), 1) if re.search(pattern, line.partition("#")[0])]
        where = f"{self.path}, line {lines[0]}" if len(lines) == 1 and (key or value) else str(self.path)
        raise ExperimentError(f"{where}: {message}")


def read_toml(path: Path) -> tuple[TomlFile, dict[str, Any]]:
    """The file and what it holds."""
    content = path.read_bytes()
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ExperimentError(f"{path}, line {line}: the file is not UTF-8 text") from None
    try:
        return TomlFile(path, text), tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ExperimentError(_syntax_error(path, text, str(error))) from None


def _syntax_error(path: Path, text: str, told: str) -> str:
    """Python's "Invalid value (at line 3, column 5)", with the place in front and the line itself behind."""
    found = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", told)
    lines = text.splitlines() or [""]
    number = int(found[2]) if found else len(lines)  # else "at end of document"
    column = f", column {found[3]}" if found else ""
    line = lines[min(number, len(lines)) - 1].strip()
    what = (found[1] if found else told.partition(" (")[0]).rstrip(".")
    return f"{path}, line {number}{column}: {what[:1].lower()}{what[1:]}: {line}"


@dataclass(frozen=True)
class Section:
    """A table of the file; each question is answered with a checked value, or an error that says what is wrong."""

    file: TomlFile
    name: str  # how errors call it; empty for the top of the file
    data: Mapping[str, Any]

    def fail(self, key: str, message: str) -> NoReturn:
        """Raise an error about one key."""
        self.file.fail(f"{self._called(key)} {message}", key=key)

    def _called(self, key: str) -> str:
        return f"{key} of {self.name}" if self.name else key

    def allow(self, known: Iterable[str]) -> None:
        """Refuse a key that means nothing here."""
        known = list(known)
        for key in self.data:
            if key not in known:
                where = f"{self.name} has" if self.name else "there is"
                hint = did_you_mean(key, known)
                self.file.fail(f"{where} no key {key!r}{hint}; the keys are {listed(known, most=99)}", key=key)

    def whole(self, key: str, default: int | None = None, least: int = 0) -> int | None:
        """A whole number."""
        value = self.data.get(key, default)
        if value is not None and (type(value) is not int or not least <= value < 2**31):
            self.fail(key, f"is {value!r}; it must be a whole number of at least {least}")
        return value

    def wholes(self, key: str, least: int) -> tuple[int, ...] | None:
        """One or more whole numbers: a list, or one alone. A number that is there twice counts once."""
        value = self.data.get(key)
        if value is None:
            return None
        numbers = value if isinstance(value, list) else [value]
        if not numbers or any(type(n) is not int or not least <= n < 2**31 for n in numbers):
            self.fail(key, f"is {value!r}; it must be one or more whole numbers of at least {least}")
        return tuple(dict.fromkeys(numbers))

    def share(self, key: str, default: float) -> float:
        """A number between 0 and 1."""
        value = self.data.get(key, default)
        if type(value) not in (int, float) or not 0.0 < value < 1.0:
            self.fail(key, f"is {value!r}; it must be a number between 0 and 1")
        return float(value)

    def text(self, key: str, default: str | None = None) -> str | None:
        """A word or words."""
        value = self.data.get(key, default)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            self.fail(key, f"is {value!r}; it must be text")
        return value

    def word(self, key: str, words: Iterable[str], default: str | None = None) -> str | None:
        """One of several words."""
        value, words = self.text(key, default), list(words)
        if value is not None and value not in words:
            self.fail(key, f"is {value!r}{did_you_mean(value, words)}; it must be one of {listed(words, most=99)}")
        return value

    def words(self, key: str) -> list[str] | None:
        """A list of words."""
        value = self.data.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not value or any(not isinstance(item, str) for item in value):
            self.fail(key, f"is {value!r}; it must be a list of names")
        return value

    def section(self, key: str) -> Section:
        """A table in the table; empty where there is none."""
        value = self.data.get(key, {})
        if not isinstance(value, dict):
            self.fail(key, f"is {value!r}; it must be a table")
        return Section(self.file, f"{key} of {self.name}" if self.name else f"[{key}]", value)

    def sections(self, key: str, kind: str) -> list[Section]:
        """A list of names, or of tables that have a name; one of them at least."""
        value = self.data.get(key)
        if value is None:
            self.file.fail(f"there is no {key!r}; give a list such as {key} = [...]")
        if not isinstance(value, list) or not value:
            self.fail(key, "must be a list of names or tables, and not empty")
        sections = []
        for item in value:
            table = {"name": item} if isinstance(item, str) else item
            if not isinstance(table, dict) or not isinstance(table.get("name"), str):
                self.fail(key, f"has {item!r}; give a name, or a table with a name")
            sections.append(Section(self.file, f"the {kind} {table['name']!r}", table))
        return sections
