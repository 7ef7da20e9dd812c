"""How far one method is ahead of the others after each number of features, where there is one seed of each.

    python benchmarks/margins.py docs/results/paper-cifar10-cpu 6 10 15 20

Prints a table of accuracies and leads in points, with 95 % intervals of the draw of test cases, as if every method
had been tested on cases of its own. All have the same cases, which makes the true intervals narrower; the luck of
training is in neither.
"""

import argparse
import math
from pathlib import Path

from askless.experiments import read_results

Z = 1.96


def main() -> None:
    """Read, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of the experiment's results")
    parser.add_argument("budgets", type=int, nargs="+", help="numbers of features")
    parser.add_argument(
        "--ahead", default="greedy", help="the method to compare with the others (default: %(default)s)"
    )
    options = parser.parse_args()
    read = read_results(options.folder)
    results = {result["task"]["label"]: result for result in read}
    if len(results) < len(read) or options.ahead not in results:
        parser.error(f"{options.folder} must have one result of each method, {options.ahead!r} among them")
    accuracies = {label: _accuracies(result, options.budgets) for label, result in results.items()}
    cases = results[options.ahead]["data"]["rows"]["test"]
    print(_row(["", *map(str, options.budgets)]))
    print(_row(["---"] * (1 + len(options.budgets))))
    for label, accuracy in accuracies.items():
        print(_row([label, *(f"{100 * p:.1f}" for p in accuracy)]))
    ahead = accuracies.pop(options.ahead)
    for label, accuracy in accuracies.items():
        leads = [_lead(p, q, cases) for p, q in zip(ahead, accuracy, strict=True)]
        print(_row([f"lead over {label}", *leads]))


def _accuracies(result: dict, budgets: list[int]) -> list[float]:
    curves = result["curves"]
    return [curves["accuracy"][curves["budget"].index(budget)] for budget in budgets]


def _lead(p: float, q: float, cases: int) -> str:
    half = Z * math.sqrt((p * (1 - p) + q * (1 - q)) / cases)
    return f"{100 * (p - q):+.1f} ± {100 * half:.1f}"


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
