"""Kinds of methods, and what the report does for certain methods and data sets."""

from __future__ import annotations

__all__ = [
    "CONTENDERS",
    "CONTROL",
    "DYNAMIC",
    "FEWEST_FOR_BAND",
    "HEAT_MAPS",
    "KINDS",
    "STATIC",
    "UNKNOWN",
    "default_metric",
    "kind_of",
    "rank_of",
]

STATIC = "static"  # one order of questions for all cases
DYNAMIC = "dynamic"  # the answers decide what is asked next
UNKNOWN = "unknown"  # a method of another package or another version of askless
CONTROL = "control"  # no contender, but a baseline or a bound

CONTENDERS = (DYNAMIC, STATIC, UNKNOWN)
KINDS = (*CONTENDERS, CONTROL)
HEAT_MAPS = ("greedy", "value")  # methods with a heat map
FEWEST_FOR_BAND = 3  # runs; with two, t is 12.7 and the band would fill the figure
BY_ACCURACY = ("mnist", "cifar10", "cube")  # prefixes of data sets whose published results are accuracies


def kind_of(method: str) -> str:
    """Static, dynamic, control, or unknown if askless has no such method.

    >>> kind_of("sage"), kind_of("greedy"), kind_of("random"), kind_of("mine")
    ('static', 'dynamic', 'control', 'unknown')
    """
    from askless.methods import list_methods

    methods = list_methods()
    return methods[method].kind if method in methods else UNKNOWN


def rank_of(method: str) -> tuple[int, str]:
    """The place of a method in tables: by kind, then by name."""
    return KINDS.index(kind_of(method)), method


def default_metric(dataset: str, task: str) -> str:
    """The default metric of a data set: that of its published results."""
    if task == "regression":
        return "r2"
    return "accuracy" if dataset.startswith(BY_ACCURACY) else "auroc"
