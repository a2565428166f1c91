"""Values that cannot be used, said as the user knows them: file, row and column instead of positions in a matrix."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..data.validation import ValueRefusedError
from .table import FormatError, Table


@contextmanager
def named_values(path: str, table: Table) -> Iterator[None]:
    """A value of the table that is refused is refused by the names of its row and column."""
    try:
        yield
    except ValueRefusedError as error:
        names, place = table.names, error.column - table.schema.first_named
        first = 1 if table.schema.zero_based is False else 0
        column = f"column {error.column + first}" if names is None or place < 0 else f"column {names[place]!r}"
        of = "standard input" if path == "-" else path
        raise FormatError(f"{of}, row {table.id_of(error.row)}, {column}: {error.said}", error.row) from None
