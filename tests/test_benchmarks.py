"""The speed benchmark runs: everything in small, nothing said about times."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.timeout(900)  # nothing is said about times, and a machine may be busy
def test_the_speed_benchmark_runs_in_small(tmp_path):
    command = [sys.executable, str(ROOT / "benchmarks" / "speed.py"), "--quick", "--output", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    results = json.loads((tmp_path / "results" / "performance.json").read_text())
    assert results["machine"]["quick"] is True
    assert {"cpu", "cores", "torch threads", "torch", "numpy", "load before"} <= set(results["machine"])
    assert results["rollouts"]["Spam"]["same paths"] > 0.99  # both programs compute the same
    page = (tmp_path / "performance.md").read_text()
    assert "| the literal loop on standardised values |" in page
    for heading in ("# How fast it is", "## Growth", "## How it was measured", "## What did not help"):
        assert heading in page
    assert (tmp_path / "images" / "growth.png").stat().st_size > 10_000
