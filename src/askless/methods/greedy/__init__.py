"""The paper's greedy method.

`method` holds the settings and `fitting` the phases. The states are chains (`training/chains.py`), on which both
networks are trained: `relaxed` by the paper's Algorithm 1, `expected` by its objective itself; `learner` is what both
share. In the last phase, `following`, the predictor alone is trained.
"""

from askless.methods.greedy.method import Greedy

__all__ = ["Greedy"]
