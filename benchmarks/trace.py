"""How much code a fit runs: files and functions of askless that a greedy fit on Spam passes through.

python benchmarks/trace.py          (ASKLESS_DATA names the folder with the data sets)
"""

import sys
from pathlib import Path

import askless
from askless import DynamicClassifier
from askless.datasets import load_dataset

ROOT = str(Path(askless.__file__).parent)


def main():
    data = load_dataset("spam")
    model = DynamicClassifier(max_features=10, method="greedy")
    seen = set()

    def note(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(ROOT):
            seen.add((frame.f_code.co_filename, frame.f_code.co_qualname))

    sys.setprofile(note)
    model.fit(data.frame, data.target)
    sys.setprofile(None)
    functions = {pair for pair in seen if "<" not in pair[1].rsplit(".", 1)[-1]}  # no lambdas and comprehensions
    print(f"{len({file for file, _ in functions})} files, {len(functions)} functions")
    if "--list" in sys.argv:
        for file, name in sorted(functions):
            print(f"{file.removeprefix(ROOT + '/')}: {name}")


if __name__ == "__main__":
    main()
