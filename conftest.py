"""Examples run in a folder of their own, so that no file stays; no test downloads, and none opens a window."""

import os

import pytest
from _pytest.doctest import DoctestItem

os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    """A test that downloads puts a source of its own in the place of these."""

    def refused(*what):
        raise ConnectionError("tests do not use the network")

    monkeypatch.setattr("askless.datasets.files.open_url", refused)
    monkeypatch.setattr("askless.datasets.files.open_openml", refused)


@pytest.fixture
def no_pyplot(monkeypatch):
    """Commands and reports draw without pyplot, which would keep their figures, and need a backend."""

    def refused(*args, **kwargs):
        raise AssertionError("a figure was opened in pyplot")

    monkeypatch.setattr("matplotlib.pyplot.figure", refused)


@pytest.fixture(autouse=True)
def _own_folder_for_examples(request, tmp_path_factory, monkeypatch):
    if isinstance(request.node, DoctestItem):
        monkeypatch.chdir(tmp_path_factory.mktemp("example"))
