"""Every kind of bad input is a clear ValueError, or a stated sensible behaviour."""

import datetime as dt
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from askless import DynamicClassifier, DynamicRegressor
from askless.acquisition.stopping import Confidence, MaxCost, Spread
from askless.exceptions import AsklessError, AsklessWarning, DataWarning, TableError
from askless.methods import FixedOrder
from tests.coded import raises, warns


def table(n=60):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n), "c": rng.choice(["x", "y"], n)})


def labels(n=60):
    return np.arange(n) % 2


def with_cell(column, row, value):
    frame = table()
    frame[column] = frame[column].astype(object)
    frame.loc[row, column] = value
    return frame


BAD = {  # parameters, X, y, code, fields
    "empty table": ({}, table().iloc[:0], labels(0), "too_few_rows", {}),
    "no columns": ({}, table()[[]], labels(), "wrong_shape", {}),
    "one row": ({}, table(1), labels(1), "too_few_rows", {"rows": 1, "needed": 2}),
    "one class": ({}, table(), np.zeros(60), "one_class", {"label": 0.0}),
    "no target": ({}, table(), None, "required", {"name": "y"}),
    "missing target": ({}, table(), np.where(labels() > 0, "a", None), "bad_label", {"rows": 30, "row": 0}),
    "nan target": (
        {},
        table(),
        np.where(np.arange(60) == 7, np.nan, labels()),
        "bad_label",
        {"rows": 1, "row": 7},
    ),
    "duplicated names": ({}, table().rename(columns={"b": "a"}), labels(), "duplicate_name", {"name": "a"}),
    "all missing": ({}, pd.DataFrame({"a": [np.nan] * 60}), labels(), "bad_column", {"columns": ["a"]}),
    "text in a number column": (
        {},
        with_cell("a", 17, "high"),
        labels(),
        "bad_cell",
        {"column": "a", "row": 17, "value": "high"},
    ),
    "infinity": (
        {},
        with_cell("b", 5, np.inf),
        labels(),
        "bad_cell",
        {"column": "b", "row": 5, "value": np.inf},
    ),
    "dates": ({}, table().assign(d=pd.Timestamp("2020-01-01")), labels(), "bad_column", {"column": "d"}),
    "unknown column in a group": (
        {"groups": {"g": ["a", "bb"]}},
        table(),
        labels(),
        "missing_column",
        {"column": "bb", "nearest": "b"},
    ),
    "overlapping groups": (
        {"groups": {"g": ["a", "b"], "h": ["b", "c"]}},
        table(),
        labels(),
        "duplicate_name",
        {"column": "b", "name": "h"},
    ),
    "group named as a feature": (
        {"groups": {"c": ["a", "b"]}},
        table(),
        labels(),
        "duplicate_name",
        {"name": "c"},
    ),
    "unknown cost": ({"costs": {"aa": 2}}, table(), labels(), "unknown_name", {"name": "aa", "nearest": "a"}),
    "wrong missing": (
        {"missing": "drop"},
        table(),
        labels(),
        "invalid_choice",
        {"name": "missing", "value": "drop", "choices": ["skip", "answer"]},
    ),
    "wrong fraction": (
        {"validation_fraction": 1.5},
        table(),
        labels(),
        "out_of_range",
        {"name": "validation_fraction", "value": 1.5},
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_fit(name, quick):
    parameters, X, y, code, fields = BAD[name]
    with raises(AsklessError, code, **fields):
        DynamicClassifier(**{"method": quick, **parameters}).fit(X, y)


BY_OTHERS = {  # checked below the estimators, or by scikit-learn
    "target too short": ({}, labels(59), "inconsistent numbers of samples"),
    "two targets": ({}, np.zeros((60, 2)), "1d array"),
    "continuous target": ({}, np.linspace(0, 1, 60), "continuous"),
    "budget of 0": ({"max_features": 0}, labels(), r"max_features.*\b0"),
    "negative budget": ({"max_features": -3}, labels(), "max_features.*-3"),
    "fractional budget": ({"max_features": 2.5}, labels(), r"max_features.*2\.5"),
    "boolean budget": ({"max_features": True}, labels(), "max_features.*True"),
    "negative cost": ({"costs": {"a": -1}}, labels(), "'a'.*-1"),
    "cost in words": ({"costs": {"a": "dear"}}, labels(), "'a'.*'dear'"),
    "unknown method": ({"method": "greedi"}, labels(), "did you mean 'greedy'"),
    "order with an unknown name": ({"method": FixedOrder(order=["zz"])}, labels(), "'zz'"),
    "order with a name twice": ({"method": FixedOrder(order=["a", "a"])}, labels(), "twice"),
}


@pytest.mark.parametrize("name", BY_OTHERS)
def test_fit_with_what_others_check(name, quick):
    parameters, y, message = BY_OTHERS[name]
    with pytest.raises(ValueError, match=message):
        DynamicClassifier(**{"method": quick, **parameters}).fit(table(), y)


def test_regression_target(quick):
    with raises(TableError, "bad_label"):
        DynamicRegressor(method=quick).fit(table(), ["a"] * 60)
    with raises(TableError, "bad_label", row=3, value=np.inf):
        DynamicRegressor(method=quick).fit(table(), np.where(np.arange(60) == 3, np.inf, 1.0))


@pytest.fixture(scope="module")
def model():
    from askless.methods import Greedy

    return DynamicClassifier(method=Greedy(hidden=(8,), epochs=1, pretrain_epochs=1)).fit(table(), labels())


@pytest.mark.parametrize(
    ("change", "code", "fields"),
    [
        (lambda f: f.drop(columns="b"), "missing_column", {"columns": ["b"]}),
        (lambda f: f.assign(a="much"), "bad_cell", {"column": "a", "row": 0, "value": "much"}),
        (
            lambda f: f.assign(b=[1.0] * 59 + [-np.inf]),
            "bad_cell",
            {"column": "b", "row": 59, "value": -np.inf},
        ),
    ],
)
def test_tables_to_predict(change, code, fields, model):
    with raises(TableError, code, **fields):
        model.predict(change(table()))


def test_numbers_in_place_of_categories_are_told(model):
    with warns(AsklessWarning, "unexpected_type", column="c", row=0, value=1.5):
        model.predict(table().assign(c=1.5))


def test_masks_and_budgets(model):
    with pytest.raises(ValueError, match=r"available.*\(60, 3\)"):
        model.rollout(table(), available=np.ones((60, 2), dtype=bool))
    with pytest.raises(ValueError, match=r"'aa'.*did you mean 'a'"):
        model.rollout(table(), known=["aa"])
    with pytest.raises(ValueError, match=r"max_features.*\b0"):
        model.rollout(table(), max_features=0)
    with pytest.raises(ValueError, match=r"'a'.*nan"):
        model.rollout(table(), costs={"a": float("nan")})
    with pytest.raises(ValueError, match=r"'aurok'.*'auroc'"):
        model.curve(table(), labels(), metric="aurok")
    with raises(TableError, "unknown_label", label=2, row=0, choices=[0, 1]):
        model.curve(table(), np.full(60, 2))


# What is not an error


def test_a_budget_above_the_number_of_features_is_clipped(quick):
    model = DynamicClassifier(max_features=50, method=quick).fit(table(), labels())
    assert model.rollout(table()).order.shape == (60, 3)


def test_constant_columns_are_kept_and_all_missing_ones_left_out(quick):
    X = table().assign(same=1.0, gone=np.nan)
    with (
        warns(AsklessWarning, "empty_column", columns=["gone"]),
        warns(DataWarning, "constant_column", columns=["same"], value=1.0),
    ):
        model = DynamicClassifier(method=quick).fit(X, labels())
    assert model.schema_.names == ("a", "b", "c", "same")
    model.predict(X)


def test_a_class_with_one_row_is_learned(quick):
    y = np.zeros(60, dtype=int)
    y[11], y[30:] = 2, 1
    model = DynamicClassifier(method=quick).fit(table(), y)
    assert model.predict_proba(table()).shape == (60, 3)


def test_two_rows_are_enough_to_run(quick):
    with warns(AsklessWarning, "too_few_rows", rows=2, needed=30):
        model = DynamicClassifier(method=quick).fit(table(2), [0, 1])
    assert model.predict(table(2)).shape == (2,)


def test_rows_without_any_value(quick):
    X = table()
    X.loc[:9] = np.nan
    model = DynamicClassifier(method=quick).fit(X, labels())
    t = model.rollout(X)
    assert (t.n_asked[:10] == 0).all()
    assert set(t.stop_reason[:10]) == {"nothing left to ask"}
    np.testing.assert_allclose(t.at(3)[:10], 0.5, atol=0.1)  # the frequencies of the classes


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"dropout": 1.0}, r"dropout.*1\.0"),
        ({"temperatures": (1, 0)}, "temperatures"),
        ({"epochs": 0}, r"epochs.*\b0"),
        ({"hidden": ()}, "hidden"),
        ({"batch_size": 0}, r"batch_size.*\b0"),
        ({"recipe": {"states_per_row": 0}}, r"states_per_row.*\b0"),
        ({"recipe": {"random_starts": 5}}, "random_starts.*5"),
        ({"recipe": {"average": 1.0}}, r"average.*1\.0"),
        ({"schedule": "foo"}, "schedule.*'foo'|schedule.*'annealed', 'staged'"),
        ({"learning_rate": "fast"}, "learning_rate.*'fast'"),
    ],
)
def test_settings_of_a_method(setting, message):
    from askless.methods import Greedy

    with pytest.raises(ValueError, match=message):
        DynamicClassifier(method=Greedy(**setting)).fit(table(), labels())


