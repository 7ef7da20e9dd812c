"""Money and stopping in results and reports, against hand arithmetic on four cases."""

import numpy as np
import pytest

from askless.acquisition import Trajectory
from askless.acquisition.stopping import InformationPerCost, MaxCost
from askless.experiments.report.content import content_of
from askless.experiments.report.money import money_curves
from askless.experiments.report.stopping import (
    Stop,
    best_number,
    cheapest_stop,
    frontier_figure,
    stopping_grid,
    stops,
)
from askless.experiments.report.study import Run, collect
from askless.experiments.scoring import METRICS
from askless.experiments.spending import FIXED, choosing_part, money_part, stopping_part, stopping_places

from .made_results import result

PRICES = np.array([1.0, 9.0])
Y = np.array([1, 1, 0, 0])
SURE = np.array([[0.5, 0.9, 0.99], [0.5, 0.6, 0.8], [0.5, 0.1, 0.05], [0.5, 0.7, 0.2]])  # of class 1


def asked(first):
    """The four cases, asked for the cheap or the dear feature first, then for the other."""
    order = np.array([[first, 1 - first]] * 4)
    cost = np.cumsum(np.concatenate([np.zeros((4, 1)), PRICES[order]], axis=1), axis=1)
    predictions = np.stack([1 - SURE, SURE], axis=2)
    return Trajectory(order, predictions, cost, np.full(4, "max_features"), ("cheap", "dear"))


def cut(trajectory, k):
    return Trajectory(
        trajectory.order[:, :k],
        trajectory.predictions[:, : k + 1],
        trajectory.cost[:, : k + 1],
        trajectory.stop_reason,
        trajectory.feature_names,
    )


def ask(rules):
    """The cheap feature first; with money for less than both there is only that one."""
    full = asked(first=0)
    for rule in rules:
        if isinstance(rule, MaxCost):
            return cut(full, sum(np.cumsum(PRICES) <= rule.money))
        if isinstance(rule, InformationPerCost):
            return cut(full, 1)
    return full


def log_loss(steps):
    p = SURE[np.arange(4), steps]
    return -np.log(np.where(Y == 1, p, 1 - p)).mean()


def places(ask=ask, **more):
    settings = {"budget": 2, "mean_price": 5.0, "certain": True, "informative": True}
    return stopping_places(ask(()), ask, **{**settings, **more})


def stopped(ask=ask, y=Y, metrics=METRICS["classification"], **more):
    return stopping_part(places(ask, **more), y, metrics)


def test_where_each_rule_stops():
    part = stopped()
    fixed = part["features"]
    assert fixed["threshold"] == [0, 1, 2]
    assert fixed["cost"] == [0.0, 1.0, 10.0]
    assert fixed["features"] == [0.0, 1.0, 2.0]
    assert fixed["log_loss"] == pytest.approx([log_loss([k] * 4) for k in range(3)])

    sure = part["confidence"]  # at 0.9 the first and the third case stop after one answer, no other ever does
    at = sure["threshold"].index(0.9)
    assert sure["cost"][at] == pytest.approx((1 + 10 + 1 + 10) / 4)
    assert sure["features"][at] == pytest.approx(1.5)
    assert sure["log_loss"][at] == pytest.approx(log_loss([1, 2, 1, 2]))
    assert sure["cost"][0] == 0.0  # before the first answer all are as sure as 0.5

    worth = part["information_per_cost"]
    assert worth["cost"] == [1.0] * len(worth["threshold"])
    assert max(worth["threshold"]) == pytest.approx(0.1 / 5.0)  # nats for an average price
    assert "information_per_cost" not in stopped(informative=False)


