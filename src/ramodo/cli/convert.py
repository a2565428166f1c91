"""`ramodo convert`: convert one format to another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from ..data.validation import open_block
from ..files.npz import write_npz
from ..files.whole import write_whole
from ..formats import FormatError, Table, folder, svmlight
from ..formats.classes import is_text, shown
from . import output as files
from .console import bar, note
from .source import Source, threads_of

TARGETS = (".rows", ".npz", ".svm", ".mtx")


def run_convert(path: str, source: Source, output: str, *, threads: int | None, quiet: bool) -> None:
    """Read and write; svmlight is converted to a folder block by block."""
    suffix = files.refuse_target(output, TARGETS)
    n_threads = threads_of(threads)
    source.refuse_flags(path)
    kind = source.format_at(path)
    if suffix == ".rows" and kind.pieces is not None:
        progress = bar("converting", "MB", quiet)
        how = replace(source.how(kind, n_threads), show=progress.show)
        n_rows, n_features = folder.write_pieces(output, path, kind.pieces(path, how))
        progress.clear()
    else:
        table = _checked(path, source.read(path, n_threads, quiet), n_threads)
        n_rows, n_features = table.X.shape
        _refuse_words(output, suffix, table)
        _write(output, suffix, table)
    note(f"{output}: {n_rows:,} rows, {n_features:,} features", quiet)


def _checked(path: str, table: Table, n_threads: int) -> Table:
    """Return the table with its rows checked like any input, their features sorted and unique."""
    rows = open_block(table.X, name=path, n_threads=n_threads)
    return replace(table, X=sp.csr_array(rows.to_matrix()))


def _refuse_words(output: str, suffix: str, table: Table) -> None:
    """Raise for labels that are text: these files hold only numbers."""
    if suffix in (".rows", ".svm") and table.classes is not None and is_text(table.classes):
        raise FormatError(
            f"{output}: labels in {suffix} must be numbers, got text such as {shown(table.classes[0])}. Write .npz, or "
            "leave their column out with --ignore."
        )


def _write(output: str, suffix: str, table: Table) -> None:
    if suffix == ".rows":
        folder.write(output, table)
        return
    matrix: Any = table.X

    def write(temporary: str) -> None:
        if suffix == ".npz":
            write_npz(temporary, _arrays(table))
            return
        with open(temporary, "wb") as file:
            if suffix == ".mtx":
                scipy.io.mmwrite(file, matrix)
            else:
                svmlight.write(file, matrix, table.classes)

    write_whole(Path(output), write)


def _arrays(table: Table) -> dict[str, Any]:
    """Return the matrix in the layout of scipy's npz files, with labels, ids and names of columns if known."""
    matrix: Any = table.X
    arrays: dict[str, Any] = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
    arrays |= {"shape": np.array(matrix.shape), "format": np.array(b"csr")}
    for name, values in (("y", table.classes), ("names", table.names), ("ids", table.ids)):
        if values is not None:
            arrays[name] = np.array(values)
    return arrays
