"""Write scores and matrices to files, in the format of their suffix; each file whole or not at all."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..explain.explanation import Reason, RowExplanation
from ..explain.naming import in_words
from ..extras import pip_install
from ..files import spreadsheets
from ..files.npz import write_npz
from ..files.whole import write_whole
from ..formats import FormatError, Table
from ..options import OptionError
from ..terminal.escaping import escape_controls
from .records import AS_GIVEN, INTEGER, REAL, REASONS, TEXT, Records

SCORES, MATRICES = (".csv", ".jsonl", ".parquet", ".npz"), (".npy", ".npz", ".csv", ".parquet")
"""Suffixes of the files that can be written."""


def write_records(path: str, records: Records, lines: str = "csv") -> None:
    """Write records to a file in the format of its suffix, or to standard output (-) as lines of CSV or JSON."""
    if path == "-":
        sys.stdout.writelines(for_output(records, lines))
        return
    writers: dict[str, Callable[[str, Records], None]] = {
        ".csv": lambda temporary, given: _write_lines(temporary, csv_lines(given)),
        ".jsonl": lambda temporary, given: _write_lines(temporary, json_lines(given)),
        ".parquet": _write_parquet,
        ".npz": _write_npz,
    }
    suffix = refuse_target(path, SCORES)
    try:
        write_whole(Path(path), lambda temporary: writers[suffix](temporary, records))
    except Exception as error:  # pyarrow's errors share no base class
        if type(error).__module__.split(".")[0] != "pyarrow":
            raise
        said = str(error).splitlines()[0].rstrip(".")
        raise FormatError(f"{path} could not be written: {said}. Write .jsonl or .csv, which take any value.") from None


def for_output(records: Records, lines: str = "csv", header: bool = True) -> Iterable[str]:
    """Return lines for standard output; on a terminal, control characters are escaped."""
    if lines == "jsonl":
        return json_lines(records)  # which escapes them already
    return csv_lines(records, header, escape_controls if sys.stdout.isatty() else str)


def refuse_target(path: str, suffixes: tuple[str, ...] | None) -> str:
    """Return the suffix of a file to write; raise, before any work is done, if it cannot be written."""
    suffix, target = Path(path).suffix.lower(), Path(path).resolve()
    if suffixes is not None and suffix not in suffixes:
        raise OptionError(f"{path} must end in {', '.join(suffixes)}, got {suffix or 'no suffix'}.")
    if not target.parent.is_dir():
        raise OptionError(f"{path} cannot be written: the folder {target.parent} does not exist. Create it first.")
    if target.exists() and not target.is_file() and suffix != ".rows":
        raise OptionError(f"{path} must be a file, got {'a folder' if target.is_dir() else 'a pipe or a device'}.")
    if not os.access(target.parent, os.W_OK):
        raise OptionError(f"{path} cannot be written: you have no permission to write to the folder {target.parent}.")
    return suffix


def csv_lines(records: Records, header: bool = True, shown: Callable[[str], str] = str) -> Iterable[str]:
    """Return lines of a CSV file whose text no spreadsheet takes for a formula."""
    return spreadsheets.csv_lines(chain([records.names] * header, _readable(records).rows()), shown)


def json_lines(records: Records) -> Iterable[str]:
    """Return a JSON object for each row."""
    for row in _changed(records, _as_json).rows():
        yield json.dumps(dict(zip(records.names, row, strict=True)), default=str) + "\n"


def _as_json(value: Any) -> Any:
    """Return the value for JSON, which has no NaN; reasons become objects."""
    if isinstance(value, RowExplanation):
        return [_reason(reason) for reason in value.reasons]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _reason(reason: Reason) -> dict[str, Any]:
    return {"feature": reason.feature, "value": reason.value, "contribution": reason.contribution}


def _readable(records: Records) -> Records:
    """The records with each cell as in CSV: reasons as one line of text, missing values empty, true and false."""

    def cell(value: Any) -> Any:
        if isinstance(value, RowExplanation):
            return in_words(value.reasons)
        if isinstance(value, bool):
            return str(value).lower()
        return "" if value is None else value if isinstance(value, int | float) else str(value)

    return _changed(records, cell)


def _changed(records: Records, change: Callable[[Any], Any]) -> Records:
    """Return the records with `change` applied to all values but plain text and numbers, which all formats share."""
    plain = (TEXT, REAL, INTEGER)
    columns = records.columns
    return Records(tuple(c if c.kind in plain else replace(c, values=list(map(change, c.values))) for c in columns))


def _write_lines(path: str, lines: Iterable[str]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.writelines(lines)


def _write_parquet(path: str, records: Records) -> None:
    pyarrow, parquet = _arrow(path)
    pair = [("feature", pyarrow.string()), ("value", pyarrow.float64()), ("contribution", pyarrow.float64())]
    types = {
        TEXT: pyarrow.string(),
        REAL: pyarrow.float64(),
        INTEGER: pyarrow.int64(),
        REASONS: pyarrow.list_(pyarrow.struct(pair)),
    }
    arrays = {}
    for column in records.columns:
        values = [_as_json(value) for value in column.values] if column.kind == REASONS else column.values
        arrays[column.name] = pyarrow.array(values, type=types.get(column.kind, column.type))
    parquet.write_table(pyarrow.table(arrays), path)


def _write_npz(path: str, records: Records) -> None:
    """Write numbers as numbers; everything else, and columns with missing values, as text."""
    arrays = {}
    for given, column in zip(records.columns, _readable(records).columns, strict=True):
        are_numbers = given.kind in (REAL, INTEGER) or (given.kind == AS_GIVEN and _are_numbers(given.values))
        kind = {REAL: np.float64, INTEGER: np.int64}.get(given.kind)
        arrays[column.name] = np.array(given.values, kind) if are_numbers else np.array(column.values, dtype=np.str_)
    write_npz(path, arrays)


def _are_numbers(values: Sequence[Any]) -> bool:
    return len(values) > 0 and all(isinstance(value, int | float) for value in values)


def write_matrix(path: str, matrix: npt.NDArray[np.float32], table: Table) -> None:
    """Write the representation, one row for each row of the data."""
    writers: dict[str, Callable[[str], None]] = {
        ".npy": lambda temporary: _save(temporary, matrix),
        ".npz": lambda temporary: write_npz(temporary, {"arr_0": matrix}),
        ".csv": lambda temporary: _matrix_csv(temporary, matrix, table),
        ".parquet": lambda temporary: _matrix_parquet(temporary, matrix, table),
    }
    write_whole(Path(path), writers[refuse_target(path, MATRICES)])


def _save(path: str, matrix: npt.NDArray[np.float32]) -> None:
    with open(path, "wb") as file:  # np.save would add a suffix to a path
        np.save(file, matrix)


def _matrix_csv(path: str, matrix: npt.NDArray[np.float32], table: Table) -> None:
    header = ["id", *[f"c{i}" for i in range(matrix.shape[1])]]
    rows = ([table.id_of(row), *values.tolist()] for row, values in enumerate(matrix))
    _write_lines(path, spreadsheets.csv_lines(chain([header], rows)))


def _matrix_parquet(path: str, matrix: npt.NDArray[np.float32], table: Table) -> None:
    pyarrow, parquet = _arrow(path)
    columns = {"id": [table.id_of(row) for row in range(len(matrix))]}
    parquet.write_table(pyarrow.table({**columns, **{f"c{i}": matrix[:, i] for i in range(matrix.shape[1])}}), path)


def _arrow(path: str) -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise FormatError(f"{path}: .parquet files need the package pyarrow: {pip_install('files')}.") from None
    return pyarrow, pyarrow.parquet
