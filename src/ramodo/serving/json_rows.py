"""Rows in JSON form: strings, objects and lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, compress
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..formats import FormatError, Table, records
from ..formats.json_values import as_text, brief
from ..formats.table import first_of
from ..formats.text import as_table
from .model_rows import PLACE, ModelReading, row_error

Row = str | Mapping[str, Any] | Sequence[Any]


def table_of(rows: Sequence[Row], reading: ModelReading) -> Table:
    """Return the rows with the model's features. Raise `FormatError`, which names the faulty row."""
    if not rows:
        raise FormatError(f"{PLACE} has no rows.")
    if reading.kind == "text":
        texts = [_text(number, row, reading) for number, row in enumerate(rows)]
        return as_table(texts, reading.how())
    if reading.kind == "record":
        return _of_records(rows, reading)
    first = rows[0]
    if isinstance(first, Mapping):
        return _of_sparse(rows, reading)
    if isinstance(first, str) or not isinstance(first, Sequence):
        raise row_error(0, f"a row must be {{feature: value}} or a list of all values, got {brief(first)}.")
    return _of_dense(rows, reading)


def ids_of(rows: Sequence[Row], reading: ModelReading) -> list[str | None]:
    """Return the id of each row that has one."""
    given = [row.get(reading.learned.id or "") if isinstance(row, Mapping) else None for row in rows]
    return [None if id is None else as_text(str(id)) for id in given]


def _text(number: int, row: Row, reading: ModelReading) -> str:
    given = row.get(reading.text) if isinstance(row, Mapping) else row
    if isinstance(given, str):
        return given
    raise row_error(
        number, f"a row must be a string, or an object with a string under {reading.text!r}, got {brief(row)}."
    )


def _of_records(rows: Sequence[Row], reading: ModelReading) -> Table:
    found = []
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise row_error(number, f"a row must be an object of columns and values, got {brief(row)}.")
        found.append(records.dotted(row, f"{PLACE}, row {number}"))
    if not any(name in row for row in found for name in reading.columns):
        raise FormatError(f"{PLACE} has none of the model's columns, which are {first_of(reading.columns)}.")
    # A column that no row has counts as missing, as in requests where another row has it.
    return records.table_of(PLACE, found, reading.how())


def _of_sparse(rows: Sequence[Row], reading: ModelReading) -> Table:
    """Read all rows at once. If that fails, go through them one by one to find the faulty row."""
    if not all(isinstance(row, Mapping) for row in rows):
        _refuse(rows, reading)
    columns = _places(list(chain.from_iterable(rows)), reading)
    if columns is None:
        _refuse(rows, reading)
    known = columns >= 0  # features that the model does not know are left out, as from files
    ends = np.cumsum([0, *(len(row) for row in rows)])
    indptr = np.concatenate([[0], np.cumsum(known)])[ends]
    _refuse_strangers(rows, indptr, reading)
    given = chain.from_iterable(row.values() for row in rows)  # type: ignore[union-attr]
    values = _numbers(list(compress(given, known.tolist())))
    if values is None:
        _refuse(rows, reading)
    return sparse_table(indptr, columns[known], values, reading)


def _refuse_strangers(rows: Sequence[Row], indptr: npt.NDArray[np.int64], reading: ModelReading) -> None:
    """Raise if the model knows none of a row's features: the row would look empty."""
    for number in np.flatnonzero(np.diff(indptr) == 0).tolist():
        if rows[number]:
            raise row_error(
                number,
                f"a feature must be one of the model's, such as {first_of((reading.schema.names or [])[:3])}, got "
                f"{brief(next(iter(rows[number])))} and no feature that it knows.",
            )


def _numbers(given: list[Any]) -> npt.NDArray[np.float64] | None:
    """Return values as an array; None if one of them is not a finite number."""
    if not set(map(type, given)) <= {int, float}:
        return None
    try:
        values = np.array(given, dtype=np.float64)
    except OverflowError:
        return None
    return values if np.isfinite(values).all() else None


def _places(names: list[str], reading: ModelReading) -> npt.NDArray[np.int64] | None:
    """Return the column of each feature, -1 for a name unknown to the model, or None if one is no column number."""
    if reading.places is not None:
        return np.array([reading.places.get(name, -1) for name in names], dtype=np.int64)
    together = "".join(names)
    if not (together.isascii() and together.isdigit() and all(names) and max(map(len, names)) < 19):
        return np.empty(0, dtype=np.int64) if not names else None
    columns = np.array(list(map(int, names)), dtype=np.int64) - reading.first
    return columns if columns.min() >= 0 and columns.max() < reading.detector.n_features_in_ else None


def _refuse(rows: Sequence[Row], reading: ModelReading) -> NoReturn:
    """Raise for the first row whose features are wrong."""
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise row_error(number, f"a row must be {{feature: value}}, as in the first row, got {brief(row)}.")
        for name, value in row.items():
            if reading.places is None:
                _refuse_unknown(number, name, reading)
            if reading.places is None or name in reading.places:
                _feature(number, name, value)
    raise AssertionError("nothing is wrong with these rows")


def sparse_table(indptr: Any, indices: Any, values: Any, reading: ModelReading) -> Table:
    """Return the rows of a CSR matrix with the model's width; indices start at 0 and are checked."""
    width = reading.detector.n_features_in_
    matrix = sp.csr_array((len(indptr) - 1, width), dtype=np.float64)
    kind = np.int32 if width < 2**31 else np.int64
    matrix.indptr, matrix.indices, matrix.data = indptr.astype(np.int64), indices.astype(kind), values.astype(float)
    if kind is np.int32:
        matrix.indptr = matrix.indptr.astype(np.int32)
    return reading.of_matrix(matrix)


def _refuse_unknown(row: int, name: str, reading: ModelReading) -> None:
    """Raise if a feature's name is not the number of a column."""
    last = reading.first + reading.detector.n_features_in_ - 1
    if not (name.isascii() and name.isdigit() and len(name) < 19 and reading.first <= int(name) <= last):
        raise row_error(row, f"a feature must be a number from {reading.first} to {last}, got {brief(name)}.")


def _feature(row: int, name: str, value: Any) -> None:
    """Raise for an unusable value of a feature."""
    if _numbers([value]) is None:
        raise row_error(row, f"the feature {brief(name)} must have a finite number, got {brief(value)}.")


def _of_dense(rows: Sequence[Row], reading: ModelReading) -> Table:
    width = reading.detector.n_features_in_
    matrix = np.empty((len(rows), width))
    for number, row in enumerate(rows):
        if isinstance(row, str | Mapping) or not isinstance(row, Sequence) or len(row) != width:
            given = f"{len(row)} values" if isinstance(row, list) else brief(row)
            raise row_error(
                number, f"a row must be a list of {width:,} values, as the model was fitted to, got {given}."
            )
        values = _numbers(list(row))
        if values is None:
            for column, value in enumerate(row):
                _feature(number, str(column), value)
        matrix[number] = values
    return reading.of_matrix(matrix)
