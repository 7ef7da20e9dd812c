"""Stages of a fit: what was finished is not computed again."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from askless import DynamicClassifier
from askless.checks import example_table
from askless.exceptions import CheckpointError
from askless.methods import FixedOrder, Greedy
from askless.training import Checkpoint, finished
from askless.training.checkpoint import Snapshot
from tests.coded import raises


def stage(tensor, calls):
    def compute():
        calls.append(1)
        return {"scores": tensor}, [{"epoch": 1}]

    return compute


def test_a_finished_stage_is_read_from_the_file(tmp_path):
    calls = []
    file = tmp_path / "fit.part"
    first = Checkpoint(file, "same").stage("ranking", stage(torch.arange(3.0), calls))
    again = Checkpoint(file, "same").stage("ranking", stage(torch.zeros(3), calls))
    assert len(calls) == 1
    assert torch.equal(first[0]["scores"], again[0]["scores"])
    assert again[1] == [{"epoch": 1}]


def test_training_after_a_stage_keeps_its_result_and_does_not_resume_the_training_within(tmp_path):
    file = tmp_path / "fit.part"
    within = Checkpoint(file, "same")

    def compute():
        assert within.load() is None
        within.save(Snapshot({"weight": torch.ones(2)}, {"epoch": 7}))
        return {"scores": torch.ones(1)}, []

    within.stage("ranking", compute)
    assert within.load() is None  # the snapshot was of the training within the stage
    within.save(Snapshot({"weight": torch.zeros(2)}, {"epoch": 1}))

    after = Checkpoint(file, "same")
    result, _ = after.stage("ranking", lambda: pytest.fail("it was finished"))
    assert torch.equal(result["scores"], torch.ones(1))
    snapshot = after.load()
    assert snapshot.notes == {"epoch": 1}
    assert torch.equal(snapshot.tensors["weight"], torch.zeros(2))


def test_a_stage_that_was_interrupted_goes_on_from_the_training_within(tmp_path):
    file = tmp_path / "fit.part"
    killed = Checkpoint(file, "same")
    killed.stage("first", stage(torch.ones(1), []))

    def compute():
        killed.load()
        killed.save(Snapshot({"weight": torch.ones(2)}, {"epoch": 7}))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        killed.stage("second", compute)
    again = Checkpoint(file, "same")
    again.stage("first", lambda: pytest.fail("it was finished"))
    assert again.load().notes == {"epoch": 7}


def test_without_a_checkpoint_a_stage_is_computed(tmp_path):
    assert finished(None, "ranking", lambda: ({"scores": torch.ones(1)}, []))[1] == []


def test_stages_of_another_fit_are_refused(tmp_path):
    file = tmp_path / "fit.part"
    Checkpoint(file, "one").stage("ranking", stage(torch.ones(1), []))
    with raises(CheckpointError, "other_fit", path=str(file)):
        Checkpoint(file, "two").stage("ranking", stage(torch.ones(1), []))


def test_what_a_killed_fit_left_is_removed(tmp_path):
    file = tmp_path / "fit[1].part"
    left, other = tmp_path / ".fit[1].part.0123456789ab.part", tmp_path / ".fit1.part.0123456789ab.part"
    left.write_bytes(b"half"), other.write_bytes(b"of another file")
    Checkpoint(file, "me").stage("ranking", stage(torch.ones(1), []))
    assert sorted(tmp_path.iterdir()) == sorted([file, other])


def test_a_large_file_is_written_once_a_minute(tmp_path, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("askless.training.checkpoint.time.monotonic", lambda: clock[0])
    checkpoint = Checkpoint(tmp_path / "fit.part", "me")
    large = torch.zeros(1 << 23)

    def written(epoch, tensor):
        checkpoint.save(Snapshot({"t": tensor}, {"epoch": epoch}))
        return Checkpoint(checkpoint.path, "me").load().notes["epoch"]

    assert [written(1, torch.zeros(3)), written(2, torch.zeros(3)), written(3, large)] == [1, 2, 3]  # small: each
    clock[0] += 59.0
    assert written(4, large) == 3
    checkpoint.stage("first", lambda: ({}, []))  # what is finished is kept at once
    assert Checkpoint(checkpoint.path, "me").load() is None
    clock[0] += 1.0
    assert written(5, large) == 5


@pytest.mark.parametrize("content", [b"age,sex,y\n51,f,1\n", b"", b"\x00" * 64, b"\xff" * 64])
def test_a_file_that_is_no_checkpoint_is_left_alone(tmp_path, content):
    file = tmp_path / "data.csv"
    file.write_bytes(content)
    beside = tmp_path / ".data.csv.backup.part"
    beside.write_bytes(b"somebody else's")
    for use in (lambda c: c.begun(), lambda c: c.load(), lambda c: c.stage("ranking", stage(torch.ones(1), []))):
        with raises(CheckpointError, "wrong_file", path=str(file)) as caught:
            use(Checkpoint(file, "me"))
    assert "delete" not in str(caught.value)
    assert file.read_bytes() == content
    assert beside.exists()


def test_a_model_file_or_a_folder_is_no_checkpoint(tmp_path):
    from safetensors.torch import save_file

    save_file({"weight": torch.ones(2)}, tmp_path / "other.safetensors", {"format": "pt"})
    for path in (tmp_path / "other.safetensors", tmp_path):
        with raises(CheckpointError, "wrong_file", path=str(path)):
            Checkpoint(path, "me").begun()


def test_a_damaged_checkpoint_is_told_from_other_files(tmp_path):
    file = tmp_path / "fit.part"
    Checkpoint(file, "me").stage("ranking", stage(torch.ones(1000), []))
    file.write_bytes(file.read_bytes()[:-1000])
    with raises(CheckpointError, "damaged_file", path=str(file)):
        Checkpoint(file, "me").begun()


def test_a_fit_does_not_touch_the_table_that_was_named_as_its_checkpoint(tmp_path):
    X, y = example_table("classification")
    file = tmp_path / "data.csv"
    X.to_csv(file)
    before = file.read_bytes()
    with raises(CheckpointError, "wrong_file", path=str(file)):
        DynamicClassifier(2, FixedOrder(epochs=1, hidden=(4,))).fit(X, y, checkpoint=file)
    assert file.read_bytes() == before


ROOT = Path(__file__).parents[2]
IN_PHASES = Greedy(
    epochs=4, pretrain_epochs=3, hidden=(16,), batch_size=64, shared=True, recipe={"predictor_epochs": 2}
)
KILLED = """
import os, signal, sys
from askless import DynamicClassifier
from askless.checks import example_table
from askless.training import Checkpoint
from tests.training.test_checkpoint import IN_PHASES

