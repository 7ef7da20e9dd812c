"""Importing askless and serving a saved model load nothing heavy."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from askless import DynamicClassifier
from askless.methods import Greedy

HEAVY = ("torch", "sklearn", "pandas", "polars", "matplotlib", "scipy")

REPORT = f"""
import json, sys
print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))
"""


def run(code, *arguments):
    """What Python code prints, in a process of its own."""
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def loaded_by(code, *arguments):
    """Which heavy packages some code imports."""
    return set(json.loads(run(code + REPORT, *arguments).splitlines()[-1]))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    X = np.random.default_rng(0).normal(size=(60, 4))
    path = tmp_path_factory.mktemp("models") / "m.askless"
    quick = Greedy(epochs=2, pretrain_epochs=2, hidden=(8,))
    DynamicClassifier(2, method=quick).fit(X, X[:, 0] > 0).save(path)
    return str(path)


def test_importing_askless_loads_nothing_heavy():
    assert loaded_by("import askless") == set()
    assert (
        loaded_by("import askless, askless.exceptions, askless.acquisition; dir(askless); askless.__version__")
        == set()
    )


def test_importing_askless_is_fast():
    """At most half a second more than numpy, best of five."""
    timed = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"
    askless, numpy = (min(float(run(timed.format(name))) for _ in range(5)) for name in ("askless", "numpy"))
    assert askless < numpy + 0.5


SERVING = """
import sys
import numpy as np
from askless.model_file import read_model
model = read_model(sys.argv[1])
X = np.random.default_rng(1).normal(size=(5, 4))
X[0, 0] = np.nan
assert model.rollout(X, costs={"x0": 2.0}, known=["x1"]).order.shape == (5, 2)
talk = model.interview(known={"x3": 0.5})
for _ in range(2):
    talk.answer(0.25)
assert talk.done
talk.undo()
talk.unknown()
assert set(talk.prediction) == {False, True}
"""


def test_serving_a_saved_model_on_arrays_loads_neither_torch_nor_scikit_learn(path):
    assert loaded_by(SERVING, path) == set()


def test_serving_a_saved_model_on_frames_loads_what_the_frame_needs(path):
    code = (
        SERVING + "import polars as pl; model.rollout(pl.DataFrame(X, schema=['x0', 'x1', 'x2', 'x3'], orient='row'))"
    )
    assert loaded_by(code, path) == {"polars"}


def test_listing_data_sets_imports_no_torch():
    assert "torch" not in loaded_by("from askless.datasets import list_datasets; assert list_datasets()")


def test_a_name_that_is_not_there():
    code = "import askless\ntry:\n    askless.Dynamic\nexcept AttributeError as error:\n    print(error)"
    assert run(code).strip() == "module 'askless' has no attribute 'Dynamic'"


def test_the_environment_is_the_same():
    """The processes above see the package that is tested here."""
    import askless

    assert run("import askless; print(askless.__file__)").strip() == os.path.abspath(askless.__file__)
