"""Words for errors: the nearest name, and lists of names."""

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["did_you_mean", "listed"]

FEWEST_LETTERS = 3  # fewer are in too many names to mean one of them


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """A hint at the name nearest to `name`, whatever the case of its letters; empty where none is near.

    Where none is spelled alike, the first that holds it is near: people shorten names.

    >>> did_you_mean("Agee", ["sex", "age"])
    " (did you mean 'age'?)"
    >>> did_you_mean("age", ["sex", "age at admission"])
    " (did you mean 'age at admission'?)"
    """
    by_key = {known.casefold(): known for known in names}
    wanted = str(name)[: 3 * max(map(len, by_key), default=0) + 1].casefold()  # a text of any length may come in
    near = get_close_matches(wanted, by_key, n=1)
    if not near and len(wanted) >= FEWEST_LETTERS:
        near = [key for key in by_key if wanted in key]
    return f" (did you mean {by_key[near[0]]!r}?)" if near else ""


def listed(names: Iterable[object], most: int = 10) -> str:
    """Names for a sentence, shortened where there are many.

    >>> listed("abc"), listed("abc", most=2)
    ("'a', 'b', 'c'", "'a', 'b' and 1 more")
    """
    every = [repr(name) for name in names]
    rest = len(every) - most
    return ", ".join(every[:most]) + (f" and {rest} more" if rest > 0 else "")
