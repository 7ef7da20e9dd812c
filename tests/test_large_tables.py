"""Large tables: memory-mapped arrays, Parquet files, Dask frames and random samples."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from askless import DynamicClassifier, DynamicRegressor
from askless.encoding import TableEncoder, encode_rows, encoder, learn_encoder
from askless.exceptions import AsklessWarning, ParameterError, TableError
from askless.methods import Greedy
from askless.tables import ParquetTable, sample_rows
from tests.coded import raises, warns

QUICK = Greedy(hidden=(16,), epochs=3, pretrain_epochs=3)


def mixed(n=500, seed=0):
    """Numbers, codes, text, booleans and ordered categories, with gaps; and labels that depend on two of them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n).astype(np.float32),
            "count": pd.array(rng.integers(0, 9, n), dtype="Int64"),
            "flag": rng.random(n) < 0.5,
            "word": rng.choice(["u", "v", "w"], n).astype(object),
            "grade": pd.Categorical(rng.choice(["low", "mid", "top"], n), ["low", "mid", "top"], ordered=True),
            "code": rng.choice([10, 2, 33], n),
        }
    )
    label = np.where(frame["size"] + 2 * frame["flag"] > 1, "yes", "no")
    for name in ("size", "count", "word", "grade"):
        frame.loc[rng.random(n) < 0.1, name] = None
    return frame, label


@pytest.fixture
def path(tmp_path):
    """The table and its labels in a Parquet file of many row groups."""
    frame, label = mixed()
    frame.assign(label=label).to_parquet(tmp_path / "t.parquet", row_group_size=37)
    return tmp_path / "t.parquet"


@pytest.fixture
def small_chunks(monkeypatch):
    """Everything that goes by large pieces goes by small ones."""
    monkeypatch.setattr(encoder, "ROWS_AT_ONCE", 64)
    monkeypatch.setattr(encoder, "SAMPLE", 150)


def bits(model):
    """The fitted model, bit for bit."""
    return {**model.model_.policy.arrays(), **{f"p.{k}": v for k, v in model.model_.predictor.arrays().items()}}


def assert_same(first, second):
    one, other = bits(first), bits(second)
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])


# Encoding in pieces


def test_pieces_are_encoded_as_the_whole_is(small_chunks):
    frame, _ = mixed()
    encoder = TableEncoder.fit(frame)
    rows = np.flatnonzero(np.arange(len(frame)) % 3)
    cases, whole = encode_rows(encoder, frame, rows), encoder.transform(frame.iloc[rows])
    np.testing.assert_array_equal(cases.x, whole.x)
    np.testing.assert_array_equal(cases.present, whole.present)


def test_a_large_table_is_learned_from_a_sample(small_chunks):
    frame, _ = mixed()
    learn = lambda seed: learn_encoder(frame, np.arange(500), groups=None, costs=None, seed=seed).to_json()  # noqa: E731
    assert learn(0) == learn(0)
    assert learn(0) != learn(1)
    assert learn(0) != TableEncoder.fit(frame).to_json()
    few = np.arange(0, 300, 2)  # 150 rows: all of them
    assert (
        learn_encoder(frame, few, groups=None, costs=None, seed=0).to_json()
        == TableEncoder.fit(frame.iloc[few]).to_json()
    )


def test_a_category_that_the_sample_lacks_counts_as_missing(small_chunks):
    frame = pd.DataFrame({"a": ["x", "y"] * 250})
    frame.loc[499, "a"] = "rare"
    rows = np.arange(500)
    encoder = learn_encoder(frame, rows, groups=None, costs=None, seed=0)
    assert encoder.schema.features[0].choices == ("x", "y")
    cases = encode_rows(encoder, frame, rows)
    assert np.flatnonzero(~cases.present[:, 0]).tolist() == [499]


