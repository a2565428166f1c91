"""Tables in pieces: encoded as `ramodo.formats` does, with the same features in each piece.

Each piece has features for the categories that occur in it; all together have those of the whole table, in its order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..formats.assembling import assembled
from ..formats.format import How
from ..formats.match_model_columns import placed
from ..formats.schema import Schema
from ..formats.table import FormatError, Table


def is_frame(source: Any) -> bool:
    """Return whether it is a pandas data frame."""
    return type(source).__module__.partition(".")[0] == "pandas" and hasattr(source, "dtypes")


def of_frame(frame: Any, place: str, schema: Schema | None) -> Table:
    """Return a data frame as a table. It is read like a file if it has text, categories or dates."""
    plain = Schema(plain=tuple(map(str, frame.columns)))
    if all(getattr(kind, "kind", "O") in "biuf" for kind in frame.dtypes):
        return Table(frame if len(frame) else frame.to_numpy(dtype=np.float64), schema=plain)
    import pyarrow

    known = None if schema is None or not schema.columns else schema
    if known is not None:
        refuse_other_columns(plain, known, place)
    arrow = pyarrow.Table.from_pandas(frame, preserve_index=False)
    return assembled(place, arrow.rename_columns(list(plain.plain or ())), How(schema=known or Schema()))


def aligned(table: Table, schema: Schema, place: str) -> Any:
    """Return the matrix of a table with the features of a schema; features without a value are zero."""
    own = table.schema
    if own.columns == schema.columns and own.plain == schema.plain:
        return table.X
    refuse_other_columns(own, schema, place)
    X = table.X.to_numpy(dtype=np.float64) if is_frame(table.X) else table.X
    numbers = np.array(own.places_in(schema), dtype=np.int64)
    kept = np.argsort(numbers, kind="stable")[np.count_nonzero(numbers < 0) :]
    return placed(X, kept, numbers[kept], schema.n_features or 0)


def refuse_other_columns(own: Schema, schema: Schema, place: str) -> None:
    """Raise if a column is missing, if no other piece has it, or if it is of another kind there."""
    there, known = ({column.name: column for column in each.for_tables().columns} for each in (own, schema))
    absent, more = (next((n for n in a if n not in b), None) for a, b in ((known, there), (there, known)))
    if absent is not None:
        raise FormatError(f"{place} lacks the column {absent!r}, one of the {len(known):,} columns of the others.")
    if more is not None:
        raise FormatError(f"{place} has the column {more!r}, which is not one of the {len(known):,} of the others.")
    for name, column in there.items() if own.columns else ():
        if (known[name].n_features == column.n_features == 1) or known[name].kind == column.kind:
            continue
        raise FormatError(f"{place}, column {name!r} must hold {known[name].kind} as the others do, got {column.kind}.")