def test_a_regression_has_one_number_of_questions_for_all():
    def means(rules):
        full = ask(rules)
        return Trajectory(
            full.order, full.predictions[:, :, 1:], full.cost, full.stop_reason, full.feature_names, ("mean",)
        )

    part = stopped(means, Y.astype(float), metrics=("rmse",), certain=False)
    assert list(part) == ["features"]
    assert part["features"]["rmse"] == pytest.approx([np.sqrt(np.mean((SURE[:, k] - Y) ** 2)) for k in range(3)])


def test_paths_that_end_before_the_budget():
    """Where no case can be asked as much as the budget allows, lists are as long as elsewhere."""
    part = stopped(budget=4)
    assert part["features"]["cost"] == [0.0, 1.0, 10.0, 10.0, 10.0]
    assert part["features"]["log_loss"][2:] == pytest.approx([log_loss([2] * 4)] * 3)


def test_rows_of_one_class_have_what_a_threshold_is_chosen_by():
    part = stopped(y=np.zeros(4, dtype=int), metrics=("log_loss",))  # AUROC would not be defined
    assert np.isfinite(part["confidence"]["log_loss"]).all()


def test_what_money_buys():
    part = money_part(ask, Y, PRICES, METRICS["classification"])
    assert part["money"][-1] == 10.0
    assert part["cost"] == [0.0 if m < 1 else 1.0 if m < 10 else 10.0 for m in part["money"]]
    assert part["log_loss"][-1] == pytest.approx(log_loss([2] * 4))


def stopping(costs, losses, fixed_costs=(0.0, 4.0, 10.0), fixed_losses=(0.7, 0.5, 0.3)):
    return {
        "features": {"threshold": [0, 1, 2], "cost": list(fixed_costs), "log_loss": list(fixed_losses)},
        "confidence": {"threshold": [0.8, 0.9], "cost": list(costs), "log_loss": list(losses)},
    }


def priced(valid, test, error=0.0, **more):
    best = min(valid["features"]["log_loss"])
    valid = {
        rule: part
        | {"excess": [loss - best for loss in part["log_loss"]], "excess_error": [error] * len(part["cost"])}
        for rule, part in valid.items()
    }
    money = {"money": [1.0, 10.0], "cost": [1.0, 8.0], "log_loss": [0.6, 0.3], "auroc": [0.6, 0.9]}
    return result(**more) | {"money": money, "stopping": test, "stopping_valid": valid}


def test_thresholds_are_chosen_on_validation_rows_and_scored_on_test_rows():
    run = Run(priced(stopping((3.0, 5.0), (0.4, 0.29)), stopping((2.5, 6.0), (0.1, 0.35), (0, 4, 9))))
    assert best_number(run) == Stop("features", {"threshold": 2.0, "cost": 9.0, "log_loss": 0.3})
    chosen = cheapest_stop(run)  # 0.8 costs less, but is worse than two questions for every case
    assert chosen == Stop("confidence", {"threshold": 0.9, "cost": 6.0, "log_loss": 0.35})
    none = Run(priced(stopping((3.0, 5.0), (0.4, 0.31)), stopping((2.5, 6.0), (0.1, 0.2))))
    assert (cheapest_stop(none).rule, cheapest_stop(none).told["cost"]) == ("features", 10.0)


def test_a_rule_may_be_worse_by_a_standard_error():
    parts = stopping((3.0, 5.0), (0.4, 0.31)), stopping((2.5, 6.0), (0.1, 0.2))
    assert str(cheapest_stop(Run(priced(*parts, error=0.009)))) == "2 questions"
    assert str(cheapest_stop(Run(priced(*parts, error=0.011)))) == "confidence 0.9"


