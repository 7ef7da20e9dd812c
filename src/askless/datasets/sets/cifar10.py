"""CIFAR-10: small colour photographs. The first 50,000 rows are the official training images.

There is no published checksum of the values. The check is of their number, of the five thousand (one thousand) images
of each class in the training (test) part, and of the mean of each channel.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from askless.datasets.base import OPTIONS, Dataset, Info, Recorded, image_dataset, pixel_groups
from askless.datasets.files import (
    DatasetDamaged,
    absent,
    data_home,
    first_present,
    openml_table,
    store_arrays,
    unpacked_arrays,
)

SHAPE, CHANNELS = (32, 32, 3), ("red", "green", "blue")
ROWS, TRAINING = 60_000, 50_000
NAMES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
MEANS = (0.4914, 0.4822, 0.4465)  # of the training images' channels, from 0 to 1
FILE = "cifar10/cifar10.npz"  # x_train, y_train, x_test, y_test

INFO = Info(
    name="cifar10",
    description=(
        "Colour photographs of 32 x 32 pixels, red, green and blue from 0 to 255: which of ten things is it? A pixel "
        "is a feature of three columns. The first 50,000 rows are the official training images. patch_size=4 makes "
        "squares of 4 x 4 pixels one feature each; pixels=[...] keeps only these, counted from 0, row by row."
    ),
    task="classification",
    rows=ROWS,
    columns=3072,
    classes=NAMES,
    groups=pixel_groups(SHAPE, 1, CHANNELS),
    image_shape=SHAPE,
    options=OPTIONS,
    source="Krizhevsky (2009), Learning Multiple Layers of Features from Tiny Images (OpenML 40927)",
    licence="none stated; cite Krizhevsky (2009)",
    files=(FILE,),
    downloadable=True,
)


def _read(patch_size: int = 1, pixels: Sequence[int] | None = None) -> Dataset:
    import pandas as pd

    path = first_present(FILE)
    if path is None:
        raise absent(
            "cifar10",
            "Download CIFAR-10 (https://www.cs.toronto.edu/~kriz/cifar.html; also OpenML 40927), and put an .npz "
            "file of x_train, y_train, x_test and y_test, images of shape (n, 32, 32, 3),",
            FILE,
        )
    x_train, y_train, x_test, y_test = unpacked_arrays(path, "x_train", "y_train", "x_test", "y_test")
    images, labels = np.concatenate([x_train, x_test]), np.concatenate([y_train, y_test]).ravel()
    _check(images, labels, path)
    target = pd.Series(np.array(NAMES)[labels].tolist(), name="thing")
    return image_dataset(images, target, INFO, patch_size, pixels, CHANNELS)


def _check(images: np.ndarray, labels: np.ndarray, where: object) -> None:
    if images.shape != (ROWS, *SHAPE) or labels.shape != (ROWS,) or images.dtype != np.uint8:
        raise DatasetDamaged(
            "damaged_file",
            f"{where} has images of shape {images.shape} and type {images.dtype}, not those of CIFAR-10",
            path=str(where),
            shape=images.shape,
            expected=(ROWS, *SHAPE),
        )
    counts = [np.bincount(part, minlength=10).tolist() for part in (labels[:TRAINING], labels[TRAINING:])]
    sums = images[:TRAINING].reshape(TRAINING, -1).sum(axis=0, dtype=np.uint32)  # of each column
    means = sums.reshape(-1, 3).mean(axis=0) / (255 * TRAINING)
    expected = [[TRAINING // 10] * 10, [(ROWS - TRAINING) // 10] * 10]
    if counts != expected or np.abs(means - MEANS).max() > 2e-4:
        raise DatasetDamaged(
            "damaged_file",
            f"the images in {where} are not those of CIFAR-10 in their order; delete it and download it again",
            path=str(where),
        )


def _fetch() -> None:
    frame, label = openml_table(40927)
    values = frame.to_numpy(dtype=np.float32)
    if values.shape != (ROWS, 3072):
        message = f"OpenML 40927 has {values.shape} rows and columns, not {(ROWS, 3072)}"
        raise DatasetDamaged("damaged_file", message, path="OpenML 40927", shape=values.shape, expected=(ROWS, 3072))
    scale = 255.0 if values.max() <= 1 else 1.0
    planes = np.rint(values * scale).astype(np.uint8).reshape(ROWS, 3, 32, 32)  # one channel after the other
    images = np.ascontiguousarray(planes.transpose(0, 2, 3, 1))
    labels = label.astype(int).to_numpy()
    _check(images, labels, "OpenML 40927")
    parts = {"train": slice(TRAINING), "test": slice(TRAINING, None)}
    x = {f"x_{name}": images[part] for name, part in parts.items()}
    y = {f"y_{name}": labels[part].astype(np.uint8) for name, part in parts.items()}
    store_arrays(data_home() / FILE, **x, **y)


cifar10 = Recorded(INFO, _read, _fetch)
