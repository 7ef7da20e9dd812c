"""Where commands write: streams, links and folders."""

import json
import os
import subprocess
import sys

import pytest

from askless.cli.output import check_writable
from askless.cli.parser import UsageError
from tests.cli.cli_helpers import QUICK, refused
from tests.coded import raises


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="of POSIX")
def test_numbers_to_standard_output_leave_what_the_log_holds(table, model, tmp_path):
    log = tmp_path / "log.txt"
    log.write_text("years of work\n")
    with log.open("ab") as out:
        words = ["evaluate", model, table, "--target", "ill", "--json", "/dev/stdout"]
        command = [sys.executable, "-m", "askless", *map(str, words)]
        assert subprocess.run(command, stdout=out, timeout=120).returncode == 0
    content = log.read_text()
    assert content.startswith("years of work\n{")
    numbers, end = json.JSONDecoder().raw_decode(content, len("years of work\n"))
    assert numbers["rows"] == 160
    assert "wrote /dev/stdout" in content[end:]


def test_a_link_into_a_folder_that_is_not_there_is_refused_before_training(table, tmp_path):
    link = tmp_path / "m.askless"
    link.symlink_to(tmp_path / "gone" / "m.askless")
    message = refused("file_not_found", "fit", table, "--target", "ill", "-o", link, option="-o", path=str(link))
    assert message == f"-o: there is no folder {tmp_path / 'gone'}, which {link} links to"


def closed(monkeypatch, folder):
    """Let a folder be one that may not be written to; a privileged user may write to any."""
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != folder and real(path, mode))


def test_the_folder_that_counts_is_the_one_that_a_link_names(tmp_path, monkeypatch):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    link = tmp_path / "here" / "m.askless"
    link.symlink_to(tmp_path / "there" / "m.askless")
    with monkeypatch.context() as patch:
        closed(patch, tmp_path / "here")
        assert check_writable(link) == link
    closed(monkeypatch, tmp_path / "there")
    with raises(UsageError, "cannot_write", path=str(link)) as caught:
        check_writable(link)
    assert str(tmp_path / "there") in str(caught.value)


def test_a_checkpoint_that_is_a_link_is_deleted_where_it_lies(run, table, tmp_path):
    (tmp_path / "large").mkdir()
    link, file = tmp_path / "m.askless.part", tmp_path / "large" / "part"
    link.symlink_to(file)
    words = [
        "fit",
        table,
        "--target",
        "ill",
        "--drop",
        "grade",
        "--method",
        "greedy",
        *QUICK,
        "-o",
        tmp_path / "m.askless",
    ]
    result = run(*words)
    assert result.code == 0, result.err
    assert list((tmp_path / "large").iterdir()) == []
    assert link.is_symlink()  # ready for the next fit, as it was for this one


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="of POSIX")
def test_progress_is_kept_in_no_device(run, table, tmp_path):
    words = ["fit", table, "--target", "ill", "--drop", "grade", "--method", "greedy", *QUICK]
    refused("wrong_file", *words, "-o", tmp_path / "m.askless", "--checkpoint", "/dev/null", option="--checkpoint")
    refused("required", *words, "-o", "/dev/null", option="--checkpoint", path="/dev/null")
    assert run(*words, "-o", "/dev/null", "--checkpoint", tmp_path / "part").code == 0
    assert not (tmp_path / "part").exists()


def test_a_checkpoint_that_is_the_model_is_refused(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to("m.askless")
    model = tmp_path / "m.askless"
    for checkpoint in ("m.askless", "./m.askless", model, "link"):
        words = ["fit", table, "--target", "ill", "--force", "-o", "m.askless", "--checkpoint", checkpoint]
        refused("conflicting_settings", *words, option="--checkpoint", path=str(checkpoint))
        model.write_text("a model that took days")
        refused("conflicting_settings", *words, option="--checkpoint", path=str(checkpoint))
        assert model.read_text() == "a model that took days"
        model.unlink()


def test_a_checkpoint_that_is_an_input_is_refused(table, tmp_path):
    costs = tmp_path / "costs.json"
    costs.write_text('{"age": 2}')
    words = ["fit", table, "--target", "ill", "--costs", costs, "-o", tmp_path / "m.askless", "--checkpoint"]
    for checkpoint in (table, costs):
        refused("conflicting_settings", *words, checkpoint, option="--checkpoint", path=str(checkpoint))
        assert checkpoint.stat().st_size
