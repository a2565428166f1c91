"""Rows as Arrow has them: a record batch, or a table, whose columns are found by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..formats import FormatError, Table
from ..formats.assembling import flat
from ..formats.tabular import with_all_names
from ..formats.text import as_table
from . import json_rows
from .reading import PLACE, ModelReading, RowError

INDICES, VALUES, FEATURES = "indices", "values", "features"
"""Columns of lists: numbers and values of the features that a row has, or the values of all."""


def opened(given: Any) -> Any:
    """Rows of any library that speaks Arrow as a table of pyarrow."""
    import pyarrow

    try:
        if isinstance(given, pyarrow.RecordBatch):
            given = pyarrow.Table.from_batches([given])
        elif type(given).__module__.partition(".")[0] == "pandas":
            given = pyarrow.Table.from_pandas(given, preserve_index=False)
        elif hasattr(given, "__arrow_c_stream__"):
            given = pyarrow.table(given)
    except pyarrow.ArrowException as error:
        raise FormatError(f"{PLACE} cannot be read as Arrow: {_reason(error)}.") from None
    if not isinstance(given, pyarrow.Table):
        raise FormatError(
            f"score takes a table of pyarrow, pandas, polars, DuckDB or another library that speaks Arrow, got "
            f"{type(given).__name__}. For lists of dicts, strings or values use score_rows."
        )
    return with_all_names(given)


def table_of(batch: Any, reading: ModelReading) -> Table:
    """The rows as the model's features; columns that the model does not know are left out."""
    names = batch.schema.names
    if batch.num_rows == 0:
        raise FormatError(f"{PLACE} has no rows.")
    if reading.kind == "text":
        if reading.text not in names:
            raise FormatError(f"{PLACE} has no column {reading.text!r}, which holds the text; it has {_some(names)}.")
        texts = _as_fitted(reading.text, column_of(batch, reading.text), reading).to_pylist()
        return as_table([text or "" for text in texts], reading.how())
    if reading.kind == "features" and INDICES in names and VALUES in names:
        return _of_sparse(batch, reading)
    if reading.kind == "features" and FEATURES in names:
        return _of_dense(batch, reading)
    if reading.kind == "features" and reading.names is None:
        if names and all(map(str.isdigit, names)):
            return _of_numbered(batch, reading)
        if len(names) != reading.detector.n_features_in_:
            raise FormatError(
                f"{PLACE} must have lists in the columns 'indices' and 'values', or in 'features', or columns named "
                f"by the numbers of features, got {_some(names) or 'no columns'}."
            )
    return reading.of_table(_columns(batch, reading))


def column_of(batch: Any, name: str) -> Any:
    """The only column of this name."""
    if batch.schema.names.count(name) > 1:
        raise FormatError(f"{PLACE} has several columns named {name!r}; allowed: one of each name.")
    return batch.column(name)


def _columns(batch: Any, reading: ModelReading) -> Any:
    import pyarrow

    batch = flat(batch)
    names = batch.schema.names
    known = reading.names is not None or reading.documents
    wanted = [name for name in reading.columns if name in names] if known else names
    if not wanted:
        raise FormatError(f"{PLACE} has none of the model's columns, which are {_some(reading.columns)}.")
    return pyarrow.table({name: _as_fitted(name, column_of(batch, name), reading) for name in wanted})


def _as_fitted(name: str, column: Any, reading: ModelReading) -> Any:
    """A column with a type that files may have: text for categories and documents, even where they are numbers."""
    import pyarrow

    try:
        return _converted(name, column, reading)
    except (pyarrow.ArrowException, UnicodeDecodeError) as error:
        raise FormatError(f"{PLACE}, column {name!r}: {_reason(error)}.") from None


def _converted(name: str, column: Any, reading: ModelReading) -> Any:
    import pyarrow
    import pyarrow.types as t

    kind = column.type
    if t.is_dictionary(kind):
        # Polars' categories are of a type that pyarrow cannot cast.
        texts = _is_text(kind.value_type)
        plain = pyarrow.array(column.to_pylist(), pyarrow.string()) if texts else column.cast(kind.value_type)
        return _converted(name, plain, reading)
    is_list = t.is_list(kind) or t.is_large_list(kind) or t.is_fixed_size_list(kind)
    options, is_date = reading.table_options, t.is_timestamp(kind) or t.is_date(kind)
    if reading.kind == "text" or name in options.text or name in options.categories:
        if t.is_integer(kind) or t.is_boolean(kind):
            return column.cast(pyarrow.string())
        if name in options.categories and is_list and _is_text(kind.value_type):
            return column.cast(pyarrow.large_list(pyarrow.large_string()))
        if not _is_text(kind):
            raise FormatError(f"{PLACE}, column {name!r} holds {kind}; allowed: text, as the model was fitted to.")
        return column.cast(pyarrow.large_string())
    if _is_text(kind) and not t.is_null(kind):
        return json_rows.as_in_csv(column.to_pylist())
    if name in options.numbers and (is_list or (is_date and options.scale != "none")):
        raise FormatError(f"{PLACE}, column {name!r} holds {kind}; allowed: numbers, as the model was fitted to.")
    return column