def test_a_failed_fit_leaves_no_older_model(quick):
    from sklearn.exceptions import NotFittedError

    model = DynamicClassifier(method=quick).fit(table(), np.where(labels(), "a", "b"))
    with raises(TableError, "bad_cell", row=3):
        model.fit(with_cell("a", 3, np.inf), np.where(labels(), "c", "d"))
    with pytest.raises(NotFittedError):
        model.predict(table())


@pytest.mark.parametrize("row", range(0, 60, 7))
def test_errors_name_the_row_of_the_table(row, quick):
    with raises(TableError, "bad_cell", column="a", row=row):
        DynamicClassifier(method=quick).fit(with_cell("a", row, np.inf), labels())


@pytest.mark.parametrize("seed", range(4))
def test_one_odd_cell_in_a_text_column_is_no_matter_of_luck(seed, quick):
    DynamicClassifier(method=quick, random_state=seed).fit(with_cell("c", 11, 3), labels())


@pytest.mark.parametrize(
    ("stopping", "message"),
    [
        ("confidence", "'confidence'.*Confidence"),
        (["soon"], "'soon'"),
        ({"confidence": 0.9}, "{'confidence': 0.9}"),
        (0.9, "0.9"),
        (Confidence, "Confidence.*class"),
        ([MaxCost(3), Confidence], "Confidence.*class"),
        (Spread(1), "regression"),
        (MaxCost(3) & Spread(1), "regression"),
    ],
)
def test_stopping_must_be_rules(stopping, message, quick, model):
    for ask in (
        lambda: DynamicClassifier(method=quick, stopping=stopping).fit(table(), labels()),
        lambda: model.rollout(table(), stopping=stopping),
        lambda: model.interview(stopping=stopping),
    ):
        with pytest.raises(ValueError, match=message):
            ask()


