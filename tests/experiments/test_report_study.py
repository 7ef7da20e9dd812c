"""Results sorted into a study, and the tables made of it."""

import numpy as np
import pytest

from askless.exceptions import AsklessError, ExperimentError
from askless.experiments.config import Experiment, MethodChoice, Shares, TableChoice
from askless.experiments.report.figures import curve_figure, heat_figure, lead_figure, panels
from askless.experiments.report.frames import frames
from askless.experiments.report.grids import lead_grid, resource_grid, score_grid
from askless.experiments.report.kinds import CONTENDERS, kind_of
from askless.experiments.report.leads import leads_over, standing
from askless.experiments.report.study import collect
from askless.methods.base import list_methods
from tests.coded import raises

from .made_results import result


def cells(grid):
    """By method: its cells."""
    return {label: found for _, rows in grid.groups for label, found in rows}


def three_seeds(method, *means, **more):
    """A curve that is the mean at budgets 1 and 2, for each seed; the start does not count."""
    return [result(method=method, seed=i, curve=(0.1, m - 0.01, m + 0.01), **more) for i, m in enumerate(means)]


def test_the_mean_over_budgets_leaves_out_the_start():
    (subject,) = collect(three_seeds("greedy", 0.80, 0.82, 0.90)).subjects
    estimate = subject.scores["greedy"]
    half = 4.302652729911275 * np.sqrt((0.04**2 + 0.02**2 + 0.06**2) / 2 / 3)
    assert (estimate.mean, estimate.half) == pytest.approx((0.84, half))
    assert cells(score_grid(collect(three_seeds("greedy", 0.80, 0.82, 0.90))))["greedy"][0].main == "84.00"


def test_controls_are_never_the_best():
    results = [*three_seeds("greedy", 0.8), *three_seeds("sage", 0.7), *three_seeds("oracle_order", 0.99)]
    (subject,) = collect(results).subjects
    assert subject.best == {"greedy"}


def test_everything_asked_counts_with_its_last_score():
    results = [
        *three_seeds("greedy", 0.8),
        result(method="all_features", curve=(0.5, 0.5, 0.6, 0.7, 0.95), max_features=2),
    ]
    study = collect(results)
    assert study.subjects[0].scores["all_features"].mean == 0.95
    assert study.subjects[0].limit == 2
    assert leads_over(study, "greedy") == {}  # one is a mean over budgets, the other is not


def test_kinds_stand_apart_and_a_missing_run_is_a_dash():
    results = [result("a", "greedy"), result("a", "sage"), result("b", "greedy"), result("b", "random")]
    grid = score_grid(collect(results))
    assert [(title.split(":")[0], [label for label, _ in rows]) for title, rows in grid.groups] == [
        ("Static", ["sage"]),
        ("Dynamic", ["greedy"]),
        ("Controls", ["random"]),
    ]
    assert cells(grid)["sage"][1].main == "–"
    assert cells(grid)["random"][0].main == "–"


def test_data_sets_with_other_budgets_and_tasks_stand_side_by_side():
    results = [result("a", curve=(0.5, 0.6)), result("b", curve=(0.0, 0.2, 0.4, 0.6), metric="r2")]
    a, b = collect(results).subjects
    assert (a.limit, a.metric.__name__, b.limit, b.metric.__name__) == (1, "auroc", 3, "r2")
    assert b.scores["greedy"].mean == pytest.approx(0.4)
    lower = collect(results, "log_loss")
    assert [subject.metric.__name__ for subject in lower.subjects] == ["log_loss", "r2"]
    for chosen, shown in (
        ({"a": "brier", "b": "rmse"}, ["brier", "rmse"]),
        ({"b": "mae"}, ["auroc", "mae"]),
        ({"a": "mae"}, ["auroc", "r2"]),
    ):
        assert [subject.metric.__name__ for subject in collect(results, chosen).subjects] == shown


def test_the_same_data_cut_differently_is_told_apart():
    results = [result(curve=(0.5, 0.6)), result(curve=(0.5, 0.6, 0.7)), result("other", dataset_options={"n": 9})]
    names = [subject.name for subject in collect(results).subjects]
    assert names == ["made [max_features=1]", "made [max_features=2]", "other (n=9)"]


SEEING_AND_BLIND = (MethodChoice("greedy", "greedy", {}), MethodChoice("greedy", "blind", {}, "ignored"))


def listed(*datasets, methods=SEEING_AND_BLIND):
    """What the folder of an experiment says of prices; a data set is its name, `costs`, and the methods run on it."""
    tables = tuple(
        TableChoice(name, {}, (1, 2), (0, 1), Shares(), costs=costs, methods=only) for name, costs, only in datasets
    )
    return Experiment("e", tables, methods).to_json()["prices"]


BOTH = listed(("made", "used", None), ("made", "ignored", None))


