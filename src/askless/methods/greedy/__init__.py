"""The paper's greedy method.

`method` holds the settings and `fitting` the phases. On chains of training states (`training/chains.py`) `learner` trains
both networks: `relaxed` by the paper's Algorithm 1, `expected` by its objective itself; `following` is the last phase,
of the predictor alone.
"""

from askless.methods.greedy.method import Greedy

__all__ = ["Greedy"]
