"""The messy table as a file, models of it that train in no time, and a way to run the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from askless import DynamicClassifier, DynamicRegressor
from askless.cli import main
from askless.methods import Greedy
from tests.cli.cli_helpers import COSTS, FEATURES, GROUPS, Result, messy_frame


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run a command in this process."""

    def run(*words: object) -> Result:
        capsys.readouterr()
        code = main([str(word) for word in words])
        told = capsys.readouterr()
        return Result(code, told.out, told.err)

    return run


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """The messy table as a CSV file."""
    path = tmp_path / "data.csv"
    messy_frame().to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier of `ill`."""
    frame = messy_frame()
    X = frame[FEATURES].assign(grade=frame["grade"].astype("category"))
    method = Greedy(epochs=2, pretrain_epochs=2, hidden=(8,))
    estimator = DynamicClassifier(3, method, groups=GROUPS, costs=COSTS, reference_rows=256).fit(X, frame["ill"])
    path = tmp_path_factory.mktemp("models") / "m.askless"
    estimator.save(path)
    return path


@pytest.fixture(scope="session")
def regressor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A regression of `score`."""
    frame = messy_frame()
    method = Greedy(epochs=2, pretrain_epochs=2, hidden=(8,))
    estimator = DynamicRegressor(2, method).fit(frame[["age", "smokes", "low"]], frame["score"])
    path = tmp_path_factory.mktemp("models") / "r.askless"
    estimator.save(path)
    return path
