"""What the figures are given: what fits is drawn as it is meant, and errors say what else to give."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from askless import DynamicClassifier
from askless.acquisition import Grid, Trajectory
from askless.exceptions import ParameterError
from askless.metrics import metric, usual_metric
from askless.plotting import plot_curve, plot_order_map, plot_path, plot_reveal, plot_selection_frequency, style
from tests.coded import raises

GRID = Grid(height=4, width=4, channels=3, patch_size=2)
IMAGES = np.zeros((3, 4, 4, 3))
ORDER = ((0, 3), (2, -1), (1, 0))


@pytest.fixture(autouse=True)
def _closed():
    """Figures that stay open would be those of the next test, too."""
    plt.close("all")
    yield
    plt.close("all")


def classes(*labels):
    """Three cases, asked two, one and two patches; the first class is likely for the first case, and so on."""
    likely = np.eye(3, len(labels))[:, None]
    predictions = np.broadcast_to(0.6 * likely + 0.4 / len(labels), (3, 3, len(labels)))
    return Trajectory(np.array(ORDER), predictions, np.zeros((3, 3)), np.full(3, "done"), GRID.names, labels)


def means(sd=(0.5, 1.0, 2.0)):
    """A regression of the same cases, whose second one's path is 20, 340, and ends there."""
    predictions = np.array([[[10.0], [12.0], [15234.5]], [[20.0], [342.18], [342.18]], [[5.0], [6.0], [7.0]]])
    spread = None if sd is None else np.array(sd)
    return replace(classes("a", "b"), predictions=predictions, outputs=("mean",), sd=spread)


def texts(figure):
    return [text.get_text() for ax in figure.axes for text in ax.texts]


class TestWhatIsNoTrajectory:
    PLOTS = (
        plot_selection_frequency,
        lambda given: plot_path(given, 0),
        lambda given: plot_reveal(given, IMAGES, GRID),
        lambda given: plot_order_map(given, GRID),
    )
    WRONG = (DynamicClassifier(), classes("a", "b").frame(), [classes("a", "b")], None)

    @pytest.mark.parametrize("plot", PLOTS)
    @pytest.mark.parametrize("given", WRONG)
    def test_is_refused(self, plot, given):
        with raises(ParameterError, "wrong_type", name="trajectory") as caught:
            plot(given)
        assert type(given).__name__ in str(caught.value)
        assert plt.get_fignums() == []

    @pytest.mark.parametrize("given", [DynamicClassifier(), [classes("a", "b")], None])
    def test_is_no_curve(self, given):
        with raises(ParameterError, "wrong_type", name="", value=given):
            plot_curve(given)
        with raises(ParameterError, "wrong_type", name="greedy", value=given):
            plot_curve({"greedy": given})

    def test_nor_is_the_frame_of_one(self):
        with raises(ParameterError, "missing_column", name="", columns=["budget", "score"]):
            plot_curve(classes("a", "b").frame())


class TestGrid:
    PLOTS = (
        lambda grid: plot_reveal(classes("a", "b"), IMAGES, grid),
        lambda grid: plot_order_map(classes("a"), grid),
    )

    @pytest.mark.parametrize("plot", PLOTS)
    @pytest.mark.parametrize("grid", [None, (4, 4)])
    def test_a_table_has_none(self, plot, grid):
        with raises(ParameterError, "wrong_type", name="grid", value=grid):
            plot(grid)

    @pytest.mark.parametrize("plot", PLOTS)
    def test_it_has_the_patches_that_were_asked(self, plot):
        with raises(ParameterError, "wrong_shape", name="grid", value=3, high=0):
            plot(Grid(4, 4, 3, 4))


