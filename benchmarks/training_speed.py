"""How fast training is: states a second, time to the literal loop's quality, share of the machine's peak."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import torch
from literal import LiteralTraining
from machine import in_turn, threads
from problems import mnist_problem, spam_problem
from sklearn.metrics import roc_auc_score

from askless.acquisition import Cases, MaxFeatures, rollout
from askless.methods import Greedy
from askless.methods.greedy import RelaxedLearner
from askless.networks import GumbelBank, UnitDropout, linear
from askless.training import Chains, Problem, Progress, new_policy_predictor, seeded
from askless.training.optimizer import Optimizer

DROPOUT = 0.3
STANDARDISED = "literal, standardised"  # the runs of the literal loop on the paper's inputs

Scorer = Callable[[np.ndarray, np.ndarray], float]
"""From probabilities (n, classes) and classes (n,) a score."""


# States a second


def one_step(problem: Problem, hidden: tuple[int, ...], batch_size: int) -> Callable[[], None]:
    """An optimiser step of the package's training, on the next batch of states."""
    with seeded(0):
        net = Greedy(hidden=hidden, dropout=DROPOUT).net
        module = new_policy_predictor(problem, net, shared=False)
        chains = Chains(
            problem,
            batch_size=batch_size,
            states_per_row=2,
            epochs=30,
            random_subsets=False,
            random_starts=0.2,
        )
        gumbel = GumbelBank(batch_size, len(problem.schema))
    learner = RelaxedLearner(module, problem, chains, gumbel, exact_first=True, repeats=False)
    learner.begin()
    module.train()
    optimizer = Optimizer(module, 1.0)
    batches: list[torch.Tensor] = []

    def step() -> None:
        if not batches:
            batches.extend(b for b in learner.batches() if len(b) == batch_size)
        module.zero_grad()
        learner.loss(batches.pop(), 0.5).backward()
        optimizer.step(1e-3)

    return step


def literal_batch(problem: Problem, hidden: tuple[int, ...], rows: int, selections: int) -> Callable[[], None]:
    """A batch of rows of the literal loop: all its selections and one optimiser step."""
    training = LiteralTraining(problem, hidden, selections, batch_size=rows)
    optimizer = torch.optim.Adam(training.nets.parameters(), lr=1e-3)
    x, y = training.train.x[:rows], training.train.y[:rows]

    def step() -> None:
        optimizer.zero_grad()
        training.selections(x, y, 0.5)
        optimizer.step()

    return step


