"""Tables to encoded columns and back to questions: what a model knows about the user's table."""

from askless.encoding.encoder import TableEncoder
from askless.encoding.errors import CellTypeError
from askless.encoding.table import Column, Columns, read_table

__all__ = ["CellTypeError", "Column", "Columns", "TableEncoder", "read_table"]
