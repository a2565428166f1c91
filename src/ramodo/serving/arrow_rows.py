"""Rows in Arrow form: a record batch, or a table, whose columns are found by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..formats import FormatError, Table, frames
from ..formats.assembling import flat
from ..formats.columns import kind_of
from ..formats.table import first_of
from ..formats.text import as_table
from . import json_rows
from .model_rows import PLACE, ModelReading, row_error

INDICES, VALUES, FEATURES = "indices", "values", "features"
"""Columns of lists: numbers and values of the features that a row has, or the values of all features."""


def opened(given: Any) -> Any:
    """Return rows of any library that supports Arrow as a pyarrow table."""
    if not (frames.is_frame(given) or hasattr(given, "__arrow_c_stream__")):
        raise FormatError(
            f"score takes a table of pyarrow, pandas, polars, DuckDB or another library that supports Arrow, got "
            f"{type(given).__name__}. For lists of dicts, strings or values use score_rows."
        )
    return frames.as_arrow(given, PLACE)


def table_of(batch: Any, reading: ModelReading) -> Table:
    """Return the rows with the model's features, leaving out columns that the model does not know."""
    names = batch.schema.names
    if batch.num_rows == 0:
        raise FormatError(f"{PLACE} has no rows.")
    if reading.kind == "text":
        if reading.text not in names:
            raise FormatError(
                f"{PLACE} has no column {reading.text!r}, which holds the text; it has {first_of(names)}."
            )
        return as_table(_texts(batch, reading.text), reading.how())
    if reading.kind == "features" and INDICES in names and VALUES in names:
        return _of_sparse(batch, reading)
    if reading.kind == "features" and FEATURES in names:
        return _of_dense(batch, reading)
    if reading.kind == "features" and reading.schema.names is None:
        if names and all(map(str.isdigit, names)):
            return _of_numbered(batch, reading)
        if len(names) != reading.detector.n_features_in_:
            raise FormatError(
                f"{PLACE} must have lists in the columns 'indices' and 'values', or in 'features', or columns named "
                f"by the numbers of features, got {first_of(names) or 'no columns'}."
            )
    return reading.of_table(_columns(batch, reading))


def column_of(batch: Any, name: str) -> Any:
    """Return the only column of this name."""
    if batch.schema.names.count(name) > 1:
        raise FormatError(f"{PLACE} must have one column of each name, got several named {name!r}.")
    return batch.column(name)


def _columns(batch: Any, reading: ModelReading) -> Any:
    import pyarrow

    batch = flat(batch)
    there = set(batch.schema.names)
    wanted = [name for name in reading.columns if name in there] if reading.columns else batch.schema.names
    if not wanted:
        raise FormatError(f"{PLACE} has none of the model's columns, which are {first_of(reading.columns)}.")
    return pyarrow.table({name: column_of(batch, name) for name in wanted})


def _texts(batch: Any, name: str) -> list[str]:
    """Documents: text, or integers and booleans as they are written."""
    import pyarrow
    import pyarrow.types as t

    column = column_of(batch, name)
    try:
        if t.is_dictionary(column.type) and kind_of(column.type.value_type) != "category":
            column = column.cast(column.type.value_type)
        plain = column.cast(pyarrow.string()) if t.is_integer(column.type) or t.is_boolean(column.type) else column
        if not (t.is_null(plain.type) or kind_of(plain.type) == "category"):
            raise FormatError(f"{PLACE}, column {name!r} must hold text, as the model was fitted to, got {plain.type}.")
        return ["" if text is None else str(text) for text in plain.to_pylist()]
    except (pyarrow.ArrowException, UnicodeDecodeError) as error:
        raise FormatError(f"{PLACE}, column {name!r}: {_reason(error)}.") from None


def _of_numbered(batch: Any, reading: ModelReading) -> Table:
    """Read columns named by the numbers of all or some features; null means that the row lacks the feature."""
    import pyarrow.types as t

    if len(batch.schema.names) == reading.detector.n_features_in_:
        by_number = sorted(batch.schema.names, key=int)
        if by_number == [str(place + reading.first) for place in range(len(by_number))]:
            return reading.of_table(_columns(batch.select(by_number), reading))
    rows: list[dict[str, float]] = [{} for _ in range(batch.num_rows)]
    for name in batch.schema.names:
        column = column_of(batch, name)
        if not (t.is_integer(column.type) or t.is_floating(column.type) or t.is_null(column.type)):
            raise FormatError(f"{PLACE}, column {name!r} must hold numbers, got {column.type}.")
        for row, value in zip(rows, column.to_pylist(), strict=True):
            if value is not None:
                row[name] = value
    return json_rows.table_of(rows, reading)


def _of_sparse(batch: Any, reading: ModelReading) -> Table:
    indices, lengths = _lists(batch, INDICES)
    values, others = _lists(batch, VALUES)
    if not np.array_equal(lengths, others):
        row = int(np.argmax(lengths != others))
        raise row_error(
            row, f"there must be a value for each index, got {lengths[row]} indices and {others[row]} values."
        )
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    places = indices.astype(np.int64) - reading.first
    wrong = (places < 0) | (places >= reading.detector.n_features_in_)
    if wrong.any():
        at = int(np.argmax(wrong))
        row, last = int(np.searchsorted(indptr, at, side="right")) - 1, reading.detector.n_features_in_ - 1
        raise row_error(
            row,
            f"a feature must be a number from {reading.first} to {last + reading.first}, got "
            f"{places[at] + reading.first}.",
        )
    return json_rows.sparse_table(indptr, places, values, reading)


def _of_dense(batch: Any, reading: ModelReading) -> Table:
    values, lengths = _lists(batch, FEATURES)
    width = reading.detector.n_features_in_
    if (lengths != width).any():
        row = int(np.argmax(lengths != width))
        raise row_error(row, f"there must be {width:,} values, as the model was fitted to, got {lengths[row]}.")
    return reading.of_matrix(values.astype(np.float64).reshape(-1, width))


def _lists(batch: Any, name: str) -> tuple[Any, Any]:
    """Return all values of a column of lists, and how many of them each row has."""
    import pyarrow
    import pyarrow.compute as pc
    import pyarrow.types as t

    column = column_of(batch, name)
    kind = column.type
    is_list = t.is_list(kind) or t.is_large_list(kind) or t.is_fixed_size_list(kind)
    if not is_list or not (t.is_integer(kind.value_type) or t.is_floating(kind.value_type)):
        raise FormatError(f"{PLACE}, column {name!r} must hold lists of numbers, got {kind}.")
    if column.null_count:
        raise row_error(pc.index(pc.is_null(column), True).as_py(), f"column {name!r} must be a list, got null.")
    flat, lengths = pc.list_flatten(column), pc.list_value_length(column)
    if isinstance(flat, pyarrow.ChunkedArray):
        flat, lengths = flat.combine_chunks(), lengths.combine_chunks()
    counts = lengths.to_numpy(zero_copy_only=False).astype(np.int64)
    if flat.null_count:
        at = pc.index(pc.is_null(flat), True).as_py()
        row = int(np.searchsorted(np.cumsum(counts), at, side="right"))
        raise row_error(row, f"column {name!r} must hold a list of numbers, got a null in it.")
    return flat.to_numpy(zero_copy_only=False), counts


def _reason(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
