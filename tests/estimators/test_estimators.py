"""The estimators as people use them."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from askless import DynamicClassifier, DynamicRegressor, load, metrics
from askless.acquisition import MaxFeatures
from askless.acquisition.stopping import Confidence
from askless.datasets import load_dataset
from askless.exceptions import AsklessWarning, InterviewError, ParameterError, TableError, UnseenWarning
from askless.methods import Auto, Greedy
from tests.coded import raises, warns
from tests.estimators.conftest import GROUPS

pytestmark = pytest.mark.filterwarnings("ignore:column 'clinic' has the value:askless.exceptions.DataWarning")


@pytest.fixture(scope="module")
def fitted(messy):
    X, y, _ = messy
    costs = {"blood pressure": 5, "lab": 20.0}
    how = {"groups": GROUPS, "costs": costs, "reference_rows": 256}
    return DynamicClassifier(max_features=4, method="greedy", **how).fit(X, y)


def test_a_good_model_with_default_settings(fitted, messy):
    X, y, _ = messy
    curve = fitted.curve(X, y, metric="auroc")
    assert curve["budget"].tolist() == [0, 1, 2, 3, 4]
    assert curve["score"].iloc[0] == 0.5
    assert curve["score"].iloc[-1] > 0.85
    assert fitted.score(X, y) == np.mean(fitted.predict(X) == y)


def test_breast_cancer_needs_three_questions():
    data = load_dataset("breast_cancer")
    test = np.arange(len(data.target)) % 3 == 0
    model = DynamicClassifier(max_features=3, method="greedy").fit(data.frame[~test], data.target[~test])
    assert model.curve(data.frame[test], data.target[test])["score"].iloc[-1] > 0.97


def test_regression_predicts_with_honest_spread(messy):
    X, _, score = messy
    model = DynamicRegressor(max_features=5, method="greedy", groups=GROUPS).fit(X[:300], score[:300])
    assert model.score(X[300:], score[300:]) > 0.4
    said, t = [], model.rollout(X[300:])
    for row in range(300, 400):
        talk = model.interview()
        while not talk.done:
            feature = next(f for f in model.schema_.features if f.name == talk.question.name)
            values = {part.name: X.iloc[row][part.name] for part in feature.parts}
            talk.answer(values if feature.is_group else values[feature.parts[0].name])
        said.append(((score[row] - talk.prediction["mean"]) / talk.prediction["sd"]) ** 2)
        if not X.iloc[row].isna().any():  # an answer "unknown" takes a question's place in an interview
            assert talk.prediction["sd"] == pytest.approx(t.sd[row - 300], rel=1e-4)
    assert 0.5 < np.mean(said) < 2.0  # standardised residuals
    assert t.frame().groupby("case")["sd"].last().tolist() == t.sd.tolist()


@pytest.mark.parametrize("method", ["greedy", "forward_selection"])
def test_a_standard_deviation_is_true_after_every_question(method):
    """Between that of the target, where nothing is known, and that of the noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 6))
    y = X @ [3.0, 2.0, 1.0, 0.0, 0.0, 0.0] + 0.5 * rng.normal(size=2500)
    model = DynamicRegressor(3, method=method).fit(X[:1800], y[:1800])
    assert model.interview().prediction["sd"] == pytest.approx(y[:1800].std(), rel=0.02)  # of the rows trained on
    for questions in (1, 2, 3):
        t = model.rollout(X[1800:], max_features=questions)
        off = t.predictions[:, -1, 0] - y[1800:]
        assert np.sqrt(np.mean((off / t.sd) ** 2)) == pytest.approx(1.0, abs=0.2)
        assert t.sd.max() < 3 * off.std()


