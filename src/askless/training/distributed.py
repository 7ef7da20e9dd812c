"""One fit in several processes, on one or several machines, launched with `torchrun`.

Every process has all rows and the same weights. An epoch's batches are the same for all; each process takes its part
of every batch, with noise of its own, and before each step the gradients are averaged. So there are as many steps as
in one process, over as many examples. Where there is one process, nothing here does anything.
"""

from __future__ import annotations

import atexit
import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor
from torch import distributed as dist

from askless.exceptions import ClusterError

__all__ = [
    "World",
    "align",
    "average_gradients",
    "each_its_own",
    "expect_same",
    "file_of_first",
    "mean_everywhere",
    "of_all",
    "own_batches",
    "own_name",
    "own_part",
    "same_everywhere",
    "world",
]


@dataclass(frozen=True)
class World:
    """Which of how many processes this is."""

    rank: int
    size: int


ALONE = World(0, 1)


def world() -> World:
    """The processes that fit together: those of torch's process group; under `torchrun` one is made at first use."""
    if not dist.is_available():
        return ALONE
    if not dist.is_initialized():
        if not dist.is_torchelastic_launched() or int(os.environ.get("WORLD_SIZE", "1")) == 1:
            return ALONE
        # Functions in here have the process group as a default argument. Imported after it is made, as a fit does it
        # by way of torch's own parts, they would keep it, and its threads, beyond the interpreter's end: an abort.
        importlib.import_module("torch.distributed.nn.functional")
        dist.init_process_group("gloo")
        atexit.register(_leave)
    return World(dist.get_rank(), dist.get_world_size())


def _leave() -> None:
    if dist.is_initialized():
        dist.destroy_process_group()


def own_batches(draw: Callable[[torch.Generator], Sequence[Tensor]], generator: torch.Generator) -> Sequence[Tensor]:
    """This process's part of an epoch's batches, which all processes draw alike; then its noise is its own.

    All begin with the first process's generator, so that its state is all that a checkpoint needs.
    """
    here = world()
    if here.size == 1:
        return draw(generator)
    align(generator)
    batches = draw(generator)
    generator.manual_seed(int(torch.randint(1 << 62, (), generator=generator)) + here.rank)
    return [own_part(batch) for batch in batches]


def align(generator: torch.Generator) -> None:
    """Let the generators of all processes go on as the first one's."""
    if world().size > 1:
        generator.set_state(same_everywhere(generator.get_state()))


def own_part(batch: Tensor) -> Tensor:
    """This process's run of a batch; of a batch that is too small for that, everything."""
    here = world()
    return batch if len(batch) < here.size else batch.tensor_split(here.size)[here.rank]


def average_gradients(parameters: Sequence[Tensor]) -> None:
    """Give every process the mean of all gradients; one that some process lacks counts as zero there."""
    size = world().size
    if size == 1:
        return
    have = torch.tensor([float(p.grad is not None) for p in parameters])
    flat = torch.cat(
        [have, *((torch.zeros_like(p) if p.grad is None else p.grad).reshape(-1).cpu() for p in parameters)]
    )
    dist.all_reduce(flat)
    have, *means = torch.split(flat, [len(parameters), *(p.numel() for p in parameters)])
    for parameter, had, mean in zip(parameters, have.tolist(), means, strict=True):
        if had:
            mean = mean.div_(size).view_as(parameter)
            parameter.grad = (
                mean.to(parameter.device, copy=True) if parameter.grad is None else parameter.grad.copy_(mean)
            )


def same_everywhere(tensor: Tensor) -> Tensor:
    """The tensor, with the first process's values in it."""
    if world().size > 1:
        dist.broadcast(tensor, src=0)
    return tensor


def each_its_own(seed: int) -> int:
    """A seed that differs between processes; the first one's is as it was."""
    return (seed + world().rank * 0x9E3779B9) % (1 << 32)  # torch looks at 32 bits, and users' seeds are close


def mean_everywhere(tensor: Tensor) -> Tensor:
    """The tensor, with the mean of all processes' values in it."""
    size = world().size
    if size > 1:
        dist.all_reduce(tensor)
        tensor /= size
    return tensor


def of_all(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """In the first process, the tensors of all: those of process 2 are called "2.name". They have the same shapes."""
    here = world()
    everything = dict(tensors)
    for name, tensor in tensors.items() if here.size > 1 else ():
        parts = [torch.empty_like(tensor) for _ in range(here.size)] if here.rank == 0 else None
        dist.gather(tensor.contiguous(), parts)
        for rank, part in enumerate(parts or ()):
            if rank > 0:
                everything[f"{rank}.{name}"] = part
    return everything


def own_name(name: str) -> str:
    """What `of_all` calls a tensor of this process."""
    rank = world().rank
    return f"{rank}.{name}" if rank else name


@contextmanager
def file_of_first(path: Path) -> Iterator[Path | None]:
    """The first process's file, for all to read; the others, maybe on another machine, see a copy. None if absent."""
    here = world()
    if here.rank == 0:
        content = path.read_bytes() if here.size > 1 and path.exists() else b""
        _broadcast_bytes(content)
        yield path if path.exists() else None
        return
    content = _broadcast_bytes(b"")
    if not content:
        yield None
        return
    with TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        copy.write_bytes(content)
        yield copy


def _broadcast_bytes(content: bytes) -> bytes:
    length = int(same_everywhere(torch.tensor(len(content))))
    tensor = torch.zeros(length, dtype=torch.uint8)
    if content:
        tensor[:] = torch.frombuffer(bytearray(content), dtype=torch.uint8)
    return same_everywhere(tensor).numpy().tobytes() if length else b""


def expect_same(fingerprint: Callable[[], str]) -> None:
    """Raise an error in all processes if they do not have the same fingerprint: what they train is not one model."""
    if world().size == 1:
        return
    mine = fingerprint().encode()
    differs = torch.tensor(int(_broadcast_bytes(mine) != mine))
    dist.all_reduce(differs)
    if differs:
        raise ClusterError(
            "cluster_failed",
            f"{int(differs)} of {world().size} processes have other data, settings or versions than the first; "
            "read the same table in all of them, split it with a fixed seed, and set random_state",
            value=int(differs),
            needed=world().size,
        )
