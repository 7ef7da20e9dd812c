"""What workers do in test_clusters.py; apart from it, so that a worker imports little."""

import os
import time
from pathlib import Path
from uuid import uuid4

from tests.experiments.made_results import result


def noted(task, folder, seconds):
    """A made-up result; files say when the work begins and ends, and in which process."""
    name = f"{task.key}.{os.getpid()}.{uuid4().hex}"
    (Path(folder) / f"{name}.begun").touch()
    time.sleep(seconds)
    (Path(folder) / f"{name}.ended").touch()
    return result(seed=task.seed)


def failing(task, folder):
    """An error for one of the tasks, with a file for each time."""
    if task.seed == 1:
        Path(folder, uuid4().hex).touch()
        raise ValueError("no luck\nat all")
    return result(seed=task.seed)
