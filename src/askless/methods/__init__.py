"""Methods: what turns training data into a policy and a predictor. One file each; they do not know one another.

A new method is one file and one line here; the checks, the command line and the estimators then see it.
"""

from askless.methods.base import Fitted, Method, find_method, list_methods
from askless.methods.fixed_order import FixedOrder
from askless.methods.greedy import Greedy
from askless.methods.random import Random

__all__ = ["Fitted", "FixedOrder", "Greedy", "Method", "Random", "find_method", "list_methods"]
