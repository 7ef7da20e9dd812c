"""Policies and predictors in whole numbers, so that sums are exact, and a literal roll-out."""

import math

import numpy as np

from askless.acquisition import Feature, Part, Policy, Predictor, Schema, StoppingRule


def schema_of(widths, prices=None):
    """Features of the given widths; those of several columns are groups."""
    features, start = [], 0
    for i, width in enumerate(widths):
        parts = tuple(Part(f"f{i}c{j}", "number") for j in range(width))
        features.append(Feature(f"f{i}", parts, start, start + width, 1.0 if prices is None else prices[i]))
        start += width
    return Schema(tuple(features))


class Linear(Policy, Predictor):
    """Scores that are linear in the values and in the mask; NaN and infinities where `special` says so."""

    def __init__(self, rng, schema):
        whole = lambda *shape: rng.integers(-4, 5, shape).astype(float)  # noqa: E731
        columns, features = schema.n_columns, len(schema)
        self.by_value, self.by_mask = whole(columns, features), whole(features, features)
        self.constant = whole(features)
        self.special = np.zeros(features)
        hit = rng.random(features) < 0.2
        self.special[hit] = rng.choice([np.nan, np.inf, -np.inf], hit.sum())
        self.outputs = whole(columns, 2)

    def score(self, state):
        return state.x @ self.by_value + state.asked @ self.by_mask + self.constant + self.special

    def predict(self, state):
        return state.x @ self.outputs

    def score_slowly(self, x, asked, feature):
        total = self.constant[feature] + self.special[feature]
        for column, value in enumerate(x):
            total += value * self.by_value[column, feature]
        for other, was_asked in enumerate(asked):
            total += self.by_mask[other, feature] if was_asked else 0.0
        return total

    def predict_slowly(self, x):
        return [sum(value * self.outputs[column, j] for column, value in enumerate(x)) for j in range(2)]


class Spent(StoppingRule):
    """Stop once a sum is spent."""

    def __init__(self, limit):
        self.limit = limit

    @property
    def reason(self):
        return f"spent {self.limit}"

    def stops(self, progress):
        return progress.spent >= self.limit


class Sure(StoppingRule):
    """Stop once the first output is large enough."""

    def __init__(self, limit):
        self.limit = limit

    @property
    def reason(self):
        return f"output of {self.limit}"

    def stops(self, progress):
        return progress.prediction[:, 0] >= self.limit


def slow_rollout(linear, schema, x, present, prices, missing, available, known, rules):
    """What `rollout` does, one case and one number at a time; rules are (reason, test of count, spent, output)."""
    return [
        slow_case(linear, schema, *case, prices, missing, rules)
        for case in zip(x.tolist(), present.tolist(), available.tolist(), known.tolist(), strict=True)
    ]


def slow_case(linear, schema, x, present, available, known, prices, missing, rules):
    features = range(len(schema))
    asked = list(known)
    order, spent, count = [], 0.0, 0
    costs, predictions, reason = [], [], None
    while reason is None:
        seen = [0.0] * len(x)
        for i, feature in enumerate(schema.features):
            if asked[i] and present[i]:
                seen[feature.start : feature.stop] = x[feature.start : feature.stop]
        costs.append(spent)
        predictions.append(linear.predict_slowly(seen))
        for text, test in rules:
            if reason is None and test(count, spent, predictions[-1][0]):
                reason = text
        best = None
        for i in features:
            can = not asked[i] and available[i] and (present[i] or missing == "answer")
            if can and (best is None or worth(linear, seen, asked, i) > worth(linear, seen, asked, best)):
                best = i
        if reason is None and best is None:
            reason = "nothing left to ask"
        if reason is None:
            order.append(best)
            asked[best] = True
            spent += prices[best]
            count += 1
    return {"order": order, "cost": costs, "predictions": predictions, "reason": reason}


def worth(linear, seen, asked, feature):
    score = linear.score_slowly(seen, asked, feature)
    return -math.inf if math.isnan(score) else score
