"""`ramodo convert`: one format into another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from ..formats import FormatError, Table, folder, format_of, svmlight
from ..formats.opening import suffixes_of
from ..whole_file import write_whole
from .console import note
from .reading import Source, threads_of

TARGETS = (".rows", ".npz", ".svm", ".mtx")


def run_convert(path: str, source: Source, output: str, *, threads: int | None, quiet: bool) -> None:
    """Read, write; svmlight to a folder block by block."""
    suffix = (suffixes_of(output) or [""])[-1]
    if suffix not in TARGETS:
        raise FormatError(f"{output}: cannot write {suffix or 'a file without suffix'}; allowed: {', '.join(TARGETS)}.")
    n_threads = threads_of(threads)
    if suffix == ".rows" and format_of(path, source.format) == "svmlight":
        n_rows, n_features = stream_to_folder(path, output, source.zero_based, n_threads)
    else:
        table = source.read(path, n_threads)
        n_rows, n_features = table.X.shape
        _write(output, suffix, table)
    note(f"{output}: {n_rows:,} rows, {n_features:,} features", quiet)


def stream_to_folder(path: str, output: str, zero_based: bool | None, n_threads: int) -> tuple[int, int]:
    """An svmlight file of any size, in memory for one block. Whether indices begin at 0 is seen in the first block."""
    shift, largest, n_rows = None, -1, 0
    with folder.writing(output) as place, folder.FolderWriter(place) as writer:
        for block in svmlight.blocks(path, n_threads=n_threads):
            if shift is None:
                shift = svmlight.shift_of(path, block.smallest, zero_based)
            if block.smallest >= 0 and block.smallest < shift:
                raise FormatError(
                    f"{path} has an index 0 after a first part without; say how its indices begin, with --zero-based."
                )
            indptr, indices, data = svmlight.sorted_block(path, block, n_rows)
            writer.add(indptr, indices - shift, data, block.labels)
            largest, n_rows = max(largest, block.largest), n_rows + len(block.labels)
        if n_rows == 0:
            raise FormatError(f"{path} has no rows.")
        n_features = max(1, largest + 1 - (shift or 0))
        writer.finish(n_features)
    return n_rows, n_features


def _write(output: str, suffix: str, table: Table) -> None:
    if suffix == ".rows":
        folder.write(output, table)
        return
    matrix = sp.csr_array(table.X)
    labels = np.zeros(matrix.shape[0]) if table.classes is None else table.classes

    def write(temporary: str) -> None:
        with open(temporary, "wb") as file:
            if suffix == ".mtx":
                scipy.io.mmwrite(file, matrix)
            elif suffix == ".svm":
                from sklearn.datasets import dump_svmlight_file

                dump_svmlight_file(sp.csr_matrix(matrix), labels, file, zero_based=False)
            else:
                arrays: dict[str, Any] = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
                arrays |= {"shape": np.array(matrix.shape), "format": np.array(b"csr"), "y": labels}
                if table.names is not None:
                    arrays["names"] = np.array(table.names, dtype=str)
                np.savez(file, **arrays)

    write_whole(Path(output), write)
