import json
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

import askless
from askless.cli import COMMANDS, build_parser, demo, main
from askless.cli.errors import guarded
from askless.exceptions import AsklessWarning, TableError
from tests.cli.cli_helpers import Result, refused, spawn

NAMES = ["demo", "fit", "evaluate", "predict", "ask", "serve", "datasets", "experiment"]


def test_version(capsys):
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0
    assert capsys.readouterr().out == f"askless {askless.__version__}\n"


def test_no_command_prints_the_help(run):
    result = run()
    assert result.code == 0
    assert all(name in result.out for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help_with_an_example(name, capsys):
    with pytest.raises(SystemExit) as left:
        main([name, "--help"])
    assert left.value.code == 0
    told = capsys.readouterr().out
    assert f"askless {name}" in told
    assert "example" in told
    assert max(len(line) for line in told.splitlines()) <= 120


def test_the_help_is_quick_and_loads_nothing_heavy():
    heavy = ("torch", "sklearn", "pandas", "numpy", "matplotlib", "rich", "narwhals")
    code = (
        "import sys, json\nfrom askless.cli import build_parser\nbuild_parser().format_help()\n"
        f"print(json.dumps([name for name in {heavy!r} if name in sys.modules]))"
    )
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
    assert time.perf_counter() - start < 2.0  # 0.1 s on an idle machine


def test_commands_are_complete():
    assert len(COMMANDS) == len(NAMES)
    assert all(name in build_parser().format_help() for name in NAMES)


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["fit"],
        ["fit", "x.csv", "--target", "y"],
        ["fit", "--nonsense"],
        ["datasets"],
        ["datasets", "eat"],
    ],
)
def test_a_wrong_command_line_is_one_line(words, run):
    result = run(*words)
    assert "--help" in result.complaint
    assert result.error == "usage"


def test_a_misspelt_command_is_told_the_nearest():
    message = refused("usage", "predikt", value="predikt", nearest="predict")
    assert "'predikt' (did you mean 'predict'?); choose from demo, fit, " in message
    refused("usage", "datasets", "gett", value="gett", nearest="get")


def test_interrupts_and_bugs(monkeypatch, capsys, tmp_path):
    def raising(error):
        def run(*args):
            raise error

        monkeypatch.setattr(demo, "_load", run)
        return main(["demo", "--output", str(tmp_path / "report")])

    assert raising(KeyboardInterrupt()) == 130
    assert capsys.readouterr().err == "askless: stopped\n"
    assert raising(FileNotFoundError(2, "No such file or directory", "x.csv")) == 2
    assert capsys.readouterr().err == "askless: x.csv: no such file or directory [file_not_found]\n"
    assert raising(ValueError("two\nlines")) == 2
    assert capsys.readouterr().err == "askless: two lines\n"
    assert raising(TableError("bad_cell", "two\nlines", row=3)) == 2
    assert capsys.readouterr().err == "askless: two lines [bad_cell]\n"
    with pytest.raises(ZeroDivisionError):  # a bug keeps its traceback
        raising(ZeroDivisionError())


def test_warnings_of_other_packages_are_left_alone():
    def run() -> int:
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        return 0

    with pytest.raises(DeprecationWarning):  # because pytest makes errors of them
        guarded(run)


def test_a_closed_pipe_is_no_error(table: Path, model: Path):
    command = f"{sys.executable} -m askless predict {model} {table} --chunk-rows 1 | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("prediction,")
    assert done.stderr == ""


def test_exit_codes_of_a_real_process(tmp_path: Path):
    done = spawn("predict", tmp_path / "no.askless", tmp_path / "no.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert Result(done.returncode, done.stdout, done.stderr).complaint
    assert spawn("--version").returncode == 0


def test_two_hyphens_may_be_a_word_for_missing_values():
    words = ["fit", "t.csv", "--target", "y", "-o", "m.askless"]
    assert build_parser().parse_args([*words, "--na=--"]).na == ["--"]
    assert build_parser().parse_args([*words, "--na", ".", "-", "-999", "--na=--", "--na=-x"]).na == [
        ".",
        "-",
        "-999",
        "--",
        "-x",
    ]
    assert build_parser().parse_args([words[0], *words[2:], "--na", ".", "--", "t.csv"]).na == [
        "."
    ]  # ends the options


@pytest.mark.parametrize("given", [["--na", "--"], ["--na", ".", "--"], ["--na", ".", "--", "-"], ["--na", "-x"]])
def test_errors_show_how_to_write_two_hyphens(given):
    assert "like --na=--" in refused("usage", "fit", "t.csv", "--target", "y", "-o", "m.askless", *given)


def test_warnings_of_askless_are_notes(capsys):
    def run() -> int:
        warnings.warn(AsklessWarning("duplicate_rows", "three\nrows", rows=3), stacklevel=1)
        return 0

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(run.__globals__, "__name__", "askless.somewhere")
        assert guarded(run) == 0
    assert capsys.readouterr().err == "askless: note: three rows [duplicate_rows]\n"


@pytest.mark.parametrize("name", ["fit", "evaluate", "predict"])
def test_the_help_lists_the_words_that_always_mean_missing(name, capsys):
    with pytest.raises(SystemExit):
        main([name, "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "NA, N/A, NaN, null (in small or capital letters), -nan, ? and an empty cell" in told


def test_serve_names_the_packages_it_needs(run, model, monkeypatch):
    """Also from a checkout, where 'askless[serve]' is no package that pip could find."""
    monkeypatch.delitem(sys.modules, "askless.service.server", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    message = refused("missing_package", "serve", model, package="uvicorn")
    assert "pip install fastapi" in message
    assert "pip install '.[serve]'" in message
    assert "askless[" not in message
