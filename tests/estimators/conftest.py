import numpy as np
import pandas as pd
import pytest

from askless.methods import Greedy


@pytest.fixture
def quick():
    """A method for tests in which quality does not matter."""
    return Greedy(hidden=(16,), epochs=3, pretrain_epochs=3)


@pytest.fixture(scope="session")
def messy():
    """A table with everything: numbers, text, booleans, gaps, a group, a constant; and labels that depend on it."""
    rng = np.random.default_rng(0)
    n = 400
    age = rng.integers(18, 90, n).astype(float)
    sex = rng.choice(["f", "m"], n).astype(object)
    smoker = rng.random(n) < 0.3
    sbp = rng.normal(120 + 0.3 * (age - 50), 12, n)
    dbp = rng.normal(0.6 * sbp, 6, n)
    score = 0.05 * (age - 50) + 1.5 * smoker + 0.04 * (sbp - 125) + rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "age": age,
            "sex": sex,
            "smoker": smoker,
            "sbp": sbp,
            "dbp": dbp,
            "clinic": "north",
            "lab": rng.normal(size=n),
        }
    )
    frame.loc[rng.random(n) < 0.2, "lab"] = np.nan
    frame.loc[rng.random(n) < 0.1, "sex"] = None
    frame.loc[rng.random(n) < 0.1, "dbp"] = np.nan
    return frame, np.where(score > 0.3, "ill", "well"), score


GROUPS = {"blood pressure": ["sbp", "dbp"]}