def blind(curve=(0.5, 0.7), **more):
    """A result of a method that ignores prices by itself."""
    return result(label="blind", curve=curve, costs="ignored", **more)


def test_a_data_set_with_and_without_its_prices_is_told_apart():
    """A method that ignores prices by itself is the same run in both."""
    results = [
        *(result(curve=(0.5, 0.8), seed=seed) for seed in (0, 1)),
        *(result(curve=(0.5, 0.6), seed=seed, costs="ignored") for seed in (0, 1)),
        blind(),
    ]
    ignored, used = collect(results, None, BOTH).subjects
    assert (ignored.name, used.name) == ("made [costs=ignored]", "made [costs=used]")
    for subject, mean in ((ignored, 0.6), (used, 0.8)):
        assert {label: estimate.mean for label, estimate in subject.scores.items()} == pytest.approx(
            {"greedy": mean, "blind": 0.7}
        )
        assert [estimate.n for estimate in subject.scores.values()].count(2) == 1


def test_runs_that_ignored_prices_stay_so_while_others_are_not_done():
    ignored, used = collect([result(curve=(0.5, 0.6), costs="ignored"), blind()], None, BOTH).subjects
    assert (ignored.name, set(ignored.entries)) == ("made [costs=ignored]", {"greedy", "blind"})
    assert (used.name, set(used.entries)) == ("made [costs=used]", {"blind"})


def test_a_method_of_one_list_is_not_in_the_other():
    two = (MethodChoice("greedy", "greedy", {}), MethodChoice("sage", "sage", {}))
    prices = listed(("made", "used", ("greedy",)), ("made", "ignored", None), methods=two)
    results = [result(), *(result(method=method, costs="ignored") for method in ("greedy", "sage"))]
    ignored, used = collect(results, None, prices).subjects
    assert (set(ignored.entries), set(used.entries)) == ({"greedy", "sage"}, {"greedy"})


def test_methods_with_and_without_prices_share_a_data_set():
    prices = listed(("a", "used", None), ("b", "ignored", None))
    results = [result("a"), result("a", label="blind", costs="ignored"), result("b", costs="ignored")]
    a, b = collect(results, None, prices).subjects
    assert (a.name, set(a.entries), b.name, set(b.entries)) == ("a", {"greedy", "blind"}, "b", {"greedy"})


def test_a_data_set_s_prices_are_no_difference_where_a_method_ignores_them():
    curves = ((0.5, 0.6), (0.5, 0.6, 0.7))
    results = [*map(blind, curves), *(result(curve=curve) for curve in curves)]
    names = [subject.name for subject in collect(results, None, listed(("made", "used", None))).subjects]
    assert names == ["made [max_features=1]", "made [max_features=2]"]


@pytest.mark.parametrize("prices", [None, {}])
def test_where_nothing_says_how_a_data_set_is_listed_each_run_is_shown_as_it_was(prices):
    ignored, used = collect([result(), result(costs="ignored"), blind((0.5, 0.8, 0.9))], None, prices).subjects
    assert (set(ignored.entries), set(used.entries)) == ({"greedy", "blind"}, {"greedy"})


def test_the_same_run_twice_is_an_error():
    with raises(ExperimentError, "duplicate_name", name="greedy", value=(3, 3)):
        _ = collect([result(seed=3), result(seed=3)]).subjects[0].scores


def test_everything_asked_may_end_at_another_number_in_each_run():
    """With gaps, how much there is to ask depends on the test rows."""
    results = [
        result(method="all_features", curve=(0.5, 0.6, 0.7, 0.9), max_features=2, seed=0),
        result(method="all_features", curve=(0.5, 0.6, 0.7, 0.8, 0.7), max_features=2, seed=1),
    ]
    (subject,) = collect(results).subjects
    entry = subject.entries["all_features"]
    assert subject.scores["all_features"].mean == pytest.approx(0.8)
    assert (entry.budgets.tolist(), entry.curves("auroc").tolist()) == ([4], [[0.9], [0.7]])
    assert len(frames(collect(results), None, {})["curves.csv"]) == 4  # cost, auroc, accuracy, log loss


