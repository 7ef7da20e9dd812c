"""The posterior of the triage table: enumeration, identities that hold exactly, and Monte Carlo."""

import numpy as np
import pandas as pd
import pytest

from askless.datasets import describe, triage_posterior
from askless.datasets.sets.triage import COLUMNS, blocks, state_posterior
from askless.datasets.sets.triage.columns import (
    AGE_BANDS,
    AGE_SHARES,
    CLASSES,
    COMPLAINT,
    CONDITIONS,
    DISCHARGE_ODDS_BY_AGE,
    ECG,
    SYSTOLIC,
    UNSTABLE_ODDS_BY_AGE,
    destination,
    prior,
)
from askless.exceptions import TableError
from tests.coded import raises


def hide(frame: pd.DataFrame, share: float, seed: int) -> pd.DataFrame:
    return frame.astype(object).mask(np.random.default_rng(seed).random(frame.shape) < share)


def by_enumeration(complaint, ecg, systolic):
    """P(class | values) by plain loops over what is hidden, from the definitions alone; None is not known."""
    grid = range(60, 231)
    mass = dict.fromkeys(CLASSES, 0.0)
    for name, condition in CONDITIONS.items():
        for band in range(len(AGE_BANDS)):
            share = condition.weight[band] / sum(c.weight[band] for c in CONDITIONS.values())
            odds = condition.unstable / (1 - condition.unstable) * UNSTABLE_ODDS_BY_AGE[band]
            for unstable in (False, True):
                p = AGE_SHARES[band] * share * (odds if unstable else 1.0) / (1 + odds)
                for column, value in ((COMPLAINT, complaint), (ECG, ecg)):
                    weights = column.given.get(name, column.usual)[unstable]
                    p *= 1.0 if value is None else weights[column.choices.index(value)] / sum(weights)
                centre = SYSTOLIC.given.get(name, SYSTOLIC.usual)[unstable] + SYSTOLIC.by_age[band]
                bell = {v: np.exp(-0.5 * ((v - centre) / SYSTOLIC.spread) ** 2) for v in grid}
                p *= 1.0 if systolic is None else bell[systolic] / sum(bell.values())
                to = dict(zip(CLASSES, condition.unstable_to if unstable else condition.stable_to, strict=True))
                to["discharge"] *= DISCHARGE_ODDS_BY_AGE[band]
                for label in CLASSES:
                    mass[label] += p * to[label] / sum(to.values())
    return [mass[label] / sum(mass.values()) for label in CLASSES]


@pytest.mark.parametrize("complaint", [None, "chest pain", "weakness or collapse"])
@pytest.mark.parametrize("ecg", [None, "normal", "ischaemia"])
@pytest.mark.parametrize("systolic", [None, 80, 135, 230])
def test_posterior_by_enumeration(complaint, ecg, systolic):
    row = pd.DataFrame({"complaint": [complaint], "ECG": [ecg], "systolic": [systolic]})
    assert triage_posterior(row).iloc[0].tolist() == pytest.approx(by_enumeration(complaint, ecg, systolic))


@pytest.mark.parametrize("block", blocks(), ids=lambda b: b.columns[-1].name)
def test_what_is_known_now_is_the_mean_of_what_will_be_known(block, big):
    """E[P(y | x_s, x_i) | x_s] = P(y | x_s), summed over every value of each column: exact, also inside a group."""
    known = hide(big.frame.head(3), 0.5, seed=1)
    for column, partner in zip(block.columns, block.columns[::-1], strict=True):
        for _, row in known.drop(columns=column.name).iterrows():
            if len(block.columns) > 1:
                row[partner.name] = 95
            before = row.to_frame().T
            place = {name: c.codes(before[name]) for c in COLUMNS if (name := c.name) in before}
            state = state_posterior(place, 1)[0]
            table = block.joint
            if len(block.columns) > 1:  # given the partner's value
                axis = 2 if column is block.columns[0] else 1
                table = np.take(table, place[partner.name][0], axis=axis)
                table = table / table.sum(axis=1, keepdims=True)
            chance = state @ table  # (values,)
            possible = chance > 0
            after = pd.concat([before] * int(possible.sum()), ignore_index=True)
            after[column.name] = column.values[possible]
            mean = chance[possible] @ triage_posterior(after).to_numpy()
            np.testing.assert_allclose(mean, triage_posterior(before).to_numpy()[0], atol=1e-10)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.9])
