"""A single cell is encoded as it is in a column, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askless.encoding.category import CategoryCodec
from askless.encoding.cells import BadCell
from askless.encoding.codec import BooleanCodec
from askless.encoding.number import NumberCodec
from askless.encoding.table import Column
from askless.exceptions import AsklessWarning
from tests.coded import warns

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
RNG = np.random.default_rng(0)
COLUMNS = {
    "many values": RNG.lognormal(size=2000),
    "mostly one value": np.where(RNG.random(500) < 0.8, 0.0, RNG.normal(size=500)),
    "two values": np.array([0.0, 1.0, 1.0]),
    "one value": np.array([3.0, 3.0]),
    "huge and tiny": np.array([-1.7e308, 1e-300, 0.0, 5.0, 1.7e308]),
}


def in_a_column(codec, cell):
    cells = np.empty(1, dtype=object)
    cells[0] = cell
    encoded = codec.encode(cells)
    return encoded.x[0].tobytes() if encoded.present[0] else None


def alone(codec, cell):
    columns = codec.encode_one(cell)
    return None if columns is None else np.array(columns, dtype=np.float32).tobytes()


@pytest.mark.parametrize("name", COLUMNS)
def test_numbers(name):
    codec = NumberCodec.fit(Column("x", COLUMNS[name]))
    near = st.sampled_from(COLUMNS[name].tolist())

    @settings(deadline=None, max_examples=300)
    @given(st.one_of(FLOATS, near, st.integers(-(10**20), 10**20), st.floats(-10, 10), st.booleans(), st.none()))
    def agrees(cell):
        assert alone(codec, cell) == in_a_column(codec, cell)

    agrees()
    for cell in (float("nan"), -0.0, "1.5", "", np.float32(0.1), np.int8(3)):
        assert alone(codec, cell) == in_a_column(codec, cell)


@pytest.mark.parametrize("cell", [float("inf"), -float("inf"), 10**400, "tall", [1.0], 1j])
def test_numbers_that_cannot_be_read(cell):
    codec = NumberCodec.fit(Column("x", COLUMNS["many values"]))
    message = read(alone, codec, cell)
    assert isinstance(message, str)
    assert message == read(in_a_column, codec, cell)


CATEGORY = CategoryCodec.fit(Column("c", np.array(["red", "blue", "3", "1.5"], dtype=object)))
BOOLEAN = BooleanCodec.fit(Column("b", np.array([True, False])))
CELLS = st.sampled_from(
    [
        "red",
        " blue",
        "3",
        3,
        3.0,
        1.5,
        True,
        "green",
        "",
        None,
        float("nan"),
        0,
        1,
        "yes",
        "N",
        np.str_("red"),
        np.True_,
    ]
)


@pytest.mark.filterwarnings("ignore::askless.exceptions.UnseenWarning")
@pytest.mark.parametrize("codec", [CATEGORY, BOOLEAN])
@settings(deadline=None)
@given(CELLS | st.lists(st.integers(), max_size=1))
def test_categories_and_booleans(codec, cell):
    told = read(alone, codec, cell)
    if codec is CATEGORY and "no category of this column is" in str(told):  # a person can still mend an answer
        with warns(AsklessWarning, "unexpected_type", row=0):
            assert in_a_column(codec, cell) is None
    else:
        assert told == read(in_a_column, codec, cell)


def read(how, codec, cell):
    try:
        return how(codec, cell)
    except BadCell as bad:
        return str(bad)
