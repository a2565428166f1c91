"""Labels as in a file: numbers if all of them are, else text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

Classes = npt.NDArray[Any]
"""float64 or str."""


def classes_of(values: Iterable[Any]) -> Classes:
    """Return one label per row; a missing one is 0 among numbers and empty among text. Booleans become 1 and 0."""
    given = [None if value is None or value == "" or value != value else value for value in values]  # NaN is not NaN
    try:
        return np.array([0.0 if value is None else float(value) for value in given], dtype=np.float64)
    except (TypeError, ValueError):
        return np.array(["" if value is None else str(value) for value in given], dtype=np.str_)


def is_text(classes: Classes) -> bool:
    """Return whether the labels are text."""
    return classes.dtype.kind == "U"


def shown(label: Any) -> str:
    """Return a label for a message, with quotes around text that is invisible."""
    if isinstance(label, str):
        return label if label.strip() else repr(str(label))
    return f"{label:g}"
