"""How long one question about one image takes, and how much memory, with each network; prints a table.

    python benchmarks/image_speed.py

Networks are trained for a moment on noise: neither time nor memory depends on what they know. Each is then loaded and
asked in a process of its own. Dense networks load no torch there; convolutions are torch's.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from askless import DynamicClassifier
from askless.methods import Greedy

KINDS = (
    ("MNIST pixels, two layers of 512", (28, 28), 1, {"hidden": (512, 512)}),
    ("MNIST squares of 2 x 2, two layers of 512", (28, 28), 2, {"hidden": (512, 512)}),
    ("CIFAR-10, `conv_tiny`", (32, 32, 3), 4, {"network": "conv_tiny", "shared": True}),
    ("CIFAR-10, `conv_small`", (32, 32, 3), 4, {"network": "conv_small", "shared": True}),
    ("CIFAR-10, `conv_medium`", (32, 32, 3), 4, {"network": "conv_medium", "shared": True}),
    ("CIFAR-10, `conv_patches`", (32, 32, 3), 4, {"network": "conv_patches", "shared": True}),
    ("CIFAR-10, `resnet18`", (32, 32, 3), 4, {"network": "resnet18", "shared": True}),
)
ASK = """
import json, sys, time
import numpy as np
from askless.model_file import read_model

def memory():
    lines = open("/proc/self/status").read().splitlines()
    return {line.split(":")[0]: int(line.split()[1]) / 1000 for line in lines if line.startswith(("VmRSS", "VmHWM"))}

before = memory()["VmRSS"]
model = read_model(sys.argv[1])
seconds = []
for case in range(3):
    talk = model.interview()
    for _ in range(12):
        start = time.perf_counter()
        talk.answer(128.0)  # and with it comes the next question, and the prediction
        assert talk.prediction and (talk.done or talk.question)
        seconds.append(time.perf_counter() - start)
assert ("torch" in sys.modules) == (sys.argv[2] == "torch")
print(json.dumps({"ms": 1000 * float(np.median(seconds)), "MB": memory()["VmHWM"], "MB before": before}))
"""


def main() -> None:
    """Fit, save, ask, print."""
    print("| network | a question, ms | memory, MB | the file, MB |\n|---|---|---|---|")
    rng = np.random.default_rng(0)
    for name, shape, patch, settings in KINDS:
        images, labels = rng.integers(0, 256, (80, *shape), dtype=np.uint8), np.arange(80) % 10
        method = Greedy(epochs=1, pretrain_epochs=1, polish=False, first="learned", batch_size=16, **settings)
        model = DynamicClassifier(12, method, patch_size=patch, reference_rows=0, random_state=0, verbose=False)
        model.fit(images, labels, validation=(images[:20], labels[:20]))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.askless"
            model.save(path)
            command = [sys.executable, "-c", ASK, str(path), "torch" if "network" in settings else "numpy"]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            told, size = json.loads(done.stdout), path.stat().st_size / 1e6
        print(
            f"| {name} | {told['ms']:.2f} | {told['MB']:.0f} ({told['MB before']:.0f} before) | {size:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
