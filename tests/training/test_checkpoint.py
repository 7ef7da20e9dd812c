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
