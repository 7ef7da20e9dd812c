"""Documentation examples run in a folder of their own, so that the files they write do not stay."""

import pytest
from _pytest.doctest import DoctestItem


@pytest.fixture(autouse=True)
def _own_folder_for_examples(request, tmp_path_factory, monkeypatch):
    if isinstance(request.node, DoctestItem):
        monkeypatch.chdir(tmp_path_factory.mktemp("example"))
