"""DeepLIFT and integrated gradients against hand arithmetic, and on rows of which it is known what matters."""

import sys

import numpy as np
import pytest
import torch

from askless.exceptions import ParameterError
from askless.methods import Deeplift, IntegratedGradients
from askless.methods.attribution import by_feature, mean_inputs, mean_slopes, sequential
from askless.networks import masked_inputs
from tests.coded import raises
from tests.methods.conftest import schema_of_widths
from tests.methods.planted import BEST, SECOND, Silent, planted

METHODS = [Deeplift(), IntegratedGradients(steps=200)]
TASKS = ["classification", "regression"]
WIDTHS = (1, 3, 2)

each_method = pytest.mark.parametrize("method", METHODS, ids=["deeplift", "integrated_gradients"])


def parts_of(problem, module):
    """The network, the inputs of the validation rows, the baseline, and the classes."""
    rows = problem.rows("valid")
    inputs = masked_inputs(rows.x, rows.present.double(), problem.column_feature).requires_grad_()
    y = rows.y if problem.task == "classification" else None
    return sequential(module), inputs, mean_inputs(problem), y


def predictions(network, inputs, y):
    outputs = network(inputs).detach()
    return outputs[:, 0] if y is None else torch.softmax(outputs, dim=1)[torch.arange(len(y)), y]


def test_the_modules_are_the_network(make_problem, make_module):
    problem = make_problem(WIDTHS, gaps=True)
    module = make_module(problem).predictor
    network, inputs, _, _ = parts_of(problem, module)
    rows = problem.rows("valid")
    torch.testing.assert_close(network(inputs), module(rows.x, rows.present.double()))
    network[0].weight.data[:] = 0.0
    assert module.hidden.layers[0].weight.any()  # a copy


def test_the_baseline_is_the_mean_of_the_training_rows(make_problem, monkeypatch):
    monkeypatch.setattr("askless.methods.attribution.RUN", 5)  # of 12 rows
    problem = make_problem(WIDTHS, gaps=True)
    present = problem.train.present
    values = (problem.train.x * present[:, [0, 1, 1, 1, 2, 2]]).mean(axis=0)
    np.testing.assert_allclose(mean_inputs(problem)[0], [*values, *present.mean(axis=0)])


def test_columns_and_presence_of_a_feature_are_summed():
    each = np.array([[1.0, 2.0, -2.5, 4.0, 0.25, 0.0, 10.0]])  # four columns, three masks
    assert by_feature(each, schema_of_widths((1, 2, 1))).tolist() == [[1.25, -0.5, 14.0]]


@each_method
def test_a_linear_network(make_problem, make_module, method):
    """Its attributions are w (x - mean), summed in a feature before the absolute value is taken."""
    problem = make_problem(WIDTHS, "regression", gaps=True)
    module = make_module(problem).predictor
    for layer, large in zip(module.hidden.layers, (1e2, 1e4), strict=True):
        layer.bias.data[:] = large  # no unit is ever at rest
    first, second, last = [layer.weight.detach().numpy() for layer in (*module.hidden.layers, module.head)]
    w = (last @ second @ first)[0]  # (columns + features,)
    present = problem.valid.present
    rows = np.hstack([problem.valid.x * present[:, [0, 1, 1, 1, 2, 2]], present])
    each = w * (rows - mean_inputs(problem).numpy())
    of_features = np.stack([each[:, [0, 6]].sum(1), each[:, [1, 2, 3, 7]].sum(1), each[:, [4, 5, 8]].sum(1)], axis=1)
    scores = method._importance(module, problem, 0, Silent())
    np.testing.assert_allclose(scores, np.abs(of_features).mean(axis=0), rtol=1e-6)


@each_method
@pytest.mark.parametrize("task", TASKS)
def test_attributions_add_up_to_the_difference(make_problem, make_module, method, task):
    problem = make_problem(WIDTHS, task, gaps=True)
    network, inputs, baseline, y = parts_of(problem, make_module(problem).predictor)
    network[-1].weight.data *= 20.0  # probabilities close to 0 and 1
    each = method._attributions(network, inputs, baseline, y).detach()
    start = predictions(network, baseline.expand(len(inputs), -1), y)
    difference = predictions(network, inputs, y) - start
    assert difference.abs().max() > 0.2
    torch.testing.assert_close(each.sum(dim=1), difference, atol=2e-3, rtol=0)


