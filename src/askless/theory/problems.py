"""Small discrete problems whose every answer is known. Each one shows something that a method can get wrong.

A problem is written as its story: the class, then each column given the class and the columns before it. Where
two questions are worth the same it is by symmetry; otherwise the best is better by a clear margin (a test says
how clear).
"""

from __future__ import annotations

import numpy as np

from askless.theory.discrete import DiscreteProblem
from askless.theory.table import Floats

__all__ = ["decision_tree", "hidden_context", "noisy_tests", "noisy_xor", "panels", "twin_sensors"]


def _bit(p: Floats) -> Floats:
    """A trailing axis of two: the probabilities of 0 and 1, from that of 1."""
    return np.stack([1 - p, p], axis=-1)


def _table(prior: Floats, columns: list[tuple[str, Floats]]) -> Floats:
    """The joint table (*levels, classes) of p(y) and of each p(column | ...).

    A column is given by the letters of its axes, the last its own: ("yab", p) is p(b | y, a). The columns of the
    table follow the list, and y is the class.
    """
    letters = "".join(axes[-1] for axes, _ in columns)
    script = ",".join(["y", *(axes for axes, _ in columns)])
    return np.einsum(f"{script}->{letters}y", prior, *(p for _, p in columns))


def noisy_tests() -> DiscreteProblem:
    """Six independent tests of a binary condition, each with its sensitivity and specificity.

    Some rule the condition in and some rule it out, so which test is best next depends on the answers so far.

    >>> problem = noisy_tests()
    >>> problem.schema.names[problem.cmi(problem.empty()).argmax()]
    'b'
    """
    sensitivity = np.array([0.86, 0.69, 0.94, 0.40, 0.69, 0.52])
    specificity = np.array([0.73, 0.92, 0.60, 0.99, 0.59, 0.57])
    positive = np.stack([1 - specificity, sensitivity])  # (classes, tests)
    columns = [(f"y{name}", _bit(positive[:, i])) for i, name in enumerate("abcdef")]
    return DiscreteProblem("noisy_tests", dict.fromkeys("abcdef", 1), _table(_bit(np.array(0.3)), columns))


def noisy_xor() -> DiscreteProblem:
    """Two features that say nothing alone and almost everything together, and three weak tests.

    A greedy policy asks the weak tests first; with two questions the best policy asks the pair. All but one of the
    tests are worth less than 0.01 nats: to start on the pair instead of them is next to greedy, and far better.

    >>> problem = noisy_xor()
    >>> problem.cmi(problem.empty()).round(3).tolist()
    [[0.0, 0.0, 0.032, 0.008, 0.002]]
    """
    odd = np.array([[0, 1], [1, 0]])
    parity = np.where(odd[None] == np.arange(2)[:, None, None], 0.95, 0.05)  # (y, a, b): p(b | y, a), as p(a) is 1/2
    columns = [("ya", np.full((2, 2), 0.5)), ("yab", parity)]
    columns += [
        (f"y{name}", _bit(np.array([1 - right, right])))
        for name, right in zip("cde", (0.625, 0.565, 0.535), strict=True)
    ]
    features = {"left": 1, "right": 1, "weak_0": 1, "weak_1": 1, "weak_2": 1}
    return DiscreteProblem("noisy_xor", features, _table(_bit(np.array(0.5)), columns))


def panels() -> DiscreteProblem:
    """Groups: a category as three one-hot columns, and a panel of two measurements that only speak together.

    Each column of the panel is worth next to nothing by itself; together they are the best question of all, and
    they decide whether the symptom or the kind is asked next.

    >>> problem = panels()
    >>> problem.features
    {'kind': 3, 'panel': 2, 'symptom': 1, 'age': 1}
    """
    kind = np.zeros((2, 2, 2, 2))  # (y, three columns), of which one is 1
    kind[:, 1, 0, 0], kind[:, 0, 1, 0], kind[:, 0, 0, 1] = (0.50, 0.20), (0.35, 0.30), (0.15, 0.50)
    together = np.array(  # (y, three values, two values): p(first, second | y)
        [[[0.28, 0.08], [0.20, 0.14], [0.04, 0.26]], [[0.06, 0.26], [0.10, 0.22], [0.28, 0.08]]]
    )
    symptom = _bit(np.array([[0.45, 0.45, 0.15], [0.55, 0.55, 0.80]]))  # (y, first of the panel, symptom)
    age = np.array([[0.45, 0.35, 0.20], [0.25, 0.35, 0.40]])
    joint = np.einsum("y,yabc,yde,ydf,yg->abcdefgy", _bit(np.array(0.45)), kind, together, symptom, age)
    return DiscreteProblem("panels", {"kind": 3, "panel": 2, "symptom": 1, "age": 1}, joint)


