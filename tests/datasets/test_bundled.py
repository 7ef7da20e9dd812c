import numpy as np
import pytest
from sklearn import datasets as sklearn_datasets

from askless.datasets import load_dataset


@pytest.mark.parametrize("name", ["breast_cancer", "wine", "digits"])
def test_values_and_classes_are_scikit_learns(name):
    data, bunch = load_dataset(name), getattr(sklearn_datasets, f"load_{name}")()
    np.testing.assert_array_equal(data.frame.to_numpy(), bunch.data)
    np.testing.assert_array_equal(data.target.to_numpy(), bunch.target_names[bunch.target])


def test_pixels_are_named_by_row_and_column():
    data, images = load_dataset("digits"), sklearn_datasets.load_digits().images
    np.testing.assert_array_equal(data.frame["row 3, column 5"], images[:, 2, 4])
    np.testing.assert_array_equal(data.frame["row 8, column 1"], images[:, 7, 0])


def test_patches_are_squares():
    groups = load_dataset("digits_patches").groups
    assert len(groups) == 16
    assert groups["rows 3-4, columns 7-8"] == [
        "row 3, column 7",
        "row 3, column 8",
        "row 4, column 7",
        "row 4, column 8",
    ]


def test_diabetes_is_in_its_own_units():
    frame = load_dataset("diabetes").frame
    assert frame["age"].between(18, 80).all()
    assert frame["bmi"].between(15, 45).all()
    ratio = frame["total cholesterol"] / frame["high-density lipoproteins"]
    assert np.corrcoef(ratio, frame["cholesterol ratio"])[0, 1] > 0.95
    assert set(frame["sex"]) == {1, 2}
