"""Crops and mirror images, against slicing one image at a time."""

import numpy as np
import pytest
import torch

from askless.core import Cases, Grid, Schema
from askless.nn import Dropout, conv_predictor
from askless.training import Chains, Problem, SubsetLearner, full_sets
from askless.training.augment import Views, views_for

GRID = Grid(height=8, width=16, channels=2, patch_size=4)


def make_problem(n=40, missing=False):
    rng = np.random.default_rng(0)
    x = rng.random((n, GRID.n_columns)).astype(np.float32)
    present = np.ones((n, GRID.n_patches), dtype=bool)
    present[0, 0] = not missing
    cases = Cases(x, present)
    return Problem(Schema.of_patches(GRID), cases, np.arange(n) % 2, cases, np.arange(n) % 2, "classification", 2, 4)


def test_every_view_is_a_crop_of_the_padded_image():
    views = Views(GRID, flips=True)
    assert views.shift == 1
    assert views.count == 3 * 3 * 2
    images = np.random.default_rng(0).random((views.count, 8, 16, 2)).astype(np.float32)
    shown = views.show(torch.from_numpy(GRID.to_columns(images)), torch.arange(views.count))
    found = GRID.to_pixels(shown.numpy())
    expected = set()
    for view in range(views.count):
        padded = np.pad(images[view], ((1, 1), (1, 1), (0, 0)))
        crops = [padded[down : down + 8, right : right + 16] for down in range(3) for right in range(3)]
        all_of_it = crops + [crop[:, ::-1] for crop in crops]
        places = [i for i, crop in enumerate(all_of_it) if np.array_equal(crop, found[view])]
        assert len(places) == 1
        expected.add(places[0])
    assert expected == set(range(18))  # each is another one


def test_draws_reach_every_view_and_no_other():
    views = Views(GRID, flips=False)
    drawn = views.draw(2000, torch.Generator().manual_seed(0))
    assert drawn.unique().tolist() == list(range(9))


def test_a_state_keeps_its_view_until_its_chain_begins_anew():
    problem = make_problem()
    settings = {"states_per_row": 1, "epochs": 50, "random_subsets": False, "random_starts": 0.0, "seed": 0}
    generator = torch.Generator().manual_seed(0)
    chains = Chains(problem, batch_size=10, generator=generator, augment="crops+flips", **settings)
    assert "view" in chains.tensors()
    everything, seen = torch.arange(len(chains.row)), []
    for _ in range(30):
        before = chains.states(everything)
        views, count = chains.view.clone(), chains.asked.sum(dim=1)
        literal = chains._views.show(chains.rows.x[chains.row], chains.view)
        assert torch.equal(before.x, literal)
        free = torch.where(chains.asked > 0, -1.0, torch.rand(chains.asked.shape, generator=generator))
        chains.move(everything, free.argmax(dim=1))
        goes_on = chains.asked.sum(dim=1) > count
        assert torch.equal(chains.view[goes_on], views[goes_on])
        seen.append(bool((chains.view != views).any()))
    assert any(seen)


def test_predictors_see_another_view_each_time():
    problem = make_problem()
    generator = torch.Generator().manual_seed(0)
    net = conv_predictor(GRID, 2, "conv_tiny", generator)
    learner = SubsetLearner(net, problem, Dropout(0.0, generator, 0), full_sets, 20, 0, "crops")
    batch = torch.arange(20)
    first, y = learner.examples(batch)
    second, _ = learner.examples(batch)
    assert first.shape == second.shape == (20, GRID.n_columns)
    assert not torch.equal(first, second)
    assert torch.equal(y, learner.rows.y[:20])


def test_missing_pixels_are_refused():
    with pytest.raises(ValueError, match="augment is 'crops', which needs images without missing pixels"):
        views_for(GRID, "crops", complete=False)
    assert views_for(GRID, "none", complete=False) is None
