"""Scores and matrices to files, by suffix; written whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..files.npz import write_npz
from ..files.whole import write_whole
from ..formats import FormatError, Table
from ..insight.figures import percentiles
from ..options import OptionError
from ..terminal.escaping import escape_controls

Scores = npt.NDArray[np.float64]

COLUMNS = ("id", "score", "percentile", "flag")

SCORES, MATRICES = (".csv", ".jsonl", ".parquet", ".npz"), (".npy", ".npz", ".csv", ".parquet")
"""Suffixes of files that can be written."""


def rows_of(table: Table, scores: Scores, known: Scores, threshold: float, first: int = 0) -> Iterable[tuple[Any, ...]]:
    """id, score, percentile and flag of each row."""
    shares = percentiles(scores, known)
    for row, (score, share) in enumerate(zip(scores.tolist(), shares.tolist(), strict=True)):
        id = str(first + row) if table.ids is None else table.ids[row]
        yield id, score, round(share, 3), int(score >= threshold)


def write_scores(path: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Write rows of id, score, percentile and flag."""
    if path == "-":
        sys.stdout.writelines(csv_lines(for_output(rows)))
        return
    writers: dict[str, Callable[[str, list[tuple[Any, ...]]], None]] = {
        ".csv": _write_csv,
        ".jsonl": _write_jsonl,
        ".parquet": _write_parquet,
        ".npz": _write_npz,
    }
    suffix, all_rows = refuse_target(path, SCORES), list(rows)
    write_whole(Path(path), lambda temporary: writers[suffix](temporary, all_rows))


def for_output(rows: Iterable[tuple[Any, ...]]) -> Iterable[tuple[Any, ...]]:
    """Rows for standard output: unchanged for a program; on a terminal with control characters escaped."""
    if not sys.stdout.isatty():
        return rows
    return ((escape_controls(id), *rest) for id, *rest in rows)


def refuse_target(path: str, suffixes: tuple[str, ...] | None) -> str:
    """The suffix; raises, before any work is done, if the suffix or the folder does not allow a file."""
    suffix, target = Path(path).suffix.lower(), Path(path).resolve()
    if suffixes is not None and suffix not in suffixes:
        shown = suffix or "a file without suffix"
        raise OptionError(f"{path}: cannot write {shown}; allowed: {', '.join(suffixes)}.")
    if not target.parent.is_dir():
        raise OptionError(f"{path} was given; allowed: a file in a folder that exists.")
    if target.exists() and not target.is_file() and suffix != ".rows":
        raise OptionError(f"{path} was given, which is no file; allowed: a file, or a path where there is nothing.")
    if not os.access(target.parent, os.W_OK):
        raise OptionError(f"{path} was given; allowed: a file in a folder that can be written to.")
    return suffix


def csv_lines(rows: Iterable[tuple[Any, ...]], header: bool = True) -> Iterable[str]:
    """Lines of a CSV file."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    if header:
        writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow(row)
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue()


def _write_csv(path: str, rows: list[tuple[Any, ...]]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.writelines(csv_lines(rows))


def _write_jsonl(path: str, rows: list[tuple[Any, ...]]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(dict(zip(COLUMNS, row, strict=True))) + "\n")


def _write_parquet(path: str, rows: list[tuple[Any, ...]]) -> None:
    pyarrow, parquet = _arrow(path)
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    parquet.write_table(pyarrow.table(dict(zip(COLUMNS, map(list, columns), strict=True))), path)


def _write_npz(path: str, rows: list[tuple[Any, ...]]) -> None:
    ids, scores, shares, flags = list(zip(*rows, strict=True)) or [(), (), (), ()]
    arrays = dict(zip(COLUMNS, (np.array(ids, dtype=str), *map(np.array, (scores, shares, flags))), strict=True))
    write_npz(path, arrays)


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
    with open(path, "wb") as file:  # a path without suffix would get one
        np.save(file, matrix)


def _matrix_csv(path: str, matrix: npt.NDArray[np.float32], table: Table) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", *[f"c{i}" for i in range(matrix.shape[1])]])
        for row, values in enumerate(matrix):
            writer.writerow([table.id_of(row), *[float(v) for v in values]])


def _matrix_parquet(path: str, matrix: npt.NDArray[np.float32], table: Table) -> None:
    pyarrow, parquet = _arrow(path)
    columns = {"id": [table.id_of(row) for row in range(len(matrix))]}
    parquet.write_table(pyarrow.table({**columns, **{f"c{i}": matrix[:, i] for i in range(matrix.shape[1])}}), path)


def _arrow(path: str) -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise FormatError(f"{path}: .parquet files need the package pyarrow: pip install 'ramodo[files]'.") from None
    return pyarrow, pyarrow.parquet