def test_questions_are_counted_by_name():
    """A column that is empty in the training rows of one split is no feature there, and the others move up."""
    results = [
        result(seed=0, features=("age", "sex", "weight"), order=np.tile([1, 2], (50, 1))),
        result(seed=1, features=("age", "rare", "sex", "weight"), order=np.tile([2, -1], (50, 1))),
    ]
    (subject,) = collect(results).subjects
    ax = heat_figure(subject.entries["greedy"]).axes[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["sex", "weight"]
    assert ax.collections[0].get_array().tolist() == [[1.0, 1.0], [0.0, 0.5]]


def test_long_options_are_counted_in_a_name():
    results = [result("a", dataset_options={"pixels": [start, 4, 5, 6]}) for start in (1, 2, 3)]
    assert [s.name for s in collect(results).subjects] == ["a (4 pixels)", "a (4 pixels) #2", "a (4 pixels) #3"]


def test_one_label_for_two_methods_is_told_apart():
    results = [result(label="x", method_options={"epochs": 1}), result(label="x", method_options={"epochs": 2})]
    assert [row.label for row in collect(results).rows] == ["x: greedy(epochs=1)", "x: greedy(epochs=2)"]


def test_leads_are_paired_by_seed():
    results = [*three_seeds("greedy", 0.81, 0.92, 0.73), *three_seeds("sage", 0.80, 0.90, 0.70)]
    study = collect(results)
    lead = leads_over(study, "greedy")["made", "sage"]
    assert lead.score.mean == pytest.approx(0.02)
    assert lead.score.half == pytest.approx(4.302652729911275 * 0.01 / np.sqrt(3))
    assert lead.loss is None
    (cell,) = cells(lead_grid(study, {("made", "sage"): lead}))["sage"]
    assert (cell.main, cell.small, cell.bold) == ("+2.00", "−0.48 to +4.48", False)


def test_other_splits_are_not_paired():
    results = [result(method="greedy", split_seed=0), result(method="sage", split_seed=1)]
    assert leads_over(collect(results), "greedy") == {}


def test_one_seed_is_compared_case_by_case():
    easy = np.full((200, 3), 0.25)
    hard = easy + np.random.default_rng(0).choice([0.25, 0.5], (200, 1))
    hard[:, 0] = 9.0  # before the first question: does not count
    results = [result(method="greedy", loss=easy), result(method="sage", loss=hard)]
    lead = leads_over(collect(results), "greedy")["made", "sage"]
    assert lead.score.low is None
    assert lead.loss.mean == pytest.approx((hard[:, 1:] - easy[:, 1:]).mean())
    assert 0.25 < lead.loss.low < lead.loss.mean < lead.loss.high < 0.5


def test_where_the_chosen_method_stands():
    def stands(*greedy):
        results = [*three_seeds("greedy", *greedy), *three_seeds("sage", 0.80, 0.81, 0.82)]
        study = collect(results)
        return standing(study.subjects[0], "greedy", leads_over(study, "greedy"))

    assert stands(0.90, 0.90, 0.90) == "first"
    assert stands(0.80, 0.815, 0.80) == "level"
    assert stands(0.70, 0.71, 0.72) == "behind"


def test_published_figures_stand_beside_the_same_protocol_only():
    ten, five = (tuple(np.linspace(0.5, 0.9, k + 1)) for k in (10, 5))
    features = [f"f{i}" for i in range(12)]
    (cell,) = cells(score_grid(collect([result("spam", curve=ten, features=features)])))["greedy"]
    assert cell.small == "published 93.91 ± 0.17"
    (cell,) = cells(score_grid(collect([result("spam", curve=five, features=features)])))["greedy"]
    assert cell.small == ""
    (cell,) = cells(score_grid(collect([result("spam", curve=ten, features=features)], "accuracy")))["greedy"]
    assert cell.small == ""


def test_times_of_resumed_runs_do_not_count():
    whole, part = result(seed=0, seconds=100.0), result(seed=1, seconds=2.0)
    part["measured"]["resumed"] = True
    (cell,) = cells(resource_grid(collect([whole, part])))["greedy"]
    assert cell.main == "110 s"


def test_a_metric_of_no_data_set():
    with raises(ExperimentError, "conflicting_settings", name="metric", value="r2"):
        collect([result()], "r2")
    with raises(AsklessError, "unknown_name", nearest="auroc"):
        collect([result()], "auroce")


def test_the_report_takes_kinds_from_the_methods():
    assert {name: kind_of(name) for name in list_methods()} == {n: m.kind for n, m in list_methods().items()}


def test_the_kind_of_another_package_s_method_is_unknown():
    """A static method of another package is not reported as dynamic."""
    study = collect([result(method=method) for method in ("random", "my_static_order", "greedy")])
    assert [(row.label, row.kind) for row in study.rows] == [
        ("greedy", "dynamic"),
        ("my_static_order", "unknown"),
        ("random", "control"),
    ]
    titles = {labels[0][0]: title for title, labels in score_grid(study).groups}
    assert titles["my_static_order"] == "Unknown kind: not a method of this version of askless"
    assert "my_static_order" in study.subjects[0].scores
    lead_figure(study, study.subjects[0], "greedy", leads_over(study, "greedy"))
    assert panels(study, study.subjects[0]) == [CONTENDERS]
    many = collect([result(method=method) for method in ("greedy", *(f"mine_{i}" for i in range(9)))])
    kinds = panels(many, many.subjects[0])
    assert kinds == [("dynamic",), ("unknown",)]
    axes = curve_figure(many, many.subjects[0], "auroc", "AUROC", "greedy", kinds).axes
    assert [ax.get_title(loc="left") for ax in axes] == ["dynamic", "unknown kind"]
