"""Images as columns: the places of pixels, by hand."""

import numpy as np
import torch

from askless.acquisition import Feature, Grid, Part, Schema
from askless.exceptions import ParameterError
from tests.coded import raises

GRID = Grid(height=4, width=6, channels=3, patch_size=2)


def test_columns_are_patch_by_patch() -> None:
    images = np.random.default_rng(0).random((5, 4, 6, 3))
    x = GRID.to_columns(images)
    assert x.shape == (5, GRID.n_columns) == (5, 72)
    for row in range(2):
        for column in range(3):
            patch = images[:, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
            start = (3 * row + column) * 12
            assert (x[:, start : start + 12] == patch.reshape(5, 12)).all()


def test_pixels_come_back() -> None:
    x = np.random.default_rng(0).random((5, 72)).astype(np.float32)
    assert (GRID.to_columns(GRID.to_pixels(x)) == x).all()
    assert (GRID.to_pixels(torch.from_numpy(x)).numpy() == GRID.to_pixels(x)).all()


def test_upsampling_repeats_each_patch() -> None:
    mask = np.arange(6.0)[None]
    expected = np.kron(np.arange(6.0).reshape(2, 3), np.ones((2, 2)))
    assert (GRID.upsample(mask)[0] == expected).all()
    assert (GRID.upsample(torch.from_numpy(mask)).numpy()[0] == expected).all()


def test_a_schema_of_patches() -> None:
    schema = Schema.of_patches(GRID)
    assert schema.grid is GRID
    assert schema.names == GRID.names
    assert schema.names[4] == "row 1, column 1"
    assert {feature.kind for feature in schema.features} == {"patch"}
    assert (schema.widths == 12).all()
    assert schema.n_columns == 72
    assert Schema.of_patches(GRID, costs=[1, 2, 3, 4, 5, 6]).prices[5] == 6


def test_wrong_sizes_are_refused() -> None:
    with raises(ParameterError, "wrong_shape", name="patch_size", value=3, shape=(4, 6)):
        Grid(height=4, width=6, channels=1, patch_size=3)
    with raises(ParameterError, "out_of_range", value=(4, 6, 0, 2), low=1):
        Grid(height=4, width=6, channels=0, patch_size=2)
    with raises(ParameterError, "wrong_shape", name="grid"):
        Schema((Feature("a", (Part("a", "patch"),), 0, 12),), GRID)
