"""The process: what it loads, how soon it answers, what it says when it cannot start."""

import json
import subprocess
import sys

import pytest

from askless.cli import main
from tests.cli.cli_helpers import spawn

LOADED = """
import json, sys
from askless.service.models import read_models
from askless.service.server import make_server
from askless.service.settings import Settings
make_server(read_models([sys.argv[1]]), Settings())
heavy = ("torch", "sklearn", "pandas", "polars", "matplotlib", "scipy", "rich", "httpx")
print(json.dumps([name for name in heavy if name in sys.modules]))
"""


def test_nothing_heavy_is_loaded(model_file):
    ran = subprocess.run([sys.executable, "-c", LOADED, str(model_file)], capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout.splitlines()[-1]) == []


def test_it_starts_within_a_second_of_processor_time(model_file):
    """Best of three. On a machine that is slow at the moment, importing numpy (0.1 s otherwise) says how slow."""

    def processor_seconds(code):
        code += "\nimport time; print(time.process_time())"
        command = [sys.executable, "-c", code, str(model_file)]
        runs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(3)]
        return min(float(run.splitlines()[-1]) for run in runs)

    assert processor_seconds(LOADED) < max(1.0, 8 * processor_seconds("import numpy"))


def test_errors_are_one_line(model_file, tmp_path, capsys, monkeypatch):
    features = tmp_path / "features.json"
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")

    def complaint(*words):
        assert main(["serve", *map(str, words)]) == 2
        told = capsys.readouterr().err
        assert told.count("\n") == 1, told
        return told

    assert "there is no file" in complaint("nothing.askless")
    assert "ASKLESS_TOKEN" in complaint(model_file, "--host", "0.0.0.0")
    assert "same file name" in complaint(model_file, model_file)
    for content, words in (
        ("[]", "must hold an object"),
        ('{"agee": {}}', "did you mean 'age'"),
        ('{"age": {"unti": "a"}}', "did you mean 'unit'"),
        ('{"age": {"unit": "years"}}', "no UCUM unit"),
        ('{"age": {"loinc": "30525-1"}}', "no LOINC code"),
        ('{"age": {"low": 9, "high": 2}}', "not below high"),
        ('{"age": {"low": NaN}}', "low is nan"),
        ("{", "is not JSON"),
    ):
        features.write_text(content)
        assert words in complaint(model_file, "--features", features)


def test_a_port_that_is_taken(model_file, service):
    port = service.url.rpartition(":")[2]
    ran = spawn("serve", model_file, "--port", port)
    assert ran.returncode == 2
    assert "in use" in ran.stderr.splitlines()[-1]


@pytest.mark.parametrize("name", ["a b.askless", "ä.askless"])
def test_names_that_cannot_be_served(model_file, tmp_path, name):
    path = tmp_path / name
    path.write_bytes(model_file.read_bytes())
    assert "letters, digits" in spawn("serve", path).stderr
