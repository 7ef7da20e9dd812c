"""The two stages of CMI estimation with a generative model: the autoencoder, then the predictor."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from askless.acquisition import State
from askless.methods.base import Fitted
from askless.methods.cmi_pvae.learner import VaeLearner, VaeModule
from askless.methods.cmi_pvae.method import CmiPvae
from askless.methods.representatives import answer_book, answered, many_valued
from askless.models import GenerativePolicy, Heads, MarginalPolicy
from askless.training import (
    Checkpoint,
    Phase,
    Problem,
    Progress,
    calibrated,
    enough_epochs,
    exported_predictor,
    finished,
    one_thread,
    train,
    train_predictor,
    training_summary,
    uniform_sets,
)

__all__ = ["fit_pvae"]

EPOCHS, STEPS = 30, 1500  # at least
LEARNING_RATE, WEIGHT_DECAY = 2e-3, 0.01
VALIDATIONS = 20


def fit_pvae(
    method: CmiPvae, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None
) -> Fitted:
    """Train `method` on `problem`."""
    first, second = progress.parts([method.work(problem) - 1.0, 1.0])
    with one_thread():
        book, numeric = answer_book(problem, method.atoms), many_valued(problem, method.atoms)
        heads = Heads(np.where(numeric, 0, book.counts))
        generator = torch.Generator().manual_seed(seed)
        module = VaeModule(problem, heads, method.latent, method.vae_hidden, generator)
        sets = uniform_sets(len(problem.schema))
        learner = VaeLearner(module, problem, book, heads, sets, generator, method.batch_size, seed)
        phase = _phase(method, learner)

        def trained() -> tuple[dict[str, torch.Tensor], list[dict[str, Any]]]:
            history = train([phase], generator, progress=first, checkpoint=checkpoint)
            return module.state_dict(), history

        weights, history = finished(checkpoint, "autoencoder", trained)
        module.load_state_dict(weights)
        vae = module.exported(*_noise(method, len(heads.numbers), seed))
    predictor_module, trained_history = train_predictor(
        problem, uniform_sets(problem.max_features), method.net, seed=seed, progress=second, checkpoint=checkpoint
    )
    predictor = exported_predictor(predictor_module, problem)
    scale = predictor.scale if problem.task == "regression" else None
    policy = GenerativePolicy(
        predictor.dense,
        vae,
        book,
        numeric,
        answered(problem),
        _first_scores(MarginalPolicy(predictor.dense, book, answered(problem), scale)),
        scale,
    )
    summary = training_summary(trained_history)
    return Fitted(policy, calibrated(predictor, policy, problem), history + trained_history, summary)


def _first_scores(policy: MarginalPolicy) -> np.ndarray:
    """(features,) what the first question is worth, whose answers have the distribution of the table."""
    x = np.zeros((1, int(policy.book.widths.sum())), policy.network.value_weight.dtype)
    nothing = np.zeros((1, len(policy.book.widths)), dtype=bool)
    first: np.ndarray = policy.score(State(x, nothing, nothing))[0]
    return first


def _phase(method: CmiPvae, learner: VaeLearner) -> Phase:
    batches = learner.sets.n_batches
    epochs = enough_epochs(batches, EPOCHS, STEPS) if method.vae_epochs is None else method.vae_epochs
    return Phase(
        "autoencoder",
        learner,
        epochs,
        lr=LEARNING_RATE,
        weight_decay=WEIGHT_DECAY,
        validate_every=max(1, epochs // VALIDATIONS),
    )


def _noise(method: CmiPvae, numbers: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Standard normal draws (samples, latent) and (numbers, samples) for all states; the latter may be zeros."""
    generator = torch.Generator().manual_seed(seed)
    noise = torch.randn(method.samples, method.latent, generator=generator).numpy()
    jitter = torch.randn(numbers, method.samples, generator=generator).numpy()
    return noise, jitter if method.answers == "drawn" else np.zeros_like(jitter)
