"""All data sets; `load_dataset` takes the names in `__all__`."""

from askless.datasets.sets.bundled import breast_cancer, diabetes, digits, digits_patches, wine
from askless.datasets.sets.cifar10 import cifar10
from askless.datasets.sets.cube import cube, cube_nm
from askless.datasets.sets.diabetes130 import diabetes130
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
from askless.datasets.sets.heart import heart
from askless.datasets.sets.miniboone import miniboone
from askless.datasets.sets.mnist import mnist
from askless.datasets.sets.nhanes import nhanes
from askless.datasets.sets.physionet2012 import physionet2012
from askless.datasets.sets.spam import spam
from askless.datasets.sets.syn import syn1, syn2, syn3
from askless.datasets.sets.thyroid import thyroid
from askless.datasets.sets.triage import triage

__all__ = [
    "breast_cancer",
    "cifar10",
    "cube",
    "cube_nm",
    "diabetes",
    "diabetes130",
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
    "heart",
    "miniboone",
    "mnist",
    "nhanes",
    "physionet2012",
    "spam",
    "syn1",
    "syn2",
    "syn3",
    "thyroid",
    "triage",
    "wine",
]