def test_masks_must_be_lists(model):
    with pytest.raises(ValueError, match=r"\['a'\]"):
        model.rollout(table(), known="a")


@pytest.mark.parametrize("which", ["known", "available"])
def test_the_values_of_a_table_are_the_table_s(which, model):
    for ask in (model.rollout, lambda X, **how: model.curve(X, labels(), **how)):
        with pytest.raises(ValueError, match=rf"{which}.*\['a', 'c'\]"):
            ask(table(), **{which: {"a": 1.0, "c": "x"}})


@pytest.mark.parametrize("known", ["a", ["a"], {"a"}])
def test_what_is_known_of_one_case_has_values(known, model):
    with pytest.raises(ValueError, match=r"known.*\{'age': 71\}"):
        model.interview(known=known)


def test_unavailable_is_a_list(model):
    with pytest.raises(ValueError, match=r"unavailable.*\['a'\]"):
        model.interview(unavailable="a")


def test_a_lazy_table_and_a_huge_target(quick):
    import polars as pl

    with raises(TableError, "wrong_type", value="LazyFrame"):
        DynamicClassifier(method=quick).fit(pl.LazyFrame({"a": [1.0, 2.0]}), [0, 1])
    with raises(TableError, "bad_label", row=0, value=1e200, high=1e30):
        DynamicRegressor(method=quick).fit(table(), np.full(60, 1e200))


# Rows in another order


