"""The processes that tasks run in."""

import platform
import sys

import pytest

from askless.experiments.attempt import start_attempt
from askless.experiments.locks import take_lock
from tests.experiments.fake_worker import fake_task

ARRAYS, PAGES = 8, 1024  # of 4 MB each
WORK = f"""
import resource
import numpy as np

def step():
    return len([np.ones({PAGES} * 512) for _ in range({ARRAYS})])

for _ in range(3):
    step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is asked to keep freed memory")
def test_a_process_keeps_what_it_frees_for_its_next_step(tmp_path):
    lock = take_lock(tmp_path / "lock")
    attempt = start_attempt(fake_task(), tmp_path, lock, 1, 1, (sys.executable, "-c", WORK))
    attempt.process.wait()
    attempt.output.seek(0)
    faults = int(attempt.output.read())
    attempt.close()
    lock.release()
    assert faults < ARRAYS * PAGES  # what a single step takes of memory that is new to it
