"""How fast asking is: batch roll-outs and one question, against an eager torch loop over the same networks."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
import torch
from literal import LiteralNets
from machine import in_turn, threads
from problems import mnist_problem, spam_problem, spam_table

from askless.acquisition import Cases, MaxFeatures, Trajectory, cases_at_once, rollout
from askless.encoding import TableEncoder
from askless.model import FittedModel
from askless.models import NetPolicy, NetPredictor, Network
from askless.training import Problem

EAGER_CASES = 1024  # at once: the fastest for eager torch of 512, 1,024 and all


def exported(net: torch.nn.Sequential, n_columns: int) -> Network:
    """A torch network for the package's runtime."""
    linear = [layer for layer in net if isinstance(layer, torch.nn.Linear)]
    weights = [np.ascontiguousarray(layer.weight.detach().numpy().T) for layer in linear]
    return Network(
        weights[0][:n_columns].copy(),
        weights[0][n_columns:].copy(),
        tuple(layer.bias.detach().numpy().copy() for layer in linear),
        tuple(weights[1:]),
    )


@torch.inference_mode()
def eager(nets: LiteralNets, x: torch.Tensor, steps: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The selections (n, steps) and the probabilities after each (n, steps, classes)."""
    mask = torch.zeros(len(x), nets.policy[-1].out_features)
    order, told = [], []
    for _ in range(steps):
        pick = nets.select(x, mask).argmax(dim=1)
        mask.scatter_(1, pick[:, None], 1.0)
        told.append(nets.predict(x, mask).softmax(dim=1))
        order.append(pick)
    return torch.stack(order, 1), torch.stack(told, 1)


def ours(policy: NetPolicy, predictor: NetPredictor, cases: Cases, problem: Problem, steps: int) -> Trajectory:
    """The package's roll-out, in runs of rows as a fitted model makes them."""
    size, rule = cases_at_once(problem.schema), MaxFeatures(steps)
    runs = (cases[start : start + size] for start in range(0, len(cases), size))
    return Trajectory.join([rollout(policy, predictor, run, problem.schema, stopping=rule) for run in runs])


def roll_out(problem: Problem, hidden: tuple[int, ...], rows: int, steps: int, rounds: int) -> dict[str, float]:
    """Rows a second of both, on one thread and on all, and the share of cases with the same path."""
    torch.manual_seed(0)
    nets = LiteralNets(problem, hidden, 0.0).eval()
    n_columns, classes = problem.schema.n_columns, problem.n_classes
    policy = NetPolicy(exported(nets.policy, n_columns))
    prior = np.full(classes, 1 / classes, dtype=np.float32)
    predictor = NetPredictor(exported(nets.predictor, n_columns), classes=True, prior=prior)
    parts = (problem.valid, problem.train)
    cases = Cases(*(np.concatenate([getattr(part, name) for part in parts])[:rows] for name in ("x", "present")))
    rows, x = len(cases), torch.from_numpy(cases.x)

    def eager_runs() -> None:
        for run in x.split(EAGER_CASES):
            eager(nets, run, steps)

    calls = {
        "torch": eager_runs,
        "askless": partial(ours, policy, predictor, cases, problem, steps),
    }
    order, _ = eager(nets, x, steps)
    same = (ours(policy, predictor, cases, problem, steps).order == order.numpy()).all(axis=1).mean()
    result = {"rows": float(rows), "steps": float(steps), "same paths": float(same)}
    for count in sorted({1, torch.get_num_threads()}):
        with threads(count):
            seconds = in_turn(calls, rounds)
        result |= {f"{name}, threads {count}": rows / each for name, each in seconds.items()}
    return result


def rollouts(quick: bool) -> dict[str, object]:
    """Spam's net and 10 selections; MNIST's and 50."""
    spam, _ = spam_problem(10)
    mnist, _ = mnist_problem(50, 600 if quick else None)
    rounds = 2 if quick else 9
    return {
        "Spam": roll_out(spam, (128, 128), 920 if quick else 3681, 10, rounds),
        "MNIST": roll_out(mnist, (512, 512), 256 if quick else 4096, 50, 1 if quick else 3),
    }


def one_question(quick: bool) -> dict[str, float]:
    """Microseconds of one interview step: the answer, the next question and the prediction; Spam's net."""
    problem, _ = spam_problem(10)
    X, _, _ = spam_table()
    encoder = TableEncoder.fit(X)
    torch.manual_seed(0)
    nets = LiteralNets(problem, (128, 128), 0.0).eval()
    n_columns = encoder.schema.n_columns
    model = FittedModel(
        task="classification",
        classes=("ham", "spam"),
        encoder=encoder,
        policy=NetPolicy(exported(nets.policy, n_columns)),
        predictor=NetPredictor(
            exported(nets.predictor, n_columns), classes=True, prior=np.array([0.6, 0.4], dtype=np.float32)
        ),
        max_features=10,
    )
    encoded = torch.from_numpy(encoder.transform(X).x)
    mine: list[float] = []
    theirs: list[float] = []
    with threads(1), torch.inference_mode():
        for block in np.array_split(np.arange(20 if quick else 600), 10):  # in turn, but not evicting one another
            for case in block:
                mine += _interview(model, dict(zip(encoder.schema.names, X[case].tolist(), strict=True)))
            for case in block:
                theirs += _eager_steps(nets, encoded[case : case + 1], 10)
    warm = 100  # steps until caches are filled and clocks are up
    return {
        "askless median": 1e6 * float(np.median(mine[warm:])),
        "askless p99": 1e6 * float(np.quantile(mine[warm:], 0.99)),
        "torch median": 1e6 * float(np.median(theirs[warm:])),
        "torch p99": 1e6 * float(np.quantile(theirs[warm:], 0.99)),
    }


def _interview(model: FittedModel, row: dict[str, float]) -> list[float]:
    talk, seconds = model.interview(), []
    question = talk.question
    while question is not None:
        value = row[question.name]
        start = time.perf_counter()
        talk.answer(value)
        question = talk.question
        assert talk.prediction
        seconds.append(time.perf_counter() - start)
    return seconds


def _eager_steps(nets: LiteralNets, x: torch.Tensor, steps: int) -> list[float]:
    mask, pick, seconds = torch.zeros(1, nets.policy[-1].out_features), 0, []
    for _ in range(steps):
        start = time.perf_counter()
        mask[0, pick] = 1.0
        pick = int(nets.select(x, mask).argmax(dim=1))
        nets.predict(x, mask).softmax(dim=1).tolist()
        seconds.append(time.perf_counter() - start)
    return seconds
