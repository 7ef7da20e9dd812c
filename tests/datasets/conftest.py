import pytest

from askless.datasets import load_dataset


@pytest.fixture(scope="session")
def big():
    """A triage table large enough for frequencies; nobody may change it."""
    return load_dataset("triage", n=20_000, random_state=5)
