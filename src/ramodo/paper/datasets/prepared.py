"""Sets as npz files: prepared ones in the folder that RAMODO_DATA names, and those that conversions write."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ...files.full_disk import is_the_systems
from ...files.npz import write_npz
from ...files.whole import write_whole
from ...formats import FormatError


@dataclass(frozen=True)
class LabeledData:
    """Rows, their truth (1 = outlier), more outliers if a class was downsampled, and where all this comes from.

    X is sparse; for the dense sets of `load_dataset` it is an array.
    """

    X: Any
    y: npt.NDArray[np.int8]
    pool: sp.csr_array | None
    origin: str = ""


def data_folder() -> Path | None:
    """Return the folder of prepared sets in RAMODO_DATA; None if that is not set."""
    named = os.environ.get("RAMODO_DATA")
    return Path(named) if named and Path(named).is_dir() else None


def load_prepared(name: str) -> LabeledData:
    """Return one set by the name of its file."""
    folder = data_folder()
    if folder is None:
        raise FileNotFoundError("No folder of prepared sets: name one in the environment variable RAMODO_DATA.")
    path = folder / f"{name}.npz"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in folder.glob("*.npz")))
        raise FileNotFoundError(f"{folder} has no set {name!r}; it has: {known}.")
    return read_prepared(path)


def read_prepared(path: Path) -> LabeledData:
    """Return a set from its file: CSR arrays by name, or one dense matrix X; `y`; and the pool's CSR arrays."""
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
            pool = _csr(file, "pool_") if "pool_data" in file else None
            X = file["X"] if "X" in file else _csr(file, "")
            return LabeledData(X, file["y"], pool, str(path))
    except Exception as error:  # numpy and zipfile raise many kinds of errors
        if is_the_systems(error):
            raise
        reason = str(error).rstrip(".") or type(error).__name__
        raise FormatError(
            f"{path} is not a prepared set: {reason}. If it is in the cache, remove it: it will be made again."
        ) from None


def write_prepared(path: Path, data: LabeledData) -> None:
    """Write a set to a file that `read_prepared` reads."""
    arrays: dict[str, Any] = {"y": data.y, **(_arrays("", data.X) if sp.issparse(data.X) else {"X": data.X})}
    if data.pool is not None:
        arrays |= _arrays("pool_", data.pool)
    write_whole(path, lambda temporary: write_npz(temporary, arrays, compressed=True))


def _arrays(prefix: str, matrix: sp.csr_array) -> dict[str, Any]:
    return {
        f"{prefix}data": matrix.data,
        f"{prefix}indices": matrix.indices,
        f"{prefix}indptr": matrix.indptr.astype(np.int64),
        f"{prefix}shape": np.array(matrix.shape, dtype=np.int64),
    }


def _csr(file: np.lib.npyio.NpzFile, prefix: str) -> sp.csr_array:
    indices, indptr = file[f"{prefix}indices"], file[f"{prefix}indptr"]
    if len(indices) < 2**31:
        indptr = indptr.astype(indices.dtype)  # scipy widens both to the wider of the two
    parts = file[f"{prefix}data"], indices, indptr
    return sp.csr_array(parts, shape=tuple(int(n) for n in file[f"{prefix}shape"]))
