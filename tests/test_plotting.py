"""What the figures hold: lines equal to curves, shares by hand, labels that fit and say what they should."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from askless import plotting
from askless.acquisition import Grid, Trajectory
from askless.exceptions import ParameterError
from askless.plotting import plot_curve, plot_order_map, plot_path, plot_reveal, plot_selection_frequency, style
from tests.coded import raises

GRID = Grid(height=4, width=4, channels=3, patch_size=2)


@pytest.fixture(autouse=True)
def _closed():
    """Figures that stay open would be those of the next test, too."""
    plt.close("all")
    yield
    plt.close("all")


def trajectory_of(order, predictions=None, names=None, outputs=()):
    order = np.array(order)
    n, k = order.shape
    predictions = np.full((n, k + 1, 2), 0.5) if predictions is None else np.array(predictions)
    names = tuple(names or (f"f{i}" for i in range(order.max(initial=0) + 1)))
    return Trajectory(order, predictions, np.zeros((n, k + 1)), np.array(["done"] * n), names, outputs)


def frame_of(scores, budgets=None, width=None):
    frame = pd.DataFrame({"budget": range(len(scores)) if budgets is None else budgets, "score": scores})
    return frame if width is None else frame.assign(low=frame["score"] - width, high=frame["score"] + width)


def texts(labels):
    return [label.get_text() for label in labels]


def draw(ax):
    """Draw the whole figure, which lays it out and must not warn."""
    FigureCanvasAgg(ax.figure).draw()


def assert_inside_and_apart(ax, labels):
    draw(ax)
    width, height = ax.figure.canvas.get_width_height()
    boxes = [Text.get_window_extent(label) for label in labels]  # of an annotation without its arrow
    for i, box in enumerate(boxes):
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= width
        assert box.y1 <= height
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])


def test_all_is_the_public_surface():
    expected = ["plot_curve", "plot_order_map", "plot_path", "plot_reveal", "plot_selection_frequency"]
    assert plotting.__all__ == expected


class TestCurve:
    def test_lines_are_the_curves(self):
        curves = {"greedy": frame_of([0.5, 0.8, 0.9]), "random": frame_of([0.5, 0.7], budgets=[0, 2])}
        ax = plot_curve(curves)
        assert [line.get_label() for line in ax.lines] == ["greedy", "random"]
        for line, frame in zip(ax.lines, curves.values(), strict=True):
            np.testing.assert_array_equal(line.get_xydata(), frame.to_numpy())
        assert texts(ax.texts) == ["greedy", "random"]
        assert ax.get_xlabel() == "features asked"

    def test_the_band_is_low_to_high(self):
        ax = plot_curve({"a": frame_of([0.5, 0.8], width=0.1), "b": frame_of([0.4, 0.6])})
        (band,) = ax.collections
        corners = {tuple(np.round(point, 9)) for point in band.get_paths()[0].vertices}
        assert corners == {(0, 0.4), (0, 0.6), (1, 0.7), (1, 0.9)}

    def test_a_frame_alone_needs_no_name(self):
        ax = plot_curve(frame_of([0.5, 0.8]))
        assert len(ax.lines) == 1
        assert not ax.texts
        assert ax.get_legend() is None

    def test_axis_label(self):
        frame = frame_of([0.5, 0.8])
        assert plot_curve(frame).get_ylabel() == "score"
        frame.attrs["label"] = "AUROC"
        assert plot_curve({"a": frame}).get_ylabel() == "AUROC"
        assert plot_curve({"a": frame}, metric_label="area").get_ylabel() == "area"

    @pytest.mark.parametrize(
        ("budgets", "ticks"),
        [([0], [0]), ([0, 1, 2], [0, 1, 2]), (range(14), list(range(14))), ([5, 10, 30], [5, 10, 30])],
    )
    def test_few_budgets_are_all_marked(self, budgets, ticks):
        ax = plot_curve(frame_of(np.linspace(0, 1, len(budgets)), budgets=budgets))
        draw(ax)
        assert ax.get_xticks().tolist() == ticks

    @pytest.mark.parametrize("budgets", [range(60), [0, 1, 2, 5, 10, 50]])
    def test_many_budgets_have_round_integer_ticks(self, budgets):
        ax = plot_curve(frame_of(np.linspace(0, 1, len(budgets)), budgets=budgets))
        draw(ax)
        ticks = ax.get_xticks()
        assert 4 <= len(ticks) <= 12
        assert (ticks % 5 == 0).all()

    def test_names_of_crowded_lines_do_not_overlap(self):
        curves = {f"the method number {i}": frame_of([0.5, 0.7, 0.8 + i / 1000]) for i in range(12)}
        ax = plot_curve(curves)
        assert_inside_and_apart(ax, ax.texts)
        heights = [Text.get_window_extent(text).y0 for text in ax.texts]
        assert heights == sorted(heights)  # in the order of the ends

    def test_a_legend_where_nothing_makes_room(self):
        ax = Figure().add_subplot()
        assert plot_curve({"a $1$ bill": frame_of([0.5, 0.6]), "b": frame_of([0.5, 0.7])}, ax=ax) is ax
        assert texts(ax.get_legend().get_texts()) == ["a $1$ bill", "b"]
        assert not any(text.get_parse_math() for text in ax.get_legend().get_texts())
        assert not ax.texts

    def test_names_at_the_ends_in_a_figure_with_a_layout(self):
        main = Figure(layout="constrained")
        ax = main.subfigures(1, 2)[0].add_subplot()
        plot_curve({"a": frame_of([0.5, 0.6])}, ax=ax)
        assert texts(ax.texts) == ["a"]
        assert ax.get_legend() is None

    @pytest.mark.parametrize(
        ("curves", "code", "fields"),
        [
            ({}, "required", {"name": "curves"}),
            ({"a": pd.DataFrame({"budget": [0]})}, "missing_column", {"name": "a", "columns": ["score"]}),
            ({"a": pd.DataFrame({"x": [0]})}, "missing_column", {"name": "a", "columns": ["budget", "score"]}),
            ({"a": frame_of([])}, "too_few_rows", {"name": "a"}),
        ],
    )
    def test_errors(self, curves, code, fields):
        with raises(ParameterError, code, **fields):
            plot_curve(curves)


class TestSelectionFrequency:
    # Asked within 1: b in all of 4 but one (c). Within 2: b 4/4, c 2/4, a 1/4; one case stops after one question.
    ORDER = ((1, 2), (1, 0), (2, 1), (1, -1))
    NAMES = ("a", "b", "c", "never")

    def test_shares_by_hand(self):
        ax = plot_selection_frequency(trajectory_of(self.ORDER, names=self.NAMES))
        assert texts(ax.get_yticklabels()) == ["b", "c", "a"]
        expected = [[3 / 4, 1], [1 / 4, 2 / 4], [0, 1 / 4]]
        np.testing.assert_array_equal(ax.collections[0].get_array(), expected)
        assert ax.collections[0].get_clim() == (0, 1)
        assert texts(ax.get_xticklabels()) == ["1", "2"]
        bottom, top = ax.get_ylim()
        assert bottom > top  # the first row is on top
        assert ax.get_xlabel() == "features asked\n(shown: 3 of 4 features; 1 was never asked)"

    def test_cells_are_annotated_in_percent(self):
        ax = plot_selection_frequency(trajectory_of(self.ORDER, names=self.NAMES))
        cells = {(text.get_position()[1] - 0.5, text.get_position()[0] - 0.5): text.get_text() for text in ax.texts}
        assert cells == {(0, 0): "75", (0, 1): "100", (1, 0): "25", (1, 1): "50", (2, 1): "25"}

    def test_of_equals_what_is_asked_sooner_is_on_top(self):
        ax = plot_selection_frequency(trajectory_of([[2, 0, 1], [2, 0, 1]]))
        assert texts(ax.get_yticklabels()) == ["f2", "f0", "f1"]
        assert ax.get_xlabel() == "features asked"

    def test_the_most_frequent(self):
        ax = plot_selection_frequency(trajectory_of(self.ORDER, names=self.NAMES), max_features=1)
        assert texts(ax.get_yticklabels()) == ["b"]
        assert "shown: 1 of 4 features" in ax.get_xlabel()

    def test_the_colour_bar_is_labelled(self):
        ax = plot_selection_frequency(trajectory_of(self.ORDER, names=self.NAMES))
        bar = next(other for other in ax.figure.axes if other is not ax)
        draw(ax)
        assert bar.get_ylabel() == "share of cases"
        assert texts(bar.get_yticklabels()) == ["0%", "25%", "50%", "75%", "100%"]

    def test_large(self):
        rng = np.random.default_rng(0)
        order = np.array([rng.permutation(60)[:16] for _ in range(50)])
        names = [f"a rather long name of the laboratory value number {i} at admission" for i in range(60)]
        ax = plot_selection_frequency(trajectory_of(order, names=names))
        assert ax.collections[0].get_array().shape == (25, 16)
        assert max(map(len, texts(ax.get_yticklabels()))) <= 40
        assert_inside_and_apart(ax, [*ax.get_yticklabels(), *ax.get_xticklabels()])

    def test_small_given_axes_have_small_names_and_no_numbers(self):
        ax = Figure(figsize=(3, 2), layout="constrained").add_subplot()
        order = np.array([np.random.default_rng(i).permutation(25)[:20] for i in range(40)])
        plot_selection_frequency(trajectory_of(order), ax=ax)
        assert not ax.texts
        assert 1 < len(ax.get_xticklabels()) < 20
        assert ax.get_yticklabels()[0].get_fontsize() < style.TEXT

    @pytest.mark.parametrize("order", [[[-1, -1]], np.zeros((3, 0), dtype=int), np.zeros((0, 2), dtype=int)])
    def test_nothing_asked(self, order):
        with raises(ParameterError, "required", name="trajectory"):
            plot_selection_frequency(trajectory_of(order, names=["a"]))

    def test_max_features_is_checked(self):
        with raises(ParameterError, "out_of_range", name="max_features", value=0, low=1):
            plot_selection_frequency(trajectory_of(self.ORDER, names=self.NAMES), max_features=0)


class TestPath:
    PATH = (((0.5, 0.5), (0.7, 0.3), (0.9, 0.1)), ((0.5, 0.5), (0.2, 0.8), (0.2, 0.8)))

    def case(self, **kwargs):
        return trajectory_of([[1, 0], [0, -1]], self.PATH, names=["age", "sex"], outputs=("ill", "well"), **kwargs)

    def test_lines_are_the_probabilities(self):
        ax = plot_path(self.case(), 0)
        assert [line.get_label() for line in ax.lines] == ["ill", "well"]
        np.testing.assert_array_equal(ax.lines[0].get_ydata(), [0.5, 0.7, 0.9])
        np.testing.assert_array_equal(ax.lines[1].get_ydata(), [0.5, 0.3, 0.1])
        assert texts(ax.get_xticklabels()) == ["start", "sex", "age"]
        assert texts(ax.texts) == ["ill  90%", "well  10%"]
        assert ax.get_ylabel() == "probability"
        draw(ax)
        assert texts(ax.get_yticklabels())[0] == "0%"

    def test_a_path_ends_where_the_case_stopped(self):
        ax = plot_path(self.case(), -1)
        assert [line.get_label() for line in ax.lines] == ["well", "ill"]  # the likeliest in the end comes first
        np.testing.assert_array_equal(ax.lines[0].get_ydata(), [0.5, 0.8])
        assert texts(ax.get_xticklabels()) == ["start", "age"]

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (51, "51"),
            (3.14159265, "3.142"),
            (np.float32(0.5), "0.5"),
            (15234.5, "15234"),
            ("f", "f"),
            (True, "True"),
            (np.nan, "unknown"),
            (None, "unknown"),
            (pd.NA, "unknown"),
            ({"sbp": 150, "dbp": 95.5}, "150, 95.5"),
            ("a very long answer in many words", "a very lon…words"),
        ],
    )
    def test_values(self, value, text):
        ax = plot_path(self.case(), 0, values={"age": value, "of no matter": 1})
        assert texts(ax.get_xticklabels()) == ["start", "sex", f"age = {text}"]

    def test_values_of_a_row_of_a_table(self):
        row = pd.DataFrame({"age": [51], "sex": ["f"]}).iloc[0]
        assert texts(plot_path(self.case(), 0, values=row).get_xticklabels()) == ["start", "sex = f", "age = 51"]

    def test_of_many_classes_the_main_ones_and_the_others(self):
        # Class 7 wins; 0..3 have had the highest peaks; the other five share what is left.
        start = [0.2, 0.15, 0.14, 0.13, 0.06, 0.07, 0.06, 0.05, 0.07, 0.07]
        end = [0.02] * 7 + [0.82] + [0.02] * 2
        case = trajectory_of([[0]], [[start, end]], outputs=tuple(range(10)))
        ax = plot_path(case, 0)
        names = ["class 7", "class 0", "class 1", "class 2", "class 3", "other"]
        assert [line.get_label() for line in ax.lines] == names
        np.testing.assert_allclose(ax.lines[-1].get_ydata(), [0.06 + 0.07 + 0.06 + 0.07 + 0.07, 0.1])
        assert {"class 7  82%", "other  10%"} <= set(texts(ax.texts))
        np.testing.assert_allclose(np.sum([line.get_ydata() for line in ax.lines], axis=0), 1)

    def test_six_classes_all_have_lines(self):
        case = trajectory_of([[0]], np.full((1, 2, 6), 1 / 6))
        assert [line.get_label() for line in plot_path(case, 0).lines] == [f"class {i}" for i in range(6)]

    def test_regression(self):
        case = trajectory_of([[0, 1]], [[[4.0], [5.0], [4.5]]], outputs=("mean",))
        ax = plot_path(case, 0)
        np.testing.assert_array_equal(ax.lines[0].get_ydata(), [4.0, 5.0, 4.5])
        assert not ax.collections
        assert ax.get_ylabel() == "predicted mean"

    @pytest.mark.parametrize(("sd", "last"), [(0.5, 0.5), ([2.0, 1.0, 0.25], 0.25), ([2.0, 1.0, 0.25, 9.0], 0.25)])
    def test_the_band_of_a_regression(self, sd, last):
        case = trajectory_of([[0, 1, -1]], [[[4.0], [5.0], [4.5], [4.5]]], outputs=("mean",))
        ax = plot_path(case, 0, sd=sd)
        corners = {tuple(point) for point in ax.collections[0].get_paths()[0].vertices}
        assert {(2.0, 4.5 - last), (2.0, 4.5 + last)} <= corners
        assert max(x for x, _ in corners) == 2
        assert ax.get_ylabel() == "predicted mean ± sd"

    def test_long_names_are_slanted_and_stay_apart(self):
        names = [f"Glasgow coma scale, response {i} at the time of admission" for i in range(12)]
        case = trajectory_of([range(12)], np.full((1, 13, 3), 1 / 3), names=names)
        ax = plot_path(case, 0, values=dict.fromkeys(names, 1.5))
        labels = ax.get_xticklabels()
        assert {label.get_rotation() for label in labels} == {45}
        assert len(set(texts(labels))) == 13
        assert_inside_and_apart(ax, ax.texts)
        assert min(label.get_window_extent().x0 for label in labels) >= 0
        assert min(label.get_window_extent().y0 for label in labels) >= 0

    def test_dollars_are_dollars(self):
        case = trajectory_of([[0]], [[[0.5, 0.5], [0.1, 0.9]]], names=["char_freq_$$_{"], outputs=("$\\no$", "$x$"))
        ax = plot_path(case, 0)
        draw(ax)
        assert texts(ax.get_xticklabels()) == ["start", "char_freq_$$_{"]
        assert "$\\no$  10%" in texts(ax.texts)

    def test_nothing_asked(self):
        ax = plot_path(trajectory_of(np.zeros((1, 0), dtype=int), [[[0.4, 0.6]]], names=["a"]), 0)
        assert texts(ax.get_xticklabels()) == ["start"]
        draw(ax)

    @pytest.mark.parametrize("row", [2, -3])
    def test_no_such_row(self, row):
        with raises(ParameterError, "out_of_range", name="row", value=row, high=1):
            plot_path(self.case(), row)

    def test_wrong_sd(self):
        with raises(ParameterError, "not_supported", name="sd"):
            plot_path(self.case(), 0, sd=1.0)
        with raises(ParameterError, "wrong_shape", name="sd", shape=(1,), expected=(2,)):
            plot_path(trajectory_of([[0]], [[[4.0], [5.0]]]), 0, sd=[1.0])


class TestPyplot:
    PLOTS = (
        lambda **how: plot_curve(frame_of([0.1, 0.9]), **how),
        lambda **how: plot_selection_frequency(trajectory_of([[0, 1]]), **how),
        lambda **how: plot_path(trajectory_of([[0, 1]]), 0, **how),
        lambda **how: plot_order_map(trajectory_of([[0, 1]]), GRID, **how),
        lambda **how: plot_reveal(trajectory_of([[0, 1]]), np.zeros((1, 4, 4, 3)), GRID, **how),
    )

    @pytest.mark.parametrize("plot", PLOTS)
    def test_the_new_figure_is_the_current_one(self, plot, tmp_path):
        plt.plot([0, 1])  # a figure of the user's own, which is left alone
        drawn = plot()
        assert len(plt.get_fignums()) == 2
        assert plt.gcf() is drawn.figure
        plt.savefig(tmp_path / "current.png")
        assert plt.imread(tmp_path / "current.png").std() > 0  # something is to be seen

    @pytest.mark.parametrize("plot", PLOTS)
    def test_the_current_axes_are_those_that_are_returned(self, plot):
        drawn = plot()
        assert isinstance(drawn, Figure) or plt.gca() is drawn

    @pytest.mark.parametrize("plot", PLOTS)
    def test_a_figure_of_one_s_own(self, plot):
        with ThreadPoolExecutor(1) as pool:
            drawn = pool.submit(plot, pyplot=False).result()
        FigureCanvasAgg(drawn.figure).draw()
        assert plt.get_fignums() == []

    @pytest.mark.parametrize("plot", PLOTS[:4])
    def test_given_axes_open_no_figure(self, plot):
        plot(ax=Figure().add_subplot())
        assert plt.get_fignums() == []


class TestManners:
    def test_neither_pyplot_nor_global_settings(self, tmp_path):
        code = """
