"""To JSON and back, bit for bit."""

import copy
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from askless.encoding import TableEncoder
from askless.exceptions import ModelFileError, TableError
from tests.coded import raises

TABLE = pd.DataFrame(
    {
        "n": np.random.default_rng(0).lognormal(size=400),
        "two": [0.1, 0.3] * 200,
        "one": [0.1] * 400,
        "c": ["a", "b", "ü", None] * 100,
        "k": pd.Categorical([1, 0.5] * 200),
        "b": [True, False] * 200,
    }
)
ENCODER = TableEncoder.fit(TABLE, groups={"g": ["two", "c"]}, costs={"n": 0.1})


def again(encoder: TableEncoder) -> TableEncoder:
    return TableEncoder.from_json(json.loads(json.dumps(encoder.to_json(), allow_nan=False)))


def test_round_trip():
    loaded = again(ENCODER)
    assert loaded.schema == ENCODER.schema
    assert loaded.columns == ENCODER.columns
    assert loaded.to_json() == ENCODER.to_json()
    assert loaded.transform(TABLE).x.tobytes() == ENCODER.transform(TABLE).x.tobytes()
    assert [type(choice) for choice in loaded.schema.features[3].choices] == [float, float]


def test_a_round_trip_remembers_whether_columns_had_names():
    frame = pd.DataFrame(np.eye(2), columns=["a", "b"])
    assert again(TableEncoder.fit(np.eye(2))).transform(frame).x.shape == (2, 2)
    with raises(TableError, "missing_column", column="a", nearest=None):
        again(TableEncoder.fit(frame)).transform(frame.rename(columns={"a": "c"}))


@settings(deadline=None, max_examples=60)
@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 30), st.integers(1, 3)),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    )
)
def test_floats_survive_bit_for_bit(array):
    encoder = TableEncoder.fit(array)
    loaded = again(encoder)
    assert loaded.schema == encoder.schema
    assert loaded.transform(array).x.tobytes() == encoder.transform(array).x.tobytes()


@pytest.mark.filterwarnings("ignore:column 'x' holds")  # 'M' and 'm', say
@settings(deadline=None, max_examples=60)
@given(st.lists(st.one_of(st.text(max_size=4), st.none()), max_size=20))
@example(["M", "m", "Na"])
def test_any_text_round_trips(cells):
    table = pd.DataFrame({"x": pd.Categorical([*cells, "some"])})
    encoder = TableEncoder.fit(table)
    cases = encoder.transform(table)
    np.testing.assert_array_equal(again(encoder).transform(table).x, cases.x)
    for cell, row, present in zip(cells, cases.x, cases.present[:, 0], strict=False):
        columns = encoder.encode_answer(0, cell)
        assert (columns is not None) == present
        assert columns is None or columns.tolist() == row.tolist()


def damage(path, value):
    data = copy.deepcopy(ENCODER.to_json())
    *most, last = path
    place = data
    for step in most:
        place = place[step]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return data


CHANNEL = ("features", 0, "parts", 0, "channels", 0)


@pytest.mark.parametrize(
    "data",
    [
        damage(["features"], None),
        damage(["features"], []),
        damage(["columns"], ["n"]),
        damage(["features", 0, "parts"], []),
        damage(["features", 0, "parts", 0, "kind"], "colour"),
        damage(["features", 0, "parts", 0, "low"], None),
        damage([*CHANNEL, "channel"], "magic"),
        damage([*CHANNEL, "sd"], 0.0),
        damage([*CHANNEL, "mean"], "much"),
        damage([*CHANNEL, "learned", "ranks"], [0.5]),
        damage([*CHANNEL, "learned", "surprise"], 1),
        damage(["features", 1, "name"], "n"),
        {},
        [],
    ],
    ids=range(14),
)
def test_damaged_descriptions(data):
    with raises(ModelFileError, "wrong_file"):
        TableEncoder.from_json(data)


def test_repr():
    assert repr(ENCODER) == "TableEncoder(5 features from 6 columns)"
