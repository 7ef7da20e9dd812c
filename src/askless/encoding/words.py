"""The words for yes, no and unknown: one vocabulary for tables, interviews, the terminal and the service."""

from __future__ import annotations

__all__ = ["FALSE_WORDS", "MISSING_TEXT", "TRUE_WORDS", "UNKNOWN_WORDS", "is_unknown", "read_boolean"]

# In any capitals, without spaces at their ends.
TRUE_WORDS = frozenset({"true", "t", "yes", "y", "on", "1"})
FALSE_WORDS = frozenset({"false", "f", "no", "n", "off", "0"})
# What people say in an interview. In a table these words are ordinary categories.
UNKNOWN_WORDS = frozenset({"unknown", "don't know", "don’t know", "dont know", "-"})
# What stands for a missing value in a table. Capitals matter, because "Na" is sodium; "None" may well be a category.
# Programs in C write "-nan" and "-nan(ind)".
MISSING_TEXT = frozenset(
    {"", "?", "NA", "na", "N/A", "n/a", "#N/A", "<NA>", "NULL", "null"}
    | {"NaN", "nan", "NAN", "-nan", "-NaN", "-nan(ind)"}
)


def read_boolean(text: str) -> bool | None:
    """True for yes, False for no, None for any other text.

    >>> [read_boolean(text) for text in ("Yes", " off ", "T", "0", "1.0", "maybe", "")]
    [True, False, True, False, True, None, None]
    """
    word = text.strip().casefold()
    if word in TRUE_WORDS:
        return True
    if word in FALSE_WORDS:
        return False
    return {"1.0": True, "0.0": False}.get(word)  # as pandas writes booleans beside missing values


def is_unknown(text: str) -> bool:
    """Whether a person who types this text means that the value is unknown.

    A caller with a list of choices looks there first: "unknown" may be one of them.

    >>> [is_unknown(text) for text in ("Unknown", "don't know", "-", "", "NA", "none", "Na")]
    [True, True, True, True, True, False, False]
    """
    word = text.strip()
    return word in MISSING_TEXT or word.casefold() in UNKNOWN_WORDS
