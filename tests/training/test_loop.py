"""The fit loop on a tiny learner whose every step can be followed by hand."""

import math

import pytest
import torch
from torch import nn

from askless.exceptions import CheckpointError, TrainingError
from askless.training import Checkpoint, Learner, Phase, Progress, enough_epochs, seeded, train
from askless.training.loop import _follow
from tests.coded import raises


class Line(Learner):
    """Fits y = w x + b to one point; validation losses are given, or the real one."""

    def __init__(self, losses=None, with_buffer=False):
        torch.manual_seed(0)
        self.module = nn.Sequential(nn.Linear(1, 1), *([nn.BatchNorm1d(1)] if with_buffer else []))
        self.losses = losses
        self.seen = []
        self.count = torch.zeros(1)
        self.began = 0

    def begin(self):
        self.began += 1

    def batches(self):
        return torch.split(torch.randperm(6), 3)

    def loss(self, batch, temperature):
        self.seen.append((batch.tolist(), temperature))
        self.count += 1
        x = batch[:, None].float()
        return (self.module(x) - 2 * x).square().mean()

    def validate(self, module, temperature):
        if self.losses is not None:
            return {"loss": self.losses.pop(0)}
        with torch.no_grad():
            return {"loss": float((module[0](torch.ones(1, 1)) - 2).square())}

    def tensors(self):
        return {"count": self.count}


def run(phases, checkpoint=None, seed=0):
    with seeded(seed):
        return train(phases, progress=Progress(), checkpoint=checkpoint)


def test_best_weights_are_returned_with_buffers():
    learner = Line([0.5, 0.1, 0.9], with_buffer=True)
    kept = []

    class Watching(Line):
        def validate(self, module, temperature):
            kept.append({name: tensor.clone() for name, tensor in module.state_dict().items()})
            return super().validate(module, temperature)

    learner.__class__ = Watching
    run([Phase(name="fit", learner=learner, epochs=3, lr=0.1)])
    for name, tensor in learner.module.state_dict().items():
        assert torch.equal(tensor, kept[1][name]), name
    assert int(learner.module[1].num_batches_tracked) == 4  # two epochs of two batches, not three


def test_patience_ends_a_phase():
    learner = Line([3.0, 2.0, 2.5, 2.6, 0.0])
    history = run([Phase(name="fit", learner=learner, epochs=10, lr=0.1, patience=2)])
    assert [row["valid_loss"] for row in history] == [3.0, 2.0, 2.5, 2.6]


def test_plateau_lowers_the_rate():
    learner = Line([1.0, 2.0, 2.0, 2.0, 2.0, 2.0])
    history = run([Phase(name="fit", learner=learner, epochs=6, lr=0.1, schedule="plateau")])
    assert [round(row["lr"], 6) for row in history] == [0.1, 0.1, 0.1, 0.02, 0.02, 0.004]


def test_cosine_warms_up_and_falls_to_one_percent():
    history = run([Phase(name="fit", learner=Line(), epochs=100, lr=1.0)])
    rates = [row["lr"] for row in history]
    assert rates[0] < 0.2  # two of ten warm-up steps
    assert max(rates) == pytest.approx(1.0, abs=0.02)
    assert rates[49] == pytest.approx(0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * 0.495)))
    assert rates[-1] == pytest.approx(0.01, abs=0.001)


def test_temperature_falls_geometrically_over_four_fifths():
    learner = Line()
    run([Phase(name="fit", learner=learner, epochs=10, lr=0.1, temperature=(1.0, 0.1))])
    temperatures = [temperature for _, temperature in learner.seen]
    assert temperatures[0] == 1.0
    assert temperatures[8] == pytest.approx(10**-0.5)  # half of the 16 steps
    assert temperatures[16:] == pytest.approx([0.1] * 4)


def test_phases_with_one_key_return_the_best_of_all():
    first, second = Line([0.2, 0.1]), Line([0.5, 0.4])
    second.module = first.module
    history = run(
        [
            Phase(name="a", learner=first, epochs=2, lr=0.1, keep_best_of="x"),
            Phase(name="b", learner=second, epochs=2, lr=0.1, keep_best_of="x"),
        ]
    )
    assert len(history) == 4
    only = Line([0.2, 0.1])
    run([Phase(name="a", learner=only, epochs=2, lr=0.1)])
    assert torch.equal(first.module[0].weight, only.module[0].weight)


def test_average_of_the_weights_by_hand():
    seen = []

    class Watching(Line):
        def loss(self, batch, temperature):
            seen.append(float(self.module[0].weight.detach()))
            return super().loss(batch, temperature)

        def validate(self, module, temperature):
            seen.append(float(self.module[0].weight.detach()))
            seen.append(float(module[0].weight.detach()))
            return {"loss": 0.0}

    learner = Watching()
    run([Phase(name="fit", learner=learner, epochs=1, lr=0.5, average=0.9)])
    before, after_one, after_two, averaged = seen
    by_hand = before + (1 - 1 / 10) * (after_one - before)  # the decay is (1 + step) / (10 + step) at first
    by_hand += (1 - 2 / 11) * (after_two - by_hand)
    assert averaged == pytest.approx(by_hand, rel=1e-6)
    assert float(learner.module[0].weight.detach()) == averaged