def test_what_a_threshold_is_chosen_by():
    """The excess over the best number of questions is paired by case, and so is its standard error."""
    part = choosing_part(places(), Y, "classification")
    after = [-np.log(np.where(Y == 1, SURE[:, k], 1 - SURE[:, k])) for k in range(3)]
    assert set(part["features"]) == {"threshold", "features", "cost", "log_loss", "excess", "excess_error"}
    for k in range(3):  # two questions are best
        assert part["features"]["excess"][k] == pytest.approx((after[k] - after[2]).mean())
        assert part["features"]["excess_error"][k] == pytest.approx((after[k] - after[2]).std() / 2)
    sure = part["confidence"]
    at = sure["threshold"].index(0.9)  # the first and the third case stop after one answer
    excess = np.array([1, 0, 1, 0]) * (after[1] - after[2])
    assert sure["excess"][at] == pytest.approx(excess.mean())
    assert sure["excess_error"][at] == pytest.approx(excess.std() / 2)


def test_the_report_has_a_table_and_a_figure_of_stopping():
    results = [
        priced(
            stopping((3.0, 5.0), (0.4, 0.29)),
            stopping((2.5, 4.0 + seed), (0.1, 0.35)),
            seed=seed,
            metric="log_loss",
            curve=(0.7, 0.5, 0.3),
        )
        for seed in (0, 1)
    ]
    study = collect(results, "log_loss")
    ((_, ((label, (cell,)),)),) = stopping_grid(study).groups
    assert (label, cell.main) == ("greedy", "0.350")
    assert cell.small == "for 4.5 (confidence 0.9, confidence 0.9); 0.300 for 10 (2 questions, 2 questions)"
    content = content_of(study, "greedy")
    assert "Stopping" in [title for title, *_ in content.tables]
    assert any(shown.file.endswith("-stopping.png") for shown in content.chapters[0].figures)
    assert not stops(collect([result()]).subjects[0])  # results without prices, or of before, have none


def test_the_frontier_shows_a_rule_that_every_run_has():
    """The seeds of `auto` may keep policies with information and without, in any order."""
    with_worth = stopping((3.0, 5.0), (0.4, 0.29))
    with_worth["information_per_cost"] = {"threshold": [0.1, 0.01], "cost": [1.0, 2.0], "log_loss": [0.6, 0.5]}
    without = stopping((3.0, 7.0), (0.4, 0.29))
    for parts in ((with_worth, without), (without, with_worth), (with_worth, with_worth)):
        made = [
            priced(part, part, seed=seed, method="auto", metric="log_loss", curve=(0.7, 0.5, 0.3))
            for seed, part in enumerate(parts)
        ]
        study = collect(made, "log_loss")
        fixed, by_rule = frontier_figure(study, study.subjects[0], None).axes[0].lines
        assert fixed.get_xdata().tolist() == [0.0, 4.0, 10.0]
        both = parts[0] is parts[1]
        assert by_rule.get_xdata().tolist() == ([1.0, 2.0] if both else [3.0, 6.0])


def test_amounts_of_money_are_those_of_all_runs():
    """A run that lacks a feature has less to pay for everything; its scores are for the same shares of that."""
    some, less = (priced(*[stopping((3.0, 5.0), (0.4, 0.29))] * 2, seed=seed) for seed in (0, 1))
    less["money"] = {**less["money"], "money": [0.8, 8.0], "auroc": [0.5, 0.8]}
    entry = collect([some, less]).subjects[0].entries["greedy"]
    levels, scores = money_curves(entry, "auroc")
    assert levels.tolist() == pytest.approx([0.9, 9.0])
    assert scores.tolist() == [[0.6, 0.9], [0.5, 0.8]]


def test_a_method_that_asks_everything_does_not_stop():
    made = [
        priced(stopping((3.0, 5.0), (0.4, 0.29)), stopping((2.5, 4.0), (0.1, 0.35)), method=method)
        for method in ("greedy", "all_features")
    ]
    labels = [label for _, rows in stopping_grid(collect(made, "log_loss")).groups for label, _ in rows]
    assert labels == ["greedy"]


def test_a_single_question_is_one():
    assert str(Stop(FIXED, {"threshold": 1.0})) == "1 question"
    assert str(Stop(FIXED, {"threshold": 12.0})) == "12 questions"