import sys, matplotlib, numpy as np, pandas as pd
from askless import plotting
from askless.acquisition import Grid, Trajectory

def settings():
    names = set(matplotlib.rcParams) - {"backend"}  # to read that one imports pyplot
    return {name: matplotlib.rcParams[name] for name in names}

before = settings()
case = Trajectory(np.array([[0]]), np.full((1, 2, 2), 0.5), np.zeros((1, 2)), np.array(["done"]), ("age",))
frame = pd.DataFrame({"budget": [0, 1], "score": [0.5, 0.6]})
plotting.plot_curve({"a": frame}, pyplot=False).figure.savefig(sys.argv[1])
plotting.plot_selection_frequency(case, pyplot=False).figure.savefig(sys.argv[1])
plotting.plot_path(case, 0, pyplot=False).figure.savefig(sys.argv[1])
assert settings() == before
print([name for name in ("matplotlib.pyplot", "torch", "sklearn") if name in sys.modules])
"""
        command = [sys.executable, "-W", "error", "-c", code, str(tmp_path / "figure.png")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.stdout.strip(), done.stderr) == ("[]", "")

    def test_given_axes_are_used(self):
        for plot in (
            lambda ax: plot_curve(frame_of([0.1, 0.2]), ax=ax),
            lambda ax: plot_selection_frequency(trajectory_of([[0, 1]]), ax=ax),
            lambda ax: plot_path(trajectory_of([[0, 1]]), 0, ax=ax),
        ):
            ax = Figure().add_subplot()
            assert plot(ax) is ax


class TestStyle:
    # Machado, Oliveira & Fernandes (2009), severity 1.
    SIGHTS = (
        ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
        ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
        ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
        ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
    )

    @staticmethod
    def lab(linear):
        to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
        xyz = np.clip(linear, 0, 1) @ to_xyz.T / to_xyz.sum(axis=1)
        f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
        return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)

    @staticmethod
    def linear(colours):
        rgb = np.array([to_rgb(c) for c in colours])
        return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)

    @pytest.mark.parametrize("sight", SIGHTS)
    def test_colours_differ_for_every_eye(self, sight):
        seen = self.lab(self.linear(style.PALETTE) @ np.array(sight).T)
        apart = np.linalg.norm(seen[:, None] - seen[None], axis=2) + 1000 * np.eye(len(seen))
        assert apart.min() > 17

    def test_the_first_four_differ_in_grey(self):
        lightness = np.sort(self.lab(self.linear(style.PALETTE[:4]))[:, 0])
        assert np.diff(lightness).min() > 11

    def test_heat_gets_darker_and_darker(self):
        lightness = self.lab(self.linear(style.HEAT(np.linspace(0, 1, 50))[:, :3]))[:, 0]
        assert (np.diff(lightness) < 0).all()

    def test_lines_differ(self):
        ax = Figure().add_subplot()
        lines = [style.line(ax, i, np.arange(2), np.arange(2), str(i)) for i in range(32)]
        looks = {(line.get_color(), line.get_marker(), str(line._dash_pattern)) for line in lines}
        assert len(looks) == 32

    def test_shortened_names_stay_apart_and_short(self):
        names = [f"the {kind} of the patient at visit {i}, in mmol per litre" for kind in "abc" for i in range(9)]
        short = style.shorten(names, 20)
        assert len(set(short)) == 27
        assert max(map(len, short)) < len(names[0])
        assert style.shorten(["same long name", "same long name"], 6) == ["sam…me"] * 2
        assert style.shorten([], 6) == []

    @pytest.mark.parametrize("seed", range(5))
    def test_spread_is_apart_inside_and_nearest(self, seed):
        wanted = np.random.default_rng(seed).random(6)
        placed = style.spread(wanted, 0.12, 0.0, 1.0)
        assert (np.diff(np.sort(placed)) > 0.12 - 1e-12).all()
        assert (np.argsort(placed) == np.argsort(wanted)).all()
        assert placed.min() >= -1e-12
        assert placed.max() <= 1 + 1e-12
        # No feasible small move comes nearer: the problem is convex, so the optimum is this one.
        cost = ((placed - wanted) ** 2).sum()
        for move in np.random.default_rng(seed).normal(scale=0.01, size=(500, 6)):
            other = np.sort(placed)[np.argsort(np.argsort(placed))] + move
            feasible = (np.diff(np.sort(other)) >= 0.12).all() and other.min() >= 0 and other.max() <= 1
            assert not feasible or ((other - wanted) ** 2).sum() >= cost - 1e-12


def test_a_trajectory_is_scored_and_drawn_with_a_band():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    p = np.stack([np.full(60, 0.5), np.where(y, 0.8, 0.3), np.where(y, 0.9, 0.1)], axis=1)
    t = Trajectory(
        order=np.tile([0, 1], (60, 1)),
        predictions=np.stack([1 - p, p], axis=2),
        cost=np.tile([0.0, 1.0, 2.0], (60, 1)),
        stop_reason=np.full(60, "", dtype=object),
        feature_names=("a", "b"),
    )
    ax = plot_curve(t, y)
    assert ax.lines[0].get_ydata().tolist() == [0.5, 1.0, 1.0]
    assert len(ax.collections) == 1
    assert ax.get_ylabel() == "AUROC"
    with raises(ParameterError, "required", name="y"):
        plot_curve(t)
    named = plot_curve(replace(t, outputs=("no", "yes")), np.where(y, "yes", "no"))
    assert named.lines[0].get_ydata().tolist() == [0.5, 1.0, 1.0]


def test_a_line_that_leaves_the_axes_is_named_at_their_edge():
    """A leader far below the axes would leave the layout no room for them."""
    from matplotlib.figure import Figure

    from askless.plotting.style import name_lines

    figure = Figure(layout="constrained")
    ax = figure.add_subplot()
    ax.set_ylim(0.9, 1.0)
    lines = ax.plot([1, 2], [0.95, 0.96], color="navy") + ax.plot([1, 2], [-9.0, -9.0], color="grey")
    name_lines(ax, lines, ["inside", "far below"])
    ends = [text.xy[1] for text in ax.texts]
    assert ends == [0.96, 0.9]
    figure.draw_without_rendering()  # a collapsed layout would warn, which is an error here


def revealed(rng):
    order = np.array([[0, 3], [2, -1]])
    chances = rng.dirichlet(np.ones(3), size=(2, 3))
    return Trajectory(
        order, chances, np.zeros((2, 3)), np.array(["x", "y"], dtype=object), GRID.names, ("cat", "dog", "ship")
    )


def test_a_figure_of_what_was_revealed():
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (2, 4, 4, 3), dtype=np.uint8)
    figure = plot_reveal(revealed(rng), images, GRID, budgets=[1, 2], truth=["dog", "ship"])
    shown = [ax.get_images()[0].get_array() for ax in figure.axes if ax.get_images()]
    assert len(shown) == 6  # of each case: the image, and two budgets
    np.testing.assert_allclose(shown[0], images[0] / 255)
    np.testing.assert_allclose(shown[1][:2, :2], images[0][:2, :2] / 255)  # the first patch is seen
    assert np.ptp(shown[1][2:]) < 0.2  # the others are grey
    np.testing.assert_allclose(shown[2][2:, 2:], images[0][2:, 2:] / 255)  # then the last one too
    np.testing.assert_allclose(shown[5], shown[4])  # the second case stopped after one
    texts = [text.get_text() for ax in figure.axes for text in ax.texts]
    assert "dog" in texts
    assert texts.count("ship") == 4 + 1  # a bar below each picture, and the second case's truth
    assert sum(text.endswith("%") for text in texts) == 4 * 3
    figure.canvas.draw()


def test_a_figure_of_what_was_revealed_needs_what_fits():
    rng = np.random.default_rng(0)
    with raises(ParameterError, "out_of_range", name="budgets", value=[3], low=0, high=2):
        plot_reveal(revealed(rng), np.zeros((2, 4, 4, 3)), GRID, budgets=[3])
    with raises(ParameterError, "wrong_shape", name="images", expected=2):
        plot_reveal(revealed(rng), np.zeros((1, 4, 4, 3)), GRID)
    with raises(ParameterError, "out_of_range", name="rows", value=[2], high=1):
        plot_reveal(revealed(rng), np.zeros((2, 4, 4, 3)), GRID, rows=[2])
