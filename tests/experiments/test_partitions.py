"""Roll-outs of Dask DataFrames are those of the whole table."""

import pytest

pytest.importorskip("distributed")

import dask.dataframe as dd
import pandas as pd
from distributed import Client, LocalCluster

from askless import DynamicClassifier, DynamicRegressor, model_file
from askless.datasets import load_dataset
from askless.exceptions import ModelFileError
from askless.experiments import partitions
from askless.experiments.partitions import rollout_frame
from askless.methods import Greedy
from askless.model_file import read_model
from tests.coded import raises


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    """A fitted model, its file, and a table whose index is not 0, 1, 2."""
    data = load_dataset("wine")
    model = DynamicClassifier(3, "mutual_information").fit(data.frame, data.target)
    file = tmp_path_factory.mktemp("wine") / "wine.askless"
    model.save(file)
    return model, file, data.frame.set_index(data.frame.index * 10)


def test_a_dask_frame_is_asked_partition_by_partition(wine):
    model, file, table = wine
    expected = model.rollout(table, max_features=2).frame()
    expected["case"] *= 10
    parts = dd.from_pandas(table, npartitions=5)
    lazy = rollout_frame(file, parts, max_features=2)
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        asked = client.compute(lazy).result()
    pd.testing.assert_frame_equal(asked.reset_index(drop=True), expected)
    pd.testing.assert_series_equal(lazy.dtypes, expected.dtypes)


def test_an_empty_partition_has_no_cases(wine):
    _, file, table = wine
    some = dd.from_pandas(table, npartitions=4)
    some = some[some["alcohol"] > 100]
    asked = rollout_frame(file, some).compute(scheduler="threads")
    assert len(asked) == 0
    assert list(asked.columns) == ["case", "step", "feature", "cost", "p(class_0)", "p(class_1)", "p(class_2)"]


def test_a_regression_tells_its_standard_deviation(tmp_path):
    data = load_dataset("diabetes")
    quick = Greedy(hidden=(16,), epochs=2, pretrain_epochs=2)
    model = DynamicRegressor(2, quick).fit(data.frame, data.target)
    model.save(tmp_path / "diabetes.askless")
    asked = rollout_frame(tmp_path / "diabetes.askless", dd.from_pandas(data.frame, npartitions=3))
    frame = asked.compute(scheduler="sync")
    expected = model.rollout(data.frame).frame()
    assert list(asked.columns) == list(frame.columns) == list(expected.columns)
    assert frame["sd"].to_numpy() == pytest.approx(expected["sd"].to_numpy(), rel=1e-4, nan_ok=True)


def test_map_partitions_as_documented(wine):
    model, _, table = wine
    parts = dd.from_pandas(table, npartitions=2)
    chances = parts.map_partitions(
        lambda part: pd.Series(model.rollout(part).at(3)[:, 0], index=part.index), meta=("p", "float32")
    )
    computed = chances.compute(scheduler="threads").to_numpy()
    assert computed == pytest.approx(model.rollout(table).at(3)[:, 0], rel=1e-4)  # batches of other sizes


def test_a_process_reads_the_model_once(wine, monkeypatch):
    _, file, table = wine
    read = []
    monkeypatch.setattr(model_file, "read_model", lambda path: read.append(path) or read_model(path))
    partitions._models.clear()
    lazy = rollout_frame(file, dd.from_pandas(table, npartitions=6))
    lazy.compute(scheduler="sync")
    assert len(read) == 2  # here, to know the columns, and there


class Forgetful(dict):
    """What another thread does that reads another model: it forgets this one after every look."""

    def __contains__(self, key):
        there = super().__contains__(key)
        self.clear()
        return there


def test_a_model_may_be_forgotten_by_another_thread(wine, monkeypatch):
    content = wine[1].read_bytes()
    monkeypatch.setattr(partitions, "_models", Forgetful())
    first = partitions._model(content)
    assert partitions._model(content).schema == first.schema


def test_a_damaged_model_file_is_known_at_once(wine, tmp_path):
    _, file, table = wine
    (tmp_path / "half.askless").write_bytes(file.read_bytes()[:1000])
    with raises(ModelFileError, "wrong_file", path=str(tmp_path / "half.askless")):
        rollout_frame(tmp_path / "half.askless", dd.from_pandas(table, npartitions=2))
