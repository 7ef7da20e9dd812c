"""A small model, and the real service on a port of this machine."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from askless import DynamicClassifier, DynamicRegressor
from askless.datasets import load_dataset
from askless.methods import Greedy
from askless.service.logs import Log
from askless.service.models import Models, read_models
from askless.service.server import make_server
from askless.service.settings import Settings
from tests.cli.cli_helpers import COSTS, GROUPS, messy_frame

FEATURES = Path(__file__).parents[2] / "docs" / "examples" / "triage.features.json"


@pytest.fixture(scope="session")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier of the triage table."""
    data = load_dataset("triage", n=1200)
    quick = Greedy(epochs=2, pretrain_epochs=3, hidden=(16,))
    path = tmp_path_factory.mktemp("served") / "triage.askless"
    DynamicClassifier(6, quick, groups=data.groups, costs=data.costs).fit(data.frame, data.target).save(path)
    return path


@pytest.fixture(scope="session")
def regressor_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A regression with a group, and a category of numbers."""
    frame = messy_frame()
    X = frame[["age", "smokes", "high", "low", "grade"]].assign(
        grade=(frame["age"].fillna(0) // 30).astype("category")
    )
    quick = Greedy(epochs=2, pretrain_epochs=2, hidden=(8,))
    path = tmp_path_factory.mktemp("served") / "score.askless"
    DynamicRegressor(3, quick, groups=GROUPS, costs=COSTS).fit(X, frame["score"]).save(path)
    return path


@pytest.fixture(scope="session")
def group_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier with a group of a number, a category and a boolean."""
    frame = messy_frame()
    X, groups = frame[["age", "colour", "smokes", "low"]], {"habits": ["age", "colour", "smokes"]}
    path = tmp_path_factory.mktemp("served") / "habits.askless"
    quick = Greedy(epochs=2, pretrain_epochs=2, hidden=(8,))
    DynamicClassifier(2, quick, groups=groups).fit(X, frame["ill"]).save(path)
    return path


@pytest.fixture(scope="session")
def models(model_file: Path, regressor_file: Path) -> Models:
    names = Path(model_file).parent / "features.json"
    names.write_bytes(FEATURES.read_bytes())
    return read_models([str(model_file), str(regressor_file)], str(names))


@dataclass
class Service:
    """A service that runs."""

    url: str
    client: httpx.Client
    log: io.StringIO

    def next(self, body: Any, model: str = "triage") -> httpx.Response:
        return self.client.post(f"/api/models/{model}/next", json=body)


@contextmanager
def running(models: Models, **settings: Any) -> Iterator[Service]:
    """Serve in a thread, on a free port."""
    log = io.StringIO()
    server = make_server(models, Settings(port=0, **settings), Log(log))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), log.getvalue()
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with httpx.Client(base_url=url, timeout=20, trust_env=False) as client:
        try:
            yield Service(url, client, log)
        finally:
            server.should_exit = True
            thread.join(20)


@pytest.fixture(scope="session")
def service(models: Models) -> Iterator[Service]:
    """One service for all tests that do not change its settings."""
    with running(models) as service:
        yield service


@pytest.fixture(scope="session")
def group_service(group_file: Path) -> Iterator[Service]:
    """A service of the model with a group."""
    with running(read_models([str(group_file)])) as service:
        yield service


@pytest.fixture
def start(models: Models) -> Iterator[Callable[..., Service]]:
    """Start services with settings of their own."""
    open_ones: list[Any] = []

    def start(**settings: Any) -> Service:
        one = running(models, **settings)
        open_ones.append(one)
        return one.__enter__()

    yield start
    for one in reversed(open_ones):
        one.__exit__(None, None, None)