@pytest.mark.parametrize("n", [3, 4, 6])
def test_a_regression_of_few_rows(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    with warns(AsklessWarning, "too_few_rows", rows=n):
        model = DynamicRegressor(1, method=Greedy(hidden=(4,), epochs=1, pretrain_epochs=1)).fit(X, X[:, 0])
    assert np.isfinite(model.rollout(X).sd).all()


@pytest.mark.parametrize("make", [np.array, list, pd.Series, pl.Series, lambda y: pd.Series(y, dtype="category")])
def test_labels_in_any_container(make, messy, quick):
    X, y, _ = messy
    model = DynamicClassifier(method=quick).fit(X, make(y.tolist()))
    assert model.classes_.tolist() == ["ill", "well"]
    assert set(model.predict(X)) <= {"ill", "well"}


@pytest.mark.parametrize(
    "kinds", [("no", "yes"), (0, 1), (-1, 1), (False, True), (10, 20, 30), (1.0, 2.0), ("a", "b", "c")]
)
def test_labels_of_any_type(kinds, messy, quick, tmp_path):
    X, _, score = messy
    y = np.array(kinds)[np.digitize(score, np.quantile(score, np.arange(1, len(kinds)) / len(kinds)))]
    model = DynamicClassifier(method=quick).fit(X, y)
    assert model.classes_.tolist() == list(kinds)
    assert model.predict(X).dtype == y.dtype
    model.save(tmp_path / "m.askless")
    again = load(tmp_path / "m.askless")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.predict(X).dtype.kind == y.dtype.kind
    assert list(model.interview().prediction) == list(kinds)


def test_polars_pandas_and_column_order_agree(fitted, messy):
    X, _, _ = messy
    expected = fitted.predict_proba(X)
    shuffled = X[X.columns[::-1]].assign(extra="ignored")
    np.testing.assert_array_equal(fitted.predict_proba(shuffled), expected)
    np.testing.assert_array_equal(fitted.predict_proba(pl.from_pandas(X)), expected)
    np.testing.assert_array_equal(fitted.predict_proba(X.set_index(np.arange(len(X))[::-1])), expected)


def test_fit_on_polars_is_fit_on_pandas(messy, quick):
    X, y, _ = messy
    one = DynamicClassifier(method=quick, groups=GROUPS).fit(X, y)
    two = DynamicClassifier(method=quick, groups=GROUPS).fit(pl.from_pandas(X), pl.Series(y.tolist()))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    assert two.feature_names_in_.tolist() == list(X.columns)


def test_rollout_contract(fitted, messy):
    X, _, _ = messy
    t = fitted.rollout(X)
    assert t.order.shape == (400, 4)
    assert t.predictions.shape == (400, 5, 2)
    assert t.cost.shape == (400, 5)
    assert t.feature_names == ("age", "sex", "smoker", "blood pressure", "clinic", "lab")
    frame = t.frame()
    assert list(frame.columns) == ["case", "step", "feature", "cost", "p(ill)", "p(well)"]
    prices = dict(zip(t.feature_names, [1, 1, 1, 5, 1, 20], strict=True))
    for row in range(5):
        asked = t.names(row)
        assert t.cost[row].tolist() == np.cumsum([0, *(prices[name] for name in asked)]).tolist()
    assert not (t.selected(4)[X["lab"].isna(), 5]).any()  # missing values are not asked


def test_a_curve_is_that_of_a_rollout_with_the_same_options(fitted, messy):
    X, y, _ = messy
    how = {"max_features": 3, "stopping": Confidence(0.8), "known": ["age"], "available": ["sex", "smoker", "clinic"]}
    t = fitted.rollout(X, costs={"sex": 2.0}, batch=2, **how)
    expected = metrics.curve(t, y, "accuracy", budgets=[0, 2], interval=0.9, n_boot=20, random_state=1)
    scoring = {"budgets": [0, 2], "interval": 0.9, "n_boot": 20, "random_state": 1}
    found = fitted.curve(X, y, "accuracy", costs={"sex": 2.0}, batch=2, **scoring, **how)
    pd.testing.assert_frame_equal(found, expected)
    assert fitted.curve(X, y, known=["age"])["score"].iloc[0] > 0.5  # something is known at once
    with pytest.raises(TypeError, match="knwon"):
        fitted.curve(X, y, knwon=["age"])


def test_other_budgets_rules_prices_and_masks(fitted, messy):
    X, _, _ = messy
    assert fitted.rollout(X, max_features=2).order.shape == (400, 2)
    t = fitted.rollout(X, stopping=MaxFeatures(1))
    assert set(t.stop_reason) == {"asked 1 feature"}
    dear = {"blood pressure": 100.0, "lab": 0.0}  # what is not named keeps its price
    t, usual = fitted.rollout(X, costs=dear), fitted.rollout(X)
    assert (t.order == usual.order).all()  # a fitted greedy policy does not look at prices again
    assert t.cost[0, -1] == sum({**dict.fromkeys(X, 1.0), **dear}.get(name, 1.0) for name in t.names(0))
    t = fitted.rollout(X, available=["age", "sex"])
    assert set(np.unique(t.order)) <= {-1, 0, 1}
    known = np.zeros((400, 6), dtype=bool)
    known[:, 0] = True
    t = fitted.rollout(X, known=known)
    assert not (t.order == 0).any()
    assert len(np.unique(t.at(0)[:, 0])) > 10  # ages differ, so do the first predictions
    assert (t.cost[:, 0] == 0).all()


def test_many_rows_go_in_chunks(fitted, messy, monkeypatch):
    X, _, _ = messy
    whole = fitted.rollout(X, available=fitted.model_.encoder.transform(X).present)
    monkeypatch.setattr("askless.model.ROWS_AT_ONCE", 64)
    parts = fitted.rollout(X, available=fitted.model_.encoder.transform(X).present)
    np.testing.assert_array_equal(parts.order, whole.order)
    np.testing.assert_allclose(parts.predictions, whole.predictions, atol=1e-6)
    bad = X.assign(age=X["age"].where(X.index != 321, np.inf))
    with raises(TableError, "bad_cell", row=321):
        fitted.rollout(bad)


def test_missing_answer_asks_and_learns_nothing(messy, quick):
    X, y, _ = messy
    model = DynamicClassifier(max_features=7, missing="answer", method=quick).fit(X, y)
    t = model.rollout(X)
    assert (t.n_asked == 7).all()  # gaps are asked like everything else
    gap = X["lab"].isna().to_numpy()
    lab = t.feature_names.index("lab")
    step = (t.order == lab).argmax(axis=1)
    rows = np.flatnonzero(gap)
    np.testing.assert_array_equal(t.predictions[rows, step[rows]], t.predictions[rows, step[rows] + 1])


def test_imbalanced_classes_are_calibrated():
    data = load_dataset("exact_noisy_tests", n=2000, random_state=1)
    method = Greedy(hidden=(64, 64), epochs=20, pretrain_epochs=15)
    model = DynamicClassifier(method=method).fit(data.frame, data.target)
    p = model.predict_proba(data.frame)[:, 1]
    assert abs(p.mean() - data.target.mean()) < 0.02


def test_same_seed_same_model_other_seed_another(messy, quick):
    X, y, _ = messy
    fits = [DynamicClassifier(method=quick, random_state=seed).fit(X, y).predict_proba(X) for seed in (3, 3, 4)]
    np.testing.assert_array_equal(fits[0], fits[1])
    assert not np.array_equal(fits[0], fits[2])


def test_clone_pickle_pipeline_and_search(messy, quick):
    X, y, _ = messy
    model = DynamicClassifier(max_features=2, method=quick)
    assert clone(model).get_params()["method"].get_params() == quick.get_params()
    again = pickle.loads(pickle.dumps(model.fit(X, y)))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    pipeline = make_pipeline(FunctionTransformer(lambda frame: frame.drop(columns="clinic")), clone(model))
    assert cross_val_score(pipeline, X, y, cv=2).shape == (2,)
    search = GridSearchCV(clone(model), {"max_features": [1, 2], "method__hidden": [(4,), (8,)]}, cv=2).fit(X, y)
    assert search.best_estimator_.method.hidden in [(4,), (8,)]


def test_validation_rows_may_be_given(messy, quick):
    X, y, _ = messy
    model = DynamicClassifier(method=quick).fit(X[:200], y[:200], validation=(X[200:], y[200:]))
    changed = y[200:].copy()[::-1]
    other = DynamicClassifier(method=quick).fit(X[:200], y[:200], validation=(X[200:], changed))
    assert [row["train_loss"] for row in model.history_] != []
    assert [row.get("valid_loss") for row in model.history_] != [row.get("valid_loss") for row in other.history_]
    with raises(TableError, "unknown_label", label="dead", row=0):
        DynamicClassifier(method=quick).fit(X, y, validation=(X, np.full(400, "dead")))


def test_statistics_come_from_the_training_rows_alone(messy, quick):
    X, y, _ = messy
    far = X[200:].assign(age=1e6)
    one = DynamicClassifier(method=quick).fit(X[:200], y[:200], validation=(X[200:], y[200:]))
    with warns(UnseenWarning, "outside_training_range", column="age", value=1e6):
        two = DynamicClassifier(method=quick).fit(X[:200], y[:200], validation=(far, y[200:]))
    assert one.model_.encoder.to_json() == two.model_.encoder.to_json()


@pytest.mark.parametrize(
    "options",
    [
        {"shared": True},
        {"subsets": "random"},
        {"first": "learned"},
        {"schedule": "staged"},
        {"schedule": "expected"},
        {"schedule": "annealed+expected"},
        {"polish": False},
        {"dropout": 0.0},
        {"recipe": {"average": 0.0}},
        {"recipe": {"dropout_by": "row", "repeats": True}},
    ],
)
def test_every_option_of_greedy(options, messy):
    X, y, score = messy
    method = Greedy(**{"hidden": (16, 16), "epochs": 4, "pretrain_epochs": 3, "recipe": {"stages": 2}} | options)
    assert DynamicClassifier(max_features=2, method=method).fit(X, y).score(X, y) > 0.5
    DynamicRegressor(max_features=2, method=method).fit(X, score)


def test_staged_schedule_keeps_the_paper_s_stages(messy):
    X, y, _ = messy
    method = Greedy(hidden=(8,), schedule="staged", epochs=2, pretrain_epochs=1, polish=False, recipe={"stages": 3})
    model = DynamicClassifier(max_features=2, method=method).fit(X, y)
    stages = [row["temperature"] for row in model.history_ if row["phase"] == "policy"]
    assert np.unique(np.round(stages, 4)).tolist() == [0.1, 0.3162, 1.0]
    hard = [row["valid_loss"] for row in model.history_ if "valid_loss" in row and row["phase"] == "policy"]
    assert model.model_.summary["best_validation_loss"] == min(hard)


@pytest.mark.parametrize(
    ("shape", "patch_size", "features"), [((8, 8), None, 64), ((8, 8), 2, 16), ((4, 4, 2), 2, 4)]
)
def test_images(shape, patch_size, features, quick, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, *shape))
    y = (X[:, 0, 0].reshape(80, -1).sum(axis=1) > 0).astype(int)
    model = DynamicClassifier(max_features=2, patch_size=patch_size, method=quick).fit(X, y)
    assert len(model.schema_) == features
    assert model.schema_.names[1] == "row 0, column 1"
    model.save(tmp_path / "m.askless")
    np.testing.assert_array_equal(load(tmp_path / "m.askless").predict_proba(X), model.predict_proba(X))
    with raises(TableError, "wrong_shape", expected=shape):
        model.predict(X[:, :-1])


