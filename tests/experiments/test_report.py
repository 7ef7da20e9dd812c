"""The report's files."""

import csv
import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from askless.exceptions import ExperimentError
from askless.experiments.keeping import keep
from askless.experiments.report import write_report
from askless.experiments.report.content import content_of
from askless.experiments.report.markdown import as_markdown
from askless.experiments.report.study import collect
from tests.coded import raises

from .made_results import result, write

NASTY = "<b>&|_$x$"


def small_study():
    """Two data sets, one a regression of one seed, and a name that every format must escape."""
    results = []
    for seed in range(2):
        shift = 0.01 * seed
        results.append(result("flu", "greedy", seed=seed, curve=(0.5, 0.8 + shift, 0.9)))
        results.append(result("flu", "value", seed=seed, curve=(0.5, 0.7, 0.8)))
        results.append(result("flu", "sage", seed=seed, curve=(0.5, 0.6, 0.7), label=NASTY))
        results.append(result("flu", "random", seed=seed, curve=(0.5, 0.5, 0.55)))
    for method, top in (("greedy", 0.5), ("permutation", 0.4)):
        results.append(result("sugar", method, curve=(0.0, top / 2, top), metric="r2"))
    return results


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    told = []
    page = write_report(write(tmp_path_factory.mktemp("study"), small_study()), tell=told.append)
    return page.parent, told


def test_every_file_is_written(report):
    folder, told = report
    names = {path.name for path in folder.iterdir()}
    assert {"index.html", "report.md", "scores.csv", "curves.csv", "differences.csv"} <= names
    assert {"calibration.csv", "resources.csv"} <= names
    assert {"flu-curves.png", "flu-leads.png", "flu-calibration.png", "flu-asked-greedy.png"} <= names
    assert {"flu-asked-value.png", "sugar-curves.png", "sugar-asked-greedy.png"} <= names
    assert "sugar-calibration.png" not in names  # a regression has none
    assert told[-2] == "greedy is first on all 2 data sets; 10 results"
    assert str(folder / "index.html") in told[-1]


@pytest.mark.usefixtures("no_pyplot")
def test_figures_are_drawn_without_pyplot(tmp_path):
    page = write_report(write(tmp_path, [result("flu", "greedy", curve=(0.5, 0.8, 0.9))]), tell=[].append)
    assert (page.parent / "flu-asked-greedy.png").is_file()


def test_markdown_links_files_that_are_there(report):
    folder, _ = report
    text = (folder / "report.md").read_text()
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) > 10
    assert all((folder / link).is_file() for link in links)
    pngs = {path.name for path in folder.glob("*.png")}
    assert pngs <= set(links)


def test_markdown_holds_the_table(report):
    text = (report[0] / "report.md").read_text()
    head = "| method | flu<br>AUROC ×100<br>k = 2, 2 seeds | sugar<br>R²<br>k = 2, 1 seed |"
    assert head in text.splitlines()
    # flu: 0.85 and 0.855, so 85.25 and 12.706 * 0.25; sugar: one seed, no interval
    assert "| greedy | **85.25** ± 3.18 | **0.375** |" in text.splitlines()
    assert "| value | 75.00 ± 0.00 | – |" in text.splitlines()
    assert "| &lt;b&gt;&amp;\\|\\_\\$x\\$ | 65.00 ± 0.00 | – |" in text.splitlines()
    assert "One seed, so there are no intervals over seeds." in text


def test_csv_holds_what_the_table_shows(report):
    with (report[0] / "scores.csv").open() as file:
        rows = {(row["dataset"], row["method"]): row for row in csv.DictReader(file)}
    assert float(rows["flu", "greedy"]["mean"]) == pytest.approx(0.8525)
    assert rows["flu", "greedy"]["best"] == "True"
    assert rows["flu", NASTY]["kind"] == "static"
    assert rows["sugar", "greedy"]["low"] == ""
    with (report[0] / "differences.csv").open() as file:
        leads = {(row["dataset"], row["method"]): row for row in csv.DictReader(file)}
    assert float(leads["flu", "value"]["lead"]) == pytest.approx(0.1025)
    assert leads["sugar", "permutation"]["loss"] == "squared error"
    assert leads["sugar", "permutation"]["loss_low"] != ""