class TestRows:
    @pytest.mark.parametrize("row", ["patient 7", 1.0, None, [0]])
    def test_a_path_is_of_a_place(self, row):
        with raises(ParameterError, "wrong_type", name="row", value=row):
            plot_path(classes("a", "b"), row)

    def test_numpy_s_numbers_will_do(self):
        assert len(plot_path(classes("a", "b"), np.int64(1)).get_xticks()) == 2
        assert len(plot_reveal(classes("a", "b"), IMAGES, GRID, rows=np.array([2]), budgets=np.array([1])).axes) == 4

    @pytest.mark.parametrize("name", ["rows", "budgets"])
    @pytest.mark.parametrize("given", [2, ["x"], "x", [0.5]])
    def test_lists_of_whole_numbers(self, name, given):
        with raises(ParameterError, "wrong_type", name=name, value=given):
            plot_reveal(classes("a", "b"), IMAGES, GRID, **{name: given})

    def test_no_rows(self):
        with raises(ParameterError, "required", name="rows"):
            plot_reveal(classes("a", "b"), IMAGES, GRID, rows=[])

    @pytest.mark.parametrize("values", [pd.DataFrame({"a": [1]}), [1, 2]])
    def test_values_are_of_one_case(self, values):
        with raises(ParameterError, "wrong_type", name="values"):
            plot_path(classes("a", "b"), 1, values=values)


class TestImages:
    def test_lists_will_do(self):
        assert plot_reveal(classes("a", "b"), IMAGES.tolist(), GRID).axes

    @pytest.mark.parametrize("images", [np.zeros((3, 48)), np.zeros((3, 8, 8, 3)), None])
    def test_they_are_as_large_as_the_grid(self, images):
        with raises(ParameterError, "wrong_shape", name="images", shape=np.shape(images), expected=(4, 4)):
            plot_reveal(classes("a", "b"), images, GRID)


class TestTruth:
    @pytest.mark.parametrize(
        ("labels", "truth", "code", "fields"),
        [
            ((0, 1, 2), [0, 1, "cat"], "unknown_label", {"label": "cat", "row": 2, "choices": [0, 1, 2]}),
            ((0, 1, 2), ["0", "1", "2"], "unknown_label", {"label": "0", "row": 0}),
            (
                ("cat", "dog"),
                np.array([0, 1, 1]),
                "unknown_label",
                {"label": 0, "row": 0, "choices": ["cat", "dog"]},
            ),
            ((0, 1, 2), [0, 1], "wrong_shape", {"name": "truth", "shape": (2,), "expected": (3,)}),
            ((0, 1, 2), [[0], [1], [2]], "wrong_shape", {"name": "truth", "shape": (3, 1)}),
            (("cat", "dog"), "cat", "wrong_shape", {"name": "truth", "shape": ()}),
        ],
    )
    def test_labels_of_each_case(self, labels, truth, code, fields):
        with raises(ParameterError, code, **fields):
            plot_reveal(classes(*labels), IMAGES, GRID, truth=truth)
        assert plt.get_fignums() == []

    def test_only_what_is_drawn_must_be_a_class(self):
        figure = plot_reveal(classes("cat", "dog"), IMAGES, GRID, truth=["cat", "dog", "new"], rows=[0], budgets=[1])
        assert texts(figure)[0] == "cat"

    def test_a_series_goes_by_place(self):
        truth = pd.Series(["cat", "dog", "cat"], index=[2, 1, 7])
        figure = plot_reveal(classes("cat", "dog"), IMAGES, GRID, truth=truth, rows=[0, 2], budgets=[1])
        assert [text for text in texts(figure) if not text.endswith("%")][::3] == ["cat", "cat"]

    def test_dollars_are_dollars(self):
        figure = plot_reveal(classes("$\\no$", "$x$"), IMAGES, GRID, truth=["$\\no$"] * 3)
        FigureCanvasAgg(figure).draw()  # as mathematics the first cannot be read

    def test_of_a_regression_numbers(self):
        with raises(ParameterError, "bad_label", name="truth", row=1, label="high"):
            plot_reveal(means(), IMAGES, GRID, truth=[1.0, "high", 2.0])
        with raises(ParameterError, "wrong_shape", name="truth", shape=(1,), expected=(3,)):
            plot_reveal(means(), IMAGES, GRID, truth=[1.0])


def test_below_images_of_a_regression_is_the_mean():
    figure = plot_reveal(means(), IMAGES, GRID, rows=[0, 1], budgets=[1, 2], truth=np.array([12.0, 350.5, 6.0]))
    assert texts(figure) == ["truth 12", "mean 12", "mean 15234", "truth 350.5", "mean 342.2", "mean 342.2"]
    assert not any(ax.patches for ax in figure.axes)  # bars are of probabilities
    assert not any("truth" in text for text in texts(plot_reveal(means(), IMAGES, GRID)))


