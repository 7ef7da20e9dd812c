"""Images as encoded columns."""

import json

import numpy as np
import pytest

from askless.acquisition import Grid
from askless.encoding import ImageEncoder, encoder_from_json
from askless.exceptions import AsklessWarning, InterviewError, ModelFileError, ParameterError, TableError
from tests.coded import raises, warns

GRID = Grid(height=4, width=4, channels=2, patch_size=2)


@pytest.fixture(scope="module")
def images():
    return np.random.default_rng(0).integers(0, 256, size=(5, 4, 4, 2), dtype=np.uint8)


def encoder(images):
    return ImageEncoder.fit(images.reshape(len(images), -1), GRID)


def test_a_patch_is_the_columns_of_its_pixels(images):
    cases = encoder(images).transform(images.reshape(5, -1))
    assert cases.x.dtype == np.float32
    assert cases.present.all()
    for feature in encoder(images).schema.features:
        row, column = (int(word) for word in feature.name.replace(",", "").split()[1::2])
        patch = images[:, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
        np.testing.assert_allclose(cases.x[:, feature.start : feature.stop], patch.reshape(5, -1) / 255.0, rtol=1e-6)


def test_an_answer_is_encoded_like_the_patch_of_a_table(images):
    fitted = encoder(images)
    cases = fitted.transform(images.reshape(5, -1))
    feature = fitted.schema.features[1]
    answered = fitted.encode_answer(1, images[3, :2, 2:4])
    np.testing.assert_array_equal(answered, cases.x[3, feature.start : feature.stop])
    np.testing.assert_array_equal(fitted.encode_answer(1, {"row 0, column 1": 255}), np.ones(8, dtype=np.float32))
    assert fitted.encode_answer(1, None) is None
    assert fitted.encode_answer(1, float("nan")) is None


@pytest.mark.parametrize(
    ("pixels", "low", "high"),
    [
        (np.array([[0, 130]], dtype=np.uint8), 0, 255),
        (np.array([[2, 16]], dtype=np.uint8), 0, 16),
        (np.array([[2.0, 16.0]]), 0, 16),
        (np.array([[0, 4095]], dtype=np.uint16), 0, 4095),
        (np.array([[0, 0]], dtype=np.uint8), 0, 1),
        (np.array([[0.0, 0.5]]), 0, 1),
        (np.array([[False, True]]), 0, 1),
        (np.array([[0.0, 200.0]]), 0, 255),
        (np.array([[-1.0, 3.0]]), -1, 3),
        (np.array([[-7, -7]]), -7, -6),
    ],
)
def test_the_range_of_the_pixels(pixels, low, high):
    fitted = ImageEncoder.fit(pixels, Grid(1, 2, 1, 1))
    assert (fitted.low, fitted.high) == (low, high)
    np.testing.assert_array_equal(fitted.transform(np.array([[low, high]])).x, [[0.0, 1.0]])
    assert fitted.transform(np.array([[1e9, -1e9]])).x.tolist() == [[1.0, 0.0]]


def test_a_patch_with_a_missing_pixel_is_missing():
    pixels = np.full((1, 32), 0.5)
    pixels[0, 0] = np.nan
    fitted = ImageEncoder.fit(pixels, GRID)
    cases = fitted.transform(pixels)
    assert cases.present.tolist() == [[False, True, True, True]]
    assert np.isfinite(cases.x).all()


def test_a_file_holds_all_of_it(images):
    fitted = ImageEncoder.fit(images.reshape(5, -1), GRID, {"row 1, column 0": 3.0})
    again = encoder_from_json(json.loads(json.dumps(fitted.to_json())))
    assert again.schema == fitted.schema
    assert again.schema.prices.tolist() == [1, 1, 3, 1]
    np.testing.assert_array_equal(again.transform(images.reshape(5, -1)).x, fitted.transform(images.reshape(5, -1)).x)
    with raises(ModelFileError, "wrong_file"):
        encoder_from_json({**fitted.to_json(), "grid": [4, 4, 2, 3]})


FRACTIONS = np.linspace(0.0, 1.0, 32)[None]
BYTES = np.linspace(0, 255, 32).astype(np.uint8)[None]


@pytest.mark.parametrize(
    ("learned", "given", "low", "high"),
    [
        (FRACTIONS, BYTES, 0, 255),
        (FRACTIONS.astype(np.float16), BYTES.astype(float), 0, 255),
        (FRACTIONS, BYTES // 16, 0, 15),
        (FRACTIONS, np.full((1, 32), 255), 255, 255),
        (BYTES, FRACTIONS, 0, 1),
        (BYTES, BYTES > 127, 0, 1),
        (BYTES, 2 * FRACTIONS - 1, -1, 1),
        (BYTES, BYTES.astype(np.uint16) * 257, 0, 65535),
        (BYTES.astype(np.uint16) * 257, BYTES, 0, 255),
        (BYTES // 16, FRACTIONS.astype(np.float32), 0, 1),
        (BYTES, -1000.0 * FRACTIONS, -1000, -0),
        (FRACTIONS, FRACTIONS / 255, 0, 0.00392),
    ],
)
def test_another_scale_is_told(learned, given, low, high):
    fitted = ImageEncoder.fit(learned, GRID)
    with_a_gap = given.astype(float)
    with_a_gap[0, 3] = np.nan
    for pixels in (given, with_a_gap):
        warning = fitted.scale_warning(pixels)
        assert warning.code == "other_scale"
        assert [warning.fields["low"], warning.fields["high"]] == pytest.approx([low, high], rel=1e-2)
        assert warning.fields["expected"] == (fitted.low, fitted.high)


@pytest.mark.parametrize(
    ("learned", "given"),
    [
        (FRACTIONS, FRACTIONS / 2),
        (FRACTIONS, FRACTIONS > 0.5),
        (FRACTIONS, 2.5 * FRACTIONS - 1),  # a little beyond
        (BYTES, BYTES // 25),  # dark
        (BYTES // 2, BYTES),  # bytes of a dark set, then bright ones
        (BYTES // 16, BYTES // 128),  # whole numbers from 0 to 1
        (BYTES, np.zeros((2, 32))),  # blank
        (BYTES, np.full((2, 32), np.nan)),
        (3 * FRACTIONS - 2, 2 * FRACTIONS - 1),
    ],
)
def test_the_same_scale_is_not_told(learned, given):
    assert ImageEncoder.fit(learned, GRID).scale_warning(given) is None


def test_an_answer_on_another_scale_is_told():
    for learned, answer in ((FRACTIONS, 200), (BYTES, 0.5), (BYTES, np.full((2, 2, 2), 0.25)), (BYTES, 9000)):
        with warns(AsklessWarning, "other_scale", feature="row 0, column 0", low=np.min(answer), high=np.max(answer)):
            ImageEncoder.fit(learned, GRID).encode_answer(0, answer)
    for learned, answer in ((FRACTIONS, 0.5), (FRACTIONS, 1), (BYTES, 0), (BYTES, 1), (BYTES, 2.5), (BYTES, 300)):
        assert ImageEncoder.fit(learned, GRID).encode_answer(0, answer) is not None  # warnings are errors here


def test_what_is_no_image(images):
    fitted = encoder(images)
    with raises(TableError, "wrong_shape", value=31, expected=32):
        fitted.transform(np.zeros((1, 31)))
    with raises(TableError, "bad_column"):
        fitted.transform(np.full((1, 32), "dark", dtype=object))
    for use in (fitted.transform, fitted.scale_warning):
        with raises(TableError, "too_few_rows", rows=0, needed=1):
            use(np.zeros((0, 32)))
    with raises(TableError, "bad_column"):
        ImageEncoder.fit(np.full((2, 32), np.nan), GRID)
    with raises(TableError, "bad_cell", row=0, value=np.inf):
        ImageEncoder.fit(np.full((2, 32), np.inf), GRID)
    with raises(InterviewError, "bad_answer", feature="row 0, column 0", shape=(3, 2), expected=(2, 2, 2)):
        fitted.encode_answer(0, np.zeros((3, 2)))
    with raises(InterviewError, "bad_answer", feature="row 0, column 0"):
        fitted.encode_answer(0, "dark")
    with raises(InterviewError, "bad_answer", feature="row 0, column 0", value=np.inf):
        fitted.encode_answer(0, np.inf)
    with raises(InterviewError, "bad_answer", feature="row 0, column 0", choices=["row 9"]):
        fitted.encode_answer(0, {"row 9": 1})
    with pytest.raises(ParameterError, match="did you mean 'row 0, column 1'"):
        ImageEncoder.fit(images.reshape(5, -1), GRID, {"row 0, colum 1": 2.0})


def test_shades_keep_a_gap_from_a_background():
    """Hand arithmetic: with a gap of a quarter below, the shades 0 to 1 are put between 0.25 and 1."""
    strokes = np.array([[0, 0, 0, 51], [0, 0, 204, 255]], dtype=np.uint8)
    fitted = ImageEncoder.fit(strokes, Grid(2, 2, 1, 1))
    assert fitted.gaps == (0.25, 0.0)
    np.testing.assert_allclose(fitted.transform(strokes).x, [[0, 0, 0, 0.4], [0, 0, 0.85, 1]], rtol=1e-6)
    np.testing.assert_allclose(fitted.encode_answer(0, 51), [0.4], rtol=1e-6)

    on_paper = ImageEncoder.fit(255 - strokes, Grid(2, 2, 1, 1))
    assert on_paper.gaps == (0.0, 0.25)
    np.testing.assert_allclose(on_paper.transform(255 - strokes).x, [[1, 1, 1, 0.6], [1, 1, 0.15, 0]], rtol=1e-6)

    both = ImageEncoder.fit(np.array([[0, 0, 255, 102]], dtype=np.uint8), Grid(2, 2, 1, 1))
    np.testing.assert_allclose(both.transform(np.array([[0, 300, 102, 153]])).x, [[0, 1, 0.45, 0.55]], rtol=1e-6)


def test_a_bright_background_of_normalised_images_is_told_from_shades():
    """Rounded to single precision, the highest value less the lowest is not their difference."""
    low, high = -1.7131577048987372, 1.1911226550091756
    pixels = np.array([[low, high, high, high]])
    fitted = ImageEncoder.fit(pixels, Grid(2, 2, 1, 1))
    assert fitted.transform(pixels).x.tolist() == [[0.0, 1.0, 1.0, 1.0]]
    tiny = np.array([[1e9, 1e9 + 1]])
    assert np.isfinite(ImageEncoder.fit(tiny, Grid(1, 2, 1, 1)).transform(tiny).x).all()


def test_a_background_is_in_the_file():
    strokes = np.array([[0, 0, 255, 51]], dtype=np.uint8)
    kept = json.loads(json.dumps(ImageEncoder.fit(strokes, Grid(2, 2, 1, 1)).to_json()))
    np.testing.assert_allclose(encoder_from_json(kept).transform(strokes).x, [[0, 0, 1, 0.35]], rtol=1e-6)
    del kept["gaps"]
    np.testing.assert_allclose(encoder_from_json(kept).transform(strokes).x, [[0, 0, 1, 0.2]], rtol=1e-6)
    for broken in ([0.6, 0.6], [-0.1, 0.0], [0.1], "no"):
        with raises(ModelFileError, "wrong_file"):
            encoder_from_json({**kept, "gaps": broken})


def test_shades_far_from_zero_are_told_apart():
    steps = np.array([[0, 1, 2, 3, 4, 5, 6, 8]])
    for pixels in (1e8 + steps, 16_777_216 + steps):  # as numbers of 32 bits many of them are the same
        fitted = ImageEncoder.fit(pixels, Grid(1, 8, 1, 1))
        assert fitted.transform(pixels).x.tolist() == (steps / 8).tolist()
        assert fitted.encode_answer(1, pixels[0, 1]).tolist() == [1 / 8]


def test_infinite_pixels_are_refused_with_their_row(images):
    pixels = images.reshape(5, -1).astype(np.float64)
    fitted = ImageEncoder.fit(pixels, GRID)
    pixels[3, 0] = -np.inf
    with raises(TableError, "bad_cell", row=3):
        fitted.transform(pixels)
    for use in (
        fitted.transform,
        lambda pixels, row_numbers: ImageEncoder.fit(pixels, GRID, row_numbers=row_numbers),
    ):
        with raises(TableError, "bad_cell", row=40):
            use(pixels, row_numbers=[10, 20, 30, 40, 50])


def test_images_that_are_too_large_are_an_error_of_the_table():
    """Before anything is made of them: there may be a feature for each pixel."""
    for grid, size in (
        (Grid(4096, 1025, 1, 1), "4,096 x 1,025 pixels"),
        (Grid(2000, 2000, 3, 1), "pixels of 3 channels"),
    ):
        with raises(TableError, "too_large", value=grid.n_columns, high=4_194_304) as caught:
            ImageEncoder.fit(np.zeros((1, 1)), grid)
        assert size in str(caught.value)


def test_a_file_cannot_ask_for_any_number_of_pixels():
    data = {"kind": "images", "grid": [100_000, 100_000, 1, 100_000], "low": 0.0, "high": 1.0, "costs": [1.0]}
    with raises(ModelFileError, "wrong_file") as caught:
        encoder_from_json(data)
    assert "too large" in str(caught.value)
