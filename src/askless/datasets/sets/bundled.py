"""The small tables that come with scikit-learn, under readable names."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from askless.datasets.base import Info, Recorded, Table, make_table, pixel_groups, pixel_names

SERUM = {
    "bp": "blood pressure",
    "s1": "total cholesterol",
    "s2": "low-density lipoproteins",
    "s3": "high-density lipoproteins",
    "s4": "cholesterol ratio",
    "s5": "log triglycerides",
    "s6": "blood sugar",
}


def _classes(loader: str, target: str) -> Table:
    """The table of one of scikit-learn's loaders, with the names of its classes as labels."""
    import pandas as pd
    import sklearn.datasets

    bunch = getattr(sklearn.datasets, loader)(as_frame=True)
    return bunch.data, pd.Series(bunch.target_names[bunch.target.to_numpy()].tolist(), name=target)


def _diabetes() -> Table:
    from sklearn.datasets import load_diabetes

    bunch = load_diabetes(as_frame=True, scaled=False)
    return bunch.data.rename(columns=SERUM), bunch.target.rename("progression")


def _digits() -> Table:
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return make_table(bunch.data.astype(np.int64), pixel_names((8, 8)), bunch.target.astype(np.int64), "digit")


breast_cancer = Recorded(
    Info(
        name="breast_cancer",
        description="Measurements of cell nuclei in a fine needle aspirate of a breast mass: is it malignant?",
        rows=569,
        columns=30,
        classes=("benign", "malignant"),
        source="UCI 17, Breast Cancer Wisconsin (Diagnostic), as shipped with scikit-learn",
        licence="CC BY 4.0",
    ),
    partial(_classes, "load_breast_cancer", "diagnosis"),
)

wine = Recorded(
    Info(
        name="wine",
        description="Chemical analysis of wines from one region of Italy: which of three cultivars is it?",
        rows=178,
        columns=13,
        classes=("class_0", "class_1", "class_2"),
        source="UCI 109, Wine, as shipped with scikit-learn",
        licence="CC BY 4.0",
    ),
    partial(_classes, "load_wine", "cultivar"),
)

diabetes = Recorded(
    Info(
        name="diabetes",
        description=(
            "Progression of diabetes one year after the measurements, a score from 25 to 346. Age is in years, bmi "
            "in kg/m², blood pressure is the mean in mmHg, blood values in mg/dL, the ratio is total cholesterol by "
            "high-density lipoproteins; sex is coded 1 and 2 without a key, as in the original."
        ),
        task="regression",
        rows=442,
        columns=10,
        source="Efron, Hastie, Johnstone and Tibshirani (2004), Least Angle Regression, as shipped with scikit-learn",
        licence="none stated",
    ),
    _diabetes,
)

digits = Recorded(
    Info(
        name="digits",
        description="Handwritten digits of 8 x 8 pixels, ink from 0 to 16; every pixel is a question.",
        rows=1797,
        columns=64,
        classes=tuple(range(10)),
        image_shape=(8, 8),
        source="UCI 80, Optical Recognition of Handwritten Digits (its test set), as shipped with scikit-learn",
        licence="CC BY 4.0",
    ),
    _digits,
)

digits_patches = Recorded(
    replace(
        digits.info,
        name="digits_patches",
        description="Handwritten digits of 8 x 8 pixels, ink from 0 to 16; every 2 x 2 square is a question.",
        groups=pixel_groups((8, 8), 2),
    ),
    _digits,
)
