"""Conditional mutual information by imagined answers, from a partial variational autoencoder.

The first version of the CMI estimation in Covert et al., "Learning to Maximize Mutual Information for Dynamic Feature
Selection", ICML 2023, after Ma et al., "EDDI: Efficient Dynamic Discovery of High-Value Information with Partial
VAE", ICML 2019. The encoder is an MLP over values and mask; EDDI's sums embeddings of the known features instead.

The file has the settings, the two stages of a fit (first the autoencoder, then a predictor on random sets), the
autoencoder and its loss. `models/generative.py` has the autoencoder in numpy, and the policy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from askless.acquisition import State
from askless.methods.base import Fitted, NetMethod
from askless.methods.columns import answer_book, answered, many_valued, nearest
from askless.methods.settings import DENSE, Choice, Layers, Number
from askless.models import AnswerBook, GenerativePolicy, Heads, MarginalPolicy, PartialVae
from askless.models.generative import MAX_LOG_VARIANCE
from askless.networks import Hidden, MaskedMLP
from askless.training.calibration import calibrated
from askless.training.checkpoint import Checkpoint, finished
from askless.training.loop import Phase, Row, enough_epochs, fit_threads, seeded, train
from askless.training.predictor import exported_predictor, train_predictor, training_summary
from askless.training.problem import Problem, Rows
from askless.training.progress import Progress
from askless.training.subsets import Sampler, SubsetLearner, uniform_sets

EPOCHS, STEPS = 30, 1500  # of the autoencoder, at least
LEARNING_RATE, WEIGHT_DECAY = 2e-3, 0.01
VALIDATIONS = 20
BETA = 0.3  # weight of the divergence from the prior: with 1, weak relations between features are not learned
DRAWS = 4  # of the latent variables, for each row of a batch
VALIDATION_DRAWS = 32
LEAST_SD = 0.05  # of a number, whose standard deviation in the training rows is 1
HALF_LOG_TAU = 0.5 * math.log(2.0 * math.pi)


@dataclass(eq=False, repr=False, kw_only=True)
class CmiPvae(NetMethod):
    """Asks for what would change the prediction most, over answers that are likely given the known ones.

    A partial variational autoencoder imagines the answers to each question from p(x_i | x_s). A predictor trained on
    random sets predicts from each of them. The question's score is how far these predictions are from their mean.
    Choose it as the classic to compare with, or where scores in nats are wanted that do not depend on a policy's
    training. It asks slower than `Greedy`.

    Parameters
    ----------
    latent : latent variables of the autoencoder.
    samples : draws of the latent variables, from which answers are decoded.
    answers : "drawn" takes a number's answers from its whole distribution; "mean" from the decoder's means alone, as
        the paper does, which leaves out what the latent variables do not explain.
    atoms : how many answers stand for a number's distribution; categories have all of theirs.
    vae_hidden : hidden layers of the encoder and of the decoder.
    vae_epochs : passes over the rows that train the autoencoder; None picks enough of them for 1500 steps.
    hidden, dropout, batch_size, learning_rate, weight_decay, epochs : of the predictor, as for `Greedy`.
    """

    kind = "dynamic"
    informative = True
    limits = DENSE | {
        "latent": Number(1, whole=True),
        "samples": Number(2, whole=True),
        "answers": Choice(("drawn", "mean")),
        "atoms": Number(2, whole=True),
        "vae_hidden": Layers(),
        "vae_epochs": Number(1, whole=True, or_none=True),
    }

    latent: int = 16
    samples: int = 128
    answers: Literal["drawn", "mean"] = "drawn"
    atoms: int = 10
    vae_hidden: tuple[int, ...] = (64, 64)
    vae_epochs: int | None = None

    def work(self, problem: Problem) -> float:
        return 6.0

    def _fit(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Fitted:
        first, second = progress.parts([self.work(problem) - 1.0, 1.0])
        with fit_threads(problem.n_threads), seeded(seed):
            book, numeric = answer_book(problem, self.atoms), many_valued(problem, self.atoms)
            vae, history = self._train_vae(problem, book, numeric, seed, first, checkpoint)
            module, trained = train_predictor(
                problem,
                uniform_sets(problem.max_features),
                self.net,
                seed=seed,
                progress=second,
                checkpoint=checkpoint,
            )
            predictor, chance = exported_predictor(module, problem), answered(problem)
            scale = predictor.scale if problem.task == "regression" else None
            # Where nothing is known, the table itself says how likely each answer is.
            start = _first_scores(MarginalPolicy(predictor.dense, book, chance, scale))
            policy = GenerativePolicy(predictor.dense, book, chance, scale, vae, numeric, start)
            predictor = calibrated(predictor, policy, problem)
        return Fitted(policy, predictor, history + trained, training_summary(trained))

    def _train_vae(
        self,
        problem: Problem,
        book: AnswerBook,
        numeric: np.ndarray,
        seed: int,
        progress: Progress,
        checkpoint: Checkpoint | None,
    ) -> tuple[PartialVae, list[Row]]:
        """The trained autoencoder and the history of its training; `numeric` (features,) says what is a number."""
        heads = Heads(np.where(numeric, 0, book.counts))
        module = VaeModule(problem, heads, self.latent, self.vae_hidden)
        sampler = uniform_sets(len(problem.schema))
        learner = VaeLearner(module, problem, book, heads, sampler, batch_size=self.batch_size, seed=seed)
        epochs = enough_epochs(learner.n_batches, EPOCHS, STEPS) if self.vae_epochs is None else self.vae_epochs
        phase = Phase(
            name="autoencoder",
            learner=learner,
            epochs=epochs,
            lr=LEARNING_RATE,
            weight_decay=WEIGHT_DECAY,
            validate_every=max(1, epochs // VALIDATIONS),
        )

        def trained() -> tuple[dict[str, Tensor], list[Row]]:
            history = train([phase], progress=progress, checkpoint=checkpoint)
            return module.state_dict(), history

        weights, history = finished(checkpoint, "autoencoder", trained)
        module.load_state_dict(weights)
        with seeded(seed):  # all states get the same noise, so that the same state always has the same scores
            noise = torch.randn(self.samples, self.latent).numpy()
            jitter = torch.randn(len(heads.numbers), self.samples).numpy()
        return module.exported(noise, jitter if self.answers == "drawn" else np.zeros_like(jitter)), history


def _first_scores(policy: MarginalPolicy) -> np.ndarray:
    x = np.zeros((1, int(policy.book.widths.sum())), policy.network.value_weight.dtype)
    nothing = np.zeros((1, len(policy.book.widths)), dtype=bool)
    return policy.score(State(x, nothing, nothing))[0]


class VaeModule(nn.Module):
    """An MLP that encodes values and mask to normal latent variables, and one that decodes these to all features."""

    def __init__(self, problem: Problem, heads: Heads, latent: int, hidden: Sequence[int]) -> None:
        super().__init__()
        inputs = problem.schema.n_columns + len(problem.schema)
        self.encoder = MaskedMLP(problem.column_feature, Hidden([inputs, *hidden]), 2 * latent)
        *inner, last = (nn.Linear(a, b) for a, b in pairwise([latent, *hidden, heads.width]))
        self.decoder = nn.Sequential(*(part for layer in inner for part in (layer, nn.ReLU())), last)
        self.log_sd = nn.Parameter(torch.zeros(len(heads.numbers)))  # of the numbers, around the decoder's means

    def forward(self, x: Tensor, mask: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """Decoded outputs (draws, b, outputs) and divergences from the prior (b,).

        From complete values (b, columns), the mask (b, features), and standard normal noise (draws, b or 1, latent).
        """
        mean, log_variance = self.encoder(x, mask).chunk(2, dim=1)
        kl = 0.5 * (mean.square() + log_variance.exp() - 1.0 - log_variance).sum(dim=1)
        sd = (0.5 * log_variance.clamp(max=MAX_LOG_VARIANCE)).exp()
        return self.decoder(mean + sd * noise), kl

    def log_sds(self) -> Tensor:
        """(numbers,) logarithms of standard deviations, with a least value through which the gradient passes.

        `clamp` would stop the gradient, and a deviation that once was too small could not grow again.
        """
        return self.log_sd + (math.log(LEAST_SD) - self.log_sd).clamp(min=0.0).detach()

    def exported(self, noise: np.ndarray, jitter: np.ndarray) -> PartialVae:
        """The autoencoder for inference, with a copy of the present weights.

        `noise` (samples, latent) and `jitter` (numbers, samples) are standard normal; with a jitter of zeros numbers
        are decoded to their means.
        """
        layers = [layer for layer in self.decoder if isinstance(layer, nn.Linear)]
        return PartialVae(
            self.encoder.exported(),
            tuple(layer.weight.detach().numpy().T.copy() for layer in layers),
            tuple(layer.bias.detach().numpy().copy() for layer in layers),
            noise,
            jitter * self.log_sds().detach().exp().numpy()[:, None],
        )


class Targets(NamedTuple):
    """The features of some rows, in the decoder's terms."""

    numbers: Tensor  # (n, numbers) the first column of each
    labels: Tensor  # (n, choices) which of its answers each other feature has

    def of(self, rows: Tensor) -> Targets:
        return Targets(self.numbers[rows], self.labels[rows].long())


