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
        first = 1 if table.zero_based is False else 0
        place = error.column - table.first_named
        column = (
            f"column {error.column + first}" if table.names is None or place < 0 else f"column {table.names[place]!r}"
        )
        of = "standard input" if path == "-" else path
        raise FormatError(f"{of}, row {table.id_of(error.row)}, {column}: {error.said}", error.row) from None
