"""The report's arithmetic against numbers worked out by hand."""

import numpy as np
import pytest

from askless.experiments.report.statistics import best, case_lead, paired_lead, t_interval

T_2, T_1 = 4.302652729911275, 12.706204736174698  # 97.5 % points of Student's t, 2 and 1 degrees of freedom


def test_interval_of_three_numbers():
    found = t_interval([2.0, 4.0, 9.0])  # deviations -3, -1, 4: variance 26 / 2 = 13
    half = T_2 * np.sqrt(13.0 / 3.0)
    assert found.mean == 5.0
    assert found.n == 3
    np.testing.assert_allclose([found.low, found.high, found.half], [5.0 - half, 5.0 + half, half], rtol=1e-9)


def test_one_number_has_no_interval():
    found = t_interval([0.7])
    assert (found.mean, found.low, found.high, found.half, found.beyond_chance) == (0.7, None, None, None, False)


def test_equal_numbers_have_an_interval_of_no_width():
    assert t_interval([1.5, 1.5]).half == 0.0


def test_the_interval_holds_the_truth_as_often_as_it_says():
    draws = np.random.default_rng(0).normal(1.0, 2.0, (4000, 4))
    held = [found.low <= 1.0 <= found.high for found in map(t_interval, draws)]
    assert np.mean(held) == pytest.approx(0.95, abs=0.012)


def test_paired_difference():
    ours = {(0, 0): 0.90, (1, 1): 0.80, (5, 5): 0.10}
    theirs = {(1, 1): 0.76, (0, 0): 0.88, (7, 7): 0.99}
    lead = paired_lead(ours, theirs, greater_is_better=True)  # 0.02 and 0.04: mean 0.03, sd 0.01 sqrt(2)
    assert lead.n == 2
    half = T_1 * 0.01  # sd / sqrt(2)
    np.testing.assert_allclose([lead.mean, lead.low, lead.high], [0.03, 0.03 - half, 0.03 + half], rtol=1e-9)
    assert not lead.beyond_chance
    assert paired_lead(ours, theirs, greater_is_better=False).mean == pytest.approx(-0.03)


def test_pairs_need_a_common_run():
    assert paired_lead({0: 0.5}, {1: 0.5}, greater_is_better=True) is None


def test_pairing_cancels_what_a_split_adds_to_both():
    splits = np.random.default_rng(1).normal(0.0, 1.0, 5)
    ours, theirs = ({i: value + gain for i, value in enumerate(splits)} for gain in (0.1, 0.0))
    lead = paired_lead(ours, theirs, greater_is_better=True)
    assert lead.mean == pytest.approx(0.1)
    assert lead.half < 1e-9 < t_interval(list(ours.values())).half


def test_bootstrap_over_cases_agrees_with_the_normal_interval():
    rng = np.random.default_rng(2)
    theirs = rng.exponential(1.0, 3000)
    ours = theirs - rng.normal(0.05, 0.4, 3000)
    gain = theirs - ours
    lead = case_lead(ours, theirs)
    half = 1.96 * gain.std() / np.sqrt(3000)
    assert lead.mean == pytest.approx(gain.mean())
    assert (lead.low, lead.high) == pytest.approx((gain.mean() - half, gain.mean() + half), abs=0.1 * half)
    assert lead.beyond_chance


def test_what_looks_the_same_shares_the_first_place():
    means = {"a": 94.651, "b": 94.649, "c": 94.64, "d": float("nan")}
    assert best(means, 2, greater_is_better=True) == {"a", "b"}
    assert best(means, 3, greater_is_better=True) == {"a"}
    assert best(means, 2, greater_is_better=False) == {"c"}
    assert best({"d": float("nan")}, 2, greater_is_better=True) == frozenset()
