"""Find the outliers according to the labels of a file, for comparing scores, never for training."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .classes import Classes, is_text, shown
from .table import FormatError, Table


def outliers_named(path: str, table: Table, outlier: float | str) -> npt.NDArray[np.bool_]:
    """Return a mask of the rows labelled as outliers; raise unless some rows, but not all, have that label."""
    if table.classes is None:
        raise FormatError(
            f"{path} holds no labels; name their column with --label, or give ramodo evaluate a table of them with "
            "--labels."
        )
    truth = _are(table.classes, outlier)
    if truth.all() or not truth.any():
        values, counts = np.unique(table.classes, return_counts=True)
        found = ", ".join(f"{shown(v)} ({n:,} rows)" for v, n in zip(values[:10], counts[:10], strict=True))
        rows = "every row" if truth.all() else "no row"
        advice = "add rows that are not outliers" if truth.all() else "say which of them means outlier with --outlier"
        raise FormatError(
            f"{path} must have outliers and other rows, but {rows} has the label {shown(outlier)}, configured as "
            f"outlier. Its labels are {found}: {advice}."
        )
    return truth


def _are(classes: Classes, label: float | str) -> npt.NDArray[np.bool_]:
    if is_text(classes):
        return np.asarray(classes == shown(label))
    try:
        return np.asarray(classes == float(label))
    except ValueError:  # a word, where labels are numbers
        return np.zeros(len(classes), dtype=np.bool_)


def outliers_in(path: str, table: Table) -> npt.NDArray[np.bool_] | None:
    """Return a mask of the rows labelled 1; None if there are no labels, or they do not mark outliers."""
    try:
        return outliers_named(path, table, 1.0)
    except FormatError:
        return None
