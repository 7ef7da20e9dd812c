"""Crops and mirror images, against slicing one image at a time."""

import itertools

import numpy as np
import pytest
import torch

from askless.acquisition import Cases, Grid, Schema
from askless.exceptions import ParameterError
from askless.networks import conv_predictor
from askless.training import Chains, Problem, SubsetLearner, full_sets, seeded
from askless.training.augment import UPRIGHT, crops, late_tilts, tilts
from tests.coded import raises

GRID = Grid(height=8, width=16, channels=2, patch_size=4)


@pytest.fixture(autouse=True)
def same_numbers():
    with seeded(0):
        yield


def make_problem(n=40, missing=False):
    rng = np.random.default_rng(0)
    x = rng.random((n, GRID.n_columns)).astype(np.float32)
    present = np.ones((n, GRID.n_patches), dtype=bool)
    present[0, 0] = not missing
    cases = Cases(x, present)
    y = np.arange(n) % 2
    return Problem(
        schema=Schema.of_patches(GRID),
        train=cases,
        y_train=y,
        valid=cases,
        y_valid=y,
        task="classification",
        n_classes=2,
        max_features=4,
    )


def test_every_view_is_a_crop_of_the_padded_image():
    views, count = crops(GRID, flips=True), 3 * 3 * 2
    assert len(views.maps) == count
    images = np.random.default_rng(0).random((count, 8, 16, 2)).astype(np.float32)
    shown = views.show(torch.from_numpy(GRID.to_columns(images)), torch.arange(count))
    found = GRID.to_pixels(shown.numpy())
    expected = set()
    for view in range(count):
        padded = np.pad(images[view], ((1, 1), (1, 1), (0, 0)))
        shifted = [padded[down : down + 8, right : right + 16] for down in range(3) for right in range(3)]
        all_of_it = shifted + [crop[:, ::-1] for crop in shifted]
        places = [i for i, crop in enumerate(all_of_it) if np.array_equal(crop, found[view])]
        assert len(places) == 1
        expected.add(places[0])
    assert expected == set(range(18))  # each is another one


def test_draws_reach_every_view_and_no_other():
    views = crops(GRID, flips=False)
    drawn = views.draw(2000)
    assert drawn.unique().tolist() == list(range(9))


