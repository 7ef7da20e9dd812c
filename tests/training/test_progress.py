"""What the progress bar says, and that it is silent without a terminal."""

import io

import pytest
from rich.console import Console

from askless.training import progress_bar
from askless.training.progress import Silent


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


@pytest.mark.parametrize("verbose", [True, False])
def test_verbose_decides(verbose, monkeypatch):
    told = io.StringIO()
    monkeypatch.setattr("rich.console.Console", lambda **_: Console(file=told, force_terminal=not verbose, width=120))
    with progress_bar(verbose) as progress:
        progress.start(1)
        progress.epoch(1, "policy", {"epoch": 1})
    assert bool(told.getvalue()) == verbose
