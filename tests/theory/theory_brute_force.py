"""The definitions, written as literal loops over a joint table: slow, and plain enough to be believed."""

from itertools import product
from math import log

import numpy as np

from askless.theory import DiscreteProblem


def matching(problem, known):
    """(x, y, p) of every cell that agrees with `known`, a dict from column to value."""
    for *x, y in product(*map(range, problem.joint.shape)):
        if all(x[column] == value for column, value in known.items()):
            yield tuple(x), y, float(problem.joint[(*x, y)])


def columns_of(problem, feature):
    return range(problem.schema.features[feature].start, problem.schema.features[feature].stop)


def known_of(problem, values, asked):
    """The dict of what is known, from one row of a `Partial`."""
    return {
        column: int(values[column])
        for feature in np.flatnonzero(asked)
        for column in columns_of(problem, int(feature))
    }


def posterior(problem, known):
    mass = [0.0] * problem.n_classes
    for _, y, p in matching(problem, known):
        mass[y] += p
    return [m / sum(mass) for m in mass]


def entropy(problem, known):
    return -sum(q * log(q) for q in posterior(problem, known) if q > 0)


def answers(problem, known, feature):
    """(probability, what is known then) for each answer that can occur."""
    chance: dict[tuple[int, ...], float] = {}
    total = 0.0
    for x, _, p in matching(problem, known):
        answer = tuple(x[c] for c in columns_of(problem, feature))
        chance[answer] = chance.get(answer, 0.0) + p
        total += p
    for answer, p in chance.items():
        if p > 0:
            yield p / total, {**known, **dict(zip(columns_of(problem, feature), answer, strict=True))}


def cmi(problem, known, feature):
    """KL(p(x_i, y | x_s) || p(x_i | x_s) p(y | x_s)), as the paper defines it."""
    if columns_of(problem, feature)[0] in known:
        return 0.0
    pair: dict[tuple[tuple[int, ...], int], float] = {}
    total = 0.0
    for x, y, p in matching(problem, known):
        key = (tuple(x[c] for c in columns_of(problem, feature)), y)
        pair[key] = pair.get(key, 0.0) + p
        total += p
    pair = {key: p / total for key, p in pair.items()}
    left: dict[tuple[int, ...], float] = {}
    right: dict[int, float] = {}
    for (answer, y), p in pair.items():
        left[answer] = left.get(answer, 0.0) + p
        right[y] = right.get(y, 0.0) + p
    return sum(p * log(p / (left[answer] * right[y])) for (answer, y), p in pair.items() if p > 0)


def open_features(problem, known):
    return [f for f in range(len(problem.schema)) if columns_of(problem, f)[0] not in known]


def best_value(problem, known, budget):
    """The least expected entropy after `budget` questions, by trying everything."""
    choices = open_features(problem, known)
    if budget == 0 or not choices:
        return entropy(problem, known)
    return min(
        sum(p * best_value(problem, then, budget - 1) for p, then in answers(problem, known, f)) for f in choices
    )


def expected_loss(problem, choose, known, budget):
    """The expected entropy when `choose(known)` says which feature to ask."""
    if budget == 0:
        return entropy(problem, known)
    feature = choose(known)
    return sum(p * expected_loss(problem, choose, then, budget - 1) for p, then in answers(problem, known, feature))


def every_partial(problem):
    """All the records that can occur, as one `Partial`."""
    values, asked = [], []
    for mask in product([False, True], repeat=len(problem.schema)):
        shown = np.array(mask)[problem.schema.column_feature]
        for x in product(*[range(level) if show else [0] for level, show in zip(problem.levels, shown, strict=True)]):
            values.append(x)
            asked.append(mask)
    partial = problem.partial(values, asked)
    return partial[problem.probability(partial) > 0]


def random_problem(seed, widths=(1, 2, 1), classes=3, zeros=0.0):
    """A joint table without structure; `zeros` is the share of cells that cannot occur."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(2, 4, size=sum(widths))
    joint = rng.exponential(size=(*levels, classes)) ** 2
    joint *= rng.random(joint.shape) >= zeros
    joint.flat[0] += 1e-3  # never empty
    features = {f"f{i}": width for i, width in enumerate(widths)}
    return DiscreteProblem(f"random {seed}", features, joint / joint.sum())
