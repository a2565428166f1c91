"""Ready-made npz files of real sets, in the folder that RAMODO_DATA names."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp


@dataclass(frozen=True)
class LabeledData:
    """Rows, their truth (1 = outlier), and further outliers where a class was downsampled."""

    X: sp.csr_array
    y: npt.NDArray[np.int8]
    pool: sp.csr_array | None


def data_folder() -> Path | None:
    """The folder of prepared sets: RAMODO_DATA, else `../shared/data` beside the project; None where there is none."""
    named = os.environ.get("RAMODO_DATA")
    folder = Path(named) if named else Path.cwd() / ".." / "shared" / "data"
    return folder if folder.is_dir() else None


def load_prepared(name: str) -> LabeledData:
    """One set by the name of its file."""
    folder = data_folder()
    if folder is None:
        raise FileNotFoundError("No folder of prepared sets: name one in the environment variable RAMODO_DATA.")
    path = folder / f"{name}.npz"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in folder.glob("*.npz")))
        raise FileNotFoundError(f"{name!r} was asked for; {folder} has: {known}.")
    with np.load(path, allow_pickle=False) as file:
        pool = _csr(file, "pool_") if "pool_data" in file else None
        return LabeledData(_csr(file, ""), file["y"], pool)


def _csr(file: np.lib.npyio.NpzFile, prefix: str) -> sp.csr_array:
    indices, indptr = file[f"{prefix}indices"], file[f"{prefix}indptr"]
    if len(indices) < 2**31:
        indptr = indptr.astype(indices.dtype)  # scipy widens both to the wider of the two
    parts = file[f"{prefix}data"], indices, indptr
    return sp.csr_array(parts, shape=tuple(int(n) for n in file[f"{prefix}shape"]))
