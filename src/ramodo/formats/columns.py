"""One column of a table as columns of a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .table import FormatError, MissingValueError, TableOptions


class Column:
    """One column of a table, on its way to columns of a matrix."""

    def __init__(
        self, path: str, name: str, values: Any, options: TableOptions, ids: Sequence[str] | None = None
    ) -> None:
        self._path, self.name, self._values, self._options, self._ids = path, name, values, options, ids
        self.mean: float | None = None
        self.is_category = False

    def parts(self) -> list[tuple[Any, list[str]]]:
        """Matrices and the names of their columns."""
        import pyarrow

        try:
            return self._parts()
        except (pyarrow.ArrowException, UnicodeDecodeError, OverflowError) as error:
            raise FormatError(f"{self._path}, column {self.name!r}: {str(error).rstrip('.')}.") from None

    def _parts(self) -> list[tuple[Any, list[str]]]:
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.types as t

        kind = self._values.type
        if t.is_null(kind) and self.name not in self._options.categories:
            return self._numbers(np.full(len(self._values), np.nan))
        if any(test(kind) for test in (t.is_null, t.is_dictionary, t.is_string, t.is_large_string)):
            self.is_category = True
            return self._categories()
        if t.is_timestamp(kind) or t.is_date(kind):
            return self._numbers(_seconds(self._values))
        if any(test(kind) for test in (t.is_boolean, t.is_integer, t.is_floating, t.is_decimal)):
            numbers = pc.cast(self._values, pa.float64(), safe=False)
            return self._numbers(numbers.to_numpy(zero_copy_only=False).astype(np.float64))
        raise FormatError(
            f"{self._path}, column {self.name!r} holds {kind}; allowed: numbers, booleans, dates and text. Leave it "
            "out with --ignore."
        )

    def _numbers(self, numbers: npt.NDArray[np.float64]) -> list[tuple[Any, list[str]]]:
        gaps, missing = np.isnan(numbers), self._options.missing
        if missing == "mean":
            own = 0.0 if gaps.all() else float(np.nanmean(numbers))
            self.mean = self._options.means.get(self.name, own)
        if not gaps.any():
            return [(numbers[:, None], [self.name])]
        if missing == "error":
            self._refuse_gap(gaps)
        filling = 0.0 if self.mean is None else self.mean
        parts: list[tuple[Any, list[str]]] = [(np.where(gaps, filling, numbers)[:, None], [self.name])]
        if missing == "indicator":
            parts.append((gaps.astype(np.float64)[:, None], [f"{self.name} is missing"]))
        return parts

    def _refuse_gap(self, gaps: npt.NDArray[np.bool_]) -> None:
        raise MissingValueError(f"{self._path}, {self._row(int(np.argmax(gaps)))}, column {self.name!r}")

    def _row(self, number: int) -> str:
        """A row as the user knows it: by its id, or by its number, from 0, as scores have it."""
        return f"row {number}" if self._ids is None else f"row {self._ids[number]!r}"

    def _categories(self) -> list[tuple[Any, list[str]]]:
        """One column per value; a missing value has none of them, or one of its own for an indicator.

        Empty text is missing: CSV files cannot tell the two apart.
        """
        values = np.array([None if v is None or v == "" else str(v) for v in self._values.to_pylist()], dtype=object)
        gaps = np.array([v is None for v in values])
        if gaps.any() and self._options.missing == "error":
            self._refuse_gap(gaps)
        rows = np.flatnonzero(~gaps)
        kinds, codes = np.unique(values[rows], return_inverse=True) if len(rows) else (np.array([]), rows)
        matrix = sp.csr_array((np.ones(len(rows)), (rows, codes)), shape=(len(values), len(kinds)))
        parts: list[tuple[Any, list[str]]] = [(matrix, [f"{self.name}={kind}" for kind in kinds])]
        if gaps.any() and self._options.missing == "indicator":
            parts.append((gaps.astype(np.float64)[:, None], [f"{self.name} is missing"]))
        return parts


def _seconds(dates: Any) -> npt.NDArray[np.float64]:
    """Dates and times as seconds since 1970."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if dates.type == pa.date32():
        return pc.cast(dates, pa.int32()).to_numpy(zero_copy_only=False).astype(np.float64) * 86400
    a_second = {"s": 1e0, "ms": 1e3, "us": 1e6, "ns": 1e9}["ms" if dates.type == pa.date64() else dates.type.unit]
    return pc.cast(dates, pa.int64()).to_numpy(zero_copy_only=False).astype(np.float64) / a_second
