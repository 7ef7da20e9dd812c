"""The Concrete autoencoder: a layer of selectors that learns one set of questions for everyone.

Balin, Abid and Zou, "Concrete Autoencoders: Differentiable Feature Selection and Reconstruction", 2019. The file has
the settings, the fit, the network and its loss. docs/methods.md compares it with the paper.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from askless.methods.settings import NETWORK, Choice, Flag, Number, Pair
from askless.methods.static import RankingMethod, Scores
from askless.networks import GumbelBank, MaskedNetwork, gumbel_noise
from askless.training.checkpoint import Checkpoint
from askless.training.loop import Learner, Phase, enough_epochs, fit_threads, seeded, train
from askless.training.predictor import new_predictor, pretraining
from askless.training.problem import Problem
from askless.training.progress import Progress
from askless.training.subsets import SubsetLearner, bernoulli_sets

# How much faster the selectors move than other weights, and how much further weight decay lets them go. A choice
# among many features needs logits that differ by several units. The optimiser's steps and decay suit smaller weights.
SPEED = 10.0
EPOCHS, STEPS = 30, 1500  # at least
VALIDATION_STEPS = 25  # between two validations
VALIDATE_FROM = 0.4  # of an annealed phase: earlier choices are not the best
NUMBERS_AT_ONCE = 1 << 19  # of noise in a step: with more selectors and features, rows share draws


@dataclass(eq=False, repr=False, kw_only=True)
class ConcreteAutoencoder(RankingMethod):
    """Learns which features to ask everyone, as a layer of selectors in front of a network.

    As many selectors as questions each draw a feature from a Concrete distribution. Selectors and network are trained
    together while the temperature falls. As in Covert et al. (2023), the network predicts the label; the original
    reconstructs the inputs. Choose it where everyone must be asked the same and features matter together.

    Parameters
    ----------
    nested : whether each training row uses a random number of the first selectors. These then learn to be the most
        useful, and their order serves every budget. False always uses all of them, as in the original, and orders
        them afterwards by the losses of the pretrained network.
    schedule : "annealed" lowers the temperature within one run of epochs, as in the original; "staged" runs one
        early-stopped phase for each temperature, as in Covert et al.
    temperatures : the first and the last temperature.
    stages : number of temperatures of a staged schedule, geometrically spaced.
    patience : validations without improvement that end a stage; they are about 25 steps apart.
    select_epochs : passes over the rows that train the selectors (at most, in each stage); None picks enough of them
        for 1500 steps.
    pretrain_epochs : passes over the rows that first train the network on random sets; None picks enough of them for
        400 steps.
    hidden, dropout, network, augment, batch_size, learning_rate, weight_decay : of the network behind the selectors
        and of the later predictor; see `NetMethod`.
    epochs : of the later predictor.
    """

    limits = NETWORK | {
        "nested": Flag(),
        "schedule": Choice(("annealed", "staged")),
        "temperatures": Pair(),
        "stages": Number(1, whole=True),
        "patience": Number(1, whole=True),
        "select_epochs": Number(1, whole=True, or_none=True),
        "pretrain_epochs": Number(0, whole=True, or_none=True),
    }

    nested: bool = True
    schedule: Literal["annealed", "staged"] = "annealed"
    temperatures: tuple[float, float] = (1.0, 0.1)
    stages: int = 5
    patience: int = 10
    select_epochs: int | None = None
    pretrain_epochs: int | None = None

    def _scores(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Scores:
        n_features = len(problem.schema)
        with fit_threads(problem.n_threads), seeded(seed):
            predictor = new_predictor(problem, self.net)
            module = SelectingNetwork(min(problem.max_features, n_features), n_features, predictor)
            first = pretraining(predictor, problem, self.net, epochs=self.pretrain_epochs, seed=seed)
            subsets = SubsetLearner(
                predictor, problem, bernoulli_sets, batch_size=self.batch_size, seed=seed, augment=self.augment
            )
            learner = SelectionLearner(module, subsets, nested=self.nested)
            if self.schedule == "staged":
                learner.watch_relaxed_loss(seed)
            history = train([first, *self._phases(learner)], progress=progress, checkpoint=checkpoint)
            order = learner.order()
            mass = torch.softmax(module.logits.detach(), dim=1).sum(dim=0)  # (features,) of all selectors
        scores = mass.double().numpy()
        scores[order] = len(order) + np.arange(len(order), 0, -1)  # above the others, whose mass is at most k
        return scores, history

    def _phases(self, learner: SelectionLearner) -> list[Phase]:
        n_batches = learner.subsets.n_batches
        phase = partial(
            Phase,
            name="selectors",
            learner=learner,
            epochs=enough_epochs(n_batches, EPOCHS, STEPS) if self.select_epochs is None else self.select_epochs,
            lr=self.learning_rate,
            weight_decay=self.weight_decay,
            validate_every=max(1, round(VALIDATION_STEPS / n_batches)),
        )
        if self.schedule == "annealed":
            return [phase(temperature=self.temperatures, validate_from=VALIDATE_FROM)]
        # The relaxed loss chooses the weights, for the choices themselves are still random while it is hot.
        stage = partial(
            phase, schedule="plateau", monitor="relaxed_loss", select="relaxed_loss", patience=self.patience
        )
        return [stage(temperature=(t, t)) for t in np.geomspace(*self.temperatures, self.stages).tolist()]


class SelectingNetwork(nn.Module):
    """Selectors (k, features) and the network that predicts from what they select.

    The original feeds one number for each selector into the network. Features here may have several columns, so the
    network takes masked values and the mask instead.
    """

    def __init__(self, n_selectors: int, n_features: int, predictor: MaskedNetwork) -> None:
        super().__init__()
        self.selectors = nn.Parameter(0.1 / SPEED * torch.randn(n_selectors, n_features))
        self.predictor = predictor

    @property
    def logits(self) -> Tensor:
        return SPEED * self.selectors

    def soft_masks(self, gumbel: Tensor, used: Tensor, temperature: float) -> Tensor:
        """(draws, features) the relaxed selections of the used selectors (draws, k), by noise (draws, k, features).

        A feature's mask is the sum of the selectors' mass on it, at most 1. A feature that two selectors choose
        counts once and gives them no gradient, so that one of them moves elsewhere.
        """
        soft = torch.softmax((self.logits + gumbel) / temperature, dim=2)
        return torch.bmm(used[:, None, :], soft).squeeze(1).clamp_max(1.0)


class SelectionLearner(Learner):
    """Trains selectors and network together by the loss after relaxed selections."""

    module: SelectingNetwork
    valid_gumbel: Tensor | None = None  # (draws, k, features), if the relaxed loss is watched

    def __init__(self, module: SelectingNetwork, subsets: SubsetLearner, *, nested: bool) -> None:
        self.module, self.subsets, self.nested = module, subsets, nested
        k, n_features = module.selectors.shape
        self.draws = self._draws(subsets.batch_size)
        self.gumbel = GumbelBank(self.draws * k, n_features)
        self.pretrained = copy.deepcopy(module.predictor)  # knows sets of all sizes, once it `is_kept`
        self.is_kept = torch.zeros((), dtype=torch.bool)

    def watch_relaxed_loss(self, seed: int) -> None:
        """Validate the relaxed loss too, with noise that is drawn once: early stopping must not chase noise."""
        draws = self._draws(len(self.subsets.valid))
        with seeded(seed):
            self.valid_gumbel = gumbel_noise(draws, *self.module.selectors.shape)
            self.valid_used = self.used(draws)

    def begin(self) -> None:
        if not self.is_kept:
            self.pretrained.load_state_dict(self.module.predictor.state_dict())
            self.is_kept.fill_(True)

    def batches(self) -> Sequence[Tensor]:
        return self.subsets.batches()

    def loss(self, batch: Tensor, temperature: float) -> Tensor:
        """The mean loss of a batch after relaxed selections; nested selectors take part as random prefixes."""
        k, n_features = self.module.selectors.shape
        draws = min(self.draws, len(batch))
        gumbel = self.gumbel.draw(draws * k, n_features).view(draws, k, n_features)
        mask = self.module.soft_masks(gumbel, self.used(draws), temperature)
        x, y = self.subsets.examples(batch)
        mask = _repeated(mask, len(batch)) * self.subsets.rows.present.index_select(0, batch)
        return self.subsets.rows.loss(self.module.predictor(x, mask), y).mean()

    def validate(self, module: SelectingNetwork, temperature: float) -> dict[str, float]:
        choices = distinct_choices(module.logits)
        counts = range(1, len(choices) + 1) if self.nested else [len(choices)]  # of the selectors that take part
        each = [self._loss(module.predictor, self._mask(choices[:count])) for count in counts]
        losses = {"loss": float(np.mean(each))}
        if self.valid_gumbel is not None:
            with torch.no_grad():
                mask = module.soft_masks(self.valid_gumbel, self.valid_used, temperature)
            losses["relaxed_loss"] = self._loss(module.predictor, _repeated(mask, len(self.subsets.valid)))
        return losses

    def tensors(self) -> dict[str, Tensor]:
        return {"is_kept": self.is_kept} | self.pretrained.state_dict()

    def order(self) -> list[int]:
        """The k chosen features, the most useful first."""
        choices = distinct_choices(self.module.logits)
        return choices if self.nested else self._most_useful_first(choices)

    def used(self, draws: int) -> Tensor:
        """(draws, k) 1 for the selectors that take part: the first 1 to k, a random number of them, or all."""
        k = len(self.module.selectors)
        count = torch.randint(1, k + 1, (draws, 1)) if self.nested else torch.full((draws, 1), k)
        return (torch.arange(k) < count).to(self.module.selectors.dtype)

    def _draws(self, rows: int) -> int:
        return max(1, min(rows, NUMBERS_AT_ONCE // self.module.selectors.numel()))

    def _most_useful_first(self, choices: list[int]) -> list[int]:
        """The choices, each the best beside those before it, by the pretrained network."""
        order: list[int] = []
        while len(order) < len(choices):
            left = [choice for choice in choices if choice not in order]
            order.append(min(left, key=lambda choice: self._loss(self.pretrained, self._mask([*order, choice]))))
        return order

    def _mask(self, features: list[int]) -> Tensor:
        mask = torch.zeros(1, self.module.selectors.shape[1])
        mask[0, features] = 1.0
        return mask

    def _loss(self, predictor: MaskedNetwork, mask: Tensor) -> float:
        """The mean loss on the validation rows, given masks (rows or 1, features)."""
        valid = self.subsets.valid
        return float(valid.loss(predictor.evaluate(valid.x, mask * valid.present), valid.y).mean())


def _repeated(mask: Tensor, rows: int) -> Tensor:
    """(rows, features) the masks of a few draws, in turns."""
    return mask.repeat(-(-rows // len(mask)), 1)[:rows]


def distinct_choices(logits: Tensor) -> list[int]:
    """The feature of each selector (k, features); a selector whose choice is taken takes its best free one."""
    left = logits.detach().clone()
    choices: list[int] = []
    for row in left:
        choices.append(int(row.argmax()))
        left[:, choices[-1]] = -torch.inf
    return choices
