"""Where commands write: streams, links and folders."""

import json
import os
import subprocess
import sys

import pytest


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