part, last = sys.argv[1], int(sys.argv[2])
save, saves = Checkpoint.save, []

def save_some(self, snapshot):
    save(self, snapshot)
    saves.append(1)
    if len(saves) == last:
        os.kill(os.getpid(), signal.SIGKILL)

Checkpoint.save = save_some
X, y = example_table("classification")
DynamicClassifier(3, method=IN_PHASES, random_state=0).fit(X, y, checkpoint=part)
"""


def test_a_fit_that_is_killed_again_and_again_gives_the_same_bytes(tmp_path):
    """By SIGKILL, in three of its phases: they have 3, 4, 2 and 2 epochs."""

    def run(last):
        command = [sys.executable, "-c", KILLED, str(tmp_path / "part"), str(last)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, timeout=100, check=False).returncode

    for last in (2, 4, 3):
        assert run(last) == -signal.SIGKILL
    assert (tmp_path / "part").exists()
    X, y = example_table("classification")
    for name, checkpoint in (("whole", "other"), ("killed", "part")):
        model = DynamicClassifier(3, method=IN_PHASES, random_state=0)
        model.fit(X, y, checkpoint=tmp_path / checkpoint).save(tmp_path / name)
    assert (tmp_path / "killed").read_bytes() == (tmp_path / "whole").read_bytes()
