"""The columns of a table as one matrix.

Numbers stay numbers, booleans become 0 and 1, dates seconds since 1970 or, where numbers are scaled, days and cycles.
Text becomes one column per value, named `country=NZ`, and sparse; a list of numbers one column per place, `vector.0`;
what has columns within it becomes these, `user.country`.
What is missing is an error unless the caller says what to do. Columns of documents become tokens: see blending.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .blending import blended
from .classes import classes_of
from .columns import Column, Parts
from .format import How
from .table import MISSING, SCALES, FormatError, Table, TableOptions, refuse_repeated


def assembled(path: str, table: Any, how: How) -> Table:
    """A table of pyarrow as a matrix."""
    options = how.table
    for name, given, allowed in (("missing", options.missing, MISSING), ("scale", options.scale, SCALES)):
        if given not in allowed:
            raise FormatError(f"{name}={given!r} was given; allowed: {', '.join(allowed)}.")
    if table.num_rows == 0:
        raise FormatError(f"{path} has no rows.")
    table = flat(table)
    refuse_unknown(path, table, options)
    if how.plain is not None:
        return Table(table if how.plain == slice(None) else table.take(np.arange(table.num_rows)[how.plain]))
    ids = None if options.id is None else ids_of(path, options.id, table)
    has_labels = options.label is not None and options.label in table.column_names
    classes = classes_of(table.column(str(options.label)).to_pylist()) if has_labels else None
    beside = {name: table.column(name) for name in options.beside if name in table.column_names}
    others = replace(_others(path, table, options, ids), ids=ids, classes=classes, beside=beside)
    fields = {
        name: ["" if text is None else str(text) for text in table.column(name).to_pylist()] for name in options.text
    }
    if others.X is None and not fields:
        if options.given:
            raise FormatError(
                f"{path} has none of the columns that the model was fitted with, which are {first_of(options.given)}; "
                f"allowed: all of them, by their names. It has {first_of(table.column_names)}."
            )
        besides = ", ".join(sorted(filter(None, special(options))))
        raise FormatError(f"{path} has no columns besides {besides}.")
    return blended(fields, others, how) if fields else others


def flat(table: Any) -> Any:
    """Columns within a column become columns: `user.name`."""
    import pyarrow.types

    while any(pyarrow.types.is_struct(kind) for kind in table.schema.types):
        table = table.flatten()
    return table


def special(options: TableOptions) -> set[str | None]:
    """Columns that do not become features: ids, labels, documents, and those to leave out."""
    return {options.id, options.label, *options.text, *options.ignore}


def refuse_unknown(path: str, table: Any, options: TableOptions) -> None:
    """Raise if a column is named that the table does not have, or has twice."""
    names = table.column_names
    repeated = sorted(name for name, n in Counter(names).items() if n > 1)
    if repeated:
        raise FormatError(f"{path} has several columns named {repeated[0]!r}; allowed: one of each name.")
    for name in filter(None, (options.id, options.label, *options.text, *options.ignore, *options.beside)):
        if name not in names and name not in options.optional:
            raise FormatError(f"{path} has no column {name!r}; it has {first_of(names)}.")


def first_of(names: Sequence[str]) -> str:
    """The first of some names, for a message."""
    return ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")


def _matrix(parts: Parts) -> Any:
    if not any(sp.issparse(part) for part, _ in parts):
        return np.hstack([part for part, _ in parts])
    return sp.hstack([sp.csr_array(part) for part, _ in parts], format="csr")


def ids_of(path: str, name: str, table: Any) -> list[str]:
    """A column that names rows, each once."""
    ids = [str(value) for value in table.column(name).to_pylist()]
    refuse_repeated(f"{path}, column {name!r}", ids)
    return ids


def _others(path: str, table: Any, options: TableOptions, ids: list[str] | None) -> Table:
    """The columns that are no documents."""
    known = () if options.text_only else options.given or table.column_names  # a model does not look at others
    wanted = set(known) - special(options)
    used = [name for name in table.column_names if name in wanted]
    columns = [Column(path, name, table.column(name), options, ids) for name in used]
    parts = [part for column in columns for part in column.parts()]
    return Table(
        _matrix(parts) if parts else None,
        names=[name for _, names in parts for name in names] if parts else None,
        means={column.name: column.mean for column in columns if column.mean is not None},
        categories=[column.name for column in columns if column.is_category],
        notes=[text for column in columns for text in column.notes],
        scales={name: scale for column in columns for name, scale in column.scales.items()},
        given=[column.name for column in columns],
        dates={column.name: column.first_day for column in columns if column.first_day is not None},
    )
