"""The paper's Algorithm 1, step by step: the truth that the fast training is compared with.

One forward pass for each selection, inputs concatenated, groups through a matrix, nothing shared with the package but
the weights themselves.
"""

import math

import torch


def forward(network, inputs):
    """A plain multilayer perceptron over concatenated values and mask."""
    h = inputs
    for layer in network.hidden.layers:
        h = torch.relu(h @ layer.weight.T + layer.bias)
    return h @ network.head.weight.T + network.head.bias


def loss_of(outputs, y):
    if y.dtype == torch.int64:
        return -torch.log_softmax(outputs, dim=1)[torch.arange(len(y)), y]
    return (outputs[:, 0] - y) ** 2


def believed_gain(now, then, task):
    """By how much the loss falls in the eyes of whoever predicts `then` (outputs,), and predicted `now`."""
    if task == "regression":
        return float(then[0] - now[0]) ** 2
    before, after = torch.softmax(now, dim=0).tolist(), torch.softmax(then, dim=0).tolist()
    return sum(q * (math.log(q) - math.log(p)) for p, q in zip(before, after, strict=True))


def algorithm_1(policy, predictor, x, y, group, gumbels, temperature, *, repeats=False):
    """The summed loss of `len(gumbels)` selections, and the mask before each of them.

    `group` is the paper's G (columns, features). With `repeats`, as published, what was selected before stays in the
    softmax and may be selected again; the package leaves it out by default.
    """
    mask = torch.zeros(len(x), group.shape[1], dtype=x.dtype)
    total, masks = torch.zeros((), dtype=x.dtype), []
    for gumbel in gumbels:
        masks.append(mask)
        alpha = forward(policy, torch.cat([x * (mask @ group.T), mask], dim=1))
        perturbed = gumbel + alpha if repeats else torch.where(mask > 0, -torch.inf, gumbel + alpha)
        soft = torch.maximum(mask, torch.softmax(perturbed / temperature, dim=1))
        one_hot = torch.zeros_like(mask)
        for row in range(len(x)):
            one_hot[row, perturbed[row].argmax()] = 1.0
        mask = torch.maximum(mask, one_hot)
        outputs = forward(predictor, torch.cat([x * (soft @ group.T), soft], dim=1))
        total = total + loss_of(outputs, y).sum()
    return total, [*masks, mask]