def decision_tree() -> DiscreteProblem:
    """Three classes. The answer to the first question decides which of three tests is worth asking next.

    The root has three values, each of which makes one class unlikely; then one test tells the two others apart,
    and its fellows are noise. A fourth test is always worth a little.

    >>> problem = decision_tree()
    >>> problem.schema.names[problem.cmi(problem.empty()).argmax()]
    'root'
    """
    root = np.array([[0.10, 0.35, 0.55], [0.60, 0.10, 0.30], [0.30, 0.60, 0.10]])  # (y, root)
    prior = np.array([0.40, 0.35, 0.25])
    columns = [("yr", root)]
    for branch, (name, right) in enumerate(zip("abc", (0.95, 0.90, 0.85), strict=True)):
        high, low = (branch + 1) % 3, (branch + 2) % 3  # the two classes that remain likely on this branch
        positive = np.full((3, 3), 0.5)  # (y, root)
        positive[high, branch], positive[low, branch] = right, 1 - right
        columns.append((f"yr{name}", _bit(positive)))
    columns.append(("yd", _bit(np.array([0.35, 0.50, 0.70]))))
    features = {"root": 1, "test_0": 1, "test_1": 1, "test_2": 1, "always": 1}
    return DiscreteProblem("decision_tree", features, _table(prior, columns))


def hidden_context() -> DiscreteProblem:
    """A context that says nothing about the class, but which of three tests can be trusted.

    A greedy policy does not ask for it first, and spends a question on a test that it may not trust.

    >>> problem = hidden_context()
    >>> round(problem.expected_loss(problem.greedy, 2), 2), round(problem.best_value(2), 2)
    (0.49, 0.27)
    """
    columns = [("yr", np.tile([0.42, 0.33, 0.25], (2, 1)))]
    for context, (name, right) in enumerate(zip("abc", (0.94, 0.92, 0.90), strict=True)):
        positive = np.full((2, 3), 0.5)  # (y, context)
        positive[:, context] = 1 - right, right
        columns.append((f"yr{name}", _bit(positive)))
    features = {"context": 1, "test_0": 1, "test_1": 1, "test_2": 1}
    return DiscreteProblem("hidden_context", features, _table(_bit(np.array(0.55)), columns))


def twin_sensors() -> DiscreteProblem:
    """Two sensors that nearly always agree; when they do not, the cause is most often the condition itself.

    Once the first sensor was read, the second one is worth little: it will agree. Whoever draws its value from
    its marginal distribution instead of p(x_i | x_s) sees it disagree far too often, takes it for the best
    question, and leaves the independent checks unasked.

    >>> problem = twin_sensors()
    >>> problem.cmi(problem.partial([[1, 0, 0, 0]], [[True, False, False, False]])).round(3).tolist()
    [[0.0, 0.019, 0.082, 0.055]]
    """
    differs = np.array([0.01, 0.09])  # of the twin, given the class
    twin = np.stack([differs, 1 - differs], axis=1)  # (y, sensor): p(twin = 1)
    columns = [
        ("ya", _bit(np.array([0.30, 0.80]))),
        ("yab", _bit(twin)),
        ("yc", _bit(np.array([0.30, 0.70]))),
        ("yd", _bit(np.array([0.33, 0.66]))),
    ]
    features = {"sensor": 1, "twin": 1, "check_0": 1, "check_1": 1}
    return DiscreteProblem("twin_sensors", features, _table(_bit(np.array(0.3)), columns))
