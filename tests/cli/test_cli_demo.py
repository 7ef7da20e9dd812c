import io

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from askless import load
from askless.acquisition import Schema, Trajectory
from askless.cli.walk import answer_of, choose_case, walk
from askless.methods import FixedOrder, Greedy, Random
from askless.model_file import read_model
from tests.cli.cli_helpers import messy_frame


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Methods that train for two epochs; whether they train well is tested elsewhere."""
    for method, quick in (
        (Greedy, {"epochs": 2, "pretrain_epochs": 2, "hidden": (8,)}),
        (FixedOrder, {"epochs": 2, "hidden": (8,)}),
        (Random, {"epochs": 2, "hidden": (8,)}),
    ):
        for name, value in quick.items():
            monkeypatch.setitem(method.__init__.__kwdefaults__, name, value)


@pytest.mark.usefixtures("no_pyplot")
@pytest.mark.parametrize(
    ("dataset", "rows"), [("triage", 400), ("diabetes", None), ("exact_gaussian_suppressor", 300)]
)
def test_demo(run, tmp_path, dataset, rows):
    folder = tmp_path / "report"
    more = [] if rows is None else ["--rows", rows]
    result = run("demo", "--dataset", dataset, "--output", folder, "--budget", 3, *more)
    assert result.code == 0, result.err
    assert "greedy" in result.out
    assert "the truth is" in result.out
    assert sorted(path.name for path in folder.iterdir()) == ["curve.png", "demo.askless", "index.html"]
    assert load(folder / "demo.askless").max_features == 3
    page = (folder / "index.html").read_text()
    assert page.count("data:image/svg+xml;base64,") == 3
    for outside in ("<script", "http://", "https://", "@import", "<link"):
        assert outside not in page


def test_a_stopped_demo_continues(run, tmp_path, monkeypatch):
    words = ["demo", "--dataset", "wine", "--output", tmp_path, "--budget", 2]

    def stop(*args, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Random, "_order", stop)
        result = run(*words)
    assert (result.code, result.err) == (130, "askless: stopped; run the same command again to continue\n")
    assert (tmp_path / ".greedy.part").exists()
    assert run(*words).code == 0
    assert not list(tmp_path.glob(".*"))


def test_a_file_that_is_no_checkpoint_stops_the_demo(run, tmp_path):
    (tmp_path / ".greedy.part").write_bytes(b"years of work")
    assert run("demo", "--dataset", "wine", "--output", tmp_path, "--budget", 2).error == "wrong_file"
    assert (tmp_path / ".greedy.part").read_bytes() == b"years of work"


def test_a_checkpoint_of_another_demo_is_overwritten(run, tmp_path, monkeypatch):
    words = ["demo", "--dataset", "wine", "--output", tmp_path, "--budget"]

    def stop(*args, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Random, "_order", stop)
        assert run(*words, 2).code == 130
    assert run(*words, 1).code == 0
    assert load(tmp_path / "demo.askless").max_features == 1
    assert not list(tmp_path.glob(".*"))


def test_the_walk_asks_what_the_rollout_asked(model):
    fitted, frame = read_model(model), messy_frame()
    trajectory = fitted.rollout(frame)
    case = choose_case(trajectory, frame, frame["ill"], fitted.schema, "classification")
    shown = io.StringIO()
    walk(Console(file=shown, markup=False), fitted.interview, case, frame.iloc[case.row], fitted.schema)
    places = [shown.getvalue().index(f". {name}") for name in trajectory.names(case.row)]
    assert places == sorted(places)
    assert f"the truth is {case.truth}" in shown.getvalue()


def test_the_case_is_one_that_changed_for_the_better():
    trajectory = Trajectory(
        order=np.array([[0], [0], [0]]),
        predictions=np.array([[[0.9, 0.1], [0.8, 0.2]], [[0.9, 0.1], [0.2, 0.8]], [[0.9, 0.1], [0.3, 0.7]]]),
        cost=np.zeros((3, 2)),
        stop_reason=np.array(["done"] * 3),
        feature_names=("x",),
        outputs=("no", "yes"),
    )
    X, y = pd.DataFrame({"x": [1.0, 2.0, 3.0]}), pd.Series(["no", "no", "yes"])
    case = choose_case(trajectory, X, y, Schema.of_numbers(["x"]), "classification")
    assert (case.row, case.answers, case.truth) == (2, (3.0,), "yes")
    assert answer_of(Schema.of_numbers(["x"]).features[0], pd.Series({"x": np.nan})) is None
