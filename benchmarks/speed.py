"""How fast askless is, side by side with a literal Algorithm 1 and eager torch, in one run on one machine.

    make bench                       everything: two hours on two cores; writes docs/performance.md, its
                                     figure, and docs/results/performance.json
    python benchmarks/speed.py --quick --output DIR            every measurement in small, under two minutes
    python benchmarks/speed.py --only rollouts one_question    some measurements; the others are kept from before

Each measurement is saved when it is done; `--resume` continues after an interruption. Real data are taken from the
folder that ASKLESS_DATA names, generated data of the same shape otherwise.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from growth import growth
from inference_speed import one_question, rollouts
from machine import facts
from page import figure, page
from training_speed import gemm_share, mnist_progress, spam_quality, states_per_second

from askless.files import write_atomic

DOCS = Path(__file__).parent.parent / "docs"
MEASUREMENTS: dict[str, Callable[[bool], Any]] = {
    "states_per_second": states_per_second,
    "rollouts": rollouts,
    "one_question": one_question,
    "gemm_share": gemm_share,
    "spam_quality": spam_quality,
    "mnist_progress": mnist_progress,
    "growth": growth,
}


def _check_same(before: dict[str, Any] | None, now: dict[str, Any]) -> None:
    """Measurements of different machines, versions or sizes must not stand on one page."""
    differ = [name for name in now if before and name != "load before" and before.get(name) != now[name]]
    if differ:
        raise SystemExit(f"the figures that are there come from elsewhere ({', '.join(differ)}); measure all of them")


def main() -> None:
    """Measure, save and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="everything in small")
    parser.add_argument("--only", nargs="+", choices=MEASUREMENTS, help="just these measurements")
    parser.add_argument("--resume", action="store_true", help="just the measurements that are not there yet")
    parser.add_argument("--output", type=Path, default=DOCS, help="where to write (default: docs)")
    options = parser.parse_args()
    if options.quick and options.output == DOCS:
        parser.error("--quick needs --output: docs/ keeps the figures of a full run")
    saved = options.output / "results" / "performance.json"
    saved.parent.mkdir(parents=True, exist_ok=True)
    results: dict[str, Any] = {}
    if saved.exists() and (options.only or options.resume):
        results = json.loads(saved.read_text())
    for name in options.only or MEASUREMENTS:
        if options.resume and name in results:
            continue
        machine = facts() | {"quick": options.quick}
        print(f"{name} ...", flush=True)
        results[name] = MEASUREMENTS[name](options.quick)
        _check_same(results.get("machine"), machine)
        results["machine"] = machine
        write_atomic(saved, json.dumps(results, indent=1).encode())
    if all(
        name in results for name in MEASUREMENTS if name != "mnist_progress"
    ):  # which takes long, and may be left out
        (options.output / "images").mkdir(exist_ok=True)
        figure(results["growth"], options.output / "images" / "growth.png")
        write_atomic(options.output / "performance.md", page(results).encode())
    print(json.dumps({name: results[name] for name in results if name != "growth"}, indent=1))


if __name__ == "__main__":
    main()
