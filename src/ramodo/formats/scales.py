"""Scales of numbers, so that no column drowns out the others, learned from the training rows and kept in the model.

Two unrelated rows are about √2 apart in one scaled column, since its variance is 1. Two different categories are √2
apart too, and so are two typical documents (text_and_columns.py). So all columns of a table have the same weight.

    auto       columns of 0 to 1 are unchanged; columns of mostly zeros keep their zeros, and other values become
               typically 1, as for a category; columns without negative values and with a heavy tail are replaced by
               logarithms, then scaled to mean 0 and variance 1; all others only to mean 0 and variance 1
    standard   mean 0, variance 1
    robust     median 0, and half of the values within 1.349, as in a normal distribution of variance 1
    log        the logarithm of 1 + value, and no more; below zero, that of the size, negative: see also expression.py
    none       as they are
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Doubles = npt.NDArray[np.float64]

_NORMAL = 1.349
"""Distance between the quartiles of a normal distribution of variance 1."""

_MOSTLY = 0.5
"""Minimum share of zeros in a column for keeping them."""

_SMALLEST = 1e-100
"""Smaller values count as 0 when a scale is learned, since dividing by them might overflow."""

_HEAVY = 2.5
"""A tail is heavy if the median is this many times as far from the 90th percentile as from the 10th: 1 where both
sides are alike, 1.8 for the size of a normal number, 2.7 for an exponential one."""


class Scale(NamedTuple):
    """The scale of one column: (g(value) - center) / width, where g is ln(1 + value / unit), or nothing for unit 0."""

    center: float = 0.0
    width: float = 1.0
    unit: float = 0.0

    def apply(self, values: Any) -> Any:
        """Return scaled values, as the detector gets them."""
        return (_logarithms(values, self.unit) if self.unit else values) / self.width - self.center / self.width

    @classmethod
    def learned(cls, values: Doubles, how: str) -> Self:
        """Learn the scale of a column with these values; none may be missing."""
        if how == "none" or len(values) == 0:
            return cls()
        values = _without_tiny(values)
        if how == "auto":
            return cls(*_auto(values))
        if how == "log":
            return cls(unit=1.0)
        if how == "robust":
            low, middle, high = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
            if high > low:
                return cls(middle, (high - low) / _NORMAL)
        return cls(*_mean_and_deviation(values))


def _without_tiny(values: Doubles) -> Doubles:
    return np.where(np.abs(values) < _SMALLEST, 0.0, values)


def _logarithms(values: Any, unit: Any) -> Any:
    return np.sign(values) * np.log1p(np.abs(values) / unit)


def _typical_size(values: Doubles) -> float:
    there = np.abs(values[values != 0])
    return float(np.median(there)) if len(there) else 1.0


def _mean_and_deviation(values: Doubles) -> tuple[float, float]:
    """Return mean and deviation, which is 1 for a constant column. Values are scaled down, as squares can overflow."""
    largest = float(np.abs(values).max()) or 1.0
    small = values / largest
    deviation = float(small.std()) * largest
    return float(small.mean()) * largest, deviation if np.ptp(small) > 0 and deviation > 0 else 1.0


def _auto(values: Doubles) -> tuple[float, float, float]:
    if _are_shares(values):
        return 0.0, 1.0, 0.0
    there = values[values != 0]
    unit = _typical_size(values) if values.min() >= 0 and _is_heavy(there) else 0.0
    if len(values) - len(there) >= _MOSTLY * len(values):
        return 0.0, _root_mean_square(_logarithms(there, unit) if unit else there), unit
    return *_mean_and_deviation(_logarithms(values, unit) if unit else values), unit


def _are_shares(values: Doubles) -> bool:
    """Return whether values are from 0 to 1, like flags and probabilities, and not all far below 1."""
    return bool(values.min() >= 0 and (values.max() == 0 or 0.5 <= values.max() <= 1))


def _is_heavy(values: Doubles) -> bool:
    low, middle, high = np.quantile(values, (0.1, 0.5, 0.9)).tolist()
    return bool(high - middle > _HEAVY * (middle - low))


def _root_mean_square(values: Doubles) -> float:
    largest = float(np.abs(values).max())
    return largest * float(np.sqrt(np.mean((values / largest) ** 2)))


def of_block(values: Doubles, how: str) -> list[Scale]:
    """Return scales of columns that belong together, like an embedding: with auto, all have the same width.

    This keeps directions, and the block as a whole has variance 1, like a single column.
    """
    if how != "auto":
        return [Scale.learned(column, how) for column in values.T]
    values = _without_tiny(values)
    largest = float(np.abs(values).max(initial=0.0)) or 1.0
    small = values / largest
    width = float(np.sqrt(small.var(axis=0).sum())) * largest or 1.0
    return [Scale(center, width) for center in (small.mean(axis=0) * largest).tolist()]


def of_matrix(X: Any, how: str) -> list[Scale]:
    """Return scales of the columns of a matrix. Sparse columns are not centred, so zeros stay zeros."""
    if not sp.issparse(X):
        return [Scale.learned(np.asarray(column, dtype=np.float64), how) for column in np.asarray(X).T]
    columns = sp.csc_array(X)
    found = []
    for begin, end in zip(columns.indptr[:-1].tolist(), columns.indptr[1:].tolist(), strict=True):
        there = columns.data[begin:end].astype(np.float64)
        there = there[np.abs(there) >= _SMALLEST]
        found.append(_of_sparse(there, how) if len(there) else Scale())
    return found


def _of_sparse(there: Doubles, how: str) -> Scale:
    if how == "auto" and _are_shares(there):
        return Scale()
    if how == "log":
        return Scale(unit=1.0)
    unit = _typical_size(there) if how == "auto" and there.min() >= 0 and _is_heavy(there) else 0.0
    return Scale(0.0, _root_mean_square(_logarithms(there, unit) if unit else there), unit)


class Scales:
    """The scales of many columns, as arrays."""

    def __init__(self, scales: Sequence[Scale]) -> None:
        table = np.array(scales, dtype=np.float64).reshape(-1, 3)
        self.center, self.width, self.unit = table.T

    def apply(self, X: Any) -> Any:
        """Return a scaled copy of a matrix."""
        if not sp.issparse(X):
            return self._scaled(np.asarray(X, dtype=np.float64), slice(None))
        centred = np.flatnonzero(self.center)
        scaled = sp.csr_array(X, dtype=np.float64, copy=True)
        scaled.data = np.where(np.isin(scaled.indices, centred), 0.0, self._scaled(scaled.data, scaled.indices))
        if len(centred) == 0:
            return scaled
        full = self._scaled(sp.csc_array(X)[:, centred].toarray(), centred)  # here a zero is a value like any other
        places = sp.csr_array((np.ones(len(centred)), (np.arange(len(centred)), centred)), (len(centred), X.shape[1]))
        scaled.eliminate_zeros()
        return sp.csr_array(scaled + sp.csr_array(full) @ places)

    def _scaled(self, values: Any, columns: Any) -> Any:
        unit, width = self.unit[columns], self.width[columns]
        taken = np.where(unit > 0, _logarithms(values, np.where(unit > 0, unit, 1.0)), values)
        return taken / width - self.center[columns] / width

    def undo(self, columns: Any, values: Any) -> Doubles:
        """Return values of these columns as the user knows them."""
        unit, width, center = self.unit[columns], self.width[columns], self.center[columns]
        plain = np.asarray(values, dtype=np.float64) * width + center
        logged = np.where(unit > 0, plain, 0.0)
        given = np.where(unit > 0, np.sign(logged) * np.expm1(np.abs(logged)) * unit, plain)
        size = np.maximum(np.abs(center), width) * np.where(unit > 0, unit, 1.0)
        return _rounded(given, size)


_DIGITS = 1e7
"""Significant digits of a value of the typical size of its column, as many as single precision has."""


def _rounded(values: Doubles, size: Doubles) -> Doubles:
    """Round to the user's values: scaling back and forth has changed the last digits."""
    power = np.floor(np.log10(np.maximum(np.abs(values), size) / _DIGITS))
    up, down = 10.0 ** np.maximum(-power, 0), 10.0 ** np.maximum(power, 0)  # 1e7 is exact, 1e-7 is not
    return np.asarray(np.rint(values * up / down) / up * down)
