"""What must hold for every data set, found by discovery over `list_datasets()`."""

import pickle
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import numpy as np
import pandas as pd
import pytest

import askless.datasets
from askless.datasets import DatasetNotFound, Info, describe, list_datasets, load_dataset, sets
from askless.datasets.base import Dataset, Entry, Recorded
from askless.exceptions import ParameterError
from tests.coded import raises

NAMES = list_datasets()
GENERATED = [name for name in NAMES if "n" in describe(name).options]
FIXED = [name for name in NAMES if not describe(name).options]
FROM_ELSEWHERE = {
    "cifar10", "diabetes130", "heart", "miniboone", "mnist", "nhanes", "physionet2012", "spam", "thyroid"
}  # fmt: skip
CONSTANT = {"digits": 3, "digits_patches": 3, "diabetes130": 3, "mnist": 65}  # blank pixels, drugs nobody took


@cache
def shared(name: str) -> Dataset:
    return load_dataset(name, download=False)


def loaded(name: str) -> Dataset:
    """Nobody may change it."""
    try:
        return shared(name)
    except DatasetNotFound:
        pytest.skip(f"the file of {name!r} is not in the data home; set ASKLESS_DATA")


def features_of(data: Dataset) -> set[str]:
    grouped = {column for columns in data.groups.values() for column in columns}
    return {name for name in data.frame.columns if name not in grouped} | set(data.groups)


@pytest.mark.parametrize("name", NAMES)
class TestDeclaredFacts:
    def test_name(self, name):
        assert describe(name).name == name
        assert loaded(name).name == name

    def test_rows_columns_and_features(self, name):
        data = loaded(name)
        info = data.info
        if name != "miniboone":  # of which there are two
            assert info == describe(name)
        assert data.frame.shape == (info.rows, info.columns)
        assert data.target.shape == (info.rows,)
        assert data.frame.index.equals(data.target.index)
        assert info.features == len(features_of(data))
        assert data.frame.columns.is_unique

    def test_task_and_classes(self, name):
        data, info = loaded(name), describe(name)
        assert not data.target.isna().any()
        if info.task == "classification":
            assert tuple(sorted(data.target.unique())) == info.classes
        else:
            assert info.task == "regression"
            assert info.classes == ()
            assert data.target.dtype == np.float64

    def test_groups_are_disjoint_columns_of_the_table(self, name):
        data = loaded(name)
        grouped = [column for columns in data.groups.values() for column in columns]
        assert set(grouped) <= set(data.frame.columns)
        assert len(grouped) == len(set(grouped))
        assert all(len(columns) > 1 for columns in data.groups.values())

    def test_costs_name_every_feature_or_none(self, name):
        data = loaded(name)
        assert set(data.costs) in (set(), features_of(data))
        assert all(cost > 0 for cost in data.costs.values())

    def test_words(self, name):
        info = describe(name)
        assert info.description.endswith(".") or info.description.endswith("?")
        assert info.source
        assert info.licence

    def test_every_column_says_something_and_holds_a_known_kind(self, name):
        frame = loaded(name).frame
        for column in frame:
            kind = frame[column].dtype
            assert pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_string_dtype(frame[column].dropna())
        first = frame.iloc[0]
        constant = sum(bool((frame[column] == first[column]).all()) for column in frame)
        assert constant == CONSTANT.get(name, 0)

    def test_panels_are_disjoint_and_cheaper_together(self, name):
        info = describe(name)
        together = [feature for panel in info.panels.values() for feature in panel]
        assert len(together) == len(set(together))
        assert set(info.discounted_costs) == set(together)
        assert all(0 < cheap < info.costs[feature] for feature, cheap in info.discounted_costs.items())

    def test_images(self, name):
        data = loaded(name)
        if data.info.image_shape is None:
            with raises(ParameterError, "not_supported", name="images", value=name):
                _ = data.images
        else:
            assert data.images.shape == (len(data.frame), *data.info.image_shape)
            np.testing.assert_array_equal(data.images[7].ravel(), data.frame.iloc[7])


@pytest.mark.parametrize("name", NAMES)
def test_what_a_user_changes_stays_with_the_user(name):
    loaded(name)
    data = load_dataset(name, download=False)
    before = data.frame.iloc[0, 0]
    data.frame.iloc[0, 0] = data.frame.iloc[1, 0]
    data.groups.clear()
    data.costs.clear()
    again = load_dataset(name, download=False)
    assert again.frame.iloc[0, 0] == before
    assert again.groups == {name: list(columns) for name, columns in describe(name).groups.items()}
    assert again.costs == describe(name).costs


@pytest.mark.parametrize("name", NAMES)
def test_pickles(name):
    data = loaded(name)
    data = replace(data, frame=data.frame.head(100), target=data.target.head(100))
    copy = pickle.loads(pickle.dumps(data))
    pd.testing.assert_frame_equal(copy.frame, data.frame)
    assert copy.info == data.info