def states_per_second(quick: bool) -> dict[str, object]:
    """Both on one thread and the same batches; the literal loop also with all threads, and in its own batches."""
    problem, source = spam_problem(35)
    rounds, selections = (2, 5) if quick else (15, 35)
    result: dict[str, object] = {"source": source}
    for batch in (128, 512):
        many = max(1, 35 * 128 // batch // (10 if quick else 1))  # as many states as a literal batch has
        step = one_step(problem, (128, 128), batch)

        def ours(step: Callable[[], None] = step, many: int = many) -> None:
            for _ in range(many):
                step()

        with threads(1):
            times = in_turn(
                {"literal": literal_batch(problem, (128, 128), batch, selections), "askless": ours}, rounds
            )
        result[f"batch {batch}"] = {
            "literal": batch * selections / times["literal"],
            "askless": batch * many / times["askless"],
        }
    with threads(torch.get_num_threads()):
        times = in_turn({"literal": literal_batch(problem, (128, 128), 128, selections)}, rounds)
    result["literal, batch 128, all threads"] = 128 * selections / times["literal"]
    return result


def gemm_share(quick: bool) -> dict[str, object]:
    """The floating-point operations that a step needs, by themselves and in training, on one thread."""
    results: dict[str, object] = {}
    for name, (make, hidden) in {"Spam": (spam_problem, (128, 128)), "MNIST": (mnist_problem, (512, 512))}.items():
        problem, _ = make(10, 2000 if quick else None)
        with threads(1):
            step = one_step(problem, hidden, 512)
            products = matrix_products(problem, hidden, 512)
            times = in_turn({"products": products, "step": step}, 3 if quick else 15)
        operations = products.operations  # type: ignore[attr-defined]
        results[name] = {
            "GFLOP/s of the products alone": operations / times["products"] / 1e9,
            "GFLOP/s in training": operations / times["step"] / 1e9,
            "share": times["products"] / times["step"],
        }
    return results


def matrix_products(problem: Problem, hidden: tuple[int, ...], batch: int) -> Callable[[], None]:
    """Nothing but the matrix products of a step, of the widths that take part in it."""
    kept = [UnitDropout(width, DROPOUT).choices.shape[1] for width in hidden]  # units that a batch has
    inputs = problem.schema.n_columns + len(problem.schema)
    shapes = []
    for outputs, first in ((len(problem.schema), False), (problem.n_outputs, True)):
        widths = [inputs, *kept, outputs]
        for i, (a, b) in enumerate(pairwise(widths)):
            shapes += [(batch, a, b), (b, batch, a)]  # forward, and the weights' gradient
            if i > 0 or first:  # the gradient of a layer's inputs; the policy's own are not needed
                shapes.append((batch, b, a))
    factors = [(torch.rand(m, k), torch.rand(n, k), torch.zeros(n)) for m, k, n in shapes]

    @torch.inference_mode()
    def run() -> None:
        for h, weight, bias in factors:
            linear(h, weight, bias)

    run.operations = 2 * sum(m * k * n for m, k, n in shapes)  # type: ignore[attr-defined]
    return run


# Time to quality


def auroc(probability: np.ndarray, y: np.ndarray) -> float:
    """x 100."""
    return 100.0 * float(roc_auc_score(y, probability[:, 1]))


def accuracy(probability: np.ndarray, y: np.ndarray) -> float:
    """x 100."""
    return 100.0 * float(np.mean(probability.argmax(axis=1) == y))


def ours_until(
    problem: Problem, y: np.ndarray, cases: Cases, score: Scorer, budget: int, seed: int, **settings: object
) -> dict[str, float]:
    """One complete fit: its processor seconds and its mean score over budgets 1 to `budget` on validation rows."""
    start = time.process_time()
    fitted = Greedy(**settings).fit(problem, seed=seed, progress=Progress())  # type: ignore[arg-type]
    seconds = time.process_time() - start
    path = rollout(fitted.policy, fitted.predictor, cases, problem.schema, stopping=MaxFeatures(budget))
    return {"seconds": seconds, "score": float(np.mean([score(path.at(k), y) for k in range(1, budget + 1)]))}


def literal_score(training: LiteralTraining, x: torch.Tensor, y: np.ndarray, score: Scorer, budget: int) -> float:
    """The literal loop's mean score over budgets 1 to `budget` on validation rows."""
    training.nets.eval()
    mask = torch.zeros(len(x), len(training.problem.schema))
    scores = []
    with torch.no_grad():
        for _ in range(budget):
            mask, outputs = training.ask(x, mask)
            scores.append(score(torch.softmax(outputs, dim=1).numpy(), y))
    return float(np.mean(scores))


def spam_quality(quick: bool) -> dict[str, object]:
    """Spam, 35 selections: the literal loop to its end, then askless with ever more epochs."""
    problem, source = spam_problem(35, 300 if quick else None)
    cases, y = problem.valid, problem.y_valid
    with threads(1):
        literal = literal_spam(problem, quick)
        paper = literal_spam(spam_problem(35, 300 if quick else None, standardised=True)[0], quick)
    seeds = range(1 if quick else SPAM_SEEDS)
    lengths = [{"epochs": 1, "pretrain_epochs": 1, "polish": False}] if quick else SPAM_LENGTHS
    ours = [
        {"settings": settings, "runs": [ours_until(problem, y, cases, auroc, 10, s, **settings) for s in seeds]}
        for settings in lengths
    ]
    return {"source": source, "literal": literal, STANDARDISED: paper, "askless": ours}


def literal_spam(problem: Problem, quick: bool) -> list[dict[str, float]]:
    """Runs of the literal loop to its end."""
    runs = []
    for seed in range(1 if quick else LITERAL_SPAM_SEEDS):
        training = LiteralTraining(problem, (128, 128), 35, seed=seed, seconds=1.0 if quick else float("inf"))
        training.pretrain()
        training.select()
        score = literal_score(training, training.valid.x, problem.y_valid, auroc, 10)
        runs.append({"seconds": training.clock.seconds, "score": score, "states": training.states})
    return runs


LITERAL_SPAM_SEEDS = 5  # its runs differ by half a point, and more on standardised values
SPAM_SEEDS = 8
SPAM_LENGTHS: list[dict[str, object]] = [
    {"pretrain_epochs": 60, "epochs": epochs, "polish": False, "recipe": {"average": 0.9}}
    for epochs in (4, 8, 12, 16, 24, 32)
] + [{}]


def mnist_progress(quick: bool) -> dict[str, object]:
    """MNIST pixels, 50 selections: what the literal loop reaches in so long, then askless until it is as good."""
    problem, source = mnist_problem(50, 600 if quick else None)
    step = max(1, len(problem.y_valid) // 2000)
    cases, y = Cases(problem.valid.x[::step], problem.valid.present[::step]), problem.y_valid[::step]
    with threads(1):
        marks = literal_marks(problem, torch.from_numpy(cases.x), y, 1.0 if quick else LITERAL_MNIST_SECONDS)
    ours: list[dict[str, object]] = []
    for settings in MNIST_LENGTHS[:1] if quick else MNIST_LENGTHS:
        with threads(1):  # as the literal loop
            run = ours_until(problem, y, cases, accuracy, 50, 0, hidden=(512, 512), **settings)
        ours.append({"settings": settings, "runs": [run]})
        print(settings, run, flush=True)
        if run["score"] >= max(mark["score"] for mark in marks):
            break
    return {"source": source, "literal": marks[-1], "marks": marks, "askless": ours}


def literal_marks(problem: Problem, x: torch.Tensor, y: np.ndarray, seconds: float) -> list[dict[str, float]]:
    """How good the literal loop is on MNIST after so much processor time: after pretraining, each epoch, and all."""
    training = LiteralTraining(problem, (512, 512), 50, seconds=seconds)
    marks: list[dict[str, float]] = []

    def mark() -> None:
        score = literal_score(training, x, y, accuracy, 50)
        marks.append({"seconds": training.clock.seconds, "score": score, "states": training.states})
        print(marks[-1], flush=True)

    training.max_epochs = MNIST_PRETRAINING
    training.pretrain()
    mark()
    training.max_epochs = LiteralTraining.max_epochs
    training.select(mark)
    mark()
    return marks


LITERAL_MNIST_SECONDS = 1000.0  # a pass and a half over the images
MNIST_PRETRAINING = 1  # epochs of the literal loop
MNIST_LENGTHS: list[dict[str, object]] = [
    {
        "pretrain_epochs": 3,
        "epochs": epochs,
        "polish": False,
        "weight_decay": 0.1,
        "recipe": {"states_per_row": 1, "average": 0.9},
    }
    for epochs in (4, 8, 16, 32, 64, 96)
]
