"""The data sets, one export line each; `__all__` is what `load_dataset` knows."""

from askless.datasets.sets.bundled import breast_cancer, diabetes, digits, digits_patches, wine
from askless.datasets.sets.exact import (
    exact_decision_tree,
    exact_gaussian_chain,
    exact_gaussian_suppressor,
    exact_hidden_context,
    exact_noisy_tests,
    exact_noisy_xor,
    exact_panels,
    exact_twin_sensors,
)
from askless.datasets.sets.spam import spam
from askless.datasets.sets.triage import triage

__all__ = [
    "breast_cancer",
    "diabetes",
    "digits",
    "digits_patches",
    "exact_decision_tree",
    "exact_gaussian_chain",
    "exact_gaussian_suppressor",
    "exact_hidden_context",
    "exact_noisy_tests",
    "exact_noisy_xor",
    "exact_panels",
    "exact_twin_sensors",
    "spam",
    "triage",
    "wine",
]
