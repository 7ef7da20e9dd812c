"""Which encoded columns say something of their own."""

import numpy as np
import pandas as pd

from askless.encoding import TableEncoder
from askless.methods.columns import telling_columns


def columns_of(frame, groups=None):
    encoder = TableEncoder.fit(frame, groups=groups)
    feature = encoder.schema.features[0]
    return telling_columns(encoder.transform(frame).x[:, feature.start : feature.stop])


def test_one_channel_of_a_number_is_enough():
    rng = np.random.default_rng(0)
    for values in (rng.normal(size=300), rng.lognormal(sigma=3, size=5000), np.maximum(rng.normal(size=400), 0)):
        assert columns_of(pd.DataFrame({"a": values})) == [0]


def test_categories_keep_every_column():
    assert columns_of(pd.DataFrame({"a": list("abcabbca") * 5})) == [0, 1, 2]


def test_groups_keep_a_channel_and_a_flag_of_every_part():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"]).mask(rng.random((200, 2)) < 0.2)
    # Each number has a rank, a logarithm and a flag; the logarithms go, also where values are missing.
    assert columns_of(frame, {"g": ["a", "b"]}) == [0, 2, 3, 5]


def test_a_coarser_or_falling_column_before_does_not_stand_for_a_finer_one():
    x = np.arange(1.0, 9.0)
    assert telling_columns(np.stack([np.ceil(x / 4), x], axis=1)) == [0, 1]
    assert telling_columns(np.stack([x, -x], axis=1)) == [0, 1]
    assert telling_columns(np.stack([x, np.ones(8)], axis=1)) == [0, 1]
    assert telling_columns(np.stack([x, x**3, np.ceil(x / 4)], axis=1)) == [0]
