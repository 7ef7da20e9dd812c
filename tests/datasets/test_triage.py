"""The triage table: its distributions, what is drawn, and why the best question differs from case to case."""

import numpy as np
import pandas as pd
import pytest

from askless.datasets import describe
from askless.datasets.sets.triage import COLUMNS, GROUPS, MISSING, blocks, pick, state_posterior
from askless.datasets.sets.triage.columns import (
    AGE_SHARES,
    ARRIVAL,
    CLASSES,
    COMPLAINT,
    CONDITIONS,
    CONSCIOUSNESS,
    ECG,
    STATES,
    TEMPERATURE,
    TROPONIN,
    UNSTABLE_ODDS_BY_AGE,
    Number,
    destination,
    prior,
)

# The tables


def test_prior_and_destination_are_distributions():
    assert len(STATES) == 90
    assert prior().sum() == pytest.approx(1)
    assert (prior() > 0).all()
    np.testing.assert_allclose(destination().sum(axis=1), 1)
    for condition in CONDITIONS.values():
        assert sum(condition.stable_to) == pytest.approx(1)
        assert sum(condition.unstable_to) == pytest.approx(1)


def test_prior_by_hand():
    total = sum(c.weight[2] for c in CONDITIONS.values())
    odds = 0.35 / 0.65 * UNSTABLE_ODDS_BY_AGE[2]
    expected = AGE_SHARES[2] * CONDITIONS["stroke"].weight[2] / total * odds / (1 + odds)
    assert prior()[STATES.index(("stroke", True, 2))] == pytest.approx(expected)


@pytest.mark.parametrize("block", blocks(), ids=lambda b: b.columns[-1].name)
def test_tables_are_distributions(block):
    assert (block.joint >= 0).all()
    np.testing.assert_allclose(block.joint.reshape(len(STATES), -1).sum(axis=1), 1)
    assert block.joint.shape[1:] == tuple(len(column.values) for column in block.columns)


@pytest.mark.parametrize("column", COLUMNS, ids=lambda c: c.name)
def test_only_conditions_that_exist_are_given(column):
    assert set(column.given) <= set(CONDITIONS)


@pytest.mark.parametrize("column", COLUMNS, ids=lambda c: c.name)
def test_shown_values_lead_back_to_their_place(column):
    series = pd.Series(list(column.values), name=column.name)
    np.testing.assert_array_equal(column.codes(series), np.arange(len(series)))


def test_a_table_follows_its_density():
    stable = STATES.index(("sepsis", False, 1))
    row = TEMPERATURE.table()[stable]
    assert TEMPERATURE.values @ row == pytest.approx(38.6, abs=0.01)
    assert np.sqrt((TEMPERATURE.values - 38.6) ** 2 @ row) == pytest.approx(0.5, abs=0.01)
    acute = TROPONIN.table()[STATES.index(("acute coronary syndrome", False, 1))]
    assert acute[TROPONIN.values <= 45].sum() == pytest.approx(0.5, abs=0.02)  # the median


def test_picking_follows_the_table_and_never_takes_the_impossible():
    table = np.array([[0.0, 0.25, 0.0, 0.75], [0.5, 0.5, 0.0, 0.0]])
    row = np.repeat([0, 1], 20_000)
    found = pick(table, row, np.random.default_rng(0))
    shares = np.stack([np.bincount(found[row == r], minlength=4) for r in (0, 1)]) / 20_000
    np.testing.assert_allclose(shares, table, atol=0.015)
    assert (shares[table == 0] == 0).all()


# The drawn table


def test_values_are_plausible(big):
    frame = big.frame
    for column in COLUMNS:
        assert set(frame[column.name].dropna().unique()) <= set(column.values)
        if isinstance(column, Number):
            assert f"{column.name} ({column.unit})" in big.description
    assert (frame["diastolic"] <= frame["systolic"] - 10).all()
    assert frame["systolic"].corr(frame["diastolic"]) > 0.5
    assert frame.dtypes["heart disease"] == np.dtype(bool)
    assert frame.dtypes["age"] == np.int64


def test_columns_have_the_frequencies_of_the_model(big):
    for column in (COMPLAINT, ARRIVAL, CONSCIOUSNESS, ECG):
        expected = prior() @ column.table()
        found = big.frame[column.name].value_counts(normalize=True).reindex(column.choices)
        np.testing.assert_allclose(found, expected, atol=0.012)
    expected = prior() @ destination()
    np.testing.assert_allclose(big.target.value_counts(normalize=True).reindex(list(CLASSES)), expected, atol=0.012)


def test_only_tests_are_missing_and_completely_at_random(big):
    gaps = big.frame.isna()
    for feature in set(describe("triage").costs) - set(MISSING):
        assert not gaps[list(GROUPS.get(feature, [feature]))].any().any()
    for feature, rate in MISSING.items():
        columns = list(GROUPS.get(feature, [feature]))
        failed = gaps[columns[0]]
        assert failed.mean() == pytest.approx(rate, abs=0.008)
        assert all(gaps[column].equals(failed) for column in columns)
        for label in CLASSES:
            assert failed[(big.target == label).to_numpy()].mean() == pytest.approx(rate, abs=0.02)


# Why it is interesting


def information(state: np.ndarray) -> dict[str, float]:
    """I(y; block | known) in nats for one belief (states,) over what is hidden; the blood panel's columns singly."""

    def entropy(p):
        return -(p * np.log(np.where(p > 0, p, 1))).sum()

    gain = {}
    for block in blocks():
        table = block.joint.reshape(len(STATES), -1)
        joint = (state[:, None] * destination()).T @ table  # (classes, values)
        name = next(
            (g for g, columns in GROUPS.items() if columns[0] == block.columns[0].name), block.columns[0].name
        )
        gain[name] = entropy(joint.sum(axis=1)) + entropy(joint.sum(axis=0)) - entropy(joint)
    return gain


@pytest.fixture(scope="module")
def after_complaint():
    """(how probable each complaint is, what every other question is then worth)."""
    choices = COMPLAINT.choices
    beliefs = state_posterior({"complaint": np.arange(len(choices))}, len(choices))
    worth = pd.DataFrame([information(belief) for belief in beliefs], index=list(choices))
    return prior() @ COMPLAINT.table(), worth.drop(columns="complaint")


def test_the_complaint_is_the_best_first_question():
    worth = information(prior())
    assert max(worth, key=worth.__getitem__) == "complaint"


def test_the_best_second_question_depends_on_the_complaint(after_complaint):
    _, worth = after_complaint
    best = worth.drop(columns="blood panel").idxmax(axis=1)
    assert best["chest pain"] == "troponin"
    assert best["short of breath"] == "oxygen saturation"
    assert best["injury"] == "ultrasound"
    assert best["headache"] == "face, arm or speech sign"
    assert best["weakness or collapse"] == "blood pressure"
    assert best.nunique() >= 6
    assert worth.loc["minor complaint"].max() < 0.02  # nothing is worth asking


def test_adapting_the_second_question_pays(after_complaint):
    share, worth = after_complaint
    adaptive, static = share @ worth.max(axis=1), (share @ worth).max()
    assert adaptive > 1.5 * static
