"""The ceiling, and the order that knows the answers."""

import numpy as np
import pytest
import torch

import askless
from askless import DynamicClassifier, DynamicRegressor
from askless.acquisition import MaxFeatures, rollout
from askless.checks import check_method, example_table
from askless.exceptions import TruthError
from askless.methods import AllFeatures, FixedOrder, OracleOrder
from askless.metrics import curve
from askless.training import full_sets, mixed_sets, prefix_sets, seeded

GROUPS = {"pressure": ["upper", "lower"]}
QUICK = {"epochs": 2, "hidden": (8,)}
BETTER = {"epochs": 20, "hidden": (32,), "batch_size": 64}


@pytest.fixture(scope="module")
def blobs():
    """Complete rows: y follows from four of six features together, each of which says a little."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1500, 6))
    return x, (x[:, 2:].sum(axis=1) > 0).astype(int)


def last_auroc(trajectory, y):
    return float(curve(trajectory, y, "auroc")["score"].iloc[-1])


# All features


def test_everything_is_asked_whatever_the_budget(tmp_path):
    X, y = example_table("classification")
    model = DynamicClassifier(2, method=AllFeatures(**QUICK), groups=GROUPS).fit(X, y)
    t = model.rollout(X)
    present = model.model_.encoder.transform(X).present
    np.testing.assert_array_equal(t.n_asked, present.sum(axis=1))
    full = present.all(axis=1)
    assert full.any()
    assert (t.order[full] == np.arange(5)).all()  # in the table's order
    model.save(tmp_path / "m.askless")
    again = askless.load(tmp_path / "m.askless")
    assert (again.max_features, again.model_.max_features) == (2, 5)
    assert model.rollout(X, max_features=2).order.shape[1] == 2  # whoever says so asks less


def test_the_ceiling_is_above_every_order(blobs):
    x, y = blobs
    train, test = slice(0, 1000), slice(1000, None)
    aurocs = {}
    for method in (AllFeatures(**BETTER), FixedOrder(**BETTER)):
        model = DynamicClassifier(4, method=method).fit(x[train], y[train])
        aurocs[type(method)] = last_auroc(model.rollout(x[test]), y[test])
    assert aurocs[AllFeatures] > 0.98
    assert aurocs[AllFeatures] > aurocs[FixedOrder] + 0.1  # which asks two of the four


def test_a_regression_has_a_spread_after_the_last_answer():
    X, y = example_table("regression")
    model = DynamicRegressor(2, method=AllFeatures(**QUICK), groups=GROUPS, missing="answer").fit(X, y)
    talk = model.interview()
    for _ in range(5):
        talk.unknown()
    assert talk.done
    assert talk.prediction["sd"] > 0


def test_mixed_sets_are_a_mixture():
    askable = torch.ones(4000, 5, dtype=torch.bool)
    askable[:, 3] = False
    prefixes = prefix_sets(-torch.arange(5.0), 2)
    with seeded(0):
        drawn = mixed_sets(prefixes, full_sets, 0.75)(askable)
    assert not (drawn & ~askable).any()
    sizes = drawn.sum(dim=1)
    share = sizes.bincount(minlength=5) / 4000
    torch.testing.assert_close(share, torch.tensor([1 / 12, 1 / 12, 1 / 12, 0, 0.75]), atol=0.02, rtol=0)
    assert drawn[sizes == 2][:, :2].all()


# The oracle


@pytest.mark.parametrize(("task", "kind"), [("classification", DynamicClassifier), ("regression", DynamicRegressor)])
def test_the_oracle_is_fitted_and_saved_but_refused(task, kind, tmp_path):
    X, y = example_table(task)
    files = [tmp_path / "a.askless", tmp_path / "b.askless"]
    for file in files:
        model = kind(2, method=OracleOrder(**QUICK), groups=GROUPS).fit(X, y)
        model.save(file)
    assert files[0].read_bytes() == files[1].read_bytes()
    for each in (model, askless.load(files[0])):
        for use in (each.rollout, each.predict, lambda X, each=each: each.interview()):
            with pytest.raises(TruthError):
                use(X)
    with pytest.raises(TruthError):
        model.score(X, y)


def test_an_experiment_shows_it_the_truth(blobs, tmp_path):
    x, y = blobs
    method = OracleOrder(**BETTER)
    DynamicClassifier(2, method=method).fit(x[:1000], y[:1000]).save(tmp_path / "m.askless")
    model = askless.load(tmp_path / "m.askless").model_
    cases = model.encoder.transform(x[1000:])
    t = rollout(
        model.policy,
        model.predictor,
        cases,
        model.schema,
        stopping=MaxFeatures(2),
        missing=model.missing,
        allow_truth=True,
    )
    assert t.order.shape == (500, 2)
    assert len(np.unique(t.order[:, 0])) >= 4  # each case its own
    assert (t.order[:, 0] >= 2).mean() > 0.7  # mostly those that matter
    # Two features of four, chosen by their values, tell more than any two could.
    assert last_auroc(t, y[1000:]) > 0.95
    fixed = DynamicClassifier(2, method=FixedOrder(order=("x2", "x3"), **BETTER)).fit(x[:1000], y[:1000])
    assert last_auroc(fixed.rollout(x[1000:]), y[1000:]) < 0.9


def test_zeros_are_told_from_missing_values():
    X, y = example_table("classification")
    model = DynamicClassifier(2, method=OracleOrder(**QUICK), groups=GROUPS).fit(X, y)
    assert model.model_.policy.zero_is_missing.all()  # as tables are encoded


def test_checks_say_what_they_cannot_check_of_an_oracle():
    results = check_method(OracleOrder(**QUICK))
    needs_rollout = {
        "the_same_seed_gives_the_same_model",
        "the_same_seed_gives_the_same_file",
        "questions_obey_the_budget",
        "groups_are_asked_as_a_whole",
        "predictions_are_valid_at_every_step",
        "unasked_cells_do_not_matter",
        "tables_are_left_alone",
        "interviews_agree_with_rollouts",
        "unknown_answers_leave_the_prediction",
        "a_file_keeps_the_model",
        "pickling_keeps_the_model",
    }
    for result in results.values():
        refused = {name for name, told in result.items() if "what needs a roll-out cannot be checked" in told}
        assert refused == needs_rollout
        assert result["truth_is_refused"] == result["oracles_are_refused"] == "passed"
        assert result["predictions_are_valid"] == result["scores_repeat"] == "passed"
