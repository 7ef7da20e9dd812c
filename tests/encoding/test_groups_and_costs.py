"""Columns that are asked together, and prices."""

import numpy as np
import pandas as pd
import pytest

from askless.encoding import TableEncoder
from askless.exceptions import AsklessWarning, ParameterError, TableError
from tests.coded import raises, warns

DATA = {
    "age": [20.0, 30.0, 40.0, 70.0],
    "sbp": [120.0, None, 140.0, 110.0],
    "sex": ["f", "m", None, "f"],
    "dbp": [80.0, 85.0, None, 60.0],
}
GROUPS = {"blood pressure": ["sbp", "dbp"]}


def test_a_group_is_one_feature_at_its_first_column(frame):
    schema = TableEncoder.fit(frame(DATA), groups={"bp": ["dbp", "sbp"]}).schema
    assert schema.names == ("age", "bp", "sex")
    assert [part.name for part in schema.features[1].parts] == ["dbp", "sbp"]  # as the user lists them
    assert schema.features[1].kind == "group"
    assert schema.column_feature.tolist() == [0, 0, 1, 1, 1, 1, 1, 1, 2, 2]


def test_parts_carry_a_column_that_says_they_are_present(frame):
    table = frame(DATA)
    grouped, single = (
        TableEncoder.fit(table, groups=GROUPS).transform(table),
        TableEncoder.fit(table).transform(table),
    )
    np.testing.assert_array_equal(grouped.x[:, 2:4], single.x[:, 2:4])  # sbp
    assert grouped.x[:, 4].tolist() == [1, 0, 1, 1]
    np.testing.assert_array_equal(grouped.x[:, 5:7], single.x[:, 6:8])  # dbp
    assert grouped.x[:, 7].tolist() == [1, 1, 0, 1]
    assert grouped.present[:, 1].tolist() == [True, True, True, True]
    assert not grouped.x[1, 2:4].any()


def test_a_group_is_missing_where_all_its_parts_are(frame):
    encoder = TableEncoder.fit(frame(DATA), groups=GROUPS)
    cases = encoder.transform(frame({"age": [1.0], "sbp": [float("nan")], "sex": ["f"], "dbp": [float("nan")]}))
    assert cases.present.tolist() == [[True, False, True]]
    assert not cases.x[0, 2:8].any()


def test_the_flags_of_parts_are_where_they_say(frame):
    encoder = TableEncoder.fit(frame(DATA), groups=GROUPS)
    assert encoder.part_flags.keys() == {"sbp", "dbp"}
    x = encoder.transform(frame({"age": [1.0], "sbp": [120.0], "sex": ["f"], "dbp": [float("nan")]})).x[0]
    assert [x[encoder.part_flags[name]] for name in ("sbp", "dbp")] == [1.0, 0.0]
    assert not TableEncoder.fit(frame(DATA)).part_flags


def test_a_group_of_mixed_kinds(frame):
    encoder = TableEncoder.fit(frame(DATA), groups={"who": ["sex", "age"]})
    assert [part.kind for part in encoder.schema.features[0].parts] == ["category", "number"]
    assert encoder.transform(frame(DATA)).x[2, :3].tolist() == [0, 0, 0]


def test_groups_of_arrays_by_name_or_position():
    array = np.arange(12.0).reshape(3, 4)
    by_name = TableEncoder.fit(array, groups={"g": ["x1", "x3"]}, costs={"g": 3, "x0": 2})
    by_position = TableEncoder.fit(array, groups={"g": [1, np.int64(3)]}, costs={"g": 3, 0: 2})
    assert by_name.to_json() == by_position.to_json()
    assert by_name.schema.names == ("x0", "g", "x2")
    for position in (4, -1):
        with raises(TableError, "missing_column", column=position, high=3):
            TableEncoder.fit(array, groups={"g": [position]})


def test_frames_whose_names_are_integers():
    encoder = TableEncoder.fit(pd.DataFrame(np.eye(3), columns=[7, 8, 9]), groups={"g": [8, 9]}, costs={7: 2})
    assert encoder.schema.names == ("7", "g")
    assert encoder.schema.prices.tolist() == [2, 1]


def test_a_group_may_have_the_name_of_its_member(frame):
    assert TableEncoder.fit(frame(DATA), groups={"sbp": ["sbp", "dbp"]}).schema.names == ("age", "sbp", "sex")


def test_a_group_of_one_is_a_feature_with_another_name(frame):
    feature = TableEncoder.fit(frame(DATA), groups={"gender": ["sex"]}).schema.features[2]
    assert (feature.name, feature.kind, feature.choices) == ("gender", "category", ("f", "m"))


@pytest.mark.parametrize(
    ("groups", "code", "fields"),
    [
        ({"bp": ["sbp", "SPB"]}, "missing_column", {"column": "SPB", "nearest": "sbp"}),
        ({"bp": ["sbp", "dbp"], "other": ["dbp"]}, "duplicate_name", {"column": "dbp", "name": "other"}),
        ({"bp": ["sbp", "sbp"]}, "duplicate_name", {"column": "sbp", "name": "bp"}),
        ({"bp": []}, "required", {"name": "bp"}),
        ({"age": ["sbp", "dbp"]}, "duplicate_name", {"column": "age", "name": "age"}),
        ({"bp": "sbp"}, "wrong_type", {"name": "bp", "value": "sbp"}),
        ({"bp": 3}, "wrong_type", {"name": "bp", "value": 3}),
        ({"bp": [0]}, "missing_column", {"column": "0"}),
        ([["sbp", "dbp"]], "wrong_type", {"name": "groups"}),
    ],
    ids=str,
)
def test_groups_that_make_no_sense(frame, groups, code, fields):
    with raises(TableError, code, **fields):
        TableEncoder.fit(frame(DATA), groups=groups)


def test_columns_without_values_leave_their_group(frame):
    data = {**DATA, "void": [None] * 4, "void2": [None] * 4}
    with warns(AsklessWarning, "empty_column", column="void", columns=["void", "void2"]):
        encoder = TableEncoder.fit(
            frame(data), groups={"bp": ["sbp", "void", "dbp"], "none": ["void2"]}, costs={"none": 9, "bp": 2}
        )
    assert encoder.schema.names == ("age", "bp", "sex")
    assert [part.name for part in encoder.schema.features[1].parts] == ["sbp", "dbp"]
    assert encoder.schema.prices.tolist() == [1, 2, 1]


def test_costs_by_feature(frame):
    encoder = TableEncoder.fit(frame(DATA), groups=GROUPS, costs={"blood pressure": 5, "age": np.float64(0.5)})
    assert encoder.schema.prices.tolist() == [0.5, 5, 1]


@pytest.mark.parametrize(
    ("costs", "code", "fields"),
    [
        ({"agee": 1}, "unknown_name", {"name": "agee", "nearest": "age"}),
        ({"sbp": 1}, "unknown_name", {"name": "sbp", "nearest": "blood pressure"}),
        ([1, 2, 3], "wrong_type", {"name": "costs"}),
    ],
    ids=str,
)
def test_costs_that_make_no_sense(frame, costs, code, fields):
    with raises(TableError, code, **fields):
        TableEncoder.fit(frame(DATA), groups=GROUPS, costs=costs)


@pytest.mark.parametrize("cost", [-1, float("nan"), "3", True])
def test_prices_that_are_none(frame, cost):
    with pytest.raises(ParameterError) as caught:
        TableEncoder.fit(frame(DATA), groups=GROUPS, costs={"age": cost})
    assert "'age'" in str(caught.value)
    assert repr(cost) in str(caught.value)
