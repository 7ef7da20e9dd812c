"""Images: MNIST's handwritten digits and the colour photographs of CIFAR-10, the official training images first."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from askless.acquisition.numbers import is_whole
from askless.datasets.base import Dataset, Info, Recorded, pixel_groups, pixel_names
from askless.datasets.files import (
    absent,
    damaged,
    data_home,
    first_present,
    located,
    openml_table,
    store_arrays,
    unpacked,
    unpacked_arrays,
)
from askless.exceptions import ParameterError, bad_value

if TYPE_CHECKING:
    import pandas as pd

OPTIONS = ("patch_size", "pixels")


def image_dataset(
    images: np.ndarray,
    target: pd.Series,
    info: Info,
    patch_size: int = 1,
    pixels: Sequence[int] | None = None,
    channels: Sequence[str] = (),
) -> Dataset:
    """A data set of (n, height, width[, channels]) images.

    Squares with a side of `patch_size` pixels are one feature each. `pixels` selects pixels by their position (row
    by row, 0-based); the result is then a table without images.
    """
    import pandas as pd

    shape = images.shape[1:]
    groups = pixel_groups(shape, patch_size, channels)
    frame = pd.DataFrame(images.reshape(len(images), -1), columns=pixel_names(shape, channels), copy=False)
    if pixels is None:
        return Dataset(frame, target, replace(info, groups=groups, patch_size=int(patch_size)))
    if patch_size != 1:
        message = "give patch_size or pixels, not both"
        raise ParameterError("conflicting_settings", message, name="pixels", value="patch_size")
    kept = _checked_pixels(pixels, shape[0] * shape[1])
    names = np.array(pixel_names(shape, channels)).reshape(shape[0] * shape[1], -1)[kept]  # (pixels, channels)
    groups = {group: columns for group, columns in groups.items() if columns[0] in names[:, 0]}
    columns = names.ravel().tolist()
    return Dataset(frame[columns], target, replace(info, columns=len(columns), groups=groups, image_shape=None))


def _checked_pixels(pixels: Sequence[int], count: int) -> list[int]:
    kept = list(pixels)
    for pixel in kept:
        if not is_whole(pixel) or not 0 <= pixel < count:
            expected = f"integers from 0 to {count - 1}"
            raise bad_value("out_of_range", "pixels", pixel, expected, low=0, high=count - 1)
    if not kept:
        raise ParameterError("required", "pixels must have at least one pixel", name="pixels", value=kept)
    if len(set(kept)) < len(kept):
        raise ParameterError("duplicate_name", "pixels has a pixel more than once", name="pixels", value=kept)
    return kept


def _openml_images(data_id: int, shape: tuple[int, int]) -> tuple[pd.DataFrame, np.ndarray]:
    """The (rows, columns) pixels and the integer labels of a data set on OpenML."""
    frame, label = openml_table(data_id)
    if frame.shape != shape:
        problem = f"has {frame.shape} rows and columns, not {shape}"
        raise damaged(f"OpenML {data_id}", problem, shape=frame.shape, expected=shape)
    return frame, label.astype(int).to_numpy()


# MNIST

MNIST_SHAPE, MNIST_ROWS = (28, 28), 70_000
MNIST_PARTS = ("train", "t10k")
MNIST_IMAGES = tuple(f"mnist/{part}-images-idx3-ubyte.gz" for part in MNIST_PARTS)
MNIST_LABELS = tuple(f"mnist/{part}-labels-idx1-ubyte.gz" for part in MNIST_PARTS)
MNIST_FILE = "mnist/mnist.npz"  # what a download is stored as
PIXELS_SHA256 = "5b92582eb909c82a9bfefcd44acbe9233be3eb5b419a44cf211022ad2bf4bf96"  # of the 70,000 x 784 bytes
DIGITS_SHA256 = "671ff9d70b4811116d55c3dd479efa7a981e2e62753ef7a6d5c15fea81e63d27"  # of the 70,000 bytes

MNIST_INFO = Info(
    name="mnist",
    description=(
        "Handwritten digits of 28 x 28 pixels, ink from 0 to 255. The first 60,000 rows are the official training "
        "images. patch_size=2 makes squares of 2 x 2 pixels one feature each; pixels=[...] keeps only these, counted "
        "from 0, row by row."
    ),
    rows=MNIST_ROWS,
    columns=784,
    classes=tuple(range(10)),
    image_shape=MNIST_SHAPE,
    options=OPTIONS,
    source="LeCun, Cortes and Burges, MNIST (OpenML 554)",
    licence="CC BY-SA 3.0",
    files=(MNIST_IMAGES[0], MNIST_FILE),
    downloadable=True,
)


def _read_mnist(patch_size: int = 1, pixels: Sequence[int] | None = None) -> Dataset:
    import pandas as pd

    images, digits = _mnist_arrays()
    target = pd.Series(digits.astype(np.int64), name="digit")
    return image_dataset(images, target, MNIST_INFO, patch_size, pixels)


def _mnist_arrays() -> tuple[np.ndarray, np.ndarray]:
    four, one = [first_present(file) for file in (*MNIST_IMAGES, *MNIST_LABELS)], first_present(MNIST_FILE)
    if None not in four:
        raw = [_idx(path) for path in four if path is not None]
        images, digits, where = np.concatenate(raw[:2]).reshape(-1, *MNIST_SHAPE), np.concatenate(raw[2:]), four[0]
    elif one is not None:
        images, digits = unpacked_arrays(one, "images", "digits")
        where = one
    else:
        names = ", ".join(Path(file).name for file in (*MNIST_IMAGES, *MNIST_LABELS))
        what = (
            f"Download the four files of MNIST ({names}; they are mirrored in many places, and OpenML 554 holds the "
        )
        raise absent("mnist", what + "same images), and put the first", MNIST_IMAGES[0])
    _check_mnist(images, digits, where)
    return images, digits


def _idx(path: Path) -> np.ndarray:
    """The bytes in an idx file, behind its header of one word for the kind and one for each dimension."""
    content = unpacked(path.read_bytes(), path)
    header = 4 + 4 * content[3] if len(content) > 3 else 0
    return np.frombuffer(content, dtype=np.uint8, offset=min(header, len(content)))


def _check_mnist(images: np.ndarray, digits: np.ndarray, where: object) -> None:
    sums = [hashlib.sha256(array.tobytes()).hexdigest() for array in (images, digits)]
    if sums != [PIXELS_SHA256, DIGITS_SHA256]:
        raise damaged(where, "has other images than MNIST", value=sums[0], expected=PIXELS_SHA256)


def _fetch_mnist() -> None:
    frame, label = _openml_images(554, (MNIST_ROWS, 784))
    images, digits = frame.to_numpy().astype(np.uint8).reshape(-1, *MNIST_SHAPE), label.astype(np.uint8)
    _check_mnist(images, digits, "OpenML 554")
    store_arrays(data_home() / MNIST_FILE, images=images, digits=digits)


mnist = Recorded(MNIST_INFO, _read_mnist, _fetch_mnist)


# CIFAR-10. There is no published checksum of the values. The check is of their number, of the images of each class in
# the training and the test part, and of the mean of each channel.

CIFAR_SHAPE, CIFAR_CHANNELS = (32, 32, 3), ("red", "green", "blue")
CIFAR_ROWS, CIFAR_TRAINING = 60_000, 50_000
CIFAR_NAMES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
CIFAR_MEANS = (0.4914, 0.4822, 0.4465)  # of the training images' channels, from 0 to 1
CIFAR_FILE = "cifar10/cifar10.npz"  # x_train, y_train, x_test, y_test

CIFAR_INFO = Info(
    name="cifar10",
    description=(
        "Colour photographs of 32 x 32 pixels, red, green and blue from 0 to 255: which of ten things is it? A pixel "
        "is a feature of three columns. The first 50,000 rows are the official training images. patch_size=4 makes "
        "squares of 4 x 4 pixels one feature each; pixels=[...] keeps only these, counted from 0, row by row."
    ),
    rows=CIFAR_ROWS,
    columns=3072,
    classes=CIFAR_NAMES,
    groups=pixel_groups(CIFAR_SHAPE, 1, CIFAR_CHANNELS),
    image_shape=CIFAR_SHAPE,
    options=OPTIONS,
    source="Krizhevsky (2009), Learning Multiple Layers of Features from Tiny Images (OpenML 40927)",
    licence="none stated; cite Krizhevsky (2009)",
    files=(CIFAR_FILE,),
    downloadable=True,
)


def _read_cifar(patch_size: int = 1, pixels: Sequence[int] | None = None) -> Dataset:
    import pandas as pd

    path = located(
        "cifar10",
        "Download CIFAR-10 (https://www.cs.toronto.edu/~kriz/cifar.html; also OpenML 40927), and put an .npz file of "
        "x_train, y_train, x_test and y_test, images of shape (n, 32, 32, 3),",
        CIFAR_FILE,
    )
    x_train, y_train, x_test, y_test = unpacked_arrays(path, "x_train", "y_train", "x_test", "y_test")
    images, labels = np.concatenate([x_train, x_test]), np.concatenate([y_train, y_test]).ravel()
    _check_cifar(images, labels, path)
    target = pd.Series(np.array(CIFAR_NAMES)[labels].tolist(), name="thing")
    return image_dataset(images, target, CIFAR_INFO, patch_size, pixels, CIFAR_CHANNELS)


def _check_cifar(images: np.ndarray, labels: np.ndarray, where: object) -> None:
    if images.shape != (CIFAR_ROWS, *CIFAR_SHAPE) or labels.shape != (CIFAR_ROWS,) or images.dtype != np.uint8:
        problem = f"has images of shape {images.shape} and type {images.dtype}, not those of CIFAR-10"
        raise damaged(where, problem, shape=images.shape, expected=(CIFAR_ROWS, *CIFAR_SHAPE))
    counts = [np.bincount(part, minlength=10).tolist() for part in (labels[:CIFAR_TRAINING], labels[CIFAR_TRAINING:])]
    sums = images[:CIFAR_TRAINING].reshape(CIFAR_TRAINING, -1).sum(axis=0, dtype=np.uint32)  # of each column
    means = sums.reshape(-1, 3).mean(axis=0) / (255 * CIFAR_TRAINING)
    expected = [[CIFAR_TRAINING // 10] * 10, [(CIFAR_ROWS - CIFAR_TRAINING) // 10] * 10]
    if counts != expected or np.abs(means - CIFAR_MEANS).max() > 2e-4:
        raise damaged(where, "has other images than CIFAR-10, or in another order")


def _fetch_cifar() -> None:
    frame, labels = _openml_images(40927, (CIFAR_ROWS, 3072))
    values = frame.to_numpy(dtype=np.float32)
    scale = 255.0 if values.max() <= 1 else 1.0
    planes = np.rint(values * scale).astype(np.uint8).reshape(CIFAR_ROWS, 3, 32, 32)  # one channel after the other
    images = np.ascontiguousarray(planes.transpose(0, 2, 3, 1))
    _check_cifar(images, labels, "OpenML 40927")
    parts = {"train": slice(CIFAR_TRAINING), "test": slice(CIFAR_TRAINING, None)}
    x = {f"x_{name}": images[part] for name, part in parts.items()}
    y = {f"y_{name}": labels[part].astype(np.uint8) for name, part in parts.items()}
    store_arrays(data_home() / CIFAR_FILE, **x, **y)


cifar10 = Recorded(CIFAR_INFO, _read_cifar, _fetch_cifar)
