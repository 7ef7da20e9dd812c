from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

MakeFrame = Callable[[dict[str, Any]], Any]


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def frame(request: pytest.FixtureRequest) -> MakeFrame:
    """Makes a frame of each library from columns by name."""
    return {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[request.param]
