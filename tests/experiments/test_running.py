"""One task, from the table to the result; and the command line, killed and resumed."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from askless import DynamicClassifier
from askless.datasets import load_dataset
from askless.exceptions import CheckpointError
from askless.experiments import ExperimentError, Task, read_experiment, read_results, run_task
from askless.experiments.attempt import start_attempt
from askless.experiments.locks import take_lock
from askless.experiments.results import canonical_json, checkpoint_path, unpack_loss, unpack_order
from askless.experiments.running import split_rows
from askless.experiments.worker import main as work
from askless.methods import Greedy
from tests.coded import raises

QUICK = {"epochs": 2, "pretrain_epochs": 2, "hidden": [8]}
TRIAGE = Task(
    dataset="triage",
    dataset_options={"n": 400},
    method="greedy",
    method_options=QUICK,
    max_features=3,
    seed=1,
    split_seed=2,
)


def lasting(result):
    """What must be the same whenever a task is run."""
    return canonical_json({name: part for name, part in result.items() if name != "measured"})


@pytest.fixture(scope="module")
def result():
    return run_task(TRIAGE)


def test_thresholds_are_chosen_on_the_validation_rows(result):
    """With as many questions for every case: the estimator's own curves on the validation and the test rows."""
    data, rows = load_dataset("triage", n=400), split_rows(400, TRIAGE)
    model = DynamicClassifier(
        3, Greedy(epochs=2, pretrain_epochs=2, hidden=(8,)), data.groups, data.costs, random_state=1
    )
    parts = {
        part: (data.frame.iloc[numbers], data.target.iloc[numbers])
        for part, numbers in (("train", rows.train), ("valid", rows.valid), ("test", rows.test))
    }
    model.fit(*parts["train"], validation=parts["valid"])
    for part, key in (("valid", "stopping_valid"), ("test", "stopping")):
        fixed = result[key]["features"]
        assert fixed["log_loss"] == pytest.approx(model.curve(*parts[part], "log_loss")["score"].tolist(), rel=1e-6)
        assert fixed["cost"] == pytest.approx(model.rollout(parts[part][0]).cost.mean(axis=0).tolist())
    chosen_by = {"threshold", "features", "cost", "log_loss", "excess", "excess_error"}
    assert set(result["stopping_valid"]["confidence"]) == chosen_by


def test_the_result_is_what_the_estimator_says(result):
    data, rows = load_dataset("triage", n=400), split_rows(400, TRIAGE)
    X, y = data.frame, data.target
    model = DynamicClassifier(
        3, Greedy(epochs=2, pretrain_epochs=2, hidden=(8,)), data.groups, data.costs, random_state=1
    )
    model.fit(X.iloc[rows.train], y.iloc[rows.train], validation=(X.iloc[rows.valid], y.iloc[rows.valid]))
    X, y = X.iloc[rows.test], y.iloc[rows.test]
    for metric in ("auroc", "accuracy", "log_loss", "brier"):
        assert result["curves"][metric] == pytest.approx(model.curve(X, y, metric)["score"].tolist(), rel=1e-6)
    trajectory = model.rollout(X)
    assert (unpack_order(result) == trajectory.order).all()
    assert result["curves"]["cost"] == pytest.approx(trajectory.cost.mean(axis=0).tolist())
    assert unpack_loss(result).mean(axis=0) == pytest.approx(result["curves"]["log_loss"], rel=1e-3)
    assert result["curves"]["budget"] == result["calibration"]["budget"] == [0, 1, 2, 3]
    assert result["data"]["features"] == list(model.schema_.names)
    assert result["data"]["classes"] == model.classes_.tolist()
    assert result["data"]["rows"] == {"train": 240, "valid": 80, "test": 80}
    assert result["measured"]["fit_seconds"] > 0
    assert result["summary"]["kind"] == "dynamic"
    assert "seconds" not in result["summary"]  # times are measured, not a part of the result
    assert result["measured"]["method_seconds"]["greedy"] > 0


