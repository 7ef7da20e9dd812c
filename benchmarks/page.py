"""The page docs/performance.md and its figure, from what was measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from growth import exponent
from matplotlib.figure import Figure
from service_load import with_lines
from training_speed import STANDARDISED

from askless.plotting.style import PALETTE

HOW = (Path(__file__).parent / "performance_notes.md").read_text()
SERVICE = Path(__file__).parent.parent / "docs" / "results" / "service.json"


def page(results: dict[str, Any]) -> str:
    """Markdown."""
    return "\n".join(
        [
            "# How fast it is",
            "",
            "`make bench` writes this page. Each ratio is of two programs in one run on one machine (several runs "
            "may have made the page, see `--only`). Ratios are what counts: seconds differ from machine to machine, "
            "and on shared ones, such as this one, by a factor of two from minute to minute.",
            "",
            _summary(results),
            "",
            _quality("Spam, 35 selections", "AUROC (x 100) over budgets 1 to 10", results["spam_quality"]),
            "",
            _quality(
                "MNIST pixels, 50 selections", "accuracy (%) over budgets 1 to 50", results.get("mnist_progress")
            ),
            _marks(results.get("mnist_progress")),
            "",
            _states(results["states_per_second"]),
            "",
            _growth(results["growth"]),
            "",
            HOW.strip(),
            "",
            "## The machine",
            "",
            _table(["what", "value"], [[name, value] for name, value in results["machine"].items()]),
            "",
            with_lines("", json.loads(SERVICE.read_text())) if SERVICE.exists() else "",
        ]
    )


def figure(sweeps: dict[str, list[dict[str, float]]], path: Path) -> None:
    """Seconds and peak memory against rows, features and budget."""
    fig: Figure
    fig, grid = plt.subplots(2, len(sweeps), figsize=(3.2 * len(sweeps), 4.8), squeeze=False, layout="constrained")
    for column, (name, fits) in enumerate(sweeps.items()):
        sizes = [fit[name] for fit in fits]
        for ax, what, label, colour in zip(
            grid[:, column], ("seconds", "peak"), ("seconds", "peak memory, MiB"), PALETTE, strict=False
        ):
            ax.plot(sizes, [fit[what] for fit in fits], marker="o", color=colour)
            ax.set(xscale="log", yscale="log", ylabel=label if column == 0 else "")
            ax.grid(alpha=0.3)
            ax.spines[["top", "right"]].set_visible(False)
            low, high = min(fit[what] for fit in fits), max(fit[what] for fit in fits)
            ax.set_ylim(low / 2, high * 2)
        grid[0, column].set_title(_at(name, fits[0]), fontsize=9)
        grid[1, column].set_xlabel(name)
    fig.savefig(path, dpi=150)
    plt.close(fig)


def _at(name: str, fit: dict[str, float]) -> str:
    others = {other: fit[other] for other in ("rows", "features", "budget") if other != name}
    return ", ".join(
        f"{value:,.0f} {other}" if other != "budget" else f"budget {value:.0f}" for other, value in others.items()
    )


def _table(head: list[str], rows: list[list[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def _runs(quality: dict[str, Any], which: str) -> list[dict[str, float]]:
    return quality[which] if isinstance(quality[which], list) else [quality[which]]


def _ratio(quality: dict[str, Any] | None, which: str = "literal") -> str:
    if quality is None or which not in quality:
        return "not measured in this run"
    literal = _runs(quality, which)
    seconds, target = (float(np.mean([run[what] for run in literal])) for what in ("seconds", "score"))
    return _faster(seconds, target, quality["askless"])


def _faster(seconds: float, target: float, ours: list[dict[str, Any]]) -> str:
    """How much longer the literal loop took to its score than askless' shortest fits that are as good."""
    for each in ours:
        if np.mean([run["score"] for run in each["runs"]]) >= target:
            own = float(np.mean([run["seconds"] for run in each["runs"]]))
            return f"{seconds:.0f} s / {own:.1f} s = **{seconds / own:.0f} times**"
    return "not reached"


def _marks(quality: dict[str, Any] | None) -> str:
    """What the literal loop reached on its way, and how much faster askless was there."""
    if quality is None or "marks" not in quality:
        return ""
    rows: list[list[object]] = []
    for mark in quality["marks"]:
        ratio = _faster(mark["seconds"], mark["score"], quality["askless"])
        rows.append([f"{mark['states'] / 1e6:.1f}", f"{mark['score']:.2f}", ratio])
    head = ["states of the literal loop, million", "mean accuracy (%)", "its time / that of askless"]
    return "\n" + _table(head, rows)