def test_patches_must_divide_the_image_and_need_images(quick):
    with pytest.raises(ValueError, match=r"patch_size.*3"):
        DynamicClassifier(patch_size=3, method=quick).fit(np.zeros((40, 8, 8)), [0, 1] * 20)
    with raises(ParameterError, "conflicting_settings", name="patch_size", value=2):
        DynamicClassifier(patch_size=2, method=quick).fit(np.zeros((40, 8)), [0, 1] * 20)


def test_integer_column_names_survive_a_file(quick, tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)))
    model = DynamicClassifier(
        max_features=np.int64(2), method=Greedy(hidden=[np.int64(8)], epochs=1, pretrain_epochs=1)
    )
    model.fit(X, np.arange(40) % 2).save(tmp_path / "m.askless")
    again = load(tmp_path / "m.askless")
    assert not hasattr(again, "feature_names_in_")
    assert again.method.hidden == (8,)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"method": {"name": "greedy", "params": {"colour": 1}}}, "newer_format"),
        ({"colour": "red"}, "newer_format"),
        ({"method": 3}, "unreadable_file"),
        ({"method": {"name": "greedy", "params": 3}}, "unreadable_file"),
    ],
)
def test_settings_that_are_not_known_are_refused(change, code, fitted, tmp_path):
    from dataclasses import replace

    from askless.exceptions import ModelFileError
    from askless.model_file import write_model

    settings = fitted.model_.settings | change
    write_model(replace(fitted.model_, settings=settings), tmp_path / "m.askless")
    with raises(ModelFileError, code, path=str(tmp_path / "m.askless")) as caught:
        load(tmp_path / "m.askless")
    if code == "newer_format":
        assert caught.value.fields["name"] == "colour"


