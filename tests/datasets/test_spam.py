import gzip

import numpy as np
import pandas as pd
import pytest

from askless.datasets import DatasetDamaged, DatasetNotFound, data_home, describe, load_dataset
from askless.datasets.files import values_sha256
from askless.datasets.sets.spam import FILE, FILE_SHA256, NAMES, UCI_FILE, VALUES_SHA256
from tests.coded import raises

needs_file = pytest.mark.skipif(
    not (data_home() / FILE).is_file(), reason=f"{FILE} is not in the data home; set ASKLESS_DATA"
)


@pytest.fixture
def home(monkeypatch, tmp_path):
    """An empty data home; what the real one holds is read before."""
    monkeypatch.setenv("ASKLESS_DATA", str(tmp_path))
    (tmp_path / "spam").mkdir()
    return tmp_path


@pytest.fixture
def original():
    return pd.read_csv(data_home() / FILE)


def test_absent(home):
    assert not describe("spam").available
    with raises(DatasetNotFound, "download_failed", name="spam", path=str(home / UCI_FILE)) as caught:
        load_dataset("spam")
    for words in ("/94/", "OpenML 44", "spambase.data", "ASKLESS_DATA", str(home / UCI_FILE)):
        assert words in str(caught.value)


def test_damaged(home):
    (home / FILE).write_bytes(gzip.compress(b"1,2,3\n"))
    assert describe("spam").available
    with raises(DatasetDamaged, "damaged_file", path=str(home / FILE), expected=FILE_SHA256):
        load_dataset("spam")


@pytest.mark.parametrize(
    ("text", "code", "fields"),
    [
        ("1,2,3\n", "damaged_file", {"shape": (1, 3), "expected": (4601, 58)}),
        ("one,two\n", "unreadable_file", {}),
        ("", "unreadable_file", {}),
        (",".join(["0"] * 58) + "\n", "damaged_file", {"shape": (1, 58), "expected": (4601, 58)}),
        ((",".join(["0"] * 58) + "\n") * 4601, "damaged_file", {"expected": VALUES_SHA256}),
    ],
)
def test_a_plain_file_that_is_not_spambase(home, text, code, fields):
    (home / UCI_FILE).write_text(text)
    with raises(DatasetDamaged, code, path=str(home / UCI_FILE), **fields):
        load_dataset("spam")


@needs_file
def test_classes_and_names():
    data = load_dataset("spam")
    assert data.target.value_counts().to_dict() == {"not spam": 2788, "spam": 1813}
    assert tuple(data.frame.columns) == NAMES
    assert len(set(NAMES)) == 57
    assert not data.frame.isna().any().any()


@needs_file
@pytest.mark.parametrize(  # from the table of statistics in UCI's documentation
    ("name", "mean", "top"),
    [
        ("word_freq_make", 0.10455, 4.54),
        ("word_freq_3d", 0.065425, 42.81),
        ("word_freq_you", 1.6621, 18.75),
        ("word_freq_george", 0.7673, 33.33),
        ("char_freq_!", 0.26907, 32.478),
        ("char_freq_$", 0.075811, 6.003),
        ("capital_run_length_average", 5.1915, 1102.5),
        ("capital_run_length_longest", 52.173, 9989),
        ("capital_run_length_total", 283.29, 15841),
    ],
)
def test_each_name_belongs_to_its_column(name, mean, top):
    column = load_dataset("spam").frame[name]
    assert column.mean() == pytest.approx(mean, rel=1e-4)
    assert column.max() == top


@needs_file
def test_ucis_own_file_in_any_order_of_rows(original, home):
    shuffled = original.sample(frac=1, random_state=0)
    shuffled.to_csv(home / UCI_FILE, header=False, index=False)
    assert describe("spam").available
    data = load_dataset("spam")
    assert data.target.value_counts().to_dict() == {"not spam": 2788, "spam": 1813}
    np.testing.assert_array_equal(data.frame.to_numpy(), shuffled.to_numpy()[:, :-1])


@needs_file
def test_ucis_own_file_with_one_changed_value(original, home):
    original.iloc[17, 3] += 0.01
    original.to_csv(home / UCI_FILE, header=False, index=False)
    with raises(DatasetDamaged, "damaged_file", path=str(home / UCI_FILE), expected=VALUES_SHA256):
        load_dataset("spam")


def test_the_sum_of_values_ignores_the_order_of_rows_only():
    values = np.random.default_rng(0).random((20, 3)).round(3)
    assert values_sha256(values) == values_sha256(values[::-1])
    assert values_sha256(values) != values_sha256(values[:, ::-1])
