import json

import pytest

from askless import load
from tests.cli.cli_helpers import FEATURES, messy_frame


@pytest.mark.usefixtures("no_pyplot")
def test_a_table_of_scores_a_picture_and_numbers(run, table, model, tmp_path):
    picture, numbers = tmp_path / "curve.png", tmp_path / "curve.json"
    result = run("evaluate", model, table, "--target", "ill", "--plot", picture, "--json", numbers)
    assert result.code == 0, result.err
    assert "on 160 rows of" in result.out
    assert "95% interval" in result.out
    assert picture.read_bytes().startswith(b"\x89PNG")
    told = json.loads(numbers.read_text())
    assert (told["metric"], told["rows"]) == ("auroc", 160)
    frame = messy_frame()
    expected = load(model).curve(frame[FEATURES], frame["ill"])
    assert [row["budget"] for row in told["curve"]] == [0, 1, 2, 3]
    assert [row["score"] for row in told["curve"]] == pytest.approx(expected["score"].tolist())
    assert all(row["low"] <= row["score"] <= row["high"] for row in told["curve"])


def test_another_metric_and_a_smaller_budget(run, table, model, regressor):
    result = run("evaluate", model, table, "--target", "ill", "--metric", "accuracy", "--budget", 1)
    assert "accuracy" in result.out
    assert result.out.count(" to ") == 2  # the intervals of 0 and 1
    result = run("evaluate", regressor, table, "--target", "score", "--metric", "mae")
    assert "MAE" in result.out
    assert "R²" not in result.out
    assert "RMSE" in result.out


def test_labels_of_another_type_are_the_same_labels(run, tmp_path):
    from askless import DynamicClassifier
    from askless.methods import Greedy

    frame = messy_frame()[["age", "low"]].assign(y=messy_frame()["ill"].eq("yes").astype(int))
    model = tmp_path / "m.askless"
    quick = Greedy(epochs=1, pretrain_epochs=1, hidden=(4,))
    DynamicClassifier(1, quick).fit(frame[["age", "low"]], frame["y"]).save(model)
    path = tmp_path / "t.csv"
    frame.assign(y=frame["y"].astype(float)).to_csv(path, index=False)
    assert run("evaluate", model, path, "--target", "y").code == 0
