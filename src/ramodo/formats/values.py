"""Report unusable values in the user's terms: file, row and column instead of positions in a matrix."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..data.validation import ValueRefusedError
from .table import FormatError, Table


@contextmanager
def named_values(path: str, table: Table) -> Iterator[None]:
    """Name the row and the column of a value in errors that refuse it."""
    try:
        yield
    except ValueRefusedError as error:
        names, place = table.names, error.column - table.schema.first_named
        first = 1 if table.schema.zero_based is False else 0
        column = f"column {error.column + first}" if names is None or place < 0 else f"column {names[place]!r}"
        of = "standard input" if path == "-" else path
        raise FormatError(f"{of}, row {table.id_of(error.row)}, {column}: {error.said}", error.row) from None
