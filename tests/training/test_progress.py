"""What the progress bar says, and what is said without a terminal."""

import io

import pytest
from rich.console import Console

from askless.training import progress_bar
from askless.training.progress import Lines, Silent


def test_silent_without_a_terminal(capsys):
    with progress_bar() as progress:
        assert isinstance(progress, Silent)
        progress.start(1)
        progress.epoch(1, "policy", {"epoch": 1})
    assert capsys.readouterr() == ("", "")


def test_says_phase_temperature_epoch_loss_and_time_left(monkeypatch):
    told = io.StringIO()
    monkeypatch.setattr("rich.console.Console", lambda **_: Console(file=told, force_terminal=True, width=120))
    with progress_bar() as progress:
        progress.start(4)
        progress.epoch(1, "pretraining", {"epoch": 1, "valid_loss": 0.75})
        progress.epoch(2, "policy", {"epoch": 1, "temperature": 0.5, "valid_loss": 0.25})
        progress.epoch(3, "policy", {"epoch": 2, "temperature": 0.25})
    text = told.getvalue()
    assert "policy" in text
    assert "epoch 2, temperature 0.25, validation loss 0.2500" in text
    assert "left" in text


@pytest.mark.parametrize("terminal", [True, False])
def test_verbose_decides(terminal, monkeypatch):
    told = io.StringIO()
    monkeypatch.setattr("rich.console.Console", lambda **_: Console(file=told, force_terminal=terminal, width=120))
    with progress_bar(verbose=False) as progress:
        assert isinstance(progress, Silent)
    with progress_bar(verbose=True) as progress:
        assert isinstance(progress, Lines) != terminal
        progress.start(1)
        progress.epoch(1, "policy", {"epoch": 1})
    assert bool(told.getvalue()) == terminal  # a log gets its first line after some time


def test_lines_come_now_and_then():
    told, now = io.StringIO(), 0.0
    lines = Lines(told, every=15.0, clock=lambda: now)
    lines.start(10)
    for done in range(1, 7):
        now += 6.0
        row = {"epoch": done} | ({"valid_loss": 0.5} if done == 2 else {})
        lines.epoch(done, "greedy: policy", row)
    assert told.getvalue().splitlines() == [
        "greedy: policy, epoch 3, validation loss 0.5000; 30% of the epochs, 42 s left",
        "greedy: policy, epoch 6, validation loss 0.5000; 60% of the epochs, 24 s left",
    ]


def test_a_resumed_fit_counts_from_where_it_goes_on():
    told, now = io.StringIO(), 0.0
    lines = Lines(told, every=15.0, clock=lambda: now)
    lines.start(100)
    now = 20.0
    lines.epoch(90, "policy", {"epoch": 90})
    assert told.getvalue() == "policy, epoch 90; 90% of the epochs, 4 min left\n"  # ten epochs of 20 s
