"""Labels of rows: 1 for a known outlier, -1 for a known inlier, 0 for unknown."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ..options import option_error
from .blocks import Block
from .rows import Rows
from .validation import DataError

Labels = npt.NDArray[np.int8]


def read_labels(given: object, n_rows: int, name: str = "labels") -> Labels:
    """Return `given` as int8: 1 known outlier, -1 known inlier, 0 unknown; None is all unknown. Errors say `name`."""
    if given is None:
        return np.zeros(n_rows, dtype=np.int8)
    values = np.asarray(given)
    if values.shape not in ((n_rows,), (n_rows, 1)):
        raise option_error(name, f"one label for each of the {n_rows} rows", f"an array of shape {values.shape}")
    values = values.reshape(-1)
    known = np.isin(values, (-1, 0, 1)) if values.dtype.kind in "biuf" else np.zeros(n_rows, dtype=bool)
    if not known.all():
        first = int(np.flatnonzero(~known)[0])
        known_labels = "1 (known outlier), -1 (known inlier) or 0 (unknown)"
        raise option_error(f"{name}[{first}]", known_labels, repr(values.tolist()[first]))
    return values.astype(np.int8)


def read_numbers(given: object, n_rows: int) -> npt.NDArray[np.int64]:
    """Return `given` as row numbers, from 0; raise `OptionError` if it holds anything else."""
    values = np.atleast_1d(np.asarray(given))
    whole = values.ndim == 1 and len(values) > 0 and values.dtype.kind in "iu"
    if not whole or values.min() < 0 or values.max() >= n_rows:
        raise option_error("rows", f"row numbers of X, from 0 to {n_rows - 1}", repr(given))
    return values.astype(np.int64)


def warn_of_predictions(labels: Labels) -> None:
    """Warn if every row has a label and most are 1: `predict` returns such arrays, but with the opposite meaning."""
    if (labels != 0).all() and (labels == 1).sum() > (labels == -1).sum():
        warnings.warn(
            f"labels mark {int((labels == 1).sum()):,} of {len(labels):,} rows as known outliers: in labels 1 is a "
            "known outlier, -1 a known inlier and 0 unknown. `predict` uses the opposite signs, 1 for inliers and -1 "
            "for outliers; if the labels come from `predict`, pass -labels or leave them out.",
            UserWarning,
            stacklevel=4,
        )


def refuse_contradictions(rows: Rows, labels: Labels, outliers: Block | None, inliers: Block | None) -> None:
    """Raise `DataError` if the same row is given both as a known outlier and as a known inlier.

    Equal rows of X may have different labels in `labels`: they stand for different objects.
    """
    if outliers is None and inliers is None:
        return
    known_inliers = dict(_contents(inliers, "labeled_inliers")) if inliers is not None else {}
    for content, place in _contents(outliers, "labeled_outliers") if outliers is not None else ():
        if content in known_inliers:
            _refuse(place, known_inliers[content])
    if inliers is not None:
        for content, place in _contents_of(rows, np.flatnonzero(labels == 1)):
            if content in known_inliers:
                _refuse(f"{place} with the label 1", known_inliers[content])
    if outliers is not None and (labels == -1).any():
        known_outliers = dict(_contents(outliers, "labeled_outliers"))
        for content, place in _contents_of(rows, np.flatnonzero(labels == -1)):
            if content in known_outliers:
                _refuse(known_outliers[content], f"{place} with the label -1")


def _refuse(outlier: str, inlier: str) -> None:
    raise DataError(
        f"contradictory labels: {outlier} is given as an outlier and {inlier}, the same row, as an inlier. Keep one."
    )


def _contents(rows: Block, name: str) -> Iterator[tuple[bytes, str]]:
    for number in range(rows.n_rows):
        yield rows.part(number, number + 1).content(), f"row {number} of {name}"


def _contents_of(rows: Rows, numbers: npt.NDArray[np.int64]) -> Iterator[tuple[bytes, str]]:
    for (content, _), number in zip(_contents(rows.take(numbers), "X"), numbers, strict=True):
        yield content, f"row {number} of X"
