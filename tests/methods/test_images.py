"""Methods on images, with convolutional networks: small ones whose informative patches are known."""

import itertools

import numpy as np
import pytest

import askless
from askless import DynamicClassifier, DynamicRegressor
from askless.acquisition import Grid
from askless.exceptions import ParameterError
from askless.methods import (
    CenterCrop,
    CmiMarginal,
    ConcreteAutoencoder,
    FixedOrder,
    Greedy,
    MutualInformation,
    Random,
    Value,
)
from askless.methods.center_crop import distances
from askless.model_file import read_model
from tests.coded import raises

QUICK = {"network": "conv_tiny", "batch_size": 64, "learning_rate": 5e-3, "weight_decay": 0.1, "epochs": 2}
BRIEF = QUICK | {"pretrain_epochs": 2}
GOOD = BRIEF | {"epochs": 8, "pretrain_epochs": 6}


def signposts(n, seed=0):
    """8 x 8 images of 4 x 4 patches of noise. The first patch says where to look: its stripes lie or stand, and the
    label is whether the upper right or the lower left patch is brighter at its top than at its bottom. Where the
    stripes stand it mostly is, where they lie it mostly is not, so that the first patch is the best first question.
    """
    rng = np.random.default_rng(seed)
    images = rng.random((n, 8, 8)).astype(np.float32)
    stand, up = rng.random(n) < 0.5, rng.random((n, 2)) < 0.5
    label = rng.random(n) < np.where(stand, 0.85, 0.15)
    up[np.arange(n), np.where(stand, 0, 1)] = label
    stripes = np.zeros((4, 4), dtype=np.float32)
    stripes[::2] = 1.0
    images[:, :4, :4] = 0.3 * images[:, :4, :4] + 0.7 * np.where(stand[:, None, None], stripes.T, stripes)
    shade = np.repeat([[1.0], [0.0]], 2, axis=0) * np.ones((1, 4))
    for place, (top, left) in enumerate([(0, 4), (4, 0)]):
        picture = np.where(up[:, place, None, None], shade, shade[::-1])
        images[:, top : top + 4, left : left + 4] = 0.3 * images[:, top : top + 4, left : left + 4] + 0.7 * picture
    return images, label.astype(int), stand


@pytest.fixture(scope="module")
def learned():
    images, y, _ = signposts(800)
    method = Greedy(**GOOD, shared=True, first="learned", polish=False)
    return DynamicClassifier(2, method=method, patch_size=4).fit(images, y)


def test_greedy_follows_the_signpost(learned):
    """Two answers are enough: of the first patch, and of the one that it points at."""
    images, y, stand = signposts(400, seed=1)
    t = learned.rollout(images)
    assert (t.predictions[:, 2].argmax(axis=1) == y).mean() > 0.95
    right = np.sort(t.order, axis=1) == np.sort(np.stack([np.zeros(400), np.where(stand, 1, 2)], axis=1), axis=1)
    assert right.all(axis=1).mean() > 0.9


def test_a_file_holds_one_trunk_for_both(learned, tmp_path):
    path = tmp_path / "m.askless"
    learned.save(path)
    from safetensors.numpy import load_file

    names = set(load_file(path))
    assert any(name.startswith("policy.trunk.") for name in names)
    assert not any(name.startswith("predictor.trunk.") for name in names)
    images, _, _ = signposts(50, seed=2)
    again = askless.load(path)
    np.testing.assert_array_equal(again.rollout(images).order, learned.rollout(images).order)
    np.testing.assert_array_equal(again.predict_proba(images), learned.predict_proba(images))
    model = read_model(path)
    trunks = [part.network.network.trunk.state_dict() for part in (model.policy, model.predictor)]
    assert all((trunks[0][name] == trunks[1][name]).all() for name in trunks[0])


