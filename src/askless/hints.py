"""Words for errors: the nearest name, and lists of names."""

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["did_you_mean", "listed", "nearest"]

FEWEST_LETTERS = 3  # fewer are in too many names to mean one of them


def nearest(name: object, names: Iterable[str]) -> str | None:
    """The name most like `name`, ignoring case, else the first that contains it; None if there is none.

    >>> nearest("Agee", ["sex", "age"])
    'age'
    >>> nearest("age", ["sex", "age at admission"])
    'age at admission'
    """
    by_key = {known.casefold(): known for known in names}
    wanted = str(name)[: 3 * max(map(len, by_key), default=0) + 1].casefold()  # the text may have any length
    near = get_close_matches(wanted, by_key, n=1)
    if not near and len(wanted) >= FEWEST_LETTERS:
        near = [key for key in by_key if wanted in key]
    return by_key[near[0]] if near else None


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """A hint at the nearest name for the end of a message; empty if there is none.

    >>> did_you_mean("Agee", ["sex", "age"])
    " (did you mean 'age'?)"
    """
    near = nearest(name, names)
    return "" if near is None else f" (did you mean {near!r}?)"


def listed(names: Iterable[object], most: int = 10) -> str:
    """Names for a sentence, shortened where there are many.

    >>> listed("abc"), listed("abc", most=2)
    ("'a', 'b', 'c'", "'a', 'b' and 1 more")
    """
    every = [repr(name) for name in names]
    rest = len(every) - most
    return ", ".join(every[:most]) + (f" and {rest} more" if rest > 0 else "")
