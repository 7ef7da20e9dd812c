"""The phases of the Concrete autoencoder: pretraining on random sets, then the selectors."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from askless.methods.concrete_autoencoder.selection import (
    SPEED,
    SelectingNetwork,
    Selections,
    distinct_choices,
)
from askless.nn import Dropout, GumbelBank, MaskedNet, gumbel_noise, mask_gradient
from askless.training import (
    Phase,
    Problem,
    SubsetLearner,
    bernoulli_sets,
    enough_epochs,
    new_predictor,
    one_thread,
    pretraining,
    train,
)

if TYPE_CHECKING:
    from askless.methods.concrete_autoencoder.method import ConcreteAutoencoder
    from askless.training import Checkpoint, Progress

__all__ = ["SelectionLearner", "selector_scores"]

EPOCHS, STEPS = 30, 1500
VALIDATION_STEPS = 25  # between two validations
VALIDATE_FROM = 0.4  # of an annealed phase: earlier choices are not the best
NUMBERS_AT_ONCE = 1 << 19  # of noise in a step: with more selectors and features, rows share draws


def selector_scores(
    method: ConcreteAutoencoder, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None
) -> tuple[np.ndarray, list[dict[str, Any]]]:
    """(features,) those that the selectors choose first, in order; the history."""
    features = len(problem.schema)
    with one_thread():
        generator = torch.Generator().manual_seed(seed)
        predictor = new_predictor(problem, method.net, generator)
        module = SelectingNetwork(min(problem.max_features, features), features, predictor, generator)
        dropout = Dropout(method.dropout, generator, seed)
        first = pretraining(predictor, problem, dropout, method.net, epochs=method.pretrain_epochs, seed=seed)
        subsets = SubsetLearner(predictor, problem, dropout, bernoulli_sets, method.batch_size, seed, method.augment)
        learner = SelectionLearner(module, subsets, nested=method.nested, seed=seed)
        phases = [first, *_phases(method, learner, subsets.n_batches)]
        history = train(phases, generator, progress=progress, checkpoint=checkpoint)
        order = learner.order(module)
        wanted = torch.softmax(module.logits, dim=1).sum(dim=0)  # (features,) at most k
    scores = wanted.numpy().astype(np.float64)
    scores[order] = len(order) + np.arange(len(order), 0, -1)
    return scores, history


def _phases(method: ConcreteAutoencoder, learner: SelectionLearner, n_batches: int) -> list[Phase]:
    common: dict[str, Any] = {"lr": method.learning_rate, "weight_decay": method.weight_decay}
    epochs = enough_epochs(n_batches, EPOCHS, STEPS) if method.select_epochs is None else method.select_epochs
    hot, cold = method.temperatures
    common |= {"validate_every": max(1, round(VALIDATION_STEPS / n_batches))}
    if method.schedule == "annealed":
        return [Phase("selectors", learner, epochs, temperature=(hot, cold), validate_from=VALIDATE_FROM, **common)]
    return [
        Phase(
            "selectors",
            learner,
            epochs,
            temperature=(temperature, temperature),
            schedule="plateau",
            monitor="relaxed_loss",
            select="relaxed_loss",  # the choices themselves are still random while it is hot
            patience=method.patience,
            **common,
        )
        for temperature in np.geomspace(hot, cold, method.stages).tolist()
    ]


class SelectionLearner:
    """Trains selectors and network together by the loss after relaxed selections."""

    def __init__(self, module: SelectingNetwork, subsets: SubsetLearner, *, nested: bool, seed: int) -> None:
        self.module, self.nested = module, nested
        self.rows, self.valid, self.dropout = subsets.rows, subsets.valid, subsets.dropout
        self._subsets = subsets
        k, features = module.selectors.shape
        draws = max(1, min(subsets.batch_size, NUMBERS_AT_ONCE // (k * features)))
        self.gumbel = GumbelBank(draws * k, features, self.dropout.generator, seed)
        self.draws = draws
        # The network that knows all sets. NaN until it does.
        self.pretrained = copy.deepcopy(module.predictor).requires_grad_(False)
        for parameter in self.pretrained.parameters():
            parameter.fill_(torch.nan)
        # Drawn once, so that early stopping does not chase noise.
        fixed = torch.Generator().manual_seed(seed)
        draws = max(1, min(len(self.valid), NUMBERS_AT_ONCE // (k * features)))
        self.valid_gumbel = gumbel_noise(draws, k, features, generator=fixed)
        self.valid_used = self._used(draws, fixed)

    def begin(self) -> None:
        """Keep the network as pretraining left it."""
        if all(bool(parameter.isnan().all()) for parameter in self.pretrained.parameters()):  # the first phase
            self.pretrained.load_state_dict(self.module.predictor.state_dict())

    def batches(self, generator: torch.Generator) -> Sequence[Tensor]:
        """Random batches of rows."""
        return self._subsets.batches(generator)

    def gradients(self, batch: Tensor, temperature: float) -> Tensor:
        """The mean loss of a batch after relaxed selections, of the first few selectors where they are nested."""
        rows, module = self.rows, self.module
        k, features = module.selectors.shape
        draws = min(self.draws, len(batch))
        gumbel = self.gumbel.draw(draws * k, features).view(draws, k, features)
        chosen = Selections(module.logits, gumbel, self._used(draws, self.dropout.generator), temperature)
        of_row = torch.arange(len(batch)) % draws  # (b,) the draw that each row uses
        x, y = self._subsets.examples(batch)
        present = None if rows.complete else rows.present.index_select(0, batch)
        mask = chosen.mask.index_select(0, of_row)
        inputs = rows.inputs(x, mask if present is None else mask * present)
        run = module.predictor(inputs, self.dropout, to_inputs=True)
        g = run.backward(rows.loss_gradient(run.outputs, y).div_(len(batch)))
        g_mask = mask_gradient(run.input_gradient(g), x, rows.layout)  # (b, features)
        if present is not None:
            g_mask = g_mask * present
        g_draw = torch.zeros_like(chosen.mask).index_add_(0, of_row, g_mask)
        module.selectors.grad = SPEED * chosen.gradient(g_draw)
        return rows.loss(run.outputs, y).mean()

    def validate(self, module: SelectingNetwork, temperature: float) -> dict[str, float]:
        """The loss after the selectors' choices, and after relaxed selections with the same noise each time."""
        chosen = Selections(module.logits, self.valid_gumbel, self.valid_used, temperature)
        of_row = torch.arange(len(self.valid)) % len(chosen.mask)
        relaxed = self._loss(module.predictor, chosen.mask.index_select(0, of_row))
        return {"loss": self._loss_of_choices(module), "relaxed_loss": relaxed}

    def order(self, module: SelectingNetwork) -> np.ndarray:
        """(k,) the chosen features, the most useful first."""
        choices = distinct_choices(module.logits)
        return choices.numpy() if self.nested else self._most_useful_first(choices.tolist())

    def _most_useful_first(self, choices: list[int]) -> np.ndarray:
        """(k,) the choices, each the best beside those before it, by the network that knows random sets."""
        known = torch.zeros(1, self.module.selectors.shape[1])
        order: list[int] = []
        while len(order) < len(choices):
            left = [choice for choice in choices if choice not in order]
            with_one_more = [known.index_fill(1, torch.tensor(choice), 1.0) for choice in left]
            best = int(np.argmin([self._loss(self.pretrained, mask) for mask in with_one_more]))
            known = with_one_more[best]
            order.append(left[best])
        return np.array(order)

    def tensors(self) -> dict[str, Tensor]:
        """The network as pretraining left it."""
        return self.pretrained.state_dict()

    def _used(self, draws: int, generator: torch.Generator) -> Tensor:
        """(draws, k) which selectors take part: the first 1 to k, or all."""
        k = len(self.module.selectors)
        if not self.nested:
            return self.module.selectors.new_ones(draws, k)
        count = torch.randint(1, k + 1, (draws, 1), generator=generator)
        return (torch.arange(k) < count).to(self.module.selectors.dtype)

    def _loss_of_choices(self, module: SelectingNetwork) -> float:
        """The mean loss after the choices of the first 1 to k selectors, or of all."""
        choices = distinct_choices(module.logits)
        mask = torch.zeros(1, module.logits.shape[1])
        losses = []
        for choice in choices.tolist():
            mask[0, choice] = 1.0
            if self.nested or bool(mask.sum() == len(choices)):
                losses.append(self._loss(module.predictor, mask))
        return float(np.mean(losses))

    def _loss(self, predictor: MaskedNet, mask: Tensor) -> float:
        """The mean loss on the validation rows, given masks (rows or 1, features)."""
        valid = self.valid
        mask = (mask * valid.present).to(valid.x.dtype)
        outputs = predictor.evaluated(valid.inputs(valid.x, mask))
        return float(valid.loss(outputs, valid.y).mean())
