"""Rows on disk: a folder of memory-mapped arrays, for data larger than memory.

    big.rows/  meta.json  indptr.npy  indices.npy  data.npy  [classes.npy]

A folder is written under a temporary name and put in place in one step (folder_place.py), so it is whole or absent. It
is opened once, so that its arrays belong together. Fitting and scoring read parts of it when they need them.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..data.mapped import mapped_array
from ..data.validation import refuse_structure
from ..files.full_disk import is_the_systems, writing_to
from .folder_place import OpenFolder, attempts, opened, replacing
from .format import Format, Piece
from .table import FormatError, Table

VERSION = 1


class FolderWriter:
    """Appends rows; `finish` completes the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._types = {"indices": np.dtype(np.int64), "data": np.dtype(np.float64)}
        self._single = True
        self._files = {name: open(folder / f"{name}.raw", "wb") for name in self._types}  # noqa: SIM115
        self._lengths: list[npt.NDArray[np.int64]] = []
        self._classes: list[npt.NDArray[np.float64]] = []

    def add(self, indptr: Any, indices: Any, data: Any, classes: Any = None) -> None:
        """Append the rows of a block in CSR form."""
        self._lengths.append(np.diff(indptr))
        self._single &= bool(np.can_cast(np.asarray(data).dtype, np.float32))
        for name, values in (("indices", indices), ("data", data)):
            np.ascontiguousarray(values, dtype=self._types[name]).tofile(self._files[name])
        if classes is not None:
            self._classes.append(np.asarray(classes, dtype=np.float64))

    def finish(self, n_features: int) -> None:
        """Close the arrays and describe them."""
        lengths = np.concatenate(self._lengths) if self._lengths else np.empty(0, dtype=np.int64)
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        narrow = {
            "indices": np.int32 if n_features < 2**31 else np.int64,
            "data": np.float32 if self._single else np.float64,
        }
        for name, file in self._files.items():
            file.close()
            _narrowed(self._folder, name, self._types[name], np.dtype(narrow[name]), int(indptr[-1]))
        np.save(self._folder / "indptr.npy", indptr)
        if self._classes:
            np.save(self._folder / "classes.npy", np.concatenate(self._classes))
        meta = {"format": "ramodo rows", "version": VERSION, "n_rows": len(lengths), "n_features": int(n_features)}
        (self._folder / "meta.json").write_text(json.dumps(meta), encoding="utf-8")

    def close(self) -> None:
        """Close the files without finishing."""
        for file in self._files.values():
            file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _narrowed(folder: Path, name: str, given: np.dtype[Any], wanted: np.dtype[Any], n: int) -> None:
    """Turn a raw file into an npy file, in the smallest type that holds all values."""
    raw = folder / f"{name}.raw"
    with open(folder / f"{name}.npy", "wb") as out, open(raw, "rb") as source:
        np.lib.format.write_array_header_1_0(out, {"descr": wanted.str, "fortran_order": False, "shape": (n,)})
        while len(values := np.fromfile(source, given, 1 << 21)):
            values.astype(wanted).tofile(out)
    raw.unlink()


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Make a new folder that replaces `path` if all goes well, and is removed if not.

    Several processes may write at once: the last to finish wins.
    """
    target = Path(path).resolve()
    with writing_to(target), replacing(target, _is_rows_folder) as temporary:
        yield temporary


def _is_rows_folder(folder: OpenFolder) -> bool:
    try:
        folder.open("meta.json").close()
    except OSError:
        return False
    return True


def write(path: str | os.PathLike[str], table: Table) -> None:
    """Write a matrix in memory as a folder."""
    matrix = sp.csr_array(table.X)
    if not matrix.has_sorted_indices:
        matrix = matrix.sorted_indices()
    with writing(path) as folder, FolderWriter(folder) as writer:
        writer.add(matrix.indptr, matrix.indices, matrix.data, table.classes)
        writer.finish(matrix.shape[1])


def write_pieces(path: str | os.PathLike[str], source: str, pieces: Iterable[Piece]) -> tuple[int, int]:
    """Write a file of any size as a folder, one piece in memory at a time; returns its rows and features."""
    n_rows, n_features = 0, 1
    with writing(path) as folder, FolderWriter(folder) as writer:
        for piece in pieces:
            writer.add(piece.indptr, piece.indices, piece.data, piece.classes)
            n_rows, n_features = n_rows + len(piece.indptr) - 1, max(n_features, piece.width)
        if n_rows == 0:
            raise FormatError(f"{source} has no rows.")
        writer.finish(n_features)
    return n_rows, n_features


def read(path: str) -> Table:
    """Return the folder as a sparse matrix, over mapped arrays if they are large.

    Indices are checked when they are used, in one pass. If another process replaces the folder meanwhile, the result is
    either the old or the new one.
    """
    for _ in attempts():
        with opened(Path(path)) as folder:
            try:
                return _table(folder)
            except Exception as error:  # json and numpy raise many kinds
                if isinstance(error, FileNotFoundError) and folder.is_replaced():
                    continue
                if is_the_systems(error) and not isinstance(error, FileNotFoundError):
                    raise
                reason = str(error).rstrip(".") or type(error).__name__
                if isinstance(error, FileNotFoundError) and error.filename == "meta.json":
                    reason = "it has no meta.json; give a folder that ramodo convert wrote, or a file inside this one"
                raise FormatError(f"{path} is not a rows folder: {reason}.") from None
    raise FormatError(f"{path} is being replaced again and again; read it once this has stopped.")


def _table(folder: OpenFolder) -> Table:
    with folder.open("meta.json") as file:
        meta = json.load(file)
    if not isinstance(meta, dict) or meta.get("format") != "ramodo rows" or meta.get("version") != VERSION:
        raise ValueError("meta.json does not say so")
    n_rows, n_features = int(meta["n_rows"]), int(meta["n_features"])
    if not 1 <= n_features < 2**63:
        raise ValueError(f"it has {n_features} features")
    kinds = {"indptr": "iu", "indices": "iu", "data": "iuf"}
    arrays = {name: _mapped(folder, name, letters) for name, letters in kinds.items()}
    try:
        labels = _mapped(folder, "classes", "iuf")
    except FileNotFoundError:
        if folder.is_replaced():  # the file may have been there
            raise
        labels = None
    if arrays["indptr"].shape != (n_rows + 1,) or (labels is not None and labels.shape != (n_rows,)):
        raise ValueError("its arrays do not fit together")
    matrix = sp.csr_array((n_rows, n_features), dtype=arrays["data"].dtype)
    matrix.indptr = arrays["indptr"]
    matrix.indices, matrix.data = arrays["indices"], arrays["data"]
    refuse_structure(matrix, "it")
    return Table(matrix, classes=labels)


def _mapped(folder: OpenFolder, name: str, kinds: str) -> npt.NDArray[Any]:
    """Return one of its arrays; `indptr` and classes, which are small compared with the entries, are read to memory."""
    with folder.open(f"{name}.npy") as file:
        array = mapped_array(file, None if name in ("indices", "data") else sys.maxsize)
    if array.ndim != 1 or array.dtype.kind not in kinds:
        raise ValueError(f"{name}.npy holds {array.ndim} dimensions of {array.dtype}")
    return array


FORMATS = (
    Format(
        "rows",
        (".rows",),
        "A folder of memory-mapped arrays, for data larger than memory; `ramodo convert` writes one.",
        lambda path, how: read(path),
    ),
)
