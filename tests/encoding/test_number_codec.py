"""The channels of a number against hand arithmetic, and at the edges of what 64 bits hold."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from askless.encoding.number import MAX_KNOTS, NumberCodec, Rank, SignedLog, channel_from_json, halved
from askless.encoding.table import Column
from askless.exceptions import UnseenWarning
from tests.coded import warns

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def fit(values) -> NumberCodec:
    return NumberCodec.fit(Column("x", np.asarray(values, dtype=np.float64)))


def test_both_channels_by_hand():
    # sorted 0 2 4 6 8: median 4, quartiles 2 and 6, so u = -1, -0.5, 0, 0.5, 1
    codec = fit([0.0, 2.0, 4.0, 6.0, 8.0])
    rank = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    log = np.array([-math.log(4), -math.log(2.5), 0.0, math.log(2.5), math.log(4)])
    expected = np.column_stack([(rank - 0.5) / rank.std(), log / log.std()])
    np.testing.assert_allclose(codec.encode(np.array([0.0, 2, 4, 6, 8])).x, expected, rtol=1e-6, atol=1e-9)
    # 5 lies half-way between two knots: rank 0.6, u = 0.25
    np.testing.assert_allclose(
        codec.encode(np.array([5.0])).x, [[0.1 / rank.std(), math.log(1.75) / log.std()]], rtol=1e-6
    )


def test_mid_ranks_of_ties():
    rank = Rank.fit(halved(np.array([1.0, 1.0, 1.0, 3.0, 7.0])))
    np.testing.assert_array_equal(rank.values, [1, 3, 7])
    np.testing.assert_allclose(rank.ranks, [0.3, 0.7, 0.9])
    np.testing.assert_allclose(rank(halved(np.array([-9.0, 2.0, 99.0]))), [0.3, 0.5, 0.9])


def test_mean_absolute_deviation_where_the_quartiles_agree():
    # 8 zeros, -4 and 8: quartiles 0 and 0; deviations from the median 0 average (4 + 8) / 10
    channel = SignedLog.fit(halved(np.array([0.0] * 8 + [-4.0, 8.0])))
    assert channel.median == 0.0
    assert channel.scale == pytest.approx(1.2)
    np.testing.assert_allclose(
        channel(halved(np.array([-4.0, 8.0]))), [-math.log1p(3 * 4 / 1.2), math.log1p(3 * 8 / 1.2)]
    )


def test_training_rows_have_mean_0_and_sd_1():
    values = np.random.default_rng(0).lognormal(0, 2, 5000)
    values[::7] = np.nan
    encoded = fit(values).encode(values)
    assert encoded.x.dtype == np.float32
    known = encoded.x[encoded.present].astype(np.float64)
    np.testing.assert_allclose(known.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(known.std(axis=0), 1, atol=1e-5)
    assert not encoded.x[~encoded.present].any()
    np.testing.assert_array_equal(encoded.present, ~np.isnan(values))


def test_few_knots_follow_many_values():
    values = np.random.default_rng(1).normal(size=20_000)
    rank = Rank.fit(halved(values))
    assert len(rank.values) <= MAX_KNOTS
    assert (rank.values[0], rank.values[-1]) == (values.min(), values.max())
    truth = (np.argsort(np.argsort(values)) + 0.5) / values.size
    np.testing.assert_allclose(rank(halved(values)), truth, atol=1 / MAX_KNOTS)


def test_two_values_need_one_channel():
    codec = fit([0.0, 1.0, 1.0, 1.0])  # mean 0.75, sd sqrt(3) / 4
    assert codec.width == 1
    sd = math.sqrt(3) / 4
    np.testing.assert_allclose(
        codec.encode(np.array([0.0, 1.0, 0.5])).x, [[-0.75 / sd], [0.25 / sd], [-0.25 / sd]], rtol=1e-6
    )
    np.testing.assert_array_equal(codec.encode(np.array([-5.0, 1e300])).x, codec.encode(np.array([0.0, 1.0])).x)


def test_a_constant_is_one_channel_of_zeros():
    codec = fit([7.0, 7.0, np.nan])
    assert codec.width == 1
    encoded = codec.encode(np.array([7.0, 100.0, np.nan]))
    assert not encoded.x.any()
    assert encoded.present.tolist() == [True, True, False]


def test_range_of_the_training_rows():
    codec = fit([3.0, np.nan, -2.0, 9.0])
    assert (codec.part.low, codec.part.high) == (-2.0, 9.0)


EXTREMES = [
    [1e300, -1e300, 0.0, 1.0],
    [1.7e308, -1.7e308],
    [1.7e308, -1.7e308, 0.0],
    [1.7e308] * 5 + [-1.7e308] * 5 + [0.0],
    [5e-324, 0.0, 1e-323, 1.0],
    [5e-324, 0.0, 1e-323],
    [0.0] * 50 + [1e300, -1e-300],
    [1e-300, 2e-300, 3e-300],
]


@pytest.mark.parametrize("values", EXTREMES, ids=str)
def test_extreme_numbers(values):
    codec = fit(values)
    encoded = codec.encode(np.array([*values, 1.79e308, -1.79e308, 5e-324]))
    assert np.isfinite(encoded.x).all()
    assert encoded.present.all()


@settings(deadline=None, max_examples=60)
@given(hnp.arrays(np.float64, st.integers(1, 40), elements=FINITE), hnp.arrays(np.float64, 5, elements=FINITE))
def test_any_numbers_are_encoded_and_in_order(train, test):
    codec = fit(train)
    x = codec.encode(np.sort(np.concatenate([train, test]))).x
    assert np.isfinite(x).all()
    assert (np.diff(x.astype(np.float64), axis=0) >= -1e-6 * (1 + np.abs(x[1:]))).all()  # larger is never less


def test_statistics_do_not_depend_on_the_unit():
    values = np.random.default_rng(2).normal(50, 9, 300)
    np.testing.assert_array_equal(fit(values).encode(values).x, fit(values * 1024).encode(values * 1024).x)


def test_damaged_channels_are_refused():
    for name, learned in (
        ("rank", {"values": [1.0, 1.0], "ranks": [0.1, 0.2]}),
        ("rank", {"values": [1.0, 2.0], "ranks": [0.1]}),
        ("rank", {"values": [], "ranks": []}),
        ("signed log", {"median": 0.0, "scale": 0.0}),
        ("linear", {"low": 0.0, "high": math.inf}),
    ):
        with pytest.raises(ValueError, match=r"rank|scale|finite"):
            channel_from_json(name, learned)


def test_a_column_in_another_unit_is_told():
    codec = fit(np.linspace(35.0, 41.0, 50))  # degrees Celsius
    fahrenheit = np.linspace(95.0, 106.0, 12)
    with warns(UnseenWarning, "outside_training_range", column="x", rows=12, low=35.0, high=41.0, value=95.0):
        codec.encode(fahrenheit)
    with warns(UnseenWarning, "outside_training_range", column="x", rows=7):
        codec.encode(np.append(fahrenheit[:7], [36.0] * 5 + [np.nan] * 90))


def test_a_few_new_extremes_are_not():
    codec = fit(np.linspace(35.0, 41.0, 50))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        codec.encode(np.array([100.0] * 6 + [36.0] * 6))  # a half
        codec.encode(np.array([100.0] * 9))  # too few to say
        codec.encode_one(100.0)  # whoever answers is told elsewhere
