"""Features and how they map to columns."""

import pickle

import numpy as np
import pytest

from askless.acquisition import Feature, Part, Schema
from askless.exceptions import ParameterError
from tests.acquisition.linear import schema_of
from tests.coded import raises


def number(name, start, stop=None, cost=1.0):
    return Feature(name, (Part(name, "number"),), start, stop or start + 1, cost)


def test_columns_map_to_features():
    schema = schema_of([1, 3, 2], prices=[1.0, 0.5, 2.0])
    assert len(schema) == 3
    assert schema.names == ("f0", "f1", "f2")
    assert schema.n_columns == 6
    assert schema.column_feature.tolist() == [0, 1, 1, 1, 2, 2]
    assert schema.prices.tolist() == [1.0, 0.5, 2.0]


def test_numbers_by_name():
    schema = Schema.of_numbers(["age", "weight"])
    assert [feature.kind for feature in schema.features] == ["number", "number"]
    assert schema.column_feature.tolist() == [0, 1]
    assert schema.prices.tolist() == [1.0, 1.0]


def test_a_feature_of_one_part_has_its_kind_and_choices():
    feature = Feature("sex", (Part("sex", "category", choices=("f", "m")),), 0, 2)
    assert (feature.kind, feature.choices, feature.is_group) == ("category", ("f", "m"), False)


def test_a_feature_of_several_parts_is_a_group():
    feature = Feature("pressure", (Part("sbp", "number"), Part("dbp", "category", choices=("lo", "hi"))), 0, 3)
    assert (feature.kind, feature.choices, feature.is_group) == ("group", None, True)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([], "at least one feature"),
        ([number("a", 0), number("a", 1)], r"names must be text and distinct: \['a', 'a'\]"),
        ([number(1, 0)], "names must be text"),
        ([number("a", 1)], "columns of 'a' do not follow"),
        ([number("a", 0), number("b", 2)], "columns of 'b' do not follow"),
        ([number("a", 0, 2), number("b", 1)], "columns of 'b' do not follow"),
        ([Feature("a", (Part("a", "number"),), 0, 0)], "columns of 'a' do not follow"),
    ],
)
def test_a_schema_that_does_not_fit_together(features, message):
    with pytest.raises(ValueError, match=message):
        Schema(tuple(features))


def test_a_part_is_of_a_known_kind_and_has_a_range_of_numbers():
    with pytest.raises(ValueError, match="the kind of 'when' is 'date', not one of number, category, boolean"):
        Schema((Feature("when", (Part("when", "date"),), 0, 1),))
    with pytest.raises(ValueError, match="the range of 'age' is 'young' to None"):
        Schema((Feature("age", (Part("age", "number", low="young"),), 0, 1),))


def test_the_position_of_a_name():
    schema = Schema.of_numbers(["age", "blood pressure", "sex"])
    assert [schema.index(name) for name in schema.names] == [0, 1, 2]


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("blood presure", "blood pressure"),
        ("ags", "age"),
        ("zzz", None),
        (3, None),
        (["age"], "age"),
    ],
)
def test_the_error_names_the_nearest_match(name, nearest):
    with raises(ParameterError, "unknown_name", name=name, nearest=nearest, group=None) as caught:
        Schema.of_numbers(["age", "blood pressure", "sex"]).index(name)
    end = "; the features are 'age', 'blood pressure', 'sex'" if nearest is None else f" (did you mean {nearest!r}?)"
    assert str(caught.value) == f"there is no feature {name!r}{end}"


@pytest.mark.parametrize(
    ("name", "nearest", "group"),
    [("smoker", "person", "person"), ("smokr", "smoker", None), ("persn", "person", None)],
)
def test_the_error_knows_the_parts_of_groups(name, nearest, group):
    person = Feature("person", (Part("age", "number"), Part("smoker", "boolean")), 0, 2)
    with raises(ParameterError, "unknown_name", name=name, nearest=nearest, group=group):
        Schema((person, number("weight", 2))).index(name)


def test_schemas_are_values():
    schema = schema_of([1, 2])
    assert schema == schema_of([1, 2])
    assert schema != schema_of([2, 1])
    assert hash(schema) == hash(schema_of([1, 2]))
    copy = pickle.loads(pickle.dumps(schema))
    assert copy == schema
    assert copy.index("f1") == 1
    np.testing.assert_array_equal(copy.column_feature, schema.column_feature)


def test_a_question_has_the_price_that_is_given():
    schema = Schema.of_numbers(["a", "b"])
    cheap = schema.question(1, 2.0)
    assert (cheap.name, cheap.kind, cheap.choices, cheap.cost) == ("b", "number", None, 2.0)
    assert cheap.parts == schema.features[1].parts
    assert schema.question(1, 3.0).cost == 3.0
    assert schema.question(1, 2.0) == cheap
