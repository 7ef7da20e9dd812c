import copy
import hashlib
import pickle
import sys
from pathlib import Path

import pytest

from askless.datasets import DatasetDamaged, DatasetNotFound, data_home
from askless.datasets.files import read_checked
from askless.exceptions import AsklessError
from tests.coded import raises


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch):
    for name in ("ASKLESS_DATA", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: Path("/home/someone"))


@pytest.mark.parametrize(
    ("platform", "folder"),
    [
        ("linux", "/home/someone/.local/share/askless"),
        ("darwin", "/home/someone/Library/Application Support/askless"),
        ("win32", "/home/someone/AppData/Local/askless"),
    ],
)
def test_the_platforms_folder(monkeypatch, platform, folder):
    monkeypatch.setattr(sys, "platform", platform)
    assert data_home() == Path(folder)


def test_xdg(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", "/elsewhere")
    assert data_home() == Path("/elsewhere/askless")
    monkeypatch.setenv("XDG_DATA_HOME", "relative")  # the standard says to ignore these
    assert data_home() == Path("/home/someone/.local/share/askless")


def test_local_app_data(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert data_home() == Path("/local/askless")


def test_the_variable_wins(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", "/elsewhere")
    monkeypatch.setenv("ASKLESS_DATA", str(tmp_path))
    assert data_home() == tmp_path
    monkeypatch.setenv("ASKLESS_DATA", "")
    monkeypatch.setattr(sys, "platform", "linux")
    assert data_home() == Path("/elsewhere/askless")


def test_a_checked_file(tmp_path):
    file = tmp_path / "a"
    file.write_bytes(b"content")
    right = hashlib.sha256(b"content").hexdigest()
    assert read_checked(file, right) == b"content"
    file.write_bytes(b"kontent")
    with raises(DatasetDamaged, "damaged_file", path=str(file), expected=right) as caught:
        read_checked(file, right)
    assert caught.value.fields["value"] == hashlib.sha256(b"kontent").hexdigest()
    assert str(file) in str(caught.value)
    assert "delete it and download it again" in str(caught.value)


def test_the_errors_are_of_the_family():
    assert issubclass(DatasetNotFound, AsklessError)
    assert issubclass(DatasetNotFound, FileNotFoundError)
    assert issubclass(DatasetDamaged, AsklessError)
    error = DatasetNotFound("file_not_found", "put it there", name="spam")
    for each in (error, copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (each.code, str(each), each.fields) == ("file_not_found", "put it there", {"name": "spam"})
