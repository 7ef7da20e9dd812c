"""The value method's settings. Importing this loads no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from askless.methods.base import Fitted
from askless.methods.networked import NetMethod
from askless.methods.settings import NETWORK, Choice, Flag, Number, Pair

if TYPE_CHECKING:
    from askless.training import Checkpoint, Problem, Progress

__all__ = ["Value"]


@dataclass(eq=False, repr=False, kw_only=True)
class Value(NetMethod):
    """Learns what each question is worth, in nats, and asks the one that is worth most.

    The method of Gadgil, Covert and Lee, "Estimating Conditional Mutual Information for Dynamic Feature Selection"
    (2024), known as DIME. A value network regresses by how much each candidate's answer moves the prediction, a KL
    divergence; the least-squares answer is the conditional mutual information. For a regression, values are
    reductions of the squared error, in the target's units squared. Choose it where the numbers themselves matter: to
    compare a question's worth with its price, to stop when nothing is worth asking, to say why a question was asked.

    Parameters
    ----------
    hidden, dropout, batch_size, learning_rate, weight_decay, epochs : of both networks, as for `Greedy`.
    shared : whether value network and predictor share their hidden layers.
    candidates : how many features are tried in each training state: half of them those that seem best, half any.
    exploration : share of the training states in which any feature is asked instead of the best, first and last.
    random_starts : share of the training states that start from random sets instead of nothing.
    first : "exact" takes the values before the first answer, which are the same for every case, from the predictor's
        one-feature losses; "learned" leaves them to the network.
    polish : whether to end with a phase without dropout and weight decay.
    pretrain_epochs : passes over the rows that train the predictor on random sets first; None picks enough.
    states_per_row, walks : how many partial records each training row keeps, as for `Greedy`.
    average : decay of the moving average of the weights that is validated and returned; 0 for none.
    """

    kind = "dynamic"
    limits = NETWORK | {
        "shared": Flag(),
        "polish": Flag(),
        "candidates": Number(2, whole=True),
        "exploration": Pair(high=1.0),
        "random_starts": Number(0, 1),
        "first": Choice(("exact", "learned")),
        "pretrain_epochs": Number(0, whole=True, or_none=True),
        "states_per_row": Number(1, whole=True),
        "walks": Number(1, whole=True),
        "average": Number(0, 0.9999),
    }

    shared: bool = False
    candidates: int = 6
    exploration: tuple[float, float] = (1.0, 0.1)
    random_starts: float = 0.2
    first: Literal["exact", "learned"] = "exact"
    polish: bool = True
    pretrain_epochs: int | None = None
    states_per_row: int = 4
    walks: int = 4
    average: float = 0.98

    @property
    def informative(self) -> bool:
        """Yes: nats, or squared units of the target."""
        return True

    def work(self, problem: Problem) -> float:
        """Several times as much as training a predictor."""
        return 13.0

    def _fit(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Fitted:
        from askless.methods.value.fitting import fit_value

        return fit_value(self, problem, seed, progress, checkpoint)