def test_posterior_is_calibrated(big, share):
    exact = triage_posterior(hide(big.frame, share, seed=2)).to_numpy()
    truth = big.target.to_numpy()[:, None] == np.array(CLASSES)
    for k in range(len(CLASSES)):
        bins = np.digitize(exact[:, k], [0.02, 0.1, 0.25, 0.5, 0.75, 0.9])
        for b in np.unique(bins):
            p = exact[bins == b, k]
            if len(p) < 100:
                continue
            surprise = (truth[bins == b, k] - p).sum() / np.sqrt((p * (1 - p)).sum())
            assert abs(surprise) < 4.2  # 80 such numbers in all


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        (["complaint"], lambda f: f["complaint"] == "fever"),
        (["lactate"], lambda f: f["lactate"] >= 4),
        (["diastolic"], lambda f: f["diastolic"] < 60),
        (["complaint", "troponin"], lambda f: (f["complaint"] == "chest pain") & (f["troponin"] > 100)),
        (["complaint", "systolic", "diastolic"], lambda f: (f["complaint"] == "injury") & (f["systolic"] < 105)),
        (["heart disease", "age"], lambda f: f["heart disease"] & (f["age"] >= 65)),
    ],
)
def test_posterior_by_monte_carlo(big, columns, rows):
    chosen = rows(big.frame).to_numpy()
    exact = triage_posterior(big.frame.loc[chosen, columns]).to_numpy()
    truth = big.target.to_numpy()[chosen, None] == np.array(CLASSES)
    z = (truth - exact).sum(axis=0) / np.sqrt((exact * (1 - exact)).sum(axis=0))
    assert chosen.sum() > 300
    assert np.abs(z).max() < 4


def test_all_that_can_be_known_decides_most_cases(big):
    exact = triage_posterior(big.frame)
    assert 0.85 < (exact.idxmax(axis=1).to_numpy() == big.target.to_numpy()).mean() < 0.90


def test_nothing_known_is_the_prior():
    expected = prior() @ destination()
    blank = triage_posterior(pd.DataFrame(index=["a", "b"]))
    np.testing.assert_allclose(blank.to_numpy(), [expected, expected])
    assert list(blank.index) == ["a", "b"]
    assert tuple(blank.columns) == describe("triage").classes


def test_a_missing_column_is_a_column_of_missing_values(big):
    frame = big.frame.head(20)
    left_out = triage_posterior(frame.drop(columns=["systolic", "ECG"]))
    hidden = frame.copy()
    hidden["systolic"], hidden["ECG"] = np.nan, None
    pd.testing.assert_frame_equal(triage_posterior(hidden), left_out)


def test_the_table_is_left_alone_and_its_order_does_not_matter(big):
    frame = big.frame.head(20)
    before = frame.copy()
    exact = triage_posterior(frame)
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(triage_posterior(frame[list(frame.columns)[::-1]]), exact)


def test_booleans_in_any_dress():
    column = "face, arm or speech sign"
    expected = triage_posterior(pd.DataFrame({column: [True]})).to_numpy()[0]
    for yes in (True, 1, 1.0, np.True_):
        frame = pd.DataFrame({column: pd.Series([yes, None], dtype=object)})
        np.testing.assert_allclose(triage_posterior(frame).to_numpy()[0], expected)
    as_category = pd.DataFrame({"complaint": pd.Categorical(["fever", None])})
    pd.testing.assert_frame_equal(triage_posterior(as_category), triage_posterior(as_category.astype(object)))


def test_a_number_between_two_shown_ones_is_the_nearer_one():
    close = triage_posterior(pd.DataFrame({"temperature": [38.7, 38.74]})).to_numpy()
    np.testing.assert_allclose(close[0], close[1], rtol=1e-12)


@pytest.mark.parametrize(
    ("values", "code", "fields"),
    [
        (
            {"heart rate": [80, 300]},
            "bad_cell",
            {"column": "heart rate", "row": 1, "value": 300, "low": 35, "high": 200},
        ),
        ({"lactate": [0.1]}, "bad_cell", {"column": "lactate", "row": 0, "value": 0.1, "low": 0.3, "high": 20}),
        ({"age": ["old"]}, "bad_column", {"column": "age"}),
        ({"complaint": [None, "boredom"]}, "bad_cell", {"column": "complaint", "row": 1, "value": "boredom"}),
        ({"hart rate": [80]}, "unknown_name", {"column": "hart rate", "nearest": "heart rate"}),
        ({"systolic": [120, 90], "diastolic": [80, 90]}, "bad_cell", {"row": 1}),
    ],
)
def test_what_cannot_be(values, code, fields):
    with raises(TableError, code, **fields):
        triage_posterior(pd.DataFrame(values))


def test_messages_name_column_row_and_limits():
    with raises(TableError, "bad_cell") as caught:
        triage_posterior(pd.DataFrame({"heart rate": [80, 300]}))
    assert str(caught.value) == "'heart rate' in row 1 (0-based) is 300; it must be from 35 to 200 per minute"