def test_a_checkpoint_changes_nothing(result, tmp_path):
    checkpoint = tmp_path / "part"
    assert lasting(run_task(TRIAGE, checkpoint)) == lasting(result)
    assert checkpoint.exists()
    again = run_task(TRIAGE, checkpoint)  # from the end of the fit
    assert lasting(again) == lasting(result)
    assert again["measured"]["resumed"]


def damaged_checkpoint(path):
    """A checkpoint of the task without its end."""
    run_task(TRIAGE, path)
    path.write_bytes(path.read_bytes()[:-10])


def test_the_worker_removes_a_damaged_checkpoint_and_says_so(result, tmp_path, caplog):
    checkpoint = checkpoint_path(tmp_path, TRIAGE)
    checkpoint.parent.mkdir()
    damaged_checkpoint(checkpoint)
    assert work(tmp_path, TRIAGE) == 0
    assert str(checkpoint) in caplog.text
    assert lasting(read_results(tmp_path)[0]) == lasting(result)
    assert not checkpoint.exists()


def test_a_damaged_checkpoint_that_a_user_names_stays(tmp_path):
    checkpoint = tmp_path / "part"
    damaged_checkpoint(checkpoint)
    content = checkpoint.read_bytes()
    with raises(CheckpointError, "damaged_file", path=str(checkpoint)):
        run_task(TRIAGE, checkpoint)
    assert checkpoint.read_bytes() == content


@pytest.mark.parametrize("code", ["other_fit", "wrong_file"])
def test_the_worker_keeps_other_checkpoints_and_fails(code, tmp_path, capsys):
    checkpoint = checkpoint_path(tmp_path, TRIAGE)
    checkpoint.parent.mkdir()
    if code == "other_fit":
        run_task(replace(TRIAGE, seed=5), checkpoint)
    else:
        checkpoint.write_bytes(b"nonsense")
    content = checkpoint.read_bytes()
    assert work(tmp_path, TRIAGE) == 1
    assert json.loads(capsys.readouterr().out)["code"] == code
    assert checkpoint.read_bytes() == content


@pytest.mark.parametrize("method", ["oracle_order", "all_features", "random"])
def test_controls(method):
    task = replace(TRIAGE, method=method, method_options={"epochs": 1, "hidden": [8]}, missing="answer")
    result = run_task(task)
    order = unpack_order(result)
    everything = method == "all_features"
    assert result["curves"]["budget"] == [0, 1, 2, 3, *([18] if everything else [])]
    assert order.shape == (80, 18 if everything else 3)
    assert unpack_loss(result).shape == (80, len(result["curves"]["budget"]))


def test_a_regression():
    result = run_task(
        Task(dataset="diabetes", method="random", method_options={"epochs": 1}, max_features=2, rows=200)
    )
    assert set(result["curves"]) == {"budget", "rmse", "mae", "r2", "cost"}
    assert "calibration" not in result
    assert np.sqrt(unpack_loss(result).mean(axis=0)) == pytest.approx(result["curves"]["rmse"], rel=1e-3)


def test_more_features_than_there_are():
    with raises(ExperimentError, "out_of_range", name="max_features", value=14, high=13):
        run_task(Task(dataset="wine", method="random", max_features=14))


def test_more_rows_than_there_are():
    with raises(ExperimentError, "out_of_range", name="rows", value=179, high=178):
        run_task(Task(dataset="wine", method="random", max_features=3, rows=179))


def test_the_worker_says_what_went_wrong(tmp_path, capsys, monkeypatch):
    assert work(tmp_path, replace(TRIAGE, max_features=19)) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["kind"], told["code"]) == ("ExperimentError", "out_of_range")
    assert "at most 18" in told["error"]
    assert "Traceback" in told["traceback"]

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("askless.experiments.results.write_atomic", full)
    assert work(tmp_path, TRIAGE) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["errno"], told["code"]) == (28, None)


EXPERIMENT = """\
name = "small"
seeds = [0]
max_features = 3
datasets = [{name = "triage", options = {n = 1500}}]
methods = [{name = "greedy", options = {epochs = 40, pretrain_epochs = 30, hidden = [8]}}]
"""