def test_a_tilt_takes_each_pixel_from_the_nearest_place_of_a_linear_map():
    grid = Grid(height=20, width=28, channels=1, patch_size=2)
    views, some = tilts(grid), torch.tensor([0, 1, 501, 1023])
    for view, sources in zip(some, views.sources(some), strict=True):
        (a, b), (c, d) = views.maps[view].tolist()
        for row, column in itertools.product(range(20), range(28)):
            down, right = row - 9.5, column - 13.5
            from_row, from_column = a * down + b * right + 9.5, c * down + d * right + 13.5
            found = int(sources[row * 28 + column])
            assert abs(found // 28 - min(max(from_row, 0), 19)) < 0.5001  # beyond the edge it repeats
            assert abs(found % 28 - min(max(from_column, 0), 27)) < 0.5001


def test_tilts_turn_slant_and_stretch_a_little():
    """A turned triangular matrix is told apart by the QR decomposition."""
    maps = tilts(GRID).maps.double().numpy()
    turn = np.arctan2(-maps[:, 0, 1], maps[:, 1, 1])  # the matrix before the turn has no upper right
    assert np.degrees(np.abs(turn)).max() < 10.0
    assert np.degrees(turn).std() == pytest.approx(20 / np.sqrt(12), rel=0.1)  # uniform from -10 to 10
    back = np.stack([np.cos(turn), np.sin(turn), -np.sin(turn), np.cos(turn)], axis=1).reshape(-1, 2, 2)
    bent = back @ maps
    np.testing.assert_allclose(bent[:, 0, 1], 0.0, atol=1e-6)
    assert np.abs(bent[:, [0, 1], [0, 1]] - 1.0).max() < 0.05 + 1e-6
    assert np.abs(bent[:, 1, 0] / bent[:, 0, 0]).max() < 0.1 + 1e-6


def test_white_paper_stays_white():
    grid = Grid(height=28, width=28, channels=1, patch_size=1)
    views = tilts(grid)
    everything = torch.arange(len(views.maps))
    assert (views.show(torch.ones(len(everything), grid.n_columns), everything) == 1).all()


def test_a_tilted_image_holds_no_new_values():
    grid = Grid(height=28, width=28, channels=1, patch_size=1)
    images = np.where(np.random.default_rng(0).random((30, 28, 28, 1)) < 0.2, 0.7, 0.0).astype(np.float32)
    views = tilts(grid)
    shown = views.show(torch.from_numpy(grid.to_columns(images)), views.draw(30))
    assert set(np.unique(shown.numpy())) == {np.float32(0.0), np.float32(0.7)}
    assert 0.15 < float((shown > 0).float().mean()) < 0.25


def test_a_shift_goes_on_to_any_other_and_stays_mirrored():
    views = crops(GRID, flips=True)
    every = torch.arange(len(views.maps))
    seen = [set() for _ in every]
    for _ in range(300):
        for now, then in zip(every.tolist(), views.going_on(every).tolist(), strict=True):
            seen[now].add(then)
    for now, later in enumerate(seen):
        same = (views.maps == views.maps[now]).all(dim=2).all(dim=1)
        assert later == set(every[same].tolist())


def test_a_late_tilt_comes_once_in_so_many_questions_and_stays():
    views = late_tilts(GRID)
    view = views.beginning(20_000)
    images = torch.rand(1, GRID.n_columns).expand(len(view), -1)
    assert torch.equal(views.show(images, view), images)  # a chain begins with the image as it is
    tilted = torch.zeros(len(view), dtype=torch.bool)
    for question in range(1, 41):
        then = views.going_on(view)
        assert torch.equal(then[tilted], view[tilted])
        view, tilted = then, (views.maps[then] != torch.eye(2)).flatten(1).any(dim=1)
        assert float(tilted.float().mean()) == pytest.approx(1 - (1 - 1 / UPRIGHT) ** question, abs=0.015)
    assert len(view[tilted].unique()) == len(tilts(GRID).maps)


@pytest.mark.parametrize("augment", ["crops+flips", "tilts", "late_tilts"])
def test_a_state_keeps_its_view_or_one_like_it_until_its_chain_begins_anew(augment):
    problem = make_problem()
    settings = {"states_per_row": 1, "epochs": 50, "random_subsets": False, "random_starts": 0.0}
    chains = Chains(problem, batch_size=10, augment=augment, **settings)
    assert "view" in chains.tensors()
    everything, seen, drifted = torch.arange(len(chains.row)), [], []
    for _ in range(30):
        before = chains.states(everything)
        views, count = chains.view.clone(), chains.asked.sum(dim=1)
        literal = chains._views.show(chains.rows.x[chains.row], chains.view)
        assert torch.equal(before.x, literal)
        free = torch.where(chains.asked > 0, -1.0, torch.rand(chains.asked.shape))
        chains.move(everything, free.argmax(dim=1))
        goes_on = chains.asked.sum(dim=1) > count
        alike = chains._views.alike
        near = views[:, None] if alike is None else alike[views]
        assert (near == chains.view[:, None]).any(dim=1)[goes_on].all()
        seen.append(bool((chains.view != views)[~goes_on].any()))
        drifted.append(bool((chains.view != views)[goes_on].any()))
    assert any(seen)
    assert any(drifted) == (augment != "tilts")


def test_predictors_see_another_view_each_time():
    problem = make_problem()
    net = conv_predictor(GRID, 2, "conv_tiny")
    learner = SubsetLearner(net, problem, full_sets, batch_size=20, seed=0, augment="crops")
    batch = torch.arange(20)
    first, y = learner.examples(batch)
    second, _ = learner.examples(batch)
    assert first.shape == second.shape == (20, GRID.n_columns)
    assert not torch.equal(first, second)
    assert torch.equal(y, learner.rows.y[:20])


def test_missing_pixels_are_refused():
    problem = make_problem(missing=True)
    with raises(ParameterError, "not_supported", name="augment", value="crops"):
        problem.views("crops")
    assert problem.views("none") is None
