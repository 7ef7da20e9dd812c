"""Tables and images to encoded columns, and answers likewise: what a model knows about the user's data."""

from askless.encoding.cells import CellError, CellTypeError
from askless.encoding.encoder import (
    Encoder,
    TableEncoder,
    encode_rows,
    encoder_from_json,
    learn_encoder,
)
from askless.encoding.images import ImageEncoder
from askless.encoding.table import Column, Columns, read_table

__all__ = [
    "CellError",
    "CellTypeError",
    "Column",
    "Columns",
    "Encoder",
    "ImageEncoder",
    "TableEncoder",
    "encode_rows",
    "encoder_from_json",
    "learn_encoder",
    "read_table",
]