def _summary(results: dict[str, Any]) -> str:
    states, rolls, step = results["states_per_second"], results["rollouts"], results["one_question"]
    share = results["gemm_share"]

    def ratio(cell: dict[str, float]) -> str:
        return f"{cell['askless']:,.0f} / {cell['literal']:,.0f} = **{cell['askless'] / cell['literal']:.1f} times**"

    def rolled(cell: dict[str, float]) -> str:
        counts = sorted({key.split(", threads ")[1] for key in cell if ", threads " in key}, key=int)
        return "; ".join(
            f"{cell[f'askless, threads {n}'] / cell[f'torch, threads {n}']:.1f} times on {n} thread{'s' * (n != '1')}"
            for n in counts
        )

    rows: list[list[object]] = [
        ["Spam, 35 selections: time to the literal loop's final validation AUROC", _ratio(results["spam_quality"])],
        [
            "the same, where the literal loop gets standardised values, as in the paper's code",
            _ratio(results["spam_quality"], STANDARDISED),
        ],
        [
            "MNIST pixels, 50 selections: time to the literal loop's validation accuracy",
            _ratio(results.get("mnist_progress")),
        ],
        ["training states a second, batches of 128, one thread each", ratio(states["batch 128"])],
        ["training states a second, batches of 512, one thread each", ratio(states["batch 512"])],
        [
            "the same, each in the batches it trains with (512 states; 128 rows)",
            f"**{states['batch 512']['askless'] / states['batch 128']['literal']:.1f} times**",
        ],
        ["batch roll-out, Spam's net, 10 selections, against eager torch", rolled(rolls["Spam"])],
        ["batch roll-out, MNIST's net, 50 selections, against eager torch", rolled(rolls["MNIST"])],
        [
            "one interview step (answer, next question, prediction), Spam's net",
            f"median {step['askless median']:.0f} us against {step['torch median']:.0f} us of eager torch = "
            f"**{step['torch median'] / step['askless median']:.1f} times**; p99 is "
            f"{step['askless p99'] / step['askless median']:.1f} medians",
        ],
        *(
            [
                f"share of the matrix products' own speed that training reaches, {name}'s net",
                f"**{100 * cell['share']:.0f} %** ({cell['GFLOP/s in training']:.0f} of "
                f"{cell['GFLOP/s of the products alone']:.0f} GFLOP/s)",
            ]
            for name, cell in share.items()
        ),
    ]
    return _table(["what", "measured"], rows)


def _quality(title: str, score: str, quality: dict[str, Any] | None) -> str:
    if quality is None:
        return f"## {title}\n\nNot measured in this run."
    rows: list[list[object]] = []
    for which, told in {"literal": "", STANDARDISED: " on standardised values"}.items():
        if which in quality:
            runs = _runs(quality, which)
            rows.append([f"the literal loop{told}", _mean(runs, "seconds", 0), _mean(runs, "score", 2), len(runs)])
    for each in quality["askless"]:
        told = ", ".join(f"{name}={value}" for name, value in each["settings"].items()) or "defaults"
        rows.append(
            [
                f"askless, {told}",
                _mean(each["runs"], "seconds", 1),
                _mean(each["runs"], "score", 2),
                len(each["runs"]),
            ]
        )
    return f"## {title} ({quality['source']})\n\n" + _table(["training", "seconds", f"mean {score}", "runs"], rows)


def _mean(runs: list[dict[str, float]], what: str, digits: int) -> str:
    values = [run[what] for run in runs]
    spread = f" (sd {np.std(values, ddof=1):.{digits}f})" if len(values) > 1 else ""
    return f"{np.mean(values):.{digits}f}{spread}"


def _states(states: dict[str, Any]) -> str:
    rows: list[list[object]] = [
        [name, f"{cell['literal']:,.0f}", f"{cell['askless']:,.0f}", f"{cell['askless'] / cell['literal']:.2f}"]
        for name, cell in states.items()
        if isinstance(cell, dict)
    ]
    everything = states["literal, batch 128, all threads"]
    return (
        f"## States a second ({states['source']}, 35 selections)\n\n"
        + _table(["", "literal", "askless", "ratio"], rows)
        + f"\n\nOn all threads the literal loop trains on {everything:,.0f} states a second (batch 128)."
    )


def _growth(sweeps: dict[str, list[dict[str, float]]]) -> str:
    parts = ["## Growth", "", "![seconds and memory against rows, features and budget](images/growth.png)", ""]
    for name, fits in sweeps.items():
        sizes = [fit[name] for fit in fits]
        slope = exponent(sizes, [fit["seconds"] for fit in fits])
        last = exponent(sizes[-2:], [fit["seconds"] for fit in fits[-2:]])
        memory = exponent(sizes, [max(fit["peak"] - fit["before"], 1.0) for fit in fits])
        rows: list[list[object]] = [
            [
                f"{fit['rows']:,.0f}",
                f"{fit['features']:,.0f}",
                f"{fit['budget']:.0f}",
                f"{fit['seconds']:.1f}",
                f"{fit['peak']:,.0f}",
                f"{fit['before']:,.0f}",
                f"{fit['accuracy']:.3f}",
            ]
            for fit in fits
        ]
        parts += [
            f"**By {name}**: seconds grow like {name}^{slope:.2f} over the whole range (^{last:.2f} between the last "
            f"two), "
            f"memory beyond what was there before the fit (of which torch is some 220 MiB) like {name}^{memory:.2f}.",
            "",
            _table(
                [
                    "rows",
                    "features",
                    "budget",
                    "seconds",
                    "peak MiB",
                    "MiB before the fit",
                    "accuracy",
                ],
                rows,
            ),
            "",
        ]
    return "\n".join(parts).rstrip()
