"""The runner, with processes that do at once, or badly, what they are told."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from askless.exceptions import AsklessWarning, ExperimentError
from askless.experiments.board import Board
from askless.experiments.config import Experiment
from askless.experiments.folder import Folder
from askless.experiments.locks import take_lock
from askless.experiments.results import checksum, read_results, result_path
from askless.experiments.runner import check_tables, run_tasks
from askless.experiments.running import load_table
from askless.experiments.task import Task
from tests.coded import raises, warns
from tests.experiments.fake_worker import COMMAND, fake_result, fake_task, ran

RUNNER = """
import sys
from pathlib import Path
from askless.experiments.folder import Folder
from askless.experiments.runner import run_tasks
from tests.experiments.fake_worker import COMMAND, fake_task
from tests.experiments.test_runner import Heard
tasks = [fake_task(seed=seed, seconds=float(sys.argv[2])) for seed in range(int(sys.argv[3]))]
try:
    board = run_tasks(tasks, Folder(Path(sys.argv[1])), Heard(), 2, COMMAND)
except KeyboardInterrupt as stop:
    print(*stop.args)
    sys.exit(130)
print(board.count("done"), "done")
"""


class Heard:
    """A watcher that remembers."""

    def __init__(self):
        self.told = []
        self.ended = False

    def begin(self, board):
        self.at_first = board.count("done")

    def look(self, board):
        assert board.count("running") <= board.workers

    def tell(self, board, task, what):
        self.told.append((task, what))

    def end(self, board):
        self.ended = True


def run(tasks, path, workers=2):
    heard = Heard()
    return run_tasks(tasks, Folder(path), heard, workers, COMMAND), heard


def contents(path):
    return {file.name: file.read_bytes() for file in (path / "results").iterdir()}


def tidy(path):
    """Nothing is left but results and failures."""
    left = [file for place in ("checkpoints", "locks") for file in (path / place).iterdir()]
    return not left and not list(path.rglob("*.part"))


def test_every_task_is_run_once_and_done_ones_are_skipped(tmp_path):
    tasks = [fake_task(seed=seed) for seed in range(3)]
    board, heard = run(tasks, tmp_path)
    assert board.count("done") == 3
    assert (heard.at_first, heard.ended) == (0, True)
    assert sorted(ran(tmp_path)) == sorted(task.key for task in tasks)
    assert {result["task"]["seed"] for result in read_results(tmp_path)} == {0, 1, 2}
    board, heard = run([*tasks, fake_task(seed=3)], tmp_path)
    assert (heard.at_first, board.count("done"), len(ran(tmp_path))) == (3, 4, 4)
    assert tidy(tmp_path)


@pytest.mark.parametrize(
    ("method", "why", "processes"),
    [
        ("exits", "the process ended with exit code 7 and left no result", 2),
        ("killed", "the process was killed by SIGKILL", 2),
        ("writes nothing", "the process ended with exit code 0 and left no result", 2),
        ("says", "the table is wrong", 1),
    ],
)
def test_a_failure_is_noted_and_does_not_stop_the_others(method, why, processes, tmp_path):
    bad, good = fake_task(method), fake_task()
    board, heard = run([bad, good], tmp_path, workers=1)
    assert (board.count("done"), board.count("failed")) == (1, 1)
    assert board.failures[bad.key].startswith(why)
    assert ran(tmp_path).count(bad.key) == processes  # a process that dies is worth another try, an error is not
    noted = json.loads((tmp_path / "failures" / f"{bad.key}.json").read_text())
    assert noted["error"].startswith(why)
    assert noted["task"] == bad.to_json()
    assert ("T r a c e" in noted["traceback"]) == (method == "says")
    assert any(task == bad and why in what for task, what in heard.told)
    assert tidy(tmp_path)


def test_a_process_that_was_killed_once_is_tried_again(tmp_path):
    task = fake_task("killed once")
    board, heard = run([task], tmp_path)
    assert (board.count("done"), board.failures) == (1, {})
    assert len(ran(tmp_path)) == 2
    assert "runs once more" in heard.told[0][1]


def test_what_a_process_left_that_was_killed_after_its_result_is_removed(tmp_path):
    task = fake_task()
    run([task], tmp_path)
    (tmp_path / "locks" / task.key).touch()
    (tmp_path / "checkpoints" / f"{task.key}.part").touch()
    (tmp_path / "results" / f".{task.key}.json.abc.part").touch()
    assert not tidy(tmp_path)
    run([task], tmp_path)
    assert tidy(tmp_path)
    assert len(ran(tmp_path)) == 1


def test_a_failed_task_is_run_again_and_its_failure_forgotten(tmp_path):
    task = fake_task()
    folder = Folder(tmp_path)
    file = folder.note_failure(task, {"error": "e", "traceback": "t"})
    board, _ = run([task], tmp_path)
    assert (board.count("done"), file.exists()) == (1, False)


@pytest.mark.parametrize("damage", ["cut", "empty", "flipped", "another's", "not JSON", "no curves"])
def test_a_corrupt_result_is_set_aside_and_run_again(damage, tmp_path):
    task = fake_task()
    run([task], tmp_path)
    path = result_path(tmp_path, task)
    whole = path.read_bytes()
    result = json.loads(whole)
    number = str(result["curves"]["auroc"][0])
    content = {
        "cut": whole[:-40],
        "empty": b"",
        "flipped": whole.replace(number.encode(), number.replace("0.", "1.").encode()),
        "another's": json.dumps(fake_result(fake_task(seed=5))).encode(),
        "not JSON": b"\x00\xff",
        "no curves": json.dumps({k: v for k, v in result.items() if k not in ("curves", "sha256")}).encode(),
    }[damage]
    assert content != whole
    path.write_bytes(content)
    with warns(AsklessWarning, "damaged_file", path=str(path), renamed=f"{path}.corrupt"):
        board, _ = run([task], tmp_path)
    assert board.count("done") == 1
    assert path.read_bytes() == whole
    assert path.with_name(path.name + ".corrupt").read_bytes() == content


def test_a_second_corrupt_result_leaves_the_first_as_it_is(tmp_path):
    task = fake_task()
    path = result_path(tmp_path, task)
    for content in (b"one", b"two", b"three"):
        run([task], tmp_path)
        path.write_bytes(content)
        with warns(AsklessWarning, "damaged_file", path=str(path)):
            run([task], tmp_path)
    aside = [path.with_name(f"{path.name}.corrupt{number}") for number in ("", "-2", "-3")]
    assert [file.read_bytes() for file in aside] == [b"one", b"two", b"three"]


def test_only_a_runner_sets_a_corrupt_result_aside(tmp_path):
    tasks = [fake_task(seed=seed) for seed in (0, 1)]
    run(tasks, tmp_path)
    path = result_path(tmp_path, tasks[0])
    path.write_bytes(b"cut")
    with warns(AsklessWarning, "damaged_file", path=str(path), renamed=None):
        assert [result["task"]["seed"] for result in read_results(tmp_path)] == [1]
    assert path.read_bytes() == b"cut"


def newer_format(result):
    return {**result, "format": 2, "curves": "in another file"}


def newer_task(result):
    made = {**result, "task": {**result["task"], "weather": "fine"}}
    return {**made, "sha256": checksum(made)}


@pytest.mark.parametrize(
    ("made", "why"), [(newer_format, "its format is 2"), (newer_task, "its task has the unknown key 'weather'")]
)
def test_the_result_of_a_newer_version_is_an_error_and_stays(made, why, tmp_path):
    task = fake_task()
    run([task], tmp_path)
    path = result_path(tmp_path, task)
    content = json.dumps(made(json.loads(path.read_bytes()))).encode()
    path.write_bytes(content)
    for read in (read_results, lambda folder: run([task], folder)):
        with raises(ExperimentError, "newer_format", path=str(path)) as error:
            read(tmp_path)
        assert why in str(error.value)
    assert [file.read_bytes() for file in (tmp_path / "results").iterdir()] == [content]


@pytest.mark.parametrize("summed", [True, False])
def test_a_damaged_key_of_a_task_is_a_corrupt_result(tmp_path, summed):
    task = fake_task()
    run([task], tmp_path)
    path = result_path(tmp_path, task)
    result = {name: part for name, part in json.loads(path.read_bytes()).items() if name != "sha256"}
    whole = json.dumps({**result, "sha256": checksum(result)} if summed else result)
    path.write_text(whole.replace('"split_seed"', '"split_sead"'))
    with warns(AsklessWarning, "damaged_file", path=str(path), renamed=f"{path}.corrupt"):
        assert Folder(tmp_path).done(task) is None


def test_json_that_is_nested_too_deeply_is_damage(tmp_path):
    deep = "[" * 100_000
    task = fake_task()
    folder = Folder(tmp_path)
    result_path(tmp_path, task).write_text(deep)
    with warns(AsklessWarning, "damaged_file", path=str(result_path(tmp_path, task))):
        assert folder.done(task) is None
    (tmp_path / "experiment.json").write_text(deep)
    folder.describe(Experiment("e", (), ()))
    assert json.loads((tmp_path / "experiment.json").read_bytes())["name"] == "e"


def test_every_split_is_checked_before_anything_runs():
    task = Task(dataset="wine", method="random", max_features=3)
    check_tables([task])
    for share in ("test_fraction", "validation_fraction"):
        with raises(ExperimentError, "too_few_rows", rows=178):
            check_tables([task, replace(task, **{share: 0.001})])


def test_a_table_is_loaded_once_for_all_its_splits(monkeypatch):
    loaded = []
    monkeypatch.setattr(
        "askless.experiments.running.load_table", lambda task: loaded.append(task) or load_table(task)
    )
    task = Task(dataset="wine", method="random", max_features=3)
    check_tables([task, replace(task, test_fraction=0.3), replace(task, split_seed=4)])
    assert len(loaded) == 1


def test_a_full_disk_ends_the_run_with_one_line(tmp_path):
    with pytest.raises(OSError, match="the disk is full; free some space") as stop:
        run([fake_task("full"), fake_task(seconds=30)], tmp_path)
    assert stop.value.filename == str(tmp_path)
    assert tidy(tmp_path)


def start(path, seconds, n_tasks):
    """A runner in a process of its own."""
    command = [sys.executable, "-c", RUNNER, str(path), str(seconds), str(n_tasks)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_two_runners_share_the_work(tmp_path):
    both = [start(tmp_path, 0.2, 8) for _ in range(2)]
    assert [runner.communicate(timeout=60)[0] for runner in both] == ["8 done\n"] * 2
    assert len(ran(tmp_path)) == len(set(ran(tmp_path))) == 8
    assert tidy(tmp_path)


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_everything_consistent(number, tmp_path):
    runner = start(tmp_path, 30, 3)
    wait_for(lambda: len(ran(tmp_path)) == 2)
    children = subprocess.run(["pgrep", "-P", str(runner.pid)], capture_output=True, text=True).stdout.split()
    assert len(children) == 2
    runner.send_signal(number)
    assert runner.communicate(timeout=10)[0] == "0 of 3 tasks are done; run the same command to continue\n"
    assert runner.returncode == 130
    assert not any(os.path.exists(f"/proc/{child}") for child in children)
    assert tidy(tmp_path)


def test_the_processes_of_a_killed_runner_end_too(tmp_path):
    runner = start(tmp_path, 30, 2)
    wait_for(lambda: len(ran(tmp_path)) == 2)
    children = subprocess.run(["pgrep", "-P", str(runner.pid)], capture_output=True, text=True).stdout.split()
    assert len(children) == 2
    runner.kill()
    runner.communicate()
    wait_for(lambda: not any(os.path.exists(f"/proc/{child}") for child in children))


def test_killed_at_random_moments_and_resumed_the_results_are_the_same(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    tasks = [fake_task(seed=seed, seconds=0.1) for seed in range(10)]
    run(tasks, whole)
    rng = random.Random(0)
    for _ in range(5):
        before = len(ran(broken))
        runner = start(broken, 0.1, 10)
        wait_for(lambda: runner.poll() is not None or len(ran(broken)) > before)  # noqa: B023
        time.sleep(rng.uniform(0.0, 0.3))
        runner.kill()
        runner.communicate()
    last = start(broken, 0.1, 10)
    assert last.communicate(timeout=60)[0] == "10 done\n"
    assert contents(broken) == contents(whole)
    assert tidy(broken)


def test_a_lock_is_held_by_one_process_at_a_time_and_goes_with_it(tmp_path):
    path = tmp_path / "lock"
    code = "import sys; from pathlib import Path; from askless.experiments.locks import take_lock\n"
    holding = code + "lock = take_lock(Path(sys.argv[1])); print(lock is not None, flush=True); sys.stdin.read()"
    other = subprocess.Popen(
        [sys.executable, "-c", holding, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout.readline() == "True\n"
    assert take_lock(path) is None
    assert str(other.pid) in path.read_text()
    other.kill()
    other.communicate()
    lock = take_lock(path)  # the file is still there, and stale
    assert lock is not None
    assert take_lock(path) is None
    lock.release()
    assert not path.exists()
    again = take_lock(path)
    assert again is not None
    again.release()


def test_the_time_left_is_judged_by_like_tasks():
    tasks = [fake_task("slow", seed) for seed in range(3)] + [fake_task("fast", seed) for seed in range(3)]
    board = Board(tasks, workers=2)
    assert board.time_left() is None
    board.done(tasks[0], fake_result(tasks[0], seconds=100.0))
    assert board.time_left() == pytest.approx(5 * 100 / 2)
    board.done(tasks[3], fake_result(tasks[3], seconds=10.0))
    assert board.time_left() == pytest.approx((2 * 100 + 2 * 10) / 2)
    board.set(tasks[1], "running")
    assert board.time_left() == pytest.approx((2 * 100 + 2 * 10) / 2, abs=1)
    for task in tasks[1:3]:
        board.fail(task, "no")
    for task in tasks[4:]:
        board.done(task, fake_result(task, seconds=10.0))
    assert board.time_left() == 0.0
