"""Make one matrix of the columns of a table, by its schema or by a newly learned one; see columns.py.

A column with columns inside becomes these, such as `user.country`. Documents become tokens: see text_and_columns.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import expression
from .classes import classes_of
from .columns import ColumnReader
from .format import How
from .schema import MISSING, SCALES, Schema
from .table import FormatError, Table, first_of, lacking, refuse_repeated
from .text_and_columns import with_texts


def assembled(path: str, table: Any, how: How) -> Table:
    """Return a pyarrow table as a matrix."""
    schema = how.schema
    for name, given, allowed in (("missing", schema.missing, MISSING), ("scale", schema.scale, SCALES)):
        if given not in allowed:
            raise FormatError(f"{name} must be one of {', '.join(allowed)}, got {given!r}.")
    table = flat(table)
    refuse_unknown(
        path, table, (schema.id, schema.label, schema.within, *schema.text, *schema.ignore, *how.beside), how.optional
    )
    if how.plain is not None:
        return Table(table if how.plain == slice(None) else table.take(np.arange(table.num_rows)[how.plain]))
    ids = None if schema.id is None else ids_of(path, schema.id, table)
    there = set(table.column_names)
    has_labels = schema.label is not None and schema.label in there
    classes = classes_of(table.column(str(schema.label)).to_pylist()) if has_labels else None
    texts, others = _used(path, table, schema)
    of_genes = expression.of_table(path, table, others, how) if others else None
    if of_genes is not None:
        X, schema, notes = of_genes
        beside = {name: table.column(name) for name in how.beside if name in there}
        return Table(X, ids=ids, classes=classes, schema=schema, notes=notes, beside=beside)
    readers = [ColumnReader(path, name, table.column(name), how, ids) for name in others]
    read = [reader.read() for reader in readers]
    parts = [part for _, matrices in read for part in matrices]
    found = Table(
        _matrix(parts) if parts else None,
        ids=ids,
        classes=classes,
        schema=replace(schema, columns=tuple(column for column, _ in read)),
        notes=[text for reader in readers for text in reader.notes],
        beside={name: table.column(name) for name in how.beside if name in there},
        unseen=[reader.unseen for reader in readers if reader.unseen is not None],
    )
    fields = {name: _texts_of(path, name, table.column(name)) for name in texts}
    return with_texts(fields, found, how) if fields else found


def _texts_of(path: str, name: str, column: Any) -> list[str]:
    try:
        return ["" if text is None else str(text) for text in column.to_pylist()]
    except (OverflowError, ValueError) as error:  # dates that Python cannot hold, or bytes that are not UTF-8
        raise FormatError(f"{path}, column {name!r} must hold text, got {column.type}: {error}.") from None


def _used(path: str, table: Any, schema: Schema) -> tuple[list[str], list[str]]:
    """Return the names of columns of documents, and of others that become features; for a model, only its columns."""
    if schema.columns:
        texts, others = ([column.name for column in some] for some in (schema.texts, schema.others))
        there = set(table.column_names)
        absent = [name for name in (*texts, *others) if name not in there]
        if absent:
            raise FormatError(lacking(path, table.column_names, others or texts, absent))
        return texts, others
    special = {schema.id, schema.label, *schema.text, *schema.ignore}
    others = [name for name in table.column_names if name not in special]
    if not others and not schema.text:
        raise FormatError(f"{path} has no columns besides {', '.join(sorted(filter(None, special)))}.")
    return list(schema.text), others


def flat(table: Any) -> Any:
    """Return the table with columns inside a column as separate columns: `user.name`."""
    import pyarrow.types

    while any(pyarrow.types.is_struct(kind) for kind in table.schema.types):
        table = table.flatten()
    return table


def refuse_unknown(path: str, table: Any, asked: Iterable[str | None], optional: Iterable[str] = ()) -> None:
    """Raise if the table lacks a requested column, or has it twice."""
    names = table.column_names
    there = set(names)
    if len(there) < len(names):
        twice = min(name for name, n in Counter(names).items() if n > 1)
        raise FormatError(f"{path} must have one column of each name, got several named {twice!r}.")
    for name in filter(None, asked):
        if name not in there and name not in optional:
            raise FormatError(f"{path} has no column {name!r}; it has {first_of(names)}.")


def _matrix(parts: Sequence[Any]) -> Any:
    """Put matrices side by side, sparse if one of them is. Each is copied once; SciPy takes three times the memory."""
    if not any(map(sp.issparse, parts)):
        return np.hstack(parts)
    lengths = sum(np.diff(part.indptr) if sp.issparse(part) else (part != 0).sum(axis=1) for part in parts)
    ends, width = np.concatenate([[0], np.cumsum(lengths)]), sum(part.shape[1] for part in parts)
    kind = np.int32 if max(ends[-1], width) < 2**31 else np.int64
    data, indices = np.empty(ends[-1]), np.empty(ends[-1], dtype=kind)
    at, first = ends[:-1].copy(), 0
    for part in parts:
        if sp.issparse(part):
            own = np.diff(part.indptr)
            places = np.repeat(at - part.indptr[:-1], own) + np.arange(part.nnz)
            data[places], indices[places] = part.data, part.indices + first
            at += own
        else:
            for number, column in enumerate(part.T):
                there = column != 0
                places = at[there]
                data[places], indices[places] = column[there], first + number
                at += there
        first += part.shape[1]
    return sp.csr_array((data, indices, ends.astype(kind)), shape=(len(lengths), width))


def ids_of(path: str, name: str, table: Any) -> list[str]:
    """Return the column that names rows, after checking that each name occurs once."""
    ids = [str(value) for value in table.column(name).to_pylist()]
    refuse_repeated(f"{path}, column {name!r}", ids)
    return ids
