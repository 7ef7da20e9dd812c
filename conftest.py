"""Examples in the documentation run in a folder of their own, so that no file stays; and no test downloads."""

import pytest
from _pytest.doctest import DoctestItem


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    """A test that downloads puts a source of its own in the place of these."""

    def refused(*what):
        raise ConnectionError("tests do not use the network")

    monkeypatch.setattr("askless.datasets.download.open_url", refused)
    monkeypatch.setattr("askless.datasets.download.open_openml", refused)


@pytest.fixture(autouse=True)
def _own_folder_for_examples(request, tmp_path_factory, monkeypatch):
    if isinstance(request.node, DoctestItem):
        monkeypatch.chdir(tmp_path_factory.mktemp("example"))
