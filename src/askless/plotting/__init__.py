"""Figures from trajectories and curves.

Every function draws on the matplotlib axes it is given, or on those of a new figure, and returns them: save with
`ax.figure.savefig("curve.png", dpi=200)`. `plot_reveal`, which needs many axes, returns a new figure. A new figure is
pyplot's current one, so that `plt.savefig`, `plt.show` and notebooks find it, and pyplot keeps it until `plt.close`.
With `pyplot=False` it belongs to the caller alone: for threads and servers, where pyplot is not safe, and for many
figures. No setting of matplotlib is changed on the way.
"""

from askless.plotting.figures import plot_curve, plot_path, plot_selection_frequency
from askless.plotting.pictures import plot_order_map, plot_reveal

__all__ = ["plot_curve", "plot_order_map", "plot_path", "plot_reveal", "plot_selection_frequency"]
