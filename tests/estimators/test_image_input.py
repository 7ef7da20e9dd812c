"""Images as people hand them in: one, a list of them, on another scale."""

import numpy as np
import pytest

from askless import DynamicClassifier
from askless.exceptions import AsklessWarning, TableError
from askless.methods import Greedy
from tests.coded import raises, warns


def drawn(n=60, seed=0):
    """4 x 4 images of bytes, whose first pixel tells the label."""
    images = np.random.default_rng(seed).integers(0, 256, (n, 4, 4), dtype=np.uint8)
    return images, (images[:, 0, 0] > 127).astype(int)


def fit(images, y, **how):
    method = Greedy(hidden=(8,), epochs=1, pretrain_epochs=1)
    return DynamicClassifier(2, method=method, random_state=0).fit(images, y, **how)


@pytest.fixture(scope="module")
def of_bytes():
    return fit(*drawn())


@pytest.fixture(scope="module")
def of_fractions():
    images, y = drawn()
    return fit(images / 255, y)


def test_other_scales_are_told_once_a_call(of_bytes, of_fractions):
    images, y = drawn(seed=1)
    for model, given, told in (
        (of_fractions, images, {"low": 0.0, "high": 255.0, "expected": (0.0, 1.0)}),
        (of_bytes, images / 255, {"low": 0.0, "high": 1.0, "expected": (0.0, 255.0)}),
    ):
        for ask in (
            lambda: model.predict(given),  # noqa: B023
            lambda: model.score(given, y),  # noqa: B023
            lambda: model.rollout(given),  # noqa: B023
            lambda: model.rollout(given.reshape(60, -1)),  # noqa: B023
            lambda: model.curve(given, y),  # noqa: B023
        ):
            with warns(AsklessWarning, "other_scale", **told) as all_told:
                ask()
            assert len(all_told) == 1


def test_a_few_of_many_images_are_looked_at(of_fractions):
    images, _ = drawn(20_000)  # more than are encoded at once
    with warns(AsklessWarning, "other_scale", high=255.0) as told:
        of_fractions.rollout(images, max_features=1)
    assert len(told) == 1


def test_validation_images_on_another_scale_are_told():
    images, y = drawn()
    with warns(AsklessWarning, "other_scale", high=1.0, expected=(0.0, 255.0)) as told:
        fit(images, y, validation=(images / 255, y))
    assert len(told) == 1
    fit(images, y, validation=(images, y))  # warnings are errors here


def test_an_interview_on_another_scale_is_told(of_bytes, of_fractions):
    for model, answer in ((of_fractions, 200), (of_bytes, 0.3)):
        with warns(AsklessWarning, "other_scale", low=answer):
            model.interview().answer(answer)


def test_one_image_is_named_as_such(of_bytes):
    images, _ = drawn()
    for one in (images[0], list(images[0]), images[0].tolist()):
        with raises(TableError, "wrong_shape", shape=(4, 4)):
            of_bytes.predict(one)
    assert of_bytes.predict(images[0][None]).shape == (1,)
    with raises(TableError, "wrong_shape", value=5, expected=16):
        of_bytes.predict(np.zeros((4, 5)))


def test_one_image_of_colours():
    images = np.random.default_rng(0).random((40, 4, 4, 3))
    model = fit(images, np.arange(40) % 2)
    for one in (images[0], list(images[0])):
        with raises(TableError, "wrong_shape", shape=(4, 4, 3)):
            model.predict(one)
    assert model.predict(list(images)).tolist() == model.predict(images).tolist()


def test_a_list_of_images(of_bytes):
    images, y = drawn()
    for several in (list(images), tuple(images)):
        model = fit(several, y)
        assert model.image_shape_ == (4, 4)
        np.testing.assert_array_equal(model.predict_proba(several), of_bytes.predict_proba(images))
    assert model.curve(list(images), y)["score"].tolist() == of_bytes.curve(images, y)["score"].tolist()
    uneven = [*images[:3], np.zeros((4, 5)), *images[4:]]
    for ask in (lambda: fit(uneven, y), lambda: of_bytes.predict(uneven)):
        with raises(TableError, "wrong_shape", row=3, shape=(4, 5), expected=(4, 4)):
            ask()


def test_an_infinite_pixel_is_refused_with_its_row():
    images, y = drawn()
    for row in (0, 31, 59):  # among the rows to learn from, or those held out
        wrong = images.astype(float)
        wrong[row, 2, 2] = np.inf
        with raises(TableError, "bad_cell", row=row):
            fit(wrong, y)
