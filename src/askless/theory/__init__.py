"""Exact answers for known distributions: what a learned policy and predictor should come to.

A `DiscreteProblem` gives posteriors, conditional mutual information, the greedy and the best policy, and the exact
worth of any policy; a `GaussianProblem` does the same for regression. `estimate_worth` is the paper's estimate from
samples, for any predictor and sampler.
"""

from askless.theory.discrete import DiscreteProblem, Visits
from askless.theory.gaussian import GaussianProblem, gaussian_chain, gaussian_suppressor
from askless.theory.policies import (
    ExactSampler,
    GreedyPolicy,
    MarginalSampler,
    OptimalPolicy,
    SampledPolicy,
    Sampler,
    SubsetPolicy,
    divergence_from_mean,
    estimate_worth,
    variance_of_means,
)
from askless.theory.problems import decision_tree, hidden_context, noisy_tests, noisy_xor, panels, twin_sensors
from askless.theory.table import Partial

__all__ = [
    "DiscreteProblem",
    "ExactSampler",
    "GaussianProblem",
    "GreedyPolicy",
    "MarginalSampler",
    "OptimalPolicy",
    "Partial",
    "SampledPolicy",
    "Sampler",
    "SubsetPolicy",
    "Visits",
    "decision_tree",
    "divergence_from_mean",
    "estimate_worth",
    "gaussian_chain",
    "gaussian_suppressor",
    "hidden_context",
    "noisy_tests",
    "noisy_xor",
    "panels",
    "twin_sensors",
    "variance_of_means",
]
