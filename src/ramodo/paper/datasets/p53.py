"""p53: UCI's K8.data, `5408 numbers, active|inactive,`, in a zip file or by itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...formats import FormatError
from .archives import file_in_zip
from .labelled_lines import fill, read_lines, scale
from .prepared import LabeledData

_COLUMNS, _MOST_BYTES = 5408, 1 << 32


def convert(files: Sequence[Path], seed: int) -> LabeledData:
    """Active mutants are outliers."""
    (path,) = files
    if path.suffix == ".zip":
        with file_in_zip(path, "K8.data", _MOST_BYTES) as file:
            values, classes = read_lines(str(path), file, _COLUMNS)
    else:
        with open(path, "rb") as stream:
            values, classes = read_lines(str(path), stream, _COLUMNS)
    unknown = sorted(set(classes) - {"active", "inactive"})
    if unknown:
        raise FormatError(f"a class of {path} must be 'active' or 'inactive', got {unknown[0]!r}.")
    y = np.array([label == "active" for label in classes], dtype=np.int8)
    fill(values)
    scale(values)
    return LabeledData(values, y, None)
