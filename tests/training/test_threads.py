"""One thread for a small fit, torch's own for a large one, also where several fits run at once."""

import threading
from dataclasses import replace

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info

from askless import DynamicClassifier
from askless.methods import Greedy, Random, Value
from askless.training import one_thread


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


def fitted(method, columns):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, columns)).astype(np.float32)
    return DynamicClassifier(3, method=method, random_state=0).fit(x, (x[:, 0] > 0).astype(int)).rollout(x)


@pytest.mark.parametrize("method", [Greedy(pretrain_epochs=1, epochs=2), Value(epochs=2), Random(epochs=2)])
def test_large_networks_are_trained_by_all_threads_to_the_same_bits(method, threads_of_epochs):
    large = replace(method, hidden=(512, 512), batch_size=512)
    trajectories = []
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            trajectories.append(fitted(large, columns=400))
            assert threads_of_epochs == {(threads, 1)}
            assert torch.get_num_threads() == threads
            threads_of_epochs.clear()
    finally:
        torch.set_num_threads(before)
    one, two = trajectories
    np.testing.assert_array_equal(one.order, two.order)
    np.testing.assert_array_equal(one.predictions, two.predictions)


@pytest.mark.parametrize("method", [Greedy(pretrain_epochs=1, epochs=2), Value(epochs=2), Random(epochs=2)])
def test_small_networks_are_trained_by_one_thread(method, threads_of_epochs):
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        fitted(method, columns=8)
    finally:
        torch.set_num_threads(before)
    assert threads_of_epochs == {(1, 1)}
