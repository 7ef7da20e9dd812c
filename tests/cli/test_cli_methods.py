"""`askless fit --method`: every method by its name, and what the command says if one cannot be used."""

import re

import pytest

from askless import load
from askless.cli.fit import EPILOG
from askless.methods import Random, list_methods
from askless.methods.base import needed


@pytest.fixture
def fit(run, table, tmp_path):
    """Fit by a method; returns what was said."""

    def fit(method, *more):
        words = ["fit", table, "--target", "ill", "--drop", "score", "grade", "--budget", 2]
        return run(*words, "--method", method, *more, "-o", tmp_path / "m.askless")

    return fit


@pytest.mark.parametrize(("heading", "kind"), [("dynamic", "dynamic"), ("static", "static"), ("controls", "control")])
def test_the_help_of_fit_lists_the_methods_by_kind(heading, kind):
    listed = re.search(rf"^  {heading}: (.*(?:\n   .*)*)", EPILOG, re.MULTILINE)[1]
    names = re.findall(r"[a-z_]+", re.sub(r"\(.*?\)", "", listed))
    methods = {name for name, method in list_methods().items() if method.kind == kind}
    assert sorted(names) == sorted(methods - {"auto"})  # auto is the default and has its own line


def test_an_unknown_method_is_told_the_nearest_and_all(fit):
    complaint = fit("mutual_informaton").complaint
    assert "did you mean 'mutual_information'?" in complaint
    assert all(repr(name) in complaint for name in list_methods())


@pytest.mark.parametrize("method", ["mutual_information", "forward_selection", "all_features"])
def test_methods_by_name(fit, method, tmp_path):
    result = fit(method, "--set", "epochs=1", "hidden=[4]")
    assert result.code == 0, result.err
    assert "AUROC" in result.out
    assert type(load(tmp_path / "m.askless").method) is list_methods()[method]


def test_settings_of_a_method(fit, tmp_path):
    result = fit("forward_selection", "--set", "epochs=1", "hidden=[4]", "iterations=2", "candidates=3")
    assert result.code == 0, result.err
    method = load(tmp_path / "m.askless").method
    assert (method.iterations, method.candidates) == (2, 3)
    assert "--set iterations=0: " in fit("forward_selection", "--force", "--set", "iterations=0").complaint


def test_an_oracle_is_saved_but_not_scored(fit, tmp_path, run, table):
    result = fit("oracle_order", "--set", "epochs=1", "hidden=[4]")
    assert result.code == 0, result.err
    assert "no score: OraclePolicy" in " ".join(result.out.split())
    assert "next:" not in result.out
    assert "OraclePolicy" in run("predict", tmp_path / "m.askless", table).complaint
    assert "OraclePolicy" in run("ask", tmp_path / "m.askless").complaint


def test_a_missing_package_is_one_line(fit, monkeypatch, tmp_path):
    monkeypatch.setattr(Random, "_fit", lambda self, *rest: needed("not_there.at.all", "not-there", "random"))
    result = fit("random")
    assert "'random'" in result.complaint
    assert "not-there" in result.complaint
    assert result.error == "missing_package"
    assert not (tmp_path / "m.askless").exists()


def test_a_missing_module_of_askless_is_a_bug(fit, monkeypatch):
    def broken(self, *rest):
        raise ModuleNotFoundError("No module named 'askless.nowhere'", name="askless.nowhere")

    monkeypatch.setattr(Random, "_fit", broken)
    with pytest.raises(ModuleNotFoundError):
        fit("random")
