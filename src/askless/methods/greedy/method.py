"""The greedy method's settings. Importing this loads no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from askless.methods.base import Fitted
from askless.methods.networked import NetMethod
from askless.methods.settings import NETWORK, Choice, Flag, Number, Pair

if TYPE_CHECKING:
    from askless.training import Checkpoint, Problem, Progress

__all__ = ["Greedy"]


@dataclass(eq=False, repr=False, kw_only=True)
class Greedy(NetMethod):
    """Learns a policy that asks for the feature with the highest conditional mutual information.

    The method of Covert et al., "Learning to Maximize Mutual Information for Dynamic Feature Selection" (2023).
    A policy and a predictor are trained together: the policy picks one more feature through a Concrete
    relaxation, and both minimise the predictor's loss after that one feature. At the optimum the predictor gives the
    exact posterior and the policy the exact greedy choice (the paper's Theorem 1).

    Parameters
    ----------
    hidden : hidden layers of each network.
    dropout : share of hidden units dropped in training.
    network : "mlp", dense layers, or for images residual convolutions: "conv_small", "conv_medium" or "conv_patches",
        which reads each patch as a whole, for a processor, "resnet18" for a GPU, "conv_tiny" for small images.
        `hidden` and `dropout` then say nothing.
    augment : for images, "crops" trains on randomly shifted ones, "crops+flips" mirrors half of these, "tilts" turns,
        slants and stretches them a little, "late_tilts" those of which much has been asked already.
    shared : whether policy and predictor share their hidden layers; the policy's pass through shared convolutions
        teaches the predictor too.
    subsets : "policy" trains on the sets that the policy itself asks for (the paper's Algorithm 1), "random" on
        random sets (its ablation).
    depths : "early" trains on early questions more often than on late ones, for every case is asked them; "even" on
        all alike, as in the paper; "mixed" is half way.
    random_starts : share of the training states that start from random sets instead of nothing, so that any features
        may be known before the first question.
    first : "exact" finds the first question, which is the same for every case, by comparing the predictor's
        one-feature losses; "learned" leaves it to the policy network.
    schedule : "annealed" lowers the temperature within one run of epochs, "staged" runs one early-stopped phase
        for each temperature, as in the paper; "expected" has no relaxation: it minimises the expected loss among
        candidates that the policy draws all along, for networks that see through a mixture of many features;
        "annealed+expected" does the one, then the other, and keeps the best of the other.
    temperatures : the first and the last temperature; "expected" has none.
    stages : how many temperatures a staged schedule has, geometrically spaced.
    polish : whether to end with a phase that minimises the expected loss itself, without relaxation, dropout or
        weight decay; after an "expected" schedule it adds little.
    candidates : how many features the expected loss compares in each training state, those that the policy draws.
    epochs : passes over the states (at most, in each stage); None picks 30, or up to ten times as
        many where these are less than a thousand steps.
    expected_epochs : of the second part of "annealed+expected"; None: as many again.
    pretrain_epochs : passes over the rows that train the predictor on random sets first; None picks them likewise.
    predictor_epochs : passes over the states that train the predictor alone in the end, on the sets that the finished
        policy asks for: the cheapest way to go on once the questions are good. Layers that both shared are copied.
    predictor_rate : the learning rate of these, as a share of `learning_rate`; 1 where they are most of the training.
    states_per_row : how many partial records each training row keeps, where `epochs` are enough to walk them all to
        their end `walks` times; else there are fewer, which go from row to row.
    walks : few keep the questions about one row far apart in time, many keep the records true to the present policy.
    batch_size, learning_rate, weight_decay : of the optimiser (AdamW, and for the kernels of convolutions Muon, which
        moves them twelve times as far and has no decay).
    average : decay of the moving average of the weights that is validated and returned; 0 for none.
    patience : epochs without improvement that end a stage.
    """

    kind = "dynamic"
    limits = NETWORK | {
        "shared": Flag(),
        "polish": Flag(),
        "subsets": Choice(("policy", "random")),
        "depths": Choice(("early", "mixed", "even")),
        "random_starts": Number(0, 1),
        "first": Choice(("exact", "learned")),
        "schedule": Choice(("annealed", "staged", "expected", "annealed+expected")),
        "temperatures": Pair(),
        "stages": Number(1, whole=True),
        "candidates": Number(2, whole=True),
        "pretrain_epochs": Number(0, whole=True, or_none=True),
        "expected_epochs": Number(1, whole=True, or_none=True),
        "predictor_epochs": Number(0, whole=True),
        "predictor_rate": Number(0),
        "states_per_row": Number(1, whole=True),
        "walks": Number(1, whole=True),
        "average": Number(0, 0.9999),
        "patience": Number(1, whole=True),
    }

    shared: bool = False
    subsets: Literal["policy", "random"] = "policy"
    depths: Literal["early", "mixed", "even"] = "early"
    random_starts: float = 0.2
    first: Literal["exact", "learned"] = "exact"
    schedule: Literal["annealed", "staged", "expected", "annealed+expected"] = "annealed"
    temperatures: tuple[float, float] = (1.0, 0.1)
    stages: int = 5
    candidates: int = 6
    polish: bool = True
    pretrain_epochs: int | None = None
    expected_epochs: int | None = None
    predictor_epochs: int = 0
    predictor_rate: float = 0.5
    states_per_row: int = 4
    walks: int = 4
    average: float = 0.98
    patience: int = 10

    def work(self, problem: Problem) -> float:
        """Several times as much as training a predictor."""
        return 10.0

    def _fit(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Fitted:
        from askless.methods.greedy.fitting import fit_greedy

        return fit_greedy(self, problem, seed, progress, checkpoint)