def test_a_row_alone_gives_what_it_gives_in_a_batch(learned):
    images, _, _ = signposts(20, seed=3)
    many = learned.predict_proba(images)
    alone = np.concatenate([learned.predict_proba(images[i : i + 1]) for i in range(20)])
    np.testing.assert_allclose(alone, many, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("task", "method"),
    [
        ("classification", Greedy(**BRIEF, schedule="staged", augment="crops", recipe={"stages": 2})),
        ("classification", Greedy(**BRIEF, subsets="random", augment="crops+flips")),
        ("classification", Greedy(**BRIEF, schedule="expected", shared=True)),
        ("classification", Greedy(**BRIEF, schedule="expected", shared=True, recipe={"predictor_epochs": 1})),
        ("regression", Greedy(**BRIEF, augment="crops")),
        ("classification", Value(**BRIEF)),
        ("regression", Value(**BRIEF, shared=True)),
        ("regression", FixedOrder(**QUICK)),
        ("classification", Random(**QUICK, augment="crops")),
        ("classification", MutualInformation(**QUICK)),
        ("classification", ConcreteAutoencoder(**BRIEF, select_epochs=2, augment="crops")),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_methods_with_convolutions(task, method, tmp_path):
    images, y, _ = signposts(80)
    kind = DynamicClassifier if task == "classification" else DynamicRegressor
    target = y if task == "classification" else images[:, 0, 5].astype(float)
    model = kind(3, method=method, patch_size=4).fit(images, target)
    t = model.rollout(images)
    assert t.order.shape == (80, 3)
    assert np.isfinite(t.predictions).all()
    model.save(tmp_path / "m.askless")
    np.testing.assert_array_equal(askless.load(tmp_path / "m.askless").rollout(images).predictions, t.predictions)
    if task == "regression":
        assert model.interview().prediction.keys() == {"mean", "sd"}


class Killed(Exception):
    """Ends a fit in the middle."""


@pytest.mark.parametrize("epoch", [3, 7])  # of two for the predictor, twice two for both, two for the predictor again
def test_a_fit_that_was_killed_ends_with_the_same_weights(tmp_path, monkeypatch, epoch):
    images, y, _ = signposts(80)
    method = Greedy(
        **BRIEF,
        shared=True,
        augment="crops+flips",
        schedule="annealed+expected",
        recipe={"predictor_epochs": 2},
    )

    def fit(checkpoint=None):
        return DynamicClassifier(2, method=method, patch_size=4).fit(images, y, checkpoint=checkpoint)

    from askless.training.checkpoint import Checkpoint

    saves, save = itertools.count(), Checkpoint.save

    def save_some(self, snapshot):
        save(self, snapshot)
        if next(saves) == epoch - 1:
            raise Killed

    monkeypatch.setattr(Checkpoint, "save", save_some)
    with pytest.raises(Killed):
        fit(tmp_path / "c")
    monkeypatch.undo()
    resumed = fit(tmp_path / "c")
    np.testing.assert_array_equal(resumed.rollout(images).predictions, fit().rollout(images).predictions)


def test_the_concrete_autoencoder_finds_the_patch_that_tells():
    rng = np.random.default_rng(0)
    images = rng.random((400, 8, 8)).astype(np.float32)
    y = (images[:, 4:6, 4:].mean(axis=(1, 2)) > images[:, 6:, 4:].mean(axis=(1, 2))).astype(int)
    method = ConcreteAutoencoder(**GOOD, select_epochs=15)
    model = DynamicClassifier(1, method=method, patch_size=4).fit(images, y)
    assert model.rollout(images).order[0, 0] == 3


def test_center_crops_grow_from_the_middle():
    grid = Grid(height=6, width=8, channels=1, patch_size=2)  # 3 x 4 patches
    centre = np.array([1.0, 1.5])
    exact = [np.sum((np.array([r, c]) - centre) ** 2) for r in range(3) for c in range(4)]
    np.testing.assert_allclose(distances(grid), 4.0 * np.array(exact))
    images = np.random.default_rng(0).random((60, 6, 8))
    model = DynamicClassifier(12, method=CenterCrop(epochs=1), patch_size=2).fit(images, np.arange(60) % 2)
    assert model.rollout(images).order[0].tolist() == [5, 6, 1, 2, 9, 10, 4, 7, 0, 3, 8, 11]


@pytest.mark.parametrize("method", [CenterCrop(), Greedy(network="conv_small"), FixedOrder(augment="crops")])
def test_tables_are_refused(method):
    with raises(ParameterError, "not_supported", name="method"):
        DynamicClassifier(2, method=method).fit(np.random.default_rng(0).random((40, 4)), np.arange(40) % 2)


def test_what_cannot_do_with_convolutions_says_so():
    with raises(ParameterError, "invalid_choice", name="network", value="conv_tiny", choices=["mlp"]):
        DynamicClassifier(2, method=CmiMarginal(network="conv_tiny")).fit(np.zeros((40, 4, 4)), np.arange(40) % 2)
    with raises(ParameterError, "invalid_choice", name="network", value="conv_big"):
        Greedy(network="conv_big").check()