class _Checker(HTMLParser):
    """Tags that are closed in order, and every address."""

    VOID = ("meta", "img", "br", "wbr")

    def __init__(self):
        super().__init__()
        self.open, self.addresses = [], []

    def handle_starttag(self, tag, attrs):
        self.addresses += [value for name, value in attrs if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_else(report):
    folder, _ = report
    text = (folder / "index.html").read_text()
    page = _Checker()
    page.feed(text)
    assert page.open == []
    for address in page.addresses:
        inside = address.startswith(("data:image/svg+xml;base64,", "#"))
        assert inside or (folder / address).is_file(), address
    assert not re.search(r"https?://|<script|@import|url\(", text)
    assert "prefers-color-scheme: dark" in text
    assert "<b>&|" not in text  # a name of the data is never taken for HTML


def test_without_the_usual_method_and_twice_the_same_bytes(tmp_path):
    write(tmp_path, [result("sugar", method, metric="r2") for method in ("random", "oracle_order")])
    told = []
    first = write_report(tmp_path, tell=told.append).parent
    assert "greedy was not run" in told[0]
    assert not (first / "differences.csv").exists()
    again = write_report(tmp_path, output=tmp_path / "again", tell=told.append).parent
    for path in sorted(first.iterdir()):
        assert (again / path.name).read_bytes() == path.read_bytes(), path.name


def test_against_another_method(tmp_path):
    results = [result("flu", method) for method in ("value", "random")]
    assert "Lead of value" in as_markdown(content_of(collect(results), "value"))
    with raises(ExperimentError, "unknown_name", name="valu", nearest="value"):
        write_report(write(tmp_path, results), against="valu")


def test_many_methods_are_drawn_in_two_panels(tmp_path):
    methods = ("greedy", "value", "opportunistic", "sage", "permutation", "deeplift", "lassonet")
    methods += ("stochastic_gates", "mutual_information")
    controls = ("random", "fixed_order", "oracle_order", "all_features")
    results = [result("flu", method, seed=seed) for method in (*methods, *controls[:3]) for seed in range(2)]
    results += [result("flu", "all_features", curve=np.linspace(0.5, 1.0, 5), max_features=2)]
    curves = content_of(collect(results), "greedy").chapters[0].figures[0]
    assert len(curves.parts) == 2
    dynamic, static = ([line.get_label() for line in ax.lines] for ax in curves.whole.axes)
    assert set(dynamic) == {"greedy", "value", "opportunistic", *controls}
    assert static[0] == "greedy"  # in both, as the measure
    assert {"sage", "random"} <= set(static)
    assert curves.whole.axes[0].get_ylim() == curves.whole.axes[1].get_ylim()
    colours = [line.get_color() for line in curves.whole.axes[1].lines]
    assert colours.count(colours[0]) == 1


def test_nothing_to_report(tmp_path):
    with raises(ExperimentError, "file_not_found", path=str(tmp_path / "results")):
        write_report(tmp_path)
    with raises(ExperimentError, "file_not_found", path=str(tmp_path / "nowhere")):
        write_report(tmp_path / "nowhere")


def test_importing_the_report_is_cheap():
    code = (
        "import sys, askless.experiments.report; print({'torch', 'matplotlib', 'pandas', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def keys_of(folder):
    return [path.stem for path in (folder / "results").iterdir()]


def means_of(folder):
    """The mean by method in the report of a folder."""
    write_report(folder, tell=[].append)
    scores = pd.read_csv(folder / "report" / "scores.csv")
    return dict(zip(scores.method, scores["mean"], strict=True))


def with_older_results(folder):
    """A folder whose experiment had split seeds 0 and 1 before, and the split seed 7 now."""
    write(folder, [result(seed=seed, split_seed=7, curve=(0.5, 0.8)) for seed in (0, 1)])
    current = keys_of(folder)
    write(folder, [result(seed=seed, split_seed=seed, curve=(0.5, 0.6)) for seed in (0, 1)])
    return current


def test_results_of_older_lists_of_tasks_are_left_out(tmp_path):
    current = with_older_results(tmp_path)
    (tmp_path / "experiment.json").write_text(json.dumps({"tasks": current}))
    assert means_of(tmp_path) == pytest.approx({"greedy": 0.8})


DAMAGED = (
    "",
    "no JSON",
    "[" * 100_000,
    "[]",
    "{}",
    "\x00",
    '{"tasks": 4}',
    '{"tasks": [], "metrics": 3}',
    '{"tasks": [], "prices": 3}',
    '{"tasks": [], "prices": {"used": 3}}',
    '{"format": "a", "tasks": []}',
)


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_experiment_json_is_an_error(tmp_path, content):
    """It does not average older results into the report."""
    with_older_results(tmp_path)
    path = tmp_path / "experiment.json"
    path.write_text(content)
    with raises(ExperimentError, "damaged_file", path=str(path)) as error:
        write_report(tmp_path)
    assert str(path) in str(error.value)
    assert f"`askless experiment run FILE.toml --output {tmp_path}`" in str(error.value)
    assert not (tmp_path / "report").exists()


def test_a_newer_experiment_json_is_an_error(tmp_path):
    path = write(tmp_path, [result()]) / "experiment.json"
    path.write_text(json.dumps({"format": 2, "tasks": {"in": "another file"}}))
    with raises(ExperimentError, "newer_format", path=str(path)):
        write_report(tmp_path)


@pytest.mark.parametrize("older", ["split", "options"])
def test_a_missing_experiment_json_is_an_error_if_results_are_of_several_lists(tmp_path, older):
    if older == "split":
        with_older_results(tmp_path)
    else:
        write(tmp_path, [result(label="a", method_options={"epochs": epochs}) for epochs in (1, 2)])
    with raises(ExperimentError, "file_not_found", path=str(tmp_path / "experiment.json")):
        write_report(tmp_path)


def test_a_missing_experiment_json_does_no_harm_to_one_list(tmp_path):
    write(tmp_path, [result(method=m, seed=s, curve=(0.5, 0.8)) for m in ("greedy", "value") for s in (0, 1)])
    assert means_of(tmp_path) == pytest.approx({"greedy": 0.8, "value": 0.8})


def test_tables_show_the_metrics_that_the_experiment_named(tmp_path):
    folder = write(tmp_path, [result("made"), result("other")])
    noted = {"metrics": {"made": "log_loss"}, "tasks": keys_of(folder)}
    (folder / "experiment.json").write_text(json.dumps(noted))
    write_report(folder)
    scores = pd.read_csv(folder / "report" / "scores.csv")
    assert dict(zip(scores.dataset, scores.metric, strict=True)) == {"made": "log_loss", "other": "auroc"}


@pytest.mark.parametrize("has_prices", [True, False])
def test_files_of_earlier_versions_have_no_prices(tmp_path, has_prices):
    folder = write(tmp_path, [result("made"), result("made", label="blind", costs="ignored")])
    noted = {"tasks": keys_of(folder)}
    if has_prices:
        noted["prices"] = {"used": keys_of(folder), "ignored": []}
    (folder / "experiment.json").write_text(json.dumps(noted))
    write_report(folder)
    names = set(pd.read_csv(folder / "report" / "scores.csv").dataset)
    assert names == ({"made"} if has_prices else {"made [costs=used]", "made [costs=ignored]"})


def test_a_copy_to_keep_makes_the_same_tables(tmp_path):
    runs = [result("made", method, seed=seed) for method in ("greedy", "value") for seed in (0, 1)]
    folder = write(tmp_path / "runs", runs)
    keep(folder, tmp_path / "kept")
    for each in ("runs", "kept"):
        write_report(tmp_path / each, output=tmp_path / f"report-{each}")
    assert (tmp_path / "report-kept/scores.csv").read_bytes() == (tmp_path / "report-runs/scores.csv").read_bytes()
    alone = keep(
        write(tmp_path / "one", [result("made", method) for method in ("greedy", "value")]), tmp_path / "few"
    )
    assert alone.results == 2
    write_report(tmp_path / "few", output=tmp_path / "report-few")
    assert (
        "log loss" not in (tmp_path / "report-few/report.md").read_text().partition("## Lead")[2].partition("##")[0]
    )


def test_results_are_not_copied_onto_themselves(tmp_path):
    folder = write(tmp_path / "runs", [result()])
    (tmp_path / "link").symlink_to(folder)
    before = {file: file.read_bytes() for file in folder.rglob("*.json")}
    for copy in (folder, tmp_path / "runs" / ".." / "runs", tmp_path / "link"):
        with raises(ExperimentError, "file_exists", path=str(copy)):
            keep(folder, copy)
    assert {file: file.read_bytes() for file in folder.rglob("*.json")} == before


def test_steps_to_what_matters(tmp_path):
    runs = [result("syn1", "greedy", seed=seed) for seed in (0, 1)]
    for made, steps in zip(runs, (4.0, 4.5), strict=True):
        made["relevant"] = {"steps": steps, "found": 0.875, "least": 4.0}
    text = as_markdown(content_of(collect(runs), "greedy"))
    section = text.partition("## Steps to all relevant features")[2].partition("\n## ")[0]
    assert "at least 4.000" in section
    assert "4.250" in section  # the mean of both
    assert "in 87.5% of the cases" in section
    assert "4.568" in section  # what others report
    assert "Steps to all relevant features" not in as_markdown(content_of(collect([result()]), "greedy"))