def test_history_is_a_row_for_each_epoch():
    history = run(
        [
            Phase(name="one", learner=Line(), epochs=2, lr=0.1),
            Phase(name="two", learner=Line(), epochs=3, lr=0.1, validate_every=2),
        ]
    )
    assert [(row["phase"], row["epoch"]) for row in history] == [
        ("one", 1), ("one", 2), ("two", 1), ("two", 2), ("two", 3)
    ]  # fmt: skip
    assert ["valid_loss" in row for row in history] == [True, True, True, False, True]


def test_validation_counts_back_from_the_last_epoch_and_may_begin_late():
    history = run([Phase(name="one", learner=Line(), epochs=7, lr=0.1, validate_every=2, validate_from=0.4)])
    assert [row["epoch"] for row in history if "valid_loss" in row] == [3, 5, 7]


class Stop(Exception):
    pass


@pytest.mark.parametrize("at", [1, 2, 3, 5, 7, 9])
def test_an_interrupted_run_ends_with_the_same_bits(at, tmp_path):
    def phases(interrupt=None):
        one, two = Line(), Line()
        two.module = one.module
        if interrupt is not None:
            validate = Line.validate

            def failing(self, module, temperature):
                interrupt[0] -= 1
                if interrupt[0] < 0:
                    raise Stop
                return validate(self, module, temperature)

            one.validate = failing.__get__(one)
            two.validate = failing.__get__(two)
        return [
            Phase(name="a", learner=one, epochs=5, lr=0.1, average=0.9, keep_best_of="x"),
            Phase(name="b", learner=two, epochs=5, lr=0.05, average=0.9, weight_decay=0.1, keep_best_of="x"),
        ]

    whole = phases()
    history = run(whole)
    file = tmp_path / "part"
    with pytest.raises(Stop):
        run(phases([at]), Checkpoint(file, "same"))
    resumed = phases()
    assert run(resumed, Checkpoint(file, "same")) == history
    for mine, theirs in zip(
        whole[1].learner.module.parameters(), resumed[1].learner.module.parameters(), strict=True
    ):
        assert torch.equal(mine, theirs)
    assert torch.equal(whole[1].learner.count, resumed[1].learner.count)
    again = phases()  # the checkpoint of a complete run ends at once, with the same weights
    assert run(again, Checkpoint(file, "same")) == history
    assert again[0].learner.seen == again[1].learner.seen == []
    assert torch.equal(again[0].learner.module[0].weight, whole[0].learner.module[0].weight)


def test_a_checkpoint_of_another_fit_is_refused(tmp_path):
    file = tmp_path / "part"
    run([Phase(name="fit", learner=Line(), epochs=1, lr=0.1)], Checkpoint(file, "one"))
    with raises(CheckpointError, "other_fit", path=str(file)):
        run([Phase(name="fit", learner=Line(), epochs=1, lr=0.1)], Checkpoint(file, "two"))
    file.write_bytes(file.read_bytes()[:-100])
    with raises(CheckpointError, "damaged_file", path=str(file)):
        run([Phase(name="fit", learner=Line(), epochs=1, lr=0.1)], Checkpoint(file, "one"))


@pytest.mark.parametrize(("batches", "expected"), [(1, 200), (10, 50), (100, 20), (1000, 20)])
def test_enough_epochs(batches, expected):
    assert enough_epochs(batches, 20, 500) == expected


def test_the_average_follows_the_statistics_of_batches():
    """Batch normalisation's running statistics belong to the weights that they were measured with."""
    norm = torch.nn.BatchNorm1d(1)
    average = torch.nn.BatchNorm1d(1)
    with torch.no_grad():
        norm.running_mean.fill_(1.0)
        norm.running_var.fill_(3.0)
        norm.num_batches_tracked.fill_(7)
    _follow(list(zip(average.buffers(), norm.buffers(), strict=True)), 0.9, step=10_000)
    assert float(average.running_mean) == pytest.approx(0.1)
    assert float(average.running_var) == pytest.approx(1.2)
    assert int(average.num_batches_tracked) == 7


def test_a_training_loss_that_is_not_finite_ends_the_fit():
    class Bursting(Line):
        def loss(self, batch, temperature):
            loss = super().loss(batch, temperature)
            return loss * math.nan if len(self.seen) > 4 else loss  # in the third epoch

    with raises(TrainingError, "diverged", phase="fit", epoch=3) as caught:
        run([Phase(name="fit", learner=Bursting(), epochs=10, lr=0.01)])
    assert "epoch 3" in str(caught.value)
    assert "lower the learning rate" in str(caught.value)


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_validation_losses_that_are_never_finite_end_the_fit(loss):
    with raises(TrainingError, "diverged", phase="fit", epoch=3):
        run([Phase(name="fit", learner=Line([loss] * 3), epochs=3, lr=0.01)])
    run(
        [Phase(name="fit", learner=Line([loss, 0.5, loss]), epochs=3, lr=0.01)]
    )  # the weights of the second epoch are returned
