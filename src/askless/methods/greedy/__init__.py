"""The paper's greedy method.

`method` holds the settings and `fitting` the phases; `chains` keeps the training states, on which `relaxed` trains by
the paper's Algorithm 1 and `expected` by its objective itself; `first` finds the first question.
"""

from askless.methods.greedy.method import Greedy

__all__ = ["Greedy"]