@pytest.mark.parametrize("name", GENERATED)
def test_same_seed_same_table(name):
    one, two = (load_dataset(name, n=200, random_state=7) for _ in range(2))
    pd.testing.assert_frame_equal(one.frame, two.frame)
    pd.testing.assert_series_equal(one.target, two.target)
    assert len(one.frame) == 200
    other = load_dataset(name, n=200, random_state=8)
    assert not one.frame.equals(other.frame)
    assert not one.target.equals(other.target)


@pytest.mark.parametrize("name", GENERATED)
def test_a_seed_may_be_a_generator_or_none(name):
    first = load_dataset(name, n=50, random_state=np.random.default_rng(3)).frame
    pd.testing.assert_frame_equal(first, load_dataset(name, n=50, random_state=3).frame)
    one, two = (load_dataset(name, n=50, random_state=None).frame for _ in range(2))
    assert not one.equals(two)


@pytest.mark.parametrize("name", GENERATED)
def test_one_row_is_enough(name):
    assert load_dataset(name, n=1).frame.shape == (1, describe(name).columns)


@pytest.mark.parametrize("n", [0, -1, 2.5, True, "ten"])
def test_a_number_of_rows_that_is_none(n):
    with raises(ParameterError, "out_of_range", name="n", value=n, low=1):
        load_dataset("triage", n=n)


@pytest.mark.parametrize("name", FIXED)
def test_a_fixed_table_takes_no_options(name):
    with raises(ParameterError, "unknown_name", name="n", choices=[]) as caught:
        load_dataset(name, n=10)
    assert str(caught.value) == f"the data set {name!r} has no option 'n'; it takes no options"


@pytest.mark.parametrize("name", GENERATED)
def test_a_generator_names_its_options(name):
    with raises(ParameterError, "unknown_name", name="seed", choices=["n", "random_state"]):
        load_dataset(name, seed=10)


@pytest.mark.parametrize("lookup", [load_dataset, describe])
def test_unknown_names(lookup):
    with raises(ParameterError, "unknown_name", name="triaje", nearest="triage") as caught:
        lookup("triaje")
    assert "there is no data set 'triaje' (did you mean 'triage'?); there are 'breast_cancer', " in str(caught.value)
    with raises(ParameterError, "unknown_name", name="qqq", nearest=None, choices=NAMES):
        lookup("qqq")
    with raises(ParameterError, "unknown_name", name="__all__"):
        lookup("__all__")


def test_every_family_exports_all_its_sets():
    families = [import_module(f"{sets.__name__}.{module.name}") for module in iter_modules(sets.__path__)]
    offered = {name for family in families for name, item in vars(family).items() if isinstance(item, Entry)}
    assert offered == set(sets.SETS)
    assert sorted(sets.SETS) == NAMES


def test_the_public_names():
    for name in askless.datasets.__all__:
        assert getattr(askless.datasets, name) is not None


def test_what_comes_along():
    assert {name for name in NAMES if not describe(name).without_download} == FROM_ELSEWHERE
    assert all(describe(name).available for name in NAMES if describe(name).without_download)


@pytest.mark.parametrize("name", sorted(FROM_ELSEWHERE))
def test_what_is_absent_says_where_to_get_it_and_where_to_put_it(name, home):
    info = describe(name)
    assert not info.available
    with raises(DatasetNotFound, "file_not_found", name=name) as caught:
        load_dataset(name, download=False)
    assert caught.value.fields["path"] in [str(home / file) for file in info.files]
    assert re.search(r"home\. (Download|Build) .* put ", str(caught.value))
    assert caught.value.fields["path"] in str(caught.value)
    assert "ASKLESS_DATA" in str(caught.value)
    assert "The download failed" not in str(caught.value)
    assert not home.exists()


@pytest.mark.parametrize("name", sorted(FROM_ELSEWHERE - {"nhanes"}))
def test_without_a_network_it_says_that_too(name, home):
    with raises(DatasetNotFound, "download_failed", name=name) as caught:
        load_dataset(name)
    assert re.search("ASKLESS_DATA .*The download failed: .*tests do not use the network", str(caught.value))
    assert caught.value.fields["path"]
    assert caught.value.fields["url"]
    assert not home.exists()


def test_what_can_be_downloaded_is_declared():
    for name in NAMES:
        entry = sets.SETS[name]
        assert describe(name).downloadable == (isinstance(entry, Recorded) and entry.fetch is not None)


def test_info_counts_a_group_once():
    info = Info(
        name="a",
        description="",
        task="regression",
        rows=1,
        columns=5,
        source="",
        licence="",
        groups={"pair": ("x", "y")},
    )
    assert info.features == 4


def test_importing_and_describing_loads_neither_pandas_nor_sklearn():
    code = (
        "import sys; from askless.datasets import describe, list_datasets\n"
        "for name in list_datasets(): describe(name).available\n"
        "print([m for m in ('pandas', 'sklearn', 'scipy', 'torch') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert out.stdout.strip() == "[]"