def test_errors_name_the_row_of_the_whole_table(small_chunks):
    frame, label = mixed()
    frame["size"] = frame["size"].astype(object)
    frame.loc[471, "size"] = "big"
    with raises(TableError, "bad_cell", column="size", row=471, value="big"):
        DynamicClassifier(2, QUICK).fit(frame, label)
    other, other_label = mixed(50)
    with raises(TableError, "bad_cell", column="size", row=471, value="big"):
        DynamicClassifier(2, QUICK).fit(other, other_label, validation=(frame, label))


# Models


def test_a_memory_mapped_array_gives_the_same_model(tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 5)).astype(np.float32)
    y = X[:, 1] > 0
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    first, second = (DynamicClassifier(2, QUICK).fit(table, y) for table in (X, mapped))
    assert_same(first, second)
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(mapped))


def test_a_parquet_file_gives_the_same_model(path):
    table = ParquetTable(path)
    frame = pd.read_parquet(path)
    in_file = DynamicClassifier(3, QUICK).fit(table.drop("label"), table.column("label"))
    in_memory = DynamicClassifier(3, QUICK).fit(frame.drop(columns="label"), frame["label"])
    assert_same(in_file, in_memory)
    assert in_file.model_.encoder.to_json() == in_memory.model_.encoder.to_json()
    assert in_file.model_.settings == in_memory.model_.settings
    assert in_file.feature_names_in_.tolist() == table.drop("label").column_names


def test_everything_takes_a_parquet_file(path):
    table = ParquetTable(path)
    X, y = table.drop("label"), table.column("label")
    frame = X.read()
    model = DynamicClassifier(3, QUICK).fit(X, y, validation=(X.take(np.arange(100)), y[:100]))
    np.testing.assert_array_equal(model.rollout(X).order, model.rollout(frame).order)
    np.testing.assert_array_equal(model.predict(X), model.predict(frame))
    np.testing.assert_array_equal(model.predict_proba(table), model.predict_proba(frame))  # one column more
    assert model.score(X, y) == model.score(frame, y)
    pd.testing.assert_frame_equal(model.curve(X, y), model.curve(frame, y))
    with raises(TableError, "missing_column", columns=["size"]):
        model.predict(X.drop("size"))
    regressor = DynamicRegressor(2, QUICK).fit(X.drop("count"), np.arange(500.0))
    assert regressor.predict(X).shape == (500,)


# Samples


def test_a_sample_is_random_sorted_and_follows_from_the_seed():
    assert sample_rows(5, None, 0).tolist() == sample_rows(5, 5, 0).tolist() == [0, 1, 2, 3, 4]
    rows = sample_rows(10_000, 2000, 0)
    assert len(np.unique(rows)) == 2000
    assert (np.diff(rows) > 0).all()
    assert abs(rows.mean() - 5000) < 300  # four standard errors
    assert rows.tolist() == sample_rows(10_000, 2000, 0).tolist()
    assert rows.tolist() != sample_rows(10_000, 2000, 1).tolist()


def test_a_large_table_is_trained_on_a_sample_and_says_so():
    frame, label = mixed(1000)
    with warns(AsklessWarning, "sampled_rows", rows=1000, used=300):
        model = DynamicClassifier(3, QUICK, max_rows=300).fit(frame, label)
    rows = sample_rows(1000, 300, 0)
    assert_same(model, DynamicClassifier(3, QUICK).fit(frame.iloc[rows], label[rows]))
    assert model.rollout(frame).order.shape == (1000, 3)
    with raises(ParameterError, "out_of_range", name="max_rows", value=1):
        DynamicClassifier(3, QUICK, max_rows=1).fit(frame, label)


def test_errors_name_the_row_of_the_whole_table_when_sampling():
    frame, label = mixed(1000)
    row = int(sample_rows(1000, 300, 0)[117])
    frame["size"] = frame["size"].astype(object)
    frame.loc[row, "size"] = "big"
    with warns(AsklessWarning, "sampled_rows"), raises(TableError, "bad_cell", column="size", row=row, value="big"):
        DynamicClassifier(3, QUICK, max_rows=300).fit(frame, label)


