"""What is shown of a fit in a terminal, in a notebook, and in a log."""

import io
import re

import numpy as np
import pytest
from rich.console import Console

from askless import DynamicClassifier
from askless.methods import Auto, Greedy, Sage
from askless.training import Progress, progress_bar
from askless.training.progress import Lines
from tests.methods.planted import planted

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
WIDTH = 80
QUICK = {"epochs": 3, "pretrain_epochs": 3, "hidden": (8,), "iterations": 2}
SURFACES = {"terminal": {"force_terminal": True}, "jupyter": {"force_jupyter": True}, "file": {}}


@pytest.fixture
def shown(monkeypatch):
    """Runs something on a surface; returns what it wrote there."""

    def use(surface, work, verbose=None):
        text = io.StringIO()
        options = {"file": text, "width": WIDTH, "force_terminal": False, "force_jupyter": False}
        monkeypatch.setattr("rich.console.Console", lambda **_: Console(**options | SURFACES[surface]))
        work(verbose)
        return text.getvalue()

    return use


def some_work(verbose):
    with progress_bar(verbose) as progress:
        first, second = progress.parts([3.0, 1.0], ["concrete_autoencoder", "forward_selection"])
        first.start(4)
        first.epoch(1, "pretraining", {"epoch": 1, "valid_loss": 0.75})
        first.epoch(2, "policy", {"epoch": 1, "temperature": 0.5, "valid_loss": 0.25})
        second.start(10)
        second.epoch(5, "forward selection", {"epoch": 2})
        progress.ended("kept greedy: auroc 0.9000")


def a_fit(verbose):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    y = (X[:, 1] > 0).astype(int)
    return DynamicClassifier(3, Auto(**QUICK), verbose=verbose).fit(X, y)


def lines_of(text):
    """Every version of every line."""
    return [line for line in re.split(r"[\r\n]", ESCAPES.sub("", text)) if line.strip()]


@pytest.mark.parametrize("work", [some_work, a_fit])
def test_nothing_is_shown_in_a_file(shown, work):
    assert shown("file", work) == ""


@pytest.mark.parametrize("surface", SURFACES)
def test_nothing_is_shown_where_it_is_not_wanted(shown, surface):
    assert shown(surface, some_work, verbose=False) == ""


def test_a_bar_fits_into_80_columns(shown):
    lines = lines_of(shown("terminal", some_work))
    bars = [line for line in lines if "━" in line]
    assert bars
    assert max(map(len, lines)) <= WIDTH
    assert min(sum(letter in "━╸╺" for letter in line) for line in bars) >= 10
    assert any(line.startswith("concrete_autoencoder: policy") for line in bars)
    assert any(line.startswith("forward_selection ") and " 88%" in line for line in bars)
    assert any(" left" in line for line in bars)
    assert "kept greedy: auroc 0.9000" in [line.strip() for line in lines]


def test_a_notebook_has_one_line_that_needs_no_widgets(shown, recwarn):
    text = shown("jupyter", some_work)
    assert not recwarn.list
    assert "\x1b" not in text
    versions = text.split("\r")
    assert versions[1].rstrip() == "concrete_autoencoder: pretraining, loss 0.7500; 19% done"
    assert versions[-1] == f"{'kept greedy: auroc 0.9000':<79}\n"  # hides what was there
    assert text.count("\n") == 1
    assert max(map(len, versions)) <= WIDTH


def test_a_log_has_lines_if_they_are_wanted(shown):
    lines = shown("file", some_work, verbose=1).splitlines()
    assert len(lines) == 4
    assert lines[0] == "concrete_autoencoder: pretraining, loss 0.7500; 19% done"
    assert re.fullmatch(r"concrete_autoencoder: policy, loss 0\.2500; 38% done, \d+ s left", lines[1])
    assert re.fullmatch(r"forward_selection; 88% done, \d+ s left", lines[2])
    assert lines[3] == "kept greedy: auroc 0.9000"


@pytest.mark.parametrize("surface", SURFACES)
def test_a_fit_shows_one_progress_for_all_methods_and_ends_with_what_was_kept(surface, shown):
    lines = lines_of(shown(surface, a_fit, verbose=True))
    kept = next(line for line in lines if line.startswith("kept"))
    before = lines[: lines.index(kept)]
    phases = ["greedy: "] if surface == "jupyter" else ["greedy: ", "forward_selection", "boosted trees"]
    for name in phases:
        assert any(line.startswith(name) for line in before), name
    shares = [int(share) for share in re.findall(r"(\d+)%", "\n".join(before))]
    assert shares
    assert shares == sorted(shares)
    assert re.fullmatch(
        r"kept (greedy|forward_selection): loss \d\.\d{4} on held-out rows with 3 questions, "
        r"asks 'x\d' first; greedy \d+\.\d s, forward_selection \d+\.\d s",
        kept.strip(),
    )


def test_the_result_is_the_same_with_and_without(shown):
    X = np.random.default_rng(1).normal(size=(50, 5))
    trajectories = []
    for surface in SURFACES:
        shown(surface, lambda verbose: trajectories.append(a_fit(verbose).rollout(X)), verbose=True)
    trajectories.append(a_fit(verbose=False).rollout(X))
    for other in trajectories[1:]:
        np.testing.assert_array_equal(trajectories[0].order, other.order)
        np.testing.assert_array_equal(trajectories[0].predictions, other.predictions)


class Shares(Progress):
    """The shares of the whole that are reported."""

    def __init__(self):
        self.totals, self.shares = [], []

    def start(self, total):
        self.totals.append(total)

    def epoch(self, done, phase, row):
        self.shares.append(done / self.totals[0])


@pytest.mark.parametrize(
    "method",
    [Auto(**QUICK), Greedy(epochs=3, pretrain_epochs=3, hidden=(8,)), Sage(epochs=3, hidden=(8,), orders=2000)],
    ids=lambda method: type(method).__name__,
)
def test_shares_grow_from_nothing_to_all(method):
    progress = Shares()
    method.fit(planted("classification", n=200), seed=0, progress=progress)
    assert len(progress.totals) == 1
    assert progress.shares == sorted(progress.shares)
    assert progress.shares[0] < 0.2
    assert progress.shares[-1] == pytest.approx(1.0)


def test_lines_come_now_and_then():
    text, now = io.StringIO(), 0.0
    lines = Lines(text, every=15.0, clock=lambda: now)
    lines.start(10)
    for done in range(1, 7):
        now += 6.0
        row = {"epoch": done} | ({"valid_loss": 0.5} if done == 2 else {})
        lines.epoch(done, "greedy: policy", row)
    assert text.getvalue().splitlines() == [
        "greedy: policy; 10% done",
        "greedy: policy, loss 0.5000; 40% done, 36 s left",
    ]


def test_a_resumed_fit_counts_from_where_it_goes_on():
    text, now = io.StringIO(), 0.0
    lines = Lines(text, every=15.0, clock=lambda: now)
    lines.start(100)
    now = 20.0
    lines.epoch(90, "policy", {"epoch": 90})
    now = 40.0
    lines.epoch(91, "policy", {"epoch": 91})
    assert text.getvalue().splitlines() == ["policy; 90% done", "policy; 91% done, 3 min left"]  # nine epochs of 20 s