def _is_text(kind: Any) -> bool:
    """Whether values are text, or absent altogether."""
    import pyarrow.types as t

    is_view = hasattr(t, "is_string_view") and t.is_string_view(kind)
    return bool(t.is_string(kind) or t.is_large_string(kind) or t.is_null(kind) or is_view)


def _of_numbered(batch: Any, reading: ModelReading) -> Table:
    """Columns named by the numbers of features, all of them or some: a row lacks those that are null."""
    import pyarrow.types as t

    if len(batch.schema.names) == reading.detector.n_features_in_:
        by_number = sorted(batch.schema.names, key=int)
        if by_number == [str(place + reading.first) for place in range(len(by_number))]:
            return reading.of_table(_columns(batch.select(by_number), reading))
    rows: list[dict[str, float]] = [{} for _ in range(batch.num_rows)]
    for name in batch.schema.names:
        column = column_of(batch, name)
        if not (t.is_integer(column.type) or t.is_floating(column.type) or t.is_null(column.type)):
            raise FormatError(f"{PLACE}, column {name!r} holds {column.type}; allowed: numbers.")
        for row, value in zip(rows, column.to_pylist(), strict=True):
            if value is not None:
                row[name] = value
    return json_rows.table_of(rows, reading)


def _of_sparse(batch: Any, reading: ModelReading) -> Table:
    indices, lengths = _lists(batch, INDICES)
    values, others = _lists(batch, VALUES)
    if not np.array_equal(lengths, others):
        row = int(np.argmax(lengths != others))
        raise RowError(row, f"{lengths[row]} indices and {others[row]} values were given; allowed: as many of each.")
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    places = indices.astype(np.int64) - reading.first
    wrong = (places < 0) | (places >= reading.detector.n_features_in_)
    if wrong.any():
        at = int(np.argmax(wrong))
        row, last = int(np.searchsorted(indptr, at, side="right")) - 1, reading.detector.n_features_in_ - 1
        raise RowError(
            row,
            f"the feature {places[at] + reading.first} was given; allowed: numbers from {reading.first} to "
            f"{last + reading.first}.",
        )
    return json_rows.sparse_table(indptr, places, values, reading)


def _of_dense(batch: Any, reading: ModelReading) -> Table:
    values, lengths = _lists(batch, FEATURES)
    width = reading.detector.n_features_in_
    if (lengths != width).any():
        row = int(np.argmax(lengths != width))
        raise RowError(row, f"{lengths[row]} values were given; allowed: the {width:,} that the model was fitted to.")
    return Table(values.astype(np.float64).reshape(-1, width), names=reading.names)


def _lists(batch: Any, name: str) -> tuple[Any, Any]:
    """All values of a column of lists, and how many of them each row has."""
    import pyarrow
    import pyarrow.compute as pc
    import pyarrow.types as t

    column = column_of(batch, name)
    kind = column.type
    is_list = t.is_list(kind) or t.is_large_list(kind) or t.is_fixed_size_list(kind)
    if not is_list or not (t.is_integer(kind.value_type) or t.is_floating(kind.value_type)):
        raise FormatError(f"{PLACE}, column {name!r} holds {kind}; allowed: lists of numbers.")
    if column.null_count:
        raise RowError(pc.index(pc.is_null(column), True).as_py(), f"column {name!r} is null; allowed: a list.")
    flat, lengths = pc.list_flatten(column), pc.list_value_length(column)
    if isinstance(flat, pyarrow.ChunkedArray):
        flat, lengths = flat.combine_chunks(), lengths.combine_chunks()
    counts = lengths.to_numpy(zero_copy_only=False).astype(np.int64)
    if flat.null_count:
        at = pc.index(pc.is_null(flat), True).as_py()
        row = int(np.searchsorted(np.cumsum(counts), at, side="right"))
        raise RowError(row, f"column {name!r} has a null in its list; allowed: numbers.")
    return flat.to_numpy(zero_copy_only=False), counts


def _some(names: Any) -> str:
    return ", ".join(list(names)[:10]) + (", ..." if len(names) > 10 else "")


def _reason(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
