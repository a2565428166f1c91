"""npz files, closed at the first error: numpy's own writer tries again, and warns, when it is garbage-collected."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np


def write_npz(path: str, arrays: Mapping[str, Any], *, compressed: bool = False) -> None:
    """Write arrays by name, as `np.savez` does, but refuse arrays of objects."""
    method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", method, allowZip64=True) as archive:
        for name, values in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(values), allow_pickle=False)