def test_labels_of_text_and_numbers_are_text(messy, quick):
    X, y, _ = messy
    mixed = pd.Series([1 if label == "ill" else "healthy" for label in y], dtype=object)
    assert DynamicClassifier(method=quick).fit(X, mixed).classes_.tolist() == ["1", "healthy"]


def test_labels_that_are_spelled_alike_are_told(messy, quick):
    X, y, _ = messy
    spelled = np.where(y == "ill", "yes", "no").astype(object)
    spelled[-9:] = "Yes"
    with warns(AsklessWarning, "similar_spellings", choices=["Yes", "yes"]):
        DynamicClassifier(2, quick).fit(X, spelled)


def test_pyarrow_and_object_labels(messy, quick):
    import pyarrow as pa

    X, y, _ = messy
    assert DynamicClassifier(method=quick).fit(X, pa.array(y.tolist())).classes_.tolist() == ["ill", "well"]
    codes = np.array((y == "ill").astype(int).tolist(), dtype=object)
    assert DynamicClassifier(method=quick).fit(X, codes).classes_.tolist() == [0, 1]


def test_integer_names_work_everywhere(quick, tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)))
    model = DynamicClassifier(method=quick, costs={0: 5}, groups={"g": np.array([1, 2])}).fit(X, np.arange(40) % 2)
    assert model.rollout(X, costs={0: 3}).cost.max() == 4
    assert model.interview(known={0: 0.5}).history[0].feature == "0"
    model.predict(X.assign(extra=1.0))
    model.save(tmp_path / "m.askless")
    again = clone(load(tmp_path / "m.askless")).set_params(groups={"g": [1, 2]}).fit(X, np.arange(40) % 2)
    assert again.schema_.prices.tolist() == [5, 1]


