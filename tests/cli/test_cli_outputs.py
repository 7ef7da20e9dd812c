"""Where commands write: streams, links and folders."""

import json
import os
import subprocess
import sys

import pytest

from askless.cli.output import check_writable
from tests.cli.cli_helpers import QUICK


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="of POSIX")
def test_numbers_to_standard_output_leave_what_the_log_holds(table, model, tmp_path):
    log = tmp_path / "log.txt"
    log.write_text("years of work\n")
    with log.open("ab") as out:
        words = ["evaluate", model, table, "--target", "ill", "--json", "/dev/stdout"]
        command = [sys.executable, "-m", "askless", *map(str, words)]
        assert subprocess.run(command, stdout=out, timeout=120).returncode == 0
    told = log.read_text()
    assert told.startswith("years of work\n{")
    numbers, end = json.JSONDecoder().raw_decode(told, len("years of work\n"))
    assert numbers["rows"] == 160
    assert "wrote /dev/stdout" in told[end:]


def test_a_link_into_a_folder_that_is_not_there_is_refused_before_training(run, table, tmp_path):
    link = tmp_path / "m.askless"
    link.symlink_to(tmp_path / "gone" / "m.askless")
    complaint = run("fit", table, "--target", "ill", "-o", link).complaint
    assert complaint == f"askless: -o: there is no folder {tmp_path / 'gone'}, into which {link} links"


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
    with pytest.raises(ValueError, match=f"the folder {tmp_path / 'there'}, into which {link} links, cannot be"):
        check_writable(link)


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
    complaint = run(*words, "-o", tmp_path / "m.askless", "--checkpoint", "/dev/null").complaint
    assert complaint == "askless: --checkpoint: /dev/null is a device or a pipe; name a file"
    complaint = run(*words, "-o", "/dev/null").complaint
    told = "-o: /dev/null is no file that progress could be kept beside; name one with --checkpoint"
    assert complaint == f"askless: {told}"
    assert run(*words, "-o", "/dev/null", "--checkpoint", tmp_path / "part").code == 0
    assert not (tmp_path / "part").exists()