def test_integrated_gradients_are_gradients_integrated(make_problem, make_module):
    problem = make_problem(WIDTHS, gaps=True)
    network, inputs, baseline, y = parts_of(problem, make_module(problem).predictor)
    total = torch.zeros_like(inputs)
    for share in (np.arange(2000) + 0.5) / 2000:  # the midpoint rule
        points = (baseline + share * (inputs - baseline)).detach().requires_grad_()
        torch.softmax(network(points), dim=1)[torch.arange(len(y)), y].sum().backward()
        total += points.grad / 2000
    each = IntegratedGradients(steps=500)._attributions(network, inputs, baseline, y)
    torch.testing.assert_close(each, (inputs - baseline) * total, atol=1e-4, rtol=0)


def test_deeplift_is_the_rescale_rule(make_problem, make_module):
    """Every unit passes its difference back in proportion to what its inputs' differences added."""
    problem = make_problem(WIDTHS, "regression", gaps=True)
    network, inputs, baseline, _ = parts_of(problem, make_module(problem).predictor)
    (w1, b1), (w2, b2), (w3, _) = [(m.weight.detach().numpy(), m.bias.detach().numpy()) for m in network[::2]]
    x, x0 = inputs.detach().numpy(), baseline.numpy()
    z1, z01 = x @ w1.T + b1, x0 @ w1.T + b1
    h1, h01 = np.maximum(z1, 0), np.maximum(z01, 0)
    z2, z02 = h1 @ w2.T + b2, h01 @ w2.T + b2
    slope1, slope2 = (h1 - h01) / (z1 - z01), (np.maximum(z2, 0) - np.maximum(z02, 0)) / (z2 - z02)
    multipliers = (((w3 * slope2) @ w2) * slope1) @ w1
    each = Deeplift()._attributions(network, inputs, baseline, None)
    np.testing.assert_allclose(each.detach().numpy(), multipliers * (x - x0), atol=1e-10)


def test_of_two_classes_the_mean_slope_is_the_difference_quotient():
    start, end = torch.tensor([[0.5, -1.0]]).double(), torch.tensor([[2.0, 1.0], [-3.0, 4.0]]).double()
    y = torch.tensor([0, 1])
    before, after = ((z[:, 0] - z[:, 1]) * torch.tensor([1.0, -1.0]) for z in (start, end))  # log odds of class y
    quotient = (torch.sigmoid(after) - torch.sigmoid(before)) / (after - before)
    slopes = mean_slopes(start, end, y)
    torch.testing.assert_close(slopes, torch.tensor([[1.0, -1.0], [-1.0, 1.0]]).double() * quotient[:, None])


@each_method
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_it_finds_what_matters(method, task, gaps):
    problem = planted(task, gaps=gaps, n_classes=3)
    progress = Silent()
    chosen = type(method)(hidden=(32,), epochs=40)
    fitted = chosen.fit(problem, seed=0, progress=progress)
    assert np.argsort(-fitted.policy.scores)[:2].tolist() == [BEST, SECOND]
    assert progress.phases.count("attribution") == 2  # 300 rows in two runs


def test_rows_do_not_change_one_another(make_problem, make_module):
    problem = make_problem(WIDTHS, gaps=True)
    network, inputs, baseline, y = parts_of(problem, make_module(problem).predictor)
    for method in METHODS:
        together = method._attributions(network, inputs, baseline, y)
        alone = method._attributions(network, inputs[2:3].detach().requires_grad_(), baseline, y[2:3])
        torch.testing.assert_close(together[2:3], alone)


@each_method
def test_a_missing_package_is_named_before_anything_is_trained(monkeypatch, method):
    monkeypatch.setitem(sys.modules, "captum.attr", None)
    progress, name = Silent(), {Deeplift: "deeplift"}.get(type(method), "integrated_gradients")
    with raises(
        ParameterError, "missing_package", name=name, package="captum", requirement="captum>=0.7,<1"
    ) as caught:
        method.fit(planted("regression", n=60), seed=0, progress=progress)
    assert "pip install 'captum>=0.7,<1'" in str(caught.value)
    assert not progress.told


def test_settings_have_limits():
    with raises(ParameterError, "out_of_range", name="steps", value=0, low=1):
        IntegratedGradients(steps=0).fit(planted("regression", n=60), seed=0, progress=Silent())