class TestSpread:
    def test_the_trajectory_s_own_is_of_other_cases(self):
        """Three cases, and three steps of the first: the number of them says nothing."""
        t = means()
        for row in (0, 1):
            with raises(ParameterError, "wrong_shape", name="sd", shape=(3,), expected=(3 - row,)):
                plot_path(t, row, sd=t.sd)
        assert plt.get_fignums() == []

    def test_one_case_without_an_answer_has_one_step(self):
        t = means()
        alone = Trajectory(
            np.zeros((1, 0), int), t.predictions[:1, :1], t.cost[:1, :1], t.stop_reason[:1], GRID.names
        )
        alone = replace(alone, sd=np.array([0.5]))
        assert plot_path(alone, 0, sd=alone.sd).get_ylabel() == "predicted mean ± sd"

    @pytest.mark.parametrize("length", [1, 4, 9])
    def test_one_for_each_step(self, length):
        with raises(ParameterError, "wrong_shape", name="sd", shape=(length,), expected=(2,)):
            plot_path(means(), 1, sd=np.full(length, 0.1))

    @pytest.mark.parametrize(
        ("sd", "code", "fields"),
        [
            ("wide", "wrong_type", {"value": "wide"}),
            (-1.0, "out_of_range", {"value": -1.0, "low": 0}),
            ([1.0, np.nan, 1.0], "out_of_range", {"low": 0}),
        ],
    )
    def test_a_number(self, sd, code, fields):
        with raises(ParameterError, code, name="sd", **fields):
            plot_path(means(), 0, sd=sd)

    @pytest.mark.parametrize(("row", "end"), [(1, (1, 342.18, 1.0)), (2, (2, 7.0, 2.0)), (-1, (2, 7.0, 2.0))])
    def test_the_case_s_own_is_drawn_at_its_end(self, row, end):
        ax = plot_path(means(), row)
        (drawn,) = ax.collections
        x, mean, sd = end
        np.testing.assert_allclose(drawn.get_segments(), [[[x, mean - sd], [x, mean + sd]]])
        assert ax.get_ylabel() == "predicted mean, ± sd at the end"
        assert not plot_path(means(sd=None), row).collections


class TestMetric:
    Y = np.array([10.0, 300.0, 8.0])

    def test_the_usual_one_of_a_regression_is_that_of_its_model(self):
        ax = plot_curve({"a": means()}, self.Y)
        usual = usual_metric("regression")
        assert ax.get_ylabel() == usual.label == "R²"
        assert ax.lines[0].get_ydata()[1] == usual(self.Y, [12.0, 342.18, 6.0])

    def test_and_of_classes(self):
        ax = plot_curve(classes("a", "b", "c"), ["a", "b", "c"])
        assert ax.get_ylabel() == usual_metric("classification").label == "AUROC"
        assert ax.lines[0].get_ydata().tolist() == [1, 1, 1]

    @pytest.mark.parametrize("named", ["rmse", metric("rmse")])
    def test_another(self, named):
        assert plot_curve(means(), self.Y, named).get_ylabel() == metric("rmse").label

    def test_one_for_classes_is_refused(self):
        with raises(ParameterError, "invalid_choice", name="metric", value="accuracy", expected="regression"):
            plot_curve(means(), self.Y, "accuracy")


class TestColours:
    @staticmethod
    def colours(trajectory, row):
        return {line.get_label(): line.get_color() for line in plot_path(trajectory, row).lines}

    def test_a_class_has_one_in_every_case(self):
        t = classes("ill", "well", "dead")
        expected = dict(zip(("ill", "well", "dead"), style.PALETTE, strict=False))
        for row in range(3):
            assert self.colours(t, row) == expected
            lines = plot_path(t, row).lines
            assert lines[0].get_label() == t.outputs[row]  # the likeliest still comes first, and on top
            assert lines[0].get_zorder() == max(line.get_zorder() for line in lines)

    def test_of_many_classes_no_two_have_one(self):
        likely = [0, 8, 16, 1, 9]  # the palette has eight
        chances = np.full(100, 0.001)
        chances[likely] = [0.3, 0.2, 0.15, 0.14, 0.1]
        t = replace(classes("a", "b"), predictions=np.tile(chances, (3, 3, 1)), outputs=tuple(range(100)))
        found = self.colours(t, 0)
        assert list(found) == [*(f"class {c}" for c in likely), "other"]
        assert len(set(found.values())) == 6
        assert found["class 0"] == style.PALETTE[0]
