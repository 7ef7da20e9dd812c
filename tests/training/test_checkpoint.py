"""Stages of a fit: what was finished is not computed again."""

import pytest
import torch

from askless.exceptions import CheckpointError
from askless.training import Checkpoint, finished
from askless.training.checkpoint import Snapshot


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
    with pytest.raises(CheckpointError, match="other data or settings"):
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