def test_a_shuffled_target_is_refused_everywhere(quick, model):
    X, y = table(), pd.Series(labels())
    shuffled = y.sample(frac=1, random_state=0)
    for ask in (
        lambda: DynamicClassifier(method=quick).fit(X, shuffled),
        lambda: DynamicClassifier(method=quick).fit(X, shuffled.to_frame()),
        lambda: DynamicClassifier(method=quick).fit(X, y, validation=(X, shuffled)),
        lambda: DynamicRegressor(method=quick).fit(X, shuffled),
        lambda: model.score(X, shuffled),
        lambda: model.curve(X, shuffled),
        lambda: model.certify(X, shuffled),
    ):
        with raises(TableError, "row_labels_differ", name="y"):
            ask()
    assert model.score(X, shuffled.loc[X.index]) == model.score(X, y)
    assert model.score(X, shuffled.to_numpy()) == np.mean(model.predict(X) == shuffled.to_numpy())


def test_a_regression_s_score_minds_the_order_too(quick):
    X, y = table(), pd.Series(np.arange(60.0))
    fitted = DynamicRegressor(method=quick).fit(X, y)
    assert isinstance(fitted.score(X, y), float)
    with raises(TableError, "row_labels_differ", name="y"):
        fitted.score(X, y[::-1])


# What is no table


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (table().to_dict("records"), "X is a list of mappings; pass a DataFrame: pd.DataFrame(X)"),
        (table().to_dict("list"), "X is a mapping; pass a DataFrame: pd.DataFrame(X)"),
        (table().to_dict("records")[0], "X is a mapping; pass a DataFrame: pd.DataFrame([X])"),
        (table().to_records(), "X is a structured array; pass a DataFrame: pd.DataFrame(X)"),
        ("cases.csv", "X is a path or text, not a table; read the file first: pd.read_csv(...)"),
        (Path("cases.csv"), "X is a path or text, not a table; read the file first: pd.read_csv(...)"),
    ],
    ids=["records", "lists", "one record", "structured", "text", "path"],
)
def test_what_is_given_in_place_of_a_table(X, message, quick, model):
    for ask in (lambda: DynamicClassifier(method=quick).fit(X, labels()), lambda: model.predict(X)):
        with raises(TableError, "wrong_type", value=type(X).__name__) as caught:
            ask()
        assert str(caught.value) == message


def test_a_pyarrow_table_keeps_its_index_to_itself(quick):
    X = table().set_index(np.arange(60) ** 2)
    arrow = pa.Table.from_pandas(X)
    assert arrow.num_columns == 4
    fitted = DynamicClassifier(method=quick).fit(arrow, labels())
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c"]
    assert fitted.schema_.names == ("a", "b", "c")
    np.testing.assert_array_equal(fitted.predict_proba(arrow), fitted.predict_proba(X))
    by_position = DynamicClassifier(method=quick).fit(X[["a", "b"]].to_numpy(), labels())
    assert by_position.predict(arrow.drop_columns("c")).shape == (60,)


# Targets


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        ([dt.date(2020, 1, 1), dt.date(2021, 1, 1)] * 30, "date"),
        (pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01"] * 30)).dt.tz_localize("UTC"), "Timestamp"),
        (pd.Series(pd.to_timedelta([1, 2] * 30, unit="D")).astype(object), "Timedelta"),
        (pd.Series(pd.period_range("2020", periods=60)), "Period"),
        (pa.array([dt.date(2020, 1, 1), dt.date(2021, 1, 1)] * 30), "date"),
        (pd.cut(pd.Series(np.arange(60)), 2), "Interval"),
    ],
    ids=["dates", "zoned", "durations", "periods", "pyarrow", "intervals"],
)
def test_targets_of_other_types(y, kind, quick):
    for estimator in (DynamicClassifier, DynamicRegressor):
        with raises(TableError, "bad_label", row=0, value=kind):
            estimator(method=quick).fit(table(), y)


def test_the_first_label_of_another_type_is_named(quick):
    y = np.where(labels() > 0, "a", "b").astype(object)
    y[17] = dt.date(2020, 1, 1)
    with raises(TableError, "bad_label", row=17, value="date"):
        DynamicClassifier(method=quick).fit(table(), y)


def test_labels_that_look_like_none_are_told(quick):
    y = np.array(["NA", "?", "ill", "well", "nan", ""] * 10)
    with warns(AsklessWarning, "missing_as_class", choices=["", "?", "NA", "nan"]) as told:
        fitted = DynamicClassifier(method=quick).fit(table(), y)
    assert len(told) == 1
    assert len(fitted.classes_) == 6
    fitted.score(table(), y)  # what the model knows is not told again: warnings are errors here
    with warns(AsklessWarning, "missing_as_class", choices=["?"]):
        DynamicClassifier(method=quick).fit(table(), ["?", "ill"] * 30)
