"""Figures of an image experiment's greedy model: digits or photographs as they are revealed, and what is asked when.

    python benchmarks/pictures.py experiments/paper-mnist-cpu.toml docs/results/paper-mnist-cpu

The model is fitted as the experiment says (first seed), on the same rows, and asked about test rows. A checkpoint
that a run of the experiment has left spares most of the time (`runs/paper-mnist-cpu/checkpoints/KEY.part`).
"""

import argparse
from pathlib import Path

import numpy as np

from askless.experiments import read_experiment
from askless.experiments.running import fit_task, load_table, split_rows
from askless.model_file import write_model
from askless.plotting import plot_order_map, plot_reveal

CASES = 2000  # for the map


def main() -> None:
    """Fit, ask, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", type=Path)
    parser.add_argument("output", type=Path, help="folder for reveal.png and order.png")
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--save", type=Path, help="keep the model, too")
    options = parser.parse_args()
    task = next(task for task in read_experiment(options.experiment).tasks() if task.method == "greedy")
    data = load_table(task)
    rows = split_rows(len(data.frame), task)
    model = fit_task(task, data, rows, options.checkpoint)
    if options.save is not None:
        write_model(model, options.save)
    some = rows.test[:CASES]
    images, truth = data.images[some], data.target.iloc[some].tolist()
    asked = model.rollout(data.frame.iloc[some])
    grid = model.schema.grid
    options.output.mkdir(parents=True, exist_ok=True)
    shown = one_of_each(truth)[:8]
    budgets = np.unique(np.geomspace(1, task.max_features, 7).round().astype(int)).tolist()
    reveal = plot_reveal(asked, images, grid, rows=shown, budgets=budgets, truth=truth)
    reveal.savefig(options.output / "reveal.png", dpi=140)
    plot_order_map(asked, grid).figure.savefig(options.output / "order.png", dpi=140)


def one_of_each(labels: list) -> list[int]:
    """The first case of each label, in the order in which they come."""
    return sorted({label: row for row, label in reversed(list(enumerate(labels)))}.values())


if __name__ == "__main__":
    main()
