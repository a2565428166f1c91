"""Rows as Arrow has them: a record batch, or a table, whose columns are found by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..formats import FormatError, Table
from ..formats.assembling import first_of, flat
from ..formats.table import RowError
from ..formats.text import as_table
from .json_rows import sparse_table
from .model_rows import PLACE, ModelReading

INDICES, VALUES, FEATURES = "indices", "values", "features"
"""Columns of lists: numbers and values of the features that a row has, or the values of all."""


def table_of(batch: Any, reading: ModelReading) -> Table:
    """The rows as the model's features; columns that the model does not know are left out."""
    names = batch.schema.names
    if batch.num_rows == 0:
        raise FormatError(f"{PLACE} has no rows.")
    if reading.kind == "text":
        if reading.text not in names:
            raise FormatError(
                f"{PLACE} has no column {reading.text!r}, which holds the text; it has {first_of(names)}."
            )
        texts = ["" if text is None else str(text) for text in batch.column(reading.text).to_pylist()]
        return as_table(texts, reading.how())
    if reading.kind == "features" and INDICES in names and VALUES in names:
        return _of_sparse(batch, reading)
    if reading.kind == "features" and FEATURES in names:
        return _of_dense(batch, reading)
    return reading.of_table(_columns(batch, reading))


def ids_of(batch: Any, reading: ModelReading) -> list[str | None]:
    """The id of each row that has one."""
    if reading.learned.id is None or reading.learned.id not in batch.schema.names:
        return [None] * batch.num_rows
    return [None if value is None else str(value) for value in batch.column(reading.learned.id).to_pylist()]


def _columns(batch: Any, reading: ModelReading) -> Any:
    import pyarrow

    batch = flat(pyarrow.Table.from_batches([batch]) if isinstance(batch, pyarrow.RecordBatch) else batch)
    names = batch.schema.names
    there = set(names)
    wanted = [name for name in reading.columns if name in there] if reading.columns else names
    twice = next((name for name in wanted if names.count(name) > 1), None)
    if twice is not None:
        raise FormatError(f"{PLACE} has several columns named {twice!r}; allowed: one of each name.")
    if not wanted:
        raise FormatError(f"{PLACE} has none of the model's columns, which are {first_of(reading.columns)}.")
    return batch.select(wanted)


def _of_sparse(batch: Any, reading: ModelReading) -> Table:
    indices, lengths = _lists(batch, INDICES)
    values, others = _lists(batch, VALUES)
    if not np.array_equal(lengths, others):
        row = int(np.argmax(lengths != others))
        raise RowError(
            PLACE, row, f"{lengths[row]} indices and {others[row]} values were given; allowed: as many of each."
        )
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    places = indices.astype(np.int64) - reading.first
    wrong = (places < 0) | (places >= reading.detector.n_features_in_)
    if wrong.any():
        at = int(np.argmax(wrong))
        row, last = int(np.searchsorted(indptr, at, side="right")) - 1, reading.detector.n_features_in_ - 1
        raise RowError(
            PLACE,
            row,
            f"the feature {places[at] + reading.first} was given; allowed: numbers from {reading.first} to "
            f"{last + reading.first}.",
        )
    return sparse_table(indptr, places, values, reading)


def _of_dense(batch: Any, reading: ModelReading) -> Table:
    values, lengths = _lists(batch, FEATURES)
    width = reading.detector.n_features_in_
    if (lengths != width).any():
        row = int(np.argmax(lengths != width))
        raise RowError(
            PLACE, row, f"{lengths[row]} values were given; allowed: the {width:,} that the model was fitted to."
        )
    return reading.of_matrix(values.astype(np.float64).reshape(-1, width))


def _lists(batch: Any, name: str) -> tuple[Any, Any]:
    """All values of a column of lists, and how many of them each row has."""
    import pyarrow
    import pyarrow.compute as pc
    import pyarrow.types as t

    column = batch.column(name)
    kind = column.type
    is_list = t.is_list(kind) or t.is_large_list(kind) or t.is_fixed_size_list(kind)
    if not is_list or not (t.is_integer(kind.value_type) or t.is_floating(kind.value_type)):
        raise FormatError(f"{PLACE}, column {name!r} holds {kind}; allowed: lists of numbers.")
    if column.null_count:
        raise RowError(PLACE, pc.index(pc.is_null(column), True).as_py(), f"column {name!r} is null; allowed: a list.")
    flat, lengths = pc.list_flatten(column), pc.list_value_length(column)
    if isinstance(flat, pyarrow.ChunkedArray):
        flat, lengths = flat.combine_chunks(), lengths.combine_chunks()
    counts = lengths.to_numpy(zero_copy_only=False).astype(np.int64)
    if flat.null_count:
        at = pc.index(pc.is_null(flat), True).as_py()
        row = int(np.searchsorted(np.cumsum(counts), at, side="right"))
        raise RowError(PLACE, row, f"column {name!r} has a null in its list; allowed: numbers.")
    return flat.to_numpy(zero_copy_only=False), counts
