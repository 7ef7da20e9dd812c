"""Tables and images to encoded columns, and answers likewise: what a model knows about the user's data."""

from typing import Any

from askless.encoding.cells import CellError, CellTypeError
from askless.encoding.encoder import TableEncoder
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
    "encoder_from_json",
    "read_table",
]

Encoder = TableEncoder | ImageEncoder


def encoder_from_json(data: dict[str, Any]) -> Encoder:
    """The encoder that its `to_json` described."""
    return (ImageEncoder if data.get("kind") == "images" else TableEncoder).from_json(data)
