"""One thread per fit, also where several fits run at once."""

import threading

import torch
from threadpoolctl import threadpool_info

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
