"""Certified stopping of a fitted model: thresholds from cases that it has not seen."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from askless.acquisition import StoppingRule
from askless.acquisition.stopping import Certified
from askless.acquisition.stopping.certified import certified_on
from askless.exceptions import CertificationWarning, ParameterError
from askless.model import FittedModel
from askless.tables import holdout

PROOF = 0.2  # share of the rows that a fit holds out, where a rule is to be certified


def held_for_proof(rules: Sequence[StoppingRule], y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows to fit on, and those on which certified rules find their thresholds: none without such rules."""
    everything = np.arange(len(y))
    if not any(rule.promises for rule in rules):
        return everything, everything[:0]
    rows, held = holdout(y, PROOF, stratify=True, seed=seed)
    return (everything, everything[:0]) if len(rows) == len(y) else (rows, held)


def certified_rules(
    model: FittedModel, rules: Sequence[StoppingRule], table: Any, y: np.ndarray, **options: Any
) -> tuple[StoppingRule, ...]:
    """The rules, those certified with thresholds from cases with the classes y (n,) that the model has not seen.

    `options` go to the roll-out of these cases: prices, what is known beforehand, and so on.
    """
    if options.get("batch", 1) != 1:
        message = f"batch must be 1, not {options['batch']!r}: a rule is certified for questions one at a time"
        raise ParameterError("not_supported", message, name="batch", value=options["batch"])
    if not any(rule.promises for rule in rules):
        return tuple(rules)
    others = [rule for rule in rules if not isinstance(rule, Certified)]
    if len(y):
        trajectory = model.rollout(table, stopping=others, **options)
        predictions, within = trajectory.predictions, trajectory.order.shape[1]
        known, available = (model.mask(options.get(name), name, table) for name in ("known", "available"))
        manner = model.manner(others, options.get("costs"), known, available)
    else:
        predictions, within, manner = np.empty((0, 1, len(model.classes))), 0, model.manner(others)
    found = [
        replace(certified_on(rule, predictions, y, within), manner=manner, model=model.fingerprint)
        if isinstance(rule, Certified)
        else rule
        for rule in rules
    ]
    for rule in found:
        if isinstance(rule, Certified) and rule.threshold is None:
            warnings.warn(
                CertificationWarning(
                    "no_threshold",
                    f"with these {len(y)} cases, no threshold keeps the share of wrong predictions below "
                    f"{rule.risk:g} with confidence {rule.confidence:g}; the rule stops no case. Use more cases, "
                    "more features or a larger risk",
                    rows=len(y),
                    risk=rule.risk,
                    confidence=rule.confidence,
                ),
                stacklevel=3,
            )
    return tuple(found)
