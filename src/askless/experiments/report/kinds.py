"""What the report knows of methods and data sets by their names."""

from __future__ import annotations

__all__ = [
    "CONTROLS",
    "DYNAMIC",
    "FEWEST_FOR_BAND",
    "HEAT_MAPS",
    "KINDS",
    "STATIC",
    "default_metric",
    "kind_of",
    "rank_of",
]

STATIC = "static"  # one order of questions for all cases
DYNAMIC = "dynamic"  # the answers decide what is asked next
CONTROLS = "controls"  # not contenders: what nothing, everything, or knowing the truth is worth

KINDS: dict[str, tuple[str, ...]] = {
    DYNAMIC: ("auto", "greedy", "value", "cmi_marginal", "cmi_pvae", "opportunistic"),
    STATIC: (
        "permutation",
        "sage",
        "deeplift",
        "integrated_gradients",
        "concrete_autoencoder",
        "stochastic_gates",
        "lassonet",
        "mutual_information",
        "forward_selection",
    ),
    CONTROLS: ("random", "fixed_order", "center_crop", "all_features", "oracle_order"),
}
ORDER = {method: place for place, method in enumerate(method for methods in KINDS.values() for method in methods)}
HEAT_MAPS = ("greedy", "value")  # what these ask is drawn
FEWEST_FOR_BAND = 3  # runs; of two, a band fills the figure: t is 12.7
BY_ACCURACY = ("mnist", "cifar10", "cube")  # how names begin of data sets whose figures are published as accuracy


def kind_of(method: str) -> str:
    """Static, dynamic or a control; a method that is not listed asks by the answers, as far as is known.

    >>> kind_of("sage"), kind_of("greedy"), kind_of("random")
    ('static', 'dynamic', 'controls')
    """
    return next((kind for kind, methods in KINDS.items() if method in methods), DYNAMIC)


def rank_of(method: str) -> int:
    """Where a table lists the method: as above, others last."""
    return ORDER.get(method, len(ORDER))


def default_metric(dataset: str, task: str) -> str:
    """The metric of a data set for which none was chosen: the one its figures are published in."""
    if task == "regression":
        return "r2"
    return "accuracy" if dataset.startswith(BY_ACCURACY) else "auroc"
