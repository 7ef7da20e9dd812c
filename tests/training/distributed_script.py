"""What test_distributed.py runs under torchrun: `torchrun distributed_script.py FOLDER`."""

import atexit
import json
import os
import sys
from pathlib import Path

import numpy as np
import torch
from askless.training.distributed import average_gradients, own_batches

from askless import DynamicClassifier
from askless.exceptions import ClusterError
from askless.methods import Greedy
from askless.training import Checkpoint, progress_bar, world


def table(rows=600):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 6)).astype(np.float32)
    side = np.where(X[:, 0] > 0, X[:, 1], X[:, 2])  # which column matters is in another
    y = (side + 0.3 * rng.normal(size=rows) > 0).astype(int)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def model(**settings):
    return DynamicClassifier(3, Greedy(epochs=8, pretrain_epochs=4, hidden=(32,)), **settings)


def gradients(rank):
    """The mean of (1, 3) and (3, 5); one that only the second process has; one that none has."""
    both, one, none = (torch.zeros(2) for _ in range(3))
    both.grad = torch.tensor([1.0, 3.0]) + 2 * rank
    one.grad = torch.tensor([4.0, 8.0]) if rank == 1 else None
    average_gradients([both, one, none])
    return [None if p.grad is None else p.grad.tolist() for p in (both, one, none)]


def batches(rank):
    """The parts of three batches of 10, 10 and 1, drawn by generators that differ; then noise."""
    generator = torch.Generator().manual_seed(rank)
    parts = own_batches(lambda g: torch.split(torch.randperm(21, generator=g), 10), generator)
    return {"parts": [part.tolist() for part in parts], "noise": float(torch.rand((), generator=generator))}


def interrupted_fit(X, y, file):
    """A fit that is killed in its 7th epoch, continued from the first process's file alone."""

    class Killed(Exception):
        pass

    save, count = Checkpoint.save, 0

    def save_until(self, snapshot):
        nonlocal count
        count += 1
        if count == 7:
            raise Killed
        save(self, snapshot)

    Checkpoint.save = save_until
    try:
        model().fit(X, y, checkpoint=file)
        raise AssertionError("it was not killed")
    except Killed:
        Checkpoint.save = save
    return model().fit(X, y, checkpoint=file)


def write_threads(file):
    """The names of this process's threads."""
    file.write_text("\n".join(path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")))


def main(folder):
    rank = int(os.environ["RANK"])
    own = folder / str(rank)  # as if on a machine of its own
    own.mkdir()
    atexit.register(write_threads, own / "threads.txt")  # the first to be registered is the last to be called
    X, y = table()
    told = {"world": [world().rank, world().size], "gradients": gradients(rank), "batches": batches(rank)}
    with progress_bar(verbose=True) as progress:
        told["progress"] = type(progress).__name__
    fitted = model().fit(X, y)
    fitted.save(own / "model.askless")
    told["history"] = fitted.history_
    interrupted_fit(X, y, own / "fit.part").save(own / "resumed.askless")
    told["checkpoint"] = (own / "fit.part").exists()
    DynamicClassifier(3, "mutual_information").fit(X, y).save(own / "static.askless")
    try:
        model(random_state=rank).fit(X, y)
    except ClusterError as error:
        told["error"] = str(error)
    (own / "told.json").write_text(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
