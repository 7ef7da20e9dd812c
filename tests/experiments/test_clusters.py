"""Tasks on a real cluster of two worker processes, one of which is killed."""

import json
import os
import signal
from functools import partial

import pytest

pytest.importorskip("distributed")

from distributed import LocalCluster

from askless.exceptions import AsklessWarning, ClusterError
from askless.experiments import Task, clusters, run_task
from askless.experiments.clusters import connected, run_on_dask, run_task_json
from askless.experiments.folder import Folder
from askless.experiments.results import read_result, result_path
from askless.version import __version__
from tests.coded import raises, warns
from tests.experiments.cluster_work import failing, noted
from tests.experiments.made_results import result


class Quiet:
    """Watches a run, and does something now and then."""

    def __init__(self, look=lambda board: None):
        self.look = look

    def begin(self, board):
        pass

    end = begin

    def tell(self, board, task, what):
        pass


@pytest.fixture(scope="module")
def cluster():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with LocalCluster(**options, dashboard_address=":0") as two_workers:
        yield two_workers


def made_tasks(count):
    return [Task.from_json(result(seed=seed)["task"]) for seed in range(count)]


def executions(folder, suffix):
    return sorted(file.name.removesuffix(suffix) for file in folder.glob(f"*{suffix}"))


def key_of(execution):
    return execution.partition(".")[0]


def test_a_killed_worker_loses_nothing_and_nothing_done_runs_again(cluster, tmp_path):
    tasks, notes = made_tasks(6), tmp_path / "notes"
    notes.mkdir()
    killed = []

    def kill_one(board):
        """When two tasks are done, kill a worker that is at work."""
        running = set(executions(notes, ".begun")) - set(executions(notes, ".ended"))
        if not killed and board.count("done") >= 2 and running:
            killed.append(min(running))
            os.kill(int(killed[0].split(".")[1]), signal.SIGKILL)

    work = partial(noted, folder=str(notes), seconds=0.4)
    board = run_on_dask(tasks, Folder(tmp_path), Quiet(kill_one), cluster.scheduler_address, work)
    assert board.count("done") == len(tasks)
    assert all(read_result(result_path(tmp_path, task)) for task in tasks)
    begun, ended = executions(notes, ".begun"), executions(notes, ".ended")
    assert sorted(map(key_of, ended)) == sorted(task.key for task in tasks)  # each was finished once
    assert set(begun) - set(ended) == set(killed)  # and only the killed one's work was begun in vain
    assert len(killed) == 1
    # The same again: nothing is left to do.
    run_on_dask(tasks, Folder(tmp_path), Quiet(), cluster.scheduler_address, work)
    assert executions(notes, ".begun") == begun


def test_a_failure_is_noted_and_stops_no_other(cluster, tmp_path):
    tasks, notes = made_tasks(3), tmp_path / "notes"
    notes.mkdir()
    board = run_on_dask(
        tasks, Folder(tmp_path), Quiet(), cluster.scheduler_address, partial(failing, folder=str(notes))
    )
    assert board.failures == {tasks[1].key: "ValueError: no luck at all"}
    assert board.count("done") == 2
    noted_failure = json.loads((tmp_path / "failures" / f"{tasks[1].key}.json").read_text())
    assert "failing" in noted_failure["traceback"]
    assert len(list(notes.iterdir())) == 2  # it was tried twice
    assert not list((tmp_path / "locks").iterdir())


def test_real_tasks_give_what_they_give_here(cluster, tmp_path):
    good = Task(dataset="wine", method="mutual_information", max_features=2, method_options={"epochs": 2})
    bad = Task(dataset="wine", method="mutual_information", max_features=99)
    board = run_on_dask([good, bad], Folder(tmp_path), Quiet(), cluster.scheduler_address)
    there, here = read_result(result_path(tmp_path, good)), json.loads(json.dumps(run_task(good)))
    assert there.pop("measured")["fit_seconds"] > 0
    here.pop("measured")
    assert there == here
    assert board.failures[bad.key].startswith(
        "max_features must be at most 13, the features of 'wine', not 99 (on tcp://"
    )


def test_other_versions_are_refused(cluster, tmp_path, monkeypatch):
    with connected(cluster.scheduler_address) as client:
        late = client.submit(run_task_json, b"{}", "0.0.0", print)
        with raises(ClusterError, "cluster_failed", value=__version__, expected="0.0.0"):
            late.result()
    monkeypatch.setattr(clusters, "__version__", "99.0")
    with raises(ClusterError, "cluster_failed", value=__version__, expected="99.0"):
        run_on_dask(made_tasks(1), Folder(tmp_path), Quiet(), cluster.scheduler_address)


def test_workers_of_several_threads_are_warned_of(tmp_path):
    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as shared,
        warns(AsklessWarning, "shared_worker"),
    ):
        board = run_on_dask(
            made_tasks(3), Folder(tmp_path), Quiet(), shared, partial(noted, folder=str(tmp_path), seconds=0)
        )
    assert board.count("done") == 3


def test_no_scheduler_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(clusters, "ANSWER", "0.3 s")
    with raises(ClusterError, "cluster_failed", address="tcp://127.0.0.1:1"):
        run_on_dask(made_tasks(1), Folder(tmp_path), Quiet(), "tcp://127.0.0.1:1")
