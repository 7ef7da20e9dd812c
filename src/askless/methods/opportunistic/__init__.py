"""Opportunistic learning: deep Q-learning of which feature to ask next.

`method` holds the settings and `fitting` the phases. `streams` walks many training rows at once, `certainty` rewards
what an answer changes, `replay` keeps the experiences, and `learner` teaches both networks from them.
"""

from askless.methods.opportunistic.method import Opportunistic

__all__ = ["Opportunistic"]
