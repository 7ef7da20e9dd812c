import pytest

from askless.datasets import data_home, load_dataset


@pytest.fixture(scope="session")
def big():
    """A triage table large enough for frequencies; nobody may change it."""
    return load_dataset("triage", n=20_000, random_state=5)


@pytest.fixture
def real():
    """The data home as the environment names it; take it before `home`."""
    return data_home()


@pytest.fixture
def home(real, monkeypatch, tmp_path):
    """An empty data home."""
    monkeypatch.setenv("ASKLESS_DATA", str(tmp_path / "home"))
    return tmp_path / "home"