@pytest.mark.filterwarnings("default")  # Dask's own
def test_a_dask_frame_is_sampled_over_all_partitions():
    dd = pytest.importorskip("dask.dataframe")
    frame, label = mixed(1000)
    frame = frame.assign(label=label).drop(columns=["count", "grade"])
    lazy = dd.from_pandas(frame, npartitions=7)
    with warns(AsklessWarning, "sampled_rows", rows=1000, used=300):
        model = DynamicClassifier(3, QUICK, max_rows=300).fit(lazy.drop(columns="label"), lazy["label"])
    rows = sample_rows(1000, 300, 0)
    expected = DynamicClassifier(3, QUICK).fit(frame.drop(columns="label").iloc[rows], label[rows])
    t, wanted = (each.rollout(frame.drop(columns="label")) for each in (model, expected))
    np.testing.assert_array_equal(t.order, wanted.order)
    np.testing.assert_allclose(t.predictions, wanted.predictions, atol=1e-5)


# Under a limit of memory

N_ROWS, N_COLUMNS, AT_ONCE = 600_000, 60, 20_000
MARGIN = 140 << 20  # bytes beyond what is taken after the imports; the encoded rows alone are 324 million

FIT = """
import json, resource, sys
import numpy as np
from askless import DynamicClassifier
from askless.methods import Greedy
from askless.tables import ParquetTable

folder, kind, max_rows, margin = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
y = np.load(f"{folder}/y.npy")
X = np.load(f"{folder}/X.npy", mmap_mode="r") if kind == "npy" else ParquetTable(f"{folder}/X.parquet")
method = Greedy(
    hidden=(8,), epochs=3, pretrain_epochs=5, polish=False, recipe={"states_per_row": 1}, batch_size=512
)
few = X[:4000] if kind == "npy" else X.take(np.arange(4000))
DynamicClassifier(2, method).fit(few, y[:4000])  # imports everything
used = next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmData"))
resource.setrlimit(resource.RLIMIT_DATA, (used + margin, used + margin))
try:
    model = DynamicClassifier(2, method, max_rows=max_rows).fit(X, y)
except (MemoryError, RuntimeError) as error:  # numpy's and torch's
    if "allocate" not in str(error):
        raise
    print(json.dumps("no memory"))
else:
    print(json.dumps(model.score(few, y[:4000])))
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A folder with a large table as an array and as a Parquet file, written some rows at a time."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float32, (N_ROWS, N_COLUMNS))
    schema = pa.schema([(f"x{i}", pa.float32()) for i in range(N_COLUMNS)])
    with pq.ParquetWriter(folder / "X.parquet", schema) as writer:
        for start in range(0, N_ROWS, AT_ONCE):
            part = rng.normal(size=(AT_ONCE, N_COLUMNS)).astype(np.float32)
            X[start : start + AT_ONCE] = part
            writer.write_table(pa.table(list(part.T.copy()), schema=schema))
    np.save(folder / "y.npy", X[:, 7] + X[:, 3] > 0)
    yield folder
    for file in folder.iterdir():
        file.unlink()


def fit_within_limit(folder, kind, max_rows):
    """The accuracy of a model that is fitted in a process of limited memory, or "no memory"."""
    ran = subprocess.run(
        [sys.executable, "-c", FIT, str(folder), kind, str(max_rows), str(MARGIN)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
@pytest.mark.parametrize("kind", ["npy", "parquet"])
def test_a_table_larger_than_memory(large, kind):
    assert N_ROWS * (2 * N_COLUMNS * 4 + N_COLUMNS) > 2 * MARGIN
    assert fit_within_limit(large, kind, 50_000) > 0.65


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
def test_the_limit_is_one(large):
    assert fit_within_limit(large, "npy", N_ROWS) == "no memory"
