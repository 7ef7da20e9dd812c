import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from askless.acquisition import Schema, Trajectory
from askless.datasets import Dataset, describe
from askless.metrics import accuracy, curve, rmse
from askless.report import Case, Comparison, Contender, headline, lead, needed, ranking, render_report
from askless.report.comparison import ahead
from askless.report.figures import curve_figure, png, svg_uri
from askless.report.sections import sentence

NASTY = "<b>&\"'$x$"


def trajectory(right: np.ndarray, names: tuple[str, ...]) -> Trajectory:
    """Cases of class 1 that are predicted rightly after so many of the answers (n, k + 1)."""
    n, steps = right.shape
    p = np.where(right, 0.9, 0.2)
    order = np.tile(np.arange(steps - 1), (n, 1))
    cost = np.tile(np.arange(steps, dtype=float), (n, 1))
    reasons = np.array(["done"] * n)
    return Trajectory(order, np.stack([1 - p, p], axis=2), cost, reasons, names, ("no", NASTY))


def contender(name: str, shares: list[float], n: int = 400) -> Contender:
    right = np.arange(n)[:, None] < np.array(shares) * n
    asked = trajectory(right, ("age", NASTY, "sex"))
    scores = curve(asked, np.ones(n, dtype=int), accuracy, interval=0.95, n_boot=50)
    return Contender(name, "asks", asked, scores, 1.0)


def comparison(*curves: list[float]) -> Comparison:
    names = ("greedy", "fixed order", "random order")
    data = Dataset(
        pd.DataFrame(), pd.Series(), replace(describe("wine"), description=f"{NASTY} What is it? Numbers.")
    )
    return Comparison(
        data=data,
        metric=accuracy,
        contenders=tuple(contender(name, shares) for name, shares in zip(names, curves, strict=True)),
        truth=np.ones(400, dtype=int),
        order=("age", NASTY, "sex"),
        schema=Schema.of_numbers(["age", NASTY, "sex"]),
        n_train=1200,
        n_test=400,
        budget=3,
        seed=0,
        seconds=2.0,
    )


RANDOM = [0.2, 0.25, 0.3, 0.35]


def test_the_largest_saving():
    found = comparison([0.2, 0.5, 0.8, 0.9], [0.2, 0.3, 0.4, 0.5], RANDOM)
    head = headline(found)
    assert (head.asked, head.needed, head.saved, head.reached, head.significant) == (1, 3, 2, True, True)
    assert (head.cost, head.control_cost) == (1.0, 3.0)
    assert sentence(found) == "The greedy policy needs 1 question for a score that the fixed order reaches with 3"


def test_a_control_that_never_gets_there():
    found = comparison([0.2, 0.6, 0.8, 0.9], [0.2, 0.3, 0.4, 0.5], RANDOM)
    assert (headline(found).beaten, headline(found).reached) == (3, False)
    assert sentence(found) == "The greedy policy is better with 1 question than the fixed order with 3"
    assert "over 3" in render_report(found, CASE, {})


def test_chance_is_not_reported_as_a_saving():
    same = comparison([0.2, 0.502, 0.6, 0.7], [0.2, 0.5, 0.6, 0.7], RANDOM)
    assert not headline(same).significant
    assert "do not differ significantly" in sentence(same)
    worse = comparison([0.2, 0.3, 0.4, 0.7], [0.2, 0.5, 0.6, 0.7], RANDOM)
    assert not headline(worse).significant
    assert sentence(worse) == "With 2 questions each, the greedy policy is worse than the fixed order"
    assert "lead in" in render_report(worse, CASE, {})


def test_a_saving_that_may_be_chance_is_not_claimed():
    found = comparison([0.2, 0.3, 0.8, 0.8], [0.2, 0.3, 0.5, 0.795], RANDOM)  # with 3 the control is 2 cases behind
    assert ahead(found, 2, 3)[0] > 0.0
    assert ahead(found, 2, 3)[1] == 0.0
    assert (headline(found).asked, headline(found).beaten) == (2, 2)
    assert sentence(found) == "With 2 questions each, the greedy policy is better than the fixed order"
    page = render_report(found, CASE, {})
    assert "instead of" not in page
    assert "lead in accuracy over the fixed order with 2 questions" in page
    found = comparison([0.2, 0.7, 0.7, 0.7], [0.2, 0.3, 0.5, 0.695], RANDOM)
    assert sentence(found) == "The greedy policy is better with 1 question than the fixed order with 2"
    assert "1 <small>instead of over 2</small>" in render_report(found, CASE, {})


def test_a_lead_without_a_question_is_no_finding():
    assert "do not differ" in sentence(comparison([0.5, 0.5, 0.6, 0.7], [0.2, 0.5, 0.6, 0.7], RANDOM))


def test_a_lead_over_another_number_of_questions_is_paired():
    found = comparison([0.2, 0.7, 0.8, 0.9], [0.2, 0.3, 0.4, 0.5], RANDOM)
    score, low, high = ahead(found, 1, 3)
    assert score == pytest.approx(0.2)
    assert low == pytest.approx(0.2 - 1.96 * np.sqrt(0.2 * 0.8 / 400), abs=0.01)
    assert high == pytest.approx(0.2 + 1.96 * np.sqrt(0.2 * 0.8 / 400), abs=0.01)


def test_the_lead_is_paired():
    found = lead(comparison([0.2, 0.5, 0.8, 0.9], [0.2, 0.5, 0.6, 0.5], RANDOM))
    assert found["score"].tolist() == pytest.approx([0.0, 0.0, 0.2, 0.4])
    assert found.loc[0, ["low", "high"]].tolist() == [0.0, 0.0]  # the same predictions for the same cases
    assert found["low"].iloc[2] == pytest.approx(0.2 - 1.96 * np.sqrt(0.2 * 0.8 / 400), abs=0.01)


def test_how_many_the_control_needs_where_lower_is_better():
    ours = pd.DataFrame({"budget": [0, 1], "score": [9.0, 4.0]})
    theirs = pd.DataFrame({"budget": [0, 1, 2], "score": [9.0, 5.0, 4.0]})
    assert needed(ours, theirs, rmse) == [0, 2]


def test_ranking_by_frequency_then_by_place():
    order = np.array([[2, 0, -1], [2, 1, 0], [1, 2, -1]])
    asked = replace(trajectory(np.ones((3, 4), dtype=bool), ("a", "b", "c", "d")), order=order)
    assert ranking(asked) == ["c", "b", "a", "d"]


CASE = Case(0, (51.0, NASTY, 2), ("51", NASTY, "2"), NASTY, "The first")


def test_the_page_shows_everything_as_it_is():
    page = render_report(comparison([0.2, 0.5, 0.8, 0.9], [0.2, 0.3, 0.4, 0.5], RANDOM), CASE, {"made with": NASTY})
    assert '<b>&"' not in page
    assert "&lt;b&gt;&amp;&quot;" in page
    assert not re.search(r"(src|href)=\"(?!data:)", page)
    opened, closed = (
        re.findall(pattern, page) for pattern in (r"<(section|table|tr|td|th|ol|li|dl|div)\b", r"</(\w+)>")
    )
    assert all(opened.count(tag) == closed.count(tag) for tag in set(opened))
    assert "prefers-color-scheme: dark" in page


def test_the_same_figure_gives_the_same_picture():
    found = comparison([0.2, 0.5, 0.8, 0.9], [0.2, 0.3, 0.4, 0.5], RANDOM)
    assert svg_uri(curve_figure(found)) == svg_uri(curve_figure(found))
    assert png(curve_figure(found)).startswith(b"\x89PNG")