def start(file, output, *more):
    command = [sys.executable, "-m", "askless", "experiment", "run", str(file), "--output", str(output), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_killed_in_the_middle_of_fits_and_resumed_the_results_are_the_same(tmp_path):
    file, output = tmp_path / "small.toml", tmp_path / "out"
    file.write_text(EXPERIMENT)
    rng = random.Random(1)
    for _ in range(2):
        runner = start(file, output)
        wait_for(lambda: any((output / "checkpoints").glob("*.part")))
        time.sleep(rng.uniform(0.0, 0.3))
        runner.kill()
        runner.communicate()
        time.sleep(0.2)
    last = start(file, output)
    told, complaint = last.communicate(timeout=100)
    assert (last.returncode, complaint) == (0, "")
    assert "1 of 1 tasks done" in told
    (result,), (task,) = read_results(output), read_experiment(file).tasks()
    assert result["measured"]["resumed"]
    assert lasting(result) == lasting(run_task(task))
    assert not list((output / "checkpoints").iterdir())


def test_ctrl_c_says_how_to_go_on(tmp_path):
    file, output = tmp_path / "small.toml", tmp_path / "out"
    file.write_text(EXPERIMENT)
    runner = start(file, output, "--workers", "1")
    wait_for(lambda: any((output / "locks").glob("*")))
    runner.send_signal(signal.SIGINT)
    complaint = runner.communicate(timeout=30)[1]
    assert runner.returncode == 130
    assert complaint == "askless: stopped; 0 of 1 tasks are done; run the same command to continue\n"
    assert not list((output / "locks").iterdir())


def test_the_environment_has_no_say(result, tmp_path):
    """What the environment says of threads does not count: the runner says how many there are."""
    code = "import sys; from askless.experiments.worker import main; from askless.experiments import Task; "
    code += "import json; from pathlib import Path; "
    code += "sys.exit(main(Path(sys.argv[1]), Task.from_json(json.loads(sys.argv[2])), 1))"
    threads = {"OMP_NUM_THREADS": "3", "OPENBLAS_NUM_THREADS": "3"}
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), json.dumps(TRIAGE.to_json())],
        env={**os.environ, **threads},
        check=True,
    )
    assert lasting(read_results(tmp_path)[0]) == lasting(result)


def test_the_device_and_the_threads_go_to_the_fit(monkeypatch):
    seen = []

    def fit(self, *given, **options):
        seen.append((self.device, self.n_threads))
        raise InterruptedError

    monkeypatch.setattr("askless.estimators.DynamicClassifier.fit", fit)
    for task, threads in ((TRIAGE, 1), (replace(TRIAGE, device="auto"), 3)):
        with pytest.raises(InterruptedError):
            run_task(task, threads=threads)
    assert seen == [("cpu", 1), ("auto", 3)]


def test_the_runner_gives_each_process_its_threads(tmp_path):
    """A worker that tells its arguments instead of running."""
    code = "import sys, runpy, askless.experiments.running as r; "
    code += "r.run_task = lambda task, checkpoint, threads: sys.exit(40 + threads); "
    code += "sys.argv = sys.argv[:2]; runpy.run_module('askless.experiments.worker', run_name='__main__')"
    lock = take_lock(tmp_path / "lock")
    attempt = start_attempt(TRIAGE, tmp_path, lock, 1, 3, (sys.executable, "-c", code))
    assert attempt.process.wait(60) == 43
    attempt.close()
    lock.release()


def test_steps_until_all_that_matters_was_asked():
    task = Task(dataset="syn1", dataset_options={"n": 100}, method="fixed_order", max_features=11)
    task = replace(task, method_options={"order": ["x11", "x1", "x2"], "epochs": 1, "hidden": [4]})
    result = run_task(task)
    data = load_dataset("syn1", n=100)
    rows = split_rows(100, task).test
    below = data.frame["x11"].to_numpy()[rows] < 0  # these need x1, x2 and x11, the others x3 to x6 and x11
    assert result["relevant"]["steps"] == pytest.approx(np.where(below, 3, 7).mean())
    assert result["relevant"]["least"] == pytest.approx(np.where(below, 3, 5).mean())
    assert result["relevant"]["found"] == 1.0
    few = run_task(replace(task, max_features=2))
    assert few["relevant"] == {"steps": None, "found": 0.0, "least": result["relevant"]["least"]}
