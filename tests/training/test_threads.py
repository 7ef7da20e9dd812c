"""One thread for a fit, or as many as are wanted, also where several fits run at once."""

import threading
from dataclasses import replace

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info

from askless import DynamicClassifier
from askless.exceptions import ParameterError
from askless.methods import Greedy, Random, Value
from askless.training import one_thread
from tests.coded import raises

METHODS = [Greedy(pretrain_epochs=1, epochs=2), Value(pretrain_epochs=1, epochs=2), Random(epochs=2)]


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_settings_come_back_whoever_ends_first():
    outside = blas_threads()
    a_inside, b_inside, a_left, b_left = (threading.Event() for _ in range(4))
    seen = {}

    def first():
        torch.set_num_threads(2)
        with one_thread():
            a_inside.set()
            b_inside.wait(10)
            seen["first"] = (torch.get_num_threads(), blas_threads())
        seen["first after"] = torch.get_num_threads()
        a_left.set()
        b_left.wait(10)  # it lives on: a limit of a thread that has ended is anybody's

    def second():
        torch.set_num_threads(2)
        a_inside.wait(10)
        with one_thread():
            b_inside.set()
            a_left.wait(10)
            seen["second"] = (torch.get_num_threads(), blas_threads())
        seen["second after"] = torch.get_num_threads()
        b_left.set()

    threads = [threading.Thread(target=each) for each in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen["first"] == seen["second"] == (1, {1})
    assert seen["first after"] == seen["second after"] == 2
    assert blas_threads() == outside


def test_nested():
    before = torch.get_num_threads()
    with one_thread(), one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


@pytest.fixture
def threads_of_epochs(monkeypatch):
    """Torch's threads and those of numpy's library, after each epoch of any fit."""
    seen = set()
    look = lambda *_: seen.add((torch.get_num_threads(), *blas_threads()))  # noqa: E731
    monkeypatch.setattr("askless.training.progress.Progress.epoch", look)
    return seen


def fitted(method, columns, n_threads=1):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, columns)).astype(np.float32)
    model = DynamicClassifier(3, method=method, random_state=0, n_threads=n_threads)
    return model.fit(x, (x[:, 0] > 0).astype(int)).rollout(x)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_any_number_of_threads_trains_to_the_same_bits(method, threads_of_epochs):
    large = replace(method, hidden=(256, 256), batch_size=512)
    trajectories = []
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        for n_threads, used in ((1, 1), (2, 2), (None, 2)):
            trajectories.append(fitted(large, columns=200, n_threads=n_threads))
            assert threads_of_epochs == {(used, 1)}
            assert torch.get_num_threads() == 2
            threads_of_epochs.clear()
    finally:
        torch.set_num_threads(before)
    one, *others = trajectories
    for other in others:
        np.testing.assert_array_equal(one.order, other.order)
        np.testing.assert_array_equal(one.predictions, other.predictions)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_one_thread_is_the_default(method, threads_of_epochs):
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        fitted(method, columns=8)
    finally:
        torch.set_num_threads(before)
    assert threads_of_epochs == {(1, 1)}


@pytest.mark.parametrize(("n_threads", "code"), [(0, "out_of_range"), (1.5, "wrong_type"), ("all", "wrong_type")])
def test_numbers_of_threads_that_make_no_sense(n_threads, code):
    with raises(ParameterError, code, name="n_threads", value=n_threads):
        fitted(Random(epochs=1), columns=4, n_threads=n_threads)