def test_a_method_of_ones_own_can_be_saved(messy, tmp_path):
    from askless.methods import FixedOrder

    class Mine(FixedOrder):
        pass

    X, y, _ = messy
    model = DynamicClassifier(max_features=2, method=Mine(epochs=1, hidden=(4,))).fit(X, y)
    model.save(tmp_path / "m.askless")
    again = load(tmp_path / "m.askless")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.method == "mine"


def test_rare_values_are_no_first_question_when_asking_them_may_fail():
    """Under missing="answer" a question is worth what it tells on average, gaps included."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1500)
    X = pd.DataFrame(
        {"rare": np.where(rng.random(1500) < 0.05, y, np.nan), "good": np.where(rng.random(1500) < 0.9, y, 1 - y)}
    )
    method = Greedy(hidden=(32,), epochs=20, pretrain_epochs=20)
    t = DynamicClassifier(max_features=1, method=method, missing="answer").fit(X, y).rollout(X)
    assert set(t.order[:, 0]) == {1}


def test_the_summary_says_which_method_was_kept_also_after_load(messy, tmp_path):
    X, y, _ = messy
    auto = Auto(methods=("greedy", "forward_selection"), epochs=2, pretrain_epochs=2, hidden=(8,))
    model = DynamicClassifier(2, auto, reference_rows=40).fit(X, y)
    losses = model.summary_["losses"]
    assert model.summary_["method"] == min(losses, key=losses.get)
    assert model.summary_["stored_rows"] == 40
    model.save(tmp_path / "m.askless")
    again = load(tmp_path / "m.askless")
    # times are not stored: the same seed gives the same bytes
    assert again.summary_ == {name: value for name, value in model.summary_.items() if name != "seconds"}
    assert again.history_ == []
    assert repr(again).startswith("DynamicClassifier(max_features=2,")


def test_the_summary_of_one_method(messy, quick):
    X, y, _ = messy
    with pytest.raises(NotFittedError):
        _ = DynamicClassifier(2, quick).summary_
    summary = DynamicClassifier(2, quick).fit(X, y).summary_
    assert (summary["method"], summary["stored_rows"]) == ("greedy", 0)
    assert "why" not in summary


def test_saving_overwrites_a_file(fitted, tmp_path):
    path = tmp_path / "m.askless"
    path.write_text("something else")
    fitted.save(path)
    assert load(path).classes_.tolist() == ["ill", "well"]


def test_a_model_that_cannot_be_written_is_an_error_with_its_path(fitted, tmp_path):
    missing = tmp_path / "nope" / "m.askless"
    with raises(ParameterError, "file_not_found", path=str(missing)) as caught:
        fitted.save(missing)
    assert str(missing) in str(caught.value)
    with raises(ParameterError, "cannot_write", path=str(tmp_path)):
        fitted.save(tmp_path)


def test_interviews_take_words_for_yes_no_and_unknown(fitted):
    interview, silent = fitted.interview(), fitted.interview()
    for name in ("age", "smoker", "sex", "blood pressure"):
        interview.tell(name, "unknown")
        silent.tell(name, None)
    assert interview.prediction == silent.prediction
    interview.tell("smoker", "yes")
    silent.tell("smoker", True)
    assert interview.prediction == silent.prediction
    interview.tell("blood pressure", {"sbp": 140, "dbp": None})
    with raises(InterviewError, "bad_answer", column="dbp", value="unknown"):
        interview.tell("blood pressure", {"sbp": 140, "dbp": "unknown"})