class VaeLearner(SubsetLearner):
    """Encodes random sets of features, and decodes all of them.

    The loss has two parts. For the features in the set it is the bound of Ma et al. (2019). That makes the encoder
    approach the distribution of the latent variables given the set: the prior where nothing is known, a narrow one
    where much is. Each other feature has to be likely in the mixture of the draws, since answers are imagined from
    such mixtures. With the bound alone, weak relations between features are not worth the divergence.
    """

    def __init__(
        self,
        module: VaeModule,
        problem: Problem,
        book: AnswerBook,
        heads: Heads,
        sampler: Sampler,
        *,
        batch_size: int,
        seed: int,
    ) -> None:
        super().__init__(module.encoder, problem, sampler, batch_size=batch_size, seed=seed)
        self.module: VaeModule = module
        self.heads = heads
        self.order = torch.from_numpy(np.concatenate([heads.numbers, heads.choices]))  # of features, as decoded
        self.targets, self.valid_targets = (_targets(rows, book, heads) for rows in (self.rows, self.valid))
        self.latent = module.encoder.n_outputs // 2
        with seeded(seed):  # drawn once: validation must not chase noise
            self.valid_noise = torch.randn(VALIDATION_DRAWS, 1, self.latent).to(self.rows.x.dtype)

    def loss(self, batch: Tensor, temperature: float) -> Tensor:
        rows, x = self.rows, self.rows.x.index_select(0, batch)
        present, askable = rows.present.index_select(0, batch), rows.askable.index_select(0, batch)
        mask = (self.sampler(askable) & present).to(x.dtype)
        outputs, kl = self.module(x, mask, torch.randn(DRAWS, len(batch), self.latent, dtype=x.dtype))
        logs = self.log_likelihoods(self.module, outputs, self.targets.of(batch))
        given = mask[:, self.order]
        hidden = (present & (mask == 0.0))[:, self.order].to(x.dtype)
        likely = (given * logs.mean(dim=0) + hidden * _mixture(logs)).sum(dim=1)
        return (BETA * kl - likely).mean()

    def log_likelihoods(self, module: VaeModule, outputs: Tensor, targets: Targets) -> Tensor:
        """(draws, b, features) of the targets of b rows, numbers first, by outputs (draws, b, outputs)."""
        numbers, log_sd = len(self.heads.numbers), module.log_sds()
        away = (outputs[..., :numbers] - targets.numbers) * (-log_sd).exp()
        parts = [-0.5 * away.square() - log_sd - HALF_LOG_TAU]
        counts = self.heads.counts[self.heads.choices].tolist()
        choices = torch.split(outputs[..., numbers:], counts, dim=2)
        for logits, label in zip(choices, targets.labels.unbind(1), strict=True):
            log_chances = functional.log_softmax(logits, dim=2)
            parts.append(log_chances.gather(2, label[None, :, None].expand(len(outputs), -1, 1)))
        return torch.cat(parts, dim=2)

    @torch.no_grad()
    def validate(self, module: Any, temperature: float) -> dict[str, float]:
        """The mean negative log-likelihood of what is unknown of the validation rows, in the same random sets."""
        valid, total, count = self.valid, 0.0, 0
        for some in torch.split(torch.arange(len(valid)), self.batch_size):
            x, mask = valid.x[some], self.valid_mask[some]
            outputs, _ = module(x, mask.to(x.dtype), self.valid_noise)
            mixture = _mixture(self.log_likelihoods(module, outputs, self.valid_targets.of(some)))
            hidden = (valid.present[some] & (mask == 0.0))[:, self.order]
            total, count = total - float(mixture[hidden].sum()), count + int(hidden.sum())
        return {"loss": total / max(count, 1)}


def _mixture(logs: Tensor) -> Tensor:
    """(b, features) log-likelihoods in the mixture of the draws, from those in each (draws, b, features)."""
    return logs.logsumexp(dim=0) - math.log(len(logs))


def _targets(rows: Rows, book: AnswerBook, heads: Heads) -> Targets:
    features, x = rows.problem.schema.features, rows.x.numpy()
    labels = np.empty((len(x), len(heads.choices)), dtype=np.int32)
    for k, i in enumerate(heads.choices):
        labels[:, k] = nearest(x[:, features[i].start : features[i].stop], book.answers[i][0])
    return Targets(rows.x[:, [features[i].start for i in heads.numbers]], torch.from_numpy(labels))
