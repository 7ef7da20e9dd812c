"""How fast a fit, a batch roll-out and one question are, on a generated table of Spam's shape.

make bench
"""

import platform
import time

import numpy as np
import torch

from askless import DynamicClassifier

ROWS, FEATURES, BUDGET = 4601, 57, 10


def table():
    """Skewed numbers, many of them zero, and a label that depends on a dozen of them."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((ROWS, FEATURES)) < 0.7, 0.0, rng.lognormal(size=(ROWS, FEATURES)))
    logit = np.log1p(X[:, :12]) @ np.linspace(2, -2, 12)
    return X, (logit + rng.logistic(size=ROWS) > 0).astype(int)


def timed(work, repeats):
    """Seconds of each repeat."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return np.array(times)


def interview(model, row):
    """Seconds of each answer of one interview: the new prediction and the next question are part of it."""
    talk, steps = model.interview(), []
    while not talk.done:
        value = row[talk.question.name]
        start = time.perf_counter()
        talk.answer(value)
        steps.append(time.perf_counter() - start)
    return steps


def main():
    """Measure and print."""
    X, y = table()
    model = DynamicClassifier(max_features=BUDGET)
    fit = timed(lambda: model.fit(X, y), 1)[0]
    epochs = len(model.history_)
    rollout = timed(lambda: model.rollout(X), 5).min()
    row = dict(zip(model.schema_.names, X[0], strict=True))
    steps = [step for _ in range(50) for step in interview(model, row)]
    steps = np.array(steps) * 1e6
    print(f"{platform.processor() or platform.machine()}, torch {torch.__version__}, numpy {np.__version__}")
    print(f"fit {ROWS} x {FEATURES}, {BUDGET} selections: {fit:.1f} s ({epochs} epochs of all phases)")
    print(f"roll-out: {ROWS / rollout:,.0f} rows a second")
    print(
        f"one answer and the next question: median {np.median(steps):.0f} us, p99 {np.quantile(steps, 0.99):.0f} us"
    )


if __name__ == "__main__":
    main()
