"""MNIST: handwritten digits. The first 60,000 rows are the official training images, the rest are for testing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from askless.datasets.base import OPTIONS, Dataset, Info, Recorded, image_dataset
from askless.datasets.files import (
    DatasetDamaged,
    absent,
    data_home,
    first_present,
    openml_table,
    store_arrays,
    unpacked,
    unpacked_arrays,
)

if TYPE_CHECKING:
    import pandas as pd

SHAPE, ROWS, TRAINING = (28, 28), 70_000, 60_000
PARTS = ("train", "t10k")
IMAGES = tuple(f"mnist/{part}-images-idx3-ubyte.gz" for part in PARTS)
LABELS = tuple(f"mnist/{part}-labels-idx1-ubyte.gz" for part in PARTS)
OPENML_FILE = "mnist/mnist.npz"  # what a download is stored as
PIXELS_SHA256 = "5b92582eb909c82a9bfefcd44acbe9233be3eb5b419a44cf211022ad2bf4bf96"  # of the 70,000 x 784 bytes
DIGITS_SHA256 = "671ff9d70b4811116d55c3dd479efa7a981e2e62753ef7a6d5c15fea81e63d27"  # of the 70,000 bytes

INFO = Info(
    name="mnist",
    description=(
        "Handwritten digits of 28 x 28 pixels, ink from 0 to 255. The first 60,000 rows are the official training "
        "images. patch_size=2 makes squares of 2 x 2 pixels one feature each; pixels=[...] keeps only these, counted "
        "from 0, row by row."
    ),
    task="classification",
    rows=ROWS,
    columns=784,
    classes=tuple(range(10)),
    image_shape=SHAPE,
    options=OPTIONS,
    source="LeCun, Cortes and Burges, MNIST (OpenML 554)",
    licence="CC BY-SA 3.0",
    files=(IMAGES[0], OPENML_FILE),
    downloadable=True,
)


def _read(patch_size: int = 1, pixels: Sequence[int] | None = None) -> Dataset:
    import pandas as pd

    images, digits = _arrays()
    target = pd.Series(digits.astype(np.int64), name="digit")
    return image_dataset(images, target, INFO, patch_size, pixels)


def _arrays() -> tuple[np.ndarray, np.ndarray]:
    """(n, 28, 28) pixels and (n,) digits, both bytes."""
    four, one = [first_present(file) for file in (*IMAGES, *LABELS)], first_present(OPENML_FILE)
    if None not in four:
        raw = [_idx(path) for path in four if path is not None]
        images, digits, where = np.concatenate(raw[:2]).reshape(-1, *SHAPE), np.concatenate(raw[2:]), four[0]
    elif one is not None:
        images, digits = unpacked_arrays(one, "images", "digits")
        where = one
    else:
        raise absent(
            "mnist",
            f"Download the four files of MNIST ({', '.join(Path(file).name for file in (*IMAGES, *LABELS))}; they "
            "are mirrored in many places, and OpenML 554 holds the same images), and put the first",
            IMAGES[0],
        )
    _check(images, digits, where)
    return images, digits


def _idx(path: Path) -> np.ndarray:
    """The bytes in an idx file, behind its header of one word for the kind and one for each dimension."""
    content = unpacked(path.read_bytes(), path)
    header = 4 + 4 * content[3] if len(content) > 3 else 0
    return np.frombuffer(content, dtype=np.uint8, offset=min(header, len(content)))


def _check(images: np.ndarray, digits: np.ndarray, where: object) -> None:
    sums = [hashlib.sha256(array.tobytes()).hexdigest() for array in (images, digits)]
    if sums != [PIXELS_SHA256, DIGITS_SHA256]:
        message = f"the images in {where} are not those of MNIST; delete it and download it again"
        raise DatasetDamaged("damaged_file", message, path=str(where), value=sums[0], expected=PIXELS_SHA256)


def _fetch() -> None:
    frame, label = openml_table(554)
    images = _bytes(frame).reshape(-1, *SHAPE)
    digits = label.astype(int).to_numpy().astype(np.uint8)
    _check(images, digits, "OpenML 554")
    store_arrays(data_home() / OPENML_FILE, images=images, digits=digits)


def _bytes(frame: pd.DataFrame) -> np.ndarray:
    if frame.shape != (ROWS, 784):
        message = f"OpenML 554 has {frame.shape} rows and columns, not {(ROWS, 784)}"
        raise DatasetDamaged("damaged_file", message, path="OpenML 554", shape=frame.shape, expected=(ROWS, 784))
    return frame.to_numpy().astype(np.uint8)


mnist = Recorded(INFO, _read, _fetch)
