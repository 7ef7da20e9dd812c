"""The paper's greedy method.

`method` holds the settings, `fitting` the phases, `chains` the training states (Algorithm 1), `first` the first
question.
"""

from askless.methods.greedy.method import Greedy

__all__ = ["Greedy"]
