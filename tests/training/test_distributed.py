"""One fit in two processes that torchrun starts: same weights in both, as good as one process."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from askless.training.distributed import average_gradients, own_batches, same_everywhere

import askless
from askless.exceptions import CheckpointError
from askless.training import Checkpoint, world
from tests.coded import raises
from tests.training.distributed_script import model, table

SCRIPT = Path(__file__).with_name("distributed_script.py")


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """The folders of two processes that ran the script."""
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    folder = tmp_path_factory.mktemp("two")
    done = subprocess.run([*launch, SCRIPT, folder], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return folder / "0", folder / "1"


def told(folder):
    return json.loads((folder / "told.json").read_text())


def test_torchrun_is_enough_to_work_together(two):
    assert [told(folder)["world"] for folder in two] == [[0, 2], [1, 2]]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are listed on Linux only")
def test_no_thread_of_the_process_group_outlives_it(two):
    """Those that did were aborted, now and then, as the interpreter ended."""
    for folder in two:
        threads = (folder / "threads.txt").read_text().split()
        assert threads
        assert not [name for name in threads if "gloo" in name]


def test_gradients_are_averaged(two):
    for folder in two:
        assert told(folder)["gradients"] == [[2.0, 4.0], [2.0, 4.0], None]


def test_batches_are_divided_and_noise_is_not_shared(two):
    first, second = (told(folder)["batches"] for folder in two)
    drawn = torch.randperm(21, generator=torch.Generator().manual_seed(0)).tolist()  # by the first process
    assert first["parts"] == [drawn[:5], drawn[10:15], drawn[20:]]  # what cannot be divided is for both
    assert second["parts"] == [drawn[5:10], drawn[15:20], drawn[20:]]
    assert first["noise"] != second["noise"]


def test_all_processes_have_the_same_model(two):
    for name in ("model.askless", "static.askless"):
        first, second = ((folder / name).read_bytes() for folder in two)
        assert first == second
    assert told(two[0])["history"] == told(two[1])["history"]


def test_two_processes_learn_as_well_as_one(two):
    X, y = table()
    alone = model().fit(X, y)
    together = askless.load(two[0] / "model.askless")
    assert len(alone.history_) == len(told(two[0])["history"])  # as many epochs
    fresh, truth = table(3000)
    fresh, truth = fresh[600:], truth[600:]
    scores = [fitted.curve(fresh, truth, metric="auroc")["score"][1:].mean() for fitted in (alone, together)]
    prior = alone.curve(fresh, truth, metric="auroc")["score"][0]
    assert min(scores) > prior + 0.2  # it did learn
    assert abs(scores[0] - scores[1]) < 0.02
    # Each process's half of the noise and of the chains differs from what one process has.
    assert not np.array_equal(alone.rollout(fresh).at(3), together.rollout(fresh).at(3))


def test_a_killed_fit_goes_on_everywhere_from_the_first_ones_checkpoint(two):
    assert [told(folder)["checkpoint"] for folder in two] == [True, False]
    for folder in two:
        assert (folder / "resumed.askless").read_bytes() == (folder / "model.askless").read_bytes()


def test_a_checkpoint_of_two_processes_is_not_for_one(two):
    X, y = table()
    with raises(CheckpointError, "other_fit", path=str(two[0] / "fit.part")):
        model().fit(X, y, checkpoint=two[0] / "fit.part")


def test_processes_with_other_seeds_are_told_so(two):
    for folder in two:
        assert told(folder)["error"].startswith("1 of 2 processes were given other data, settings or versions")


def test_only_the_first_process_tells_of_progress(two):
    assert [told(folder)["progress"] for folder in two] == ["Lines", "Silent"]


def test_alone_nothing_is_changed(tmp_path):
    assert (world().rank, world().size) == (0, 1)
    parameter = torch.zeros(2)
    parameter.grad = gradient = torch.ones(2)
    average_gradients([parameter])
    assert parameter.grad is gradient
    assert same_everywhere(parameter) is parameter
    generator = torch.Generator().manual_seed(3)
    state = generator.get_state()
    batches = own_batches(lambda g: [torch.arange(4)], generator)
    assert batches[0].tolist() == [0, 1, 2, 3]
    assert torch.equal(generator.get_state(), state)
    assert Checkpoint(tmp_path / "fit.part", "same").fingerprint == "same"
