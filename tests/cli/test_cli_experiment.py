"""`askless experiment`: what it says, and how it ends."""

import json

import pytest

from askless.cli.parser import DEVICES
from askless.experiments import attempt, runner
from askless.experiments.config import read_experiment
from askless.experiments.results import checksum, read_results, unpack_loss, write_result
from askless.methods.settings import DEVICES as CHOICES
from tests.cli.cli_helpers import refused
from tests.experiments.fake_worker import COMMAND, fake_result

EXPERIMENT = """\
name = "small"
metric = "accuracy"
seeds = [0, 1]
max_features = 3
datasets = ["wine"]
methods = ["random", "mutual_information"]

[quick]
seeds = [0]
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.toml"
    path.write_text(EXPERIMENT)
    return path


@pytest.fixture
def quick_worker(monkeypatch):
    """Processes that do at once what they are told."""
    original = runner.start_attempt
    monkeypatch.setattr(runner, "start_attempt", lambda *given: original(*given[:-1], COMMAND))


def test_run_and_run_again(file, quick_worker, run, tmp_path):
    result = run("experiment", "run", file, "--workers", "2")
    assert (result.code, result.err) == (0, "")
    assert "4 tasks; results in runs/small" in result.out
    assert "4 of 4 tasks done" in result.out
    assert "askless experiment report runs/small" in result.out
    noted = json.loads((tmp_path / "runs" / "small" / "experiment.json").read_text())
    assert noted["metrics"] == {"wine": "accuracy"}
    assert len(noted["tasks"]) == 4
    assert len((tmp_path / "runs" / "small" / "ran").read_text().split()) == 4
    assert run("experiment", "run", file).code == 0
    assert len((tmp_path / "runs" / "small" / "ran").read_text().split()) == 4
    assert "2 tasks; results in runs/small-quick" in run("experiment", "run", file, "--quick").out


def test_the_device_of_the_command_goes_before_that_of_the_file(file, run, monkeypatch):
    file.write_text('device = "auto"\n' + file.read_text())
    seen = []
    monkeypatch.setattr("askless.cli.experiment._here", lambda console, tasks, *rest: seen.append(tasks) or {})
    for words in ((), ("--device", "cuda")):
        assert run("experiment", "run", file, *words).code == 0
    assert [{task.device for task in tasks} for tasks in seen] == [{"auto"}, {"cuda"}]
    assert DEVICES == CHOICES


def test_a_failure_is_summed_up_with_exit_code_1(file, run, monkeypatch):
    monkeypatch.setattr(attempt, "WORKER", ("false",))
    original = runner.start_attempt
    monkeypatch.setattr(runner, "start_attempt", lambda *given: original(*given[:-1], ("false",)))
    result = run("experiment", "run", file)
    assert result.code == 1
    assert "4 tasks failed; see runs/small/failures" in result.out
    assert "failed: wine, random, seed 0: the process ended with exit code 1 and left no result" in result.out
    assert "Traceback" not in result.out


def test_a_corrupt_result_is_a_note(file, quick_worker, run, tmp_path):
    run("experiment", "run", file)
    damaged = sorted((tmp_path / "runs" / "small" / "results").iterdir())[0]
    damaged.write_bytes(b"{")
    result = run("experiment", "run", file)
    assert result.code == 0
    assert f"{damaged.name} is damaged" in result.err
    assert "it was renamed to" in result.err
    assert json.loads(damaged.read_bytes())["format"] == 1


def test_wrong_input_is_one_line(file, run, tmp_path):
    file.write_text(EXPERIMENT.replace('"wine"', '"wien"'))
    complaint = run("experiment", "run", file).complaint
    assert "small.toml, line 5: " in complaint
    assert "'wien' (did you mean 'wine'?)" in complaint
    assert not (tmp_path / "runs").exists()
    assert "none.toml" in run("experiment", "run", "none.toml").complaint
    refused("wrong_file", "experiment", "run", _good(tmp_path), "--output", file, option="--output", path=str(file))
    refused("file_not_found", "experiment", "report", tmp_path, path=str(tmp_path))
    assert "--help" in refused("usage", "experiment")


def _good(tmp_path):
    path = tmp_path / "good.toml"
    path.write_text(EXPERIMENT)
    return path


def test_another_experiment_s_folder(file, quick_worker, run, tmp_path):
    run("experiment", "run", file)
    other = tmp_path / "other.toml"
    other.write_text(EXPERIMENT.replace('"small"', '"other"'))
    complaint = run("experiment", "run", other, "--output", "runs/small").complaint
    assert "'small'" in complaint


def test_a_data_set_that_is_not_there_is_known_before_anything_runs(file, run, tmp_path, monkeypatch):
    monkeypatch.setenv("ASKLESS_DATA", str(tmp_path / "empty"))
    file.write_text(EXPERIMENT.replace('"wine"', '"spam"'))
    monkeypatch.setattr("askless.datasets.files.openml_table", _no_network, raising=False)
    assert "spam" in run("experiment", "run", file).complaint
    assert not list((tmp_path / "runs" / "small" / "results").iterdir())


def _no_network(*args, **options):
    raise OSError("no network")


def test_report_passes_on_what_it_is_given(file, quick_worker, run, tmp_path, monkeypatch):
    given = {}

    def write_report(folder, **options):
        given.update(options)

    monkeypatch.setattr("askless.experiments.report.write_report", write_report)
    for task in read_experiment(file).tasks():
        write_result("runs/small", fake_result(task))
    run("experiment", "run", file)
    assert run("experiment", "report", "runs/small").code == 0
    assert given.keys() == {"tell"}  # the folder says the metrics
    run("experiment", "report", "runs/small", "--metric", "auroc", "--against", "random", "--output", "there")
    assert (given["metric"], given["against"], given["output"]) == ("auroc", "random", "there")


def test_a_small_copy_to_keep(file, quick_worker, run, tmp_path):
    run("experiment", "run", file)
    for original in (tmp_path / "runs" / "small" / "results").glob("*.json"):
        write_result(tmp_path / "runs" / "small", padded(json.loads(original.read_text())))
    result = run("experiment", "keep", "runs/small", "kept")
    assert (result.code, result.err) == (0, "")
    assert "4 results in kept" in result.out
    kept = read_results(tmp_path / "kept")
    originals = read_results(tmp_path / "runs" / "small")
    for ours, theirs in zip(kept, originals, strict=True):
        assert unpack_loss(ours) is None
        same = ("task", "curves", "order", "measured")
        assert {part: ours[part] for part in same} == {part: theirs[part] for part in same}
    assert "4 of 4 tasks done" in run("experiment", "run", file, "--output", "kept").out
    assert run("experiment", "keep", "nowhere", "kept").code == 2


def padded(result):
    """With a checksum, as real results have."""
    return {**result, "sha256": checksum(result)}
