"""One column of a table as columns of a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from shlex import quote
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..data.validation import LARGEST, ValueRefusedError
from .circles import names_of_circle, on_circle
from .scales import Scale, Scales, of_block
from .table import FormatError, MissingValueError, TableOptions

Doubles = npt.NDArray[np.float64]
Parts = list[tuple[Any, list[str]]]
"""Matrices, and the names of their columns."""

_DAY, _THURSDAY = 86_400, 3
"""Seconds; and the weekday of the first day of 1970, counted from Monday."""

_MANY, _NEARLY_ALL = 20, 0.95
"""A column with this many values, this share of them distinct, probably names rows rather than describing them."""


class Column:
    """One column of a table, on its way to columns of a matrix."""

    def __init__(
        self, path: str, name: str, values: Any, options: TableOptions, ids: Sequence[str] | None = None
    ) -> None:
        self._path, self.name, self._values, self._options, self._ids = path, name, values, options, ids
        self.mean: float | None = None
        self.is_category = False
        self.notes: list[str] = []
        self.scales: dict[str, Scale] = {}
        self.first_day: int | None = None

    def parts(self) -> Parts:
        """Matrices and the names of their columns."""
        import pyarrow

        try:
            return self._parts()
        except (pyarrow.ArrowException, UnicodeDecodeError, OverflowError) as error:
            raise FormatError(f"{self._path}, column {self.name!r}: {str(error).rstrip('.')}.") from None

    def _parts(self) -> Parts:
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.types as t

        kind = self._values.type
        if t.is_null(kind) and self.name not in self._options.categories:
            nothing = np.full(len(self._values), np.nan)
            return self._dates(nothing) if self.name in (self._options.dates or ()) else self._numbers(nothing)
        if any(test(kind) for test in (t.is_null, t.is_dictionary, t.is_string, t.is_large_string)):
            if self.name in (self._options.dates or ()):
                self._refuse_text(np.array(self._values.to_pylist(), dtype=object), "dates")
            self.is_category = True
            return self._categories()
        if t.is_timestamp(kind) or t.is_date(kind):
            return self._dates(seconds_of(self._values))
        if self.name in (self._options.dates or ()):
            raise FormatError(f"{self._path}, column {self.name!r} holds {kind}; allowed: dates, as in the model.")
        if t.is_list(kind) or t.is_large_list(kind) or t.is_fixed_size_list(kind):
            if any(test(kind.value_type) for test in (t.is_null, t.is_string, t.is_large_string)):
                self.is_category = True
                return self._sets()
            return self._lists()
        if any(test(kind) for test in (t.is_boolean, t.is_integer, t.is_floating, t.is_decimal)):
            numbers = pc.cast(self._values, pa.float64(), safe=False)
            return self._numbers(numbers.to_numpy(zero_copy_only=False).astype(np.float64))
        raise FormatError(
            f"{self._path}, column {self.name!r} holds {kind}; allowed: numbers, text, lists of them, booleans and "
            "dates. Leave it out with --ignore."
        )

    def _numbers(self, numbers: Doubles) -> Parts:
        gaps, missing = np.isnan(numbers), self._options.missing
        self._refuse_beyond(numbers[:, None], [self.name])
        if missing == "mean":
            own = 0.0 if gaps.all() else float(np.nanmean(numbers))
            self.mean = self._options.means.get(self.name, own)
        if gaps.any() and missing == "error":
            self._refuse_gap(gaps)
        numbers = np.where(gaps, 0.0 if self.mean is None else self.mean, numbers)
        scaled = self._scaled(self.name, numbers, ~gaps if missing == "indicator" else slice(None))
        if gaps.any() and missing == "indicator":  # what a column without a value says is in its indicator
            scaled = np.where(gaps, 0.0, scaled)
            return [(scaled[:, None], [self.name]), (gaps.astype(np.float64)[:, None], [f"{self.name} is missing"])]
        return [(scaled[:, None], [self.name])]

    def _scaled(self, name: str, values: Doubles, known: Any = slice(None)) -> Doubles:
        """A column scaled as the model does, or as its own values say; those `known` are learnt from."""
        if self._options.scale == "none":
            return values
        if self._options.scales is None:
            self.scales[name] = Scale.learned(values[known], self._options.scale)
        elif name in self._options.scales:
            self.scales[name] = Scale(*self._options.scales[name])
        return np.asarray(self.scales.get(name, Scale()).apply(values))

    def _dates(self, seconds: Doubles) -> Parts:
        """What people mean by a date: the hour and the day of the week, each a circle, and how long after the first."""
        if self._options.scale == "none":
            return self._numbers(seconds)
        gaps = np.isnan(seconds)
        if gaps.any() and self._options.missing == "error":
            self._refuse_gap(gaps)
        known = self._options.dates
        first = 0 if gaps.all() else int(np.nanmin(seconds) // _DAY)
        self.first_day = first if known is None else int(known.get(self.name, first))
        days = seconds / _DAY - self.first_day
        parts = [(np.where(gaps, 0.0, self._scaled_days(days, gaps))[:, None], [self._days_name()])]
        for cycle, turns in (("hour", seconds / _DAY), ("weekday", (np.floor(seconds / _DAY) + _THURSDAY) / 7)):
            circle = on_circle(cycle, np.where(gaps, 0.0, turns)) * ~gaps[:, None]
            parts.append((circle, names_of_circle(self.name, cycle)))
        return parts + self._indicator(gaps)

    def _scaled_days(self, days: Doubles, gaps: npt.NDArray[np.bool_]) -> Doubles:
        return self._scaled(self._days_name(), np.where(gaps, 0.0, days), ~gaps)

    def _days_name(self) -> str:
        return f"{self.name}, days since {date(1970, 1, 1) + timedelta(days=self.first_day or 0)}"

    def _lists(self) -> Parts:
        """Lists of as many numbers in each row: a column for each place."""
        import pyarrow as pa
        import pyarrow.compute as pc

        values = self._values.combine_chunks() if hasattr(self._values, "combine_chunks") else self._values
        lengths = pc.list_value_length(values).to_numpy(zero_copy_only=False)
        gaps = np.isnan(lengths.astype(np.float64))
        if gaps.any():
            self._refuse_gap(gaps)
        if len(set(lengths.tolist())) > 1:
            row = int(np.argmax(lengths != lengths[0]))
            raise FormatError(
                f"{self._path}, column {self.name!r} holds lists of {lengths[0]:.0f} values, and of {lengths[row]:.0f} "
                f"in {self._row(row)}; allowed: as many in each row. Leave it out with --ignore.",
                row,
            )
        flat = pc.cast(pc.list_flatten(values), pa.float64(), safe=False)
        matrix = flat.to_numpy(zero_copy_only=False).astype(np.float64).reshape(len(lengths), -1)
        if np.isnan(matrix).any():
            self._refuse_gap(np.isnan(matrix).any(axis=1))
        names = [f"{self.name}.{place}" for place in range(matrix.shape[1])]
        self._refuse_beyond(matrix, names)
        if self._options.scale == "none":
            return [(matrix, names)]
        if self._options.scales is None:
            self.scales = dict(zip(names, of_block(matrix, self._options.scale), strict=True))
        else:
            self.scales = {name: Scale(*self._options.scales[name]) for name in names if name in self._options.scales}
        return [(Scales.named(names, self.scales).apply(matrix), names)]

    def _refuse_gap(self, gaps: npt.NDArray[np.bool_]) -> None:
        row = int(np.argmax(gaps))
        raise MissingValueError(f"{self._path}, {self._row(row)}, column {self.name!r}", row)

    def _refuse_beyond(self, values: Doubles, names: Sequence[str]) -> None:
        """Raise at a value that no detector takes, where a scale would hide it, or be made of it."""
        beyond = np.abs(values) > LARGEST
        if self._options.scale != "none" and beyond.any():
            row, place = divmod(int(np.argmax(beyond)), values.shape[1])
            said = ValueRefusedError(self._path, float(values[row, place]), row, place).said
            raise FormatError(f"{self._path}, {self._row(row)}, column {names[place]!r}: {said}", row)

    def _row(self, number: int) -> str:
        """A row as the user knows it: its id, or its number, counted from 0 as in the scores."""
        return f"row {number}" if self._ids is None else f"row {self._ids[number]!r}"

    def _categories(self) -> Parts:
        """One column per value; a missing value is in none of them, or has an indicator column.

        Empty text is missing: CSV files cannot tell the two apart.
        """
        values = np.array([None if v is None or v == "" else str(v) for v in self._values.to_pylist()], dtype=object)
        gaps = np.array([v is None for v in values])
        if gaps.any() and self._options.missing == "error":
            self._refuse_gap(gaps)
        rows = np.flatnonzero(~gaps)
        if self.name in self._options.numbers:
            self._refuse_text(values, "numbers")
        kinds, codes = np.unique(values[rows], return_inverse=True) if len(rows) else (np.array([]), rows)
        matrix = sp.csr_array((np.ones(len(rows)), (rows, codes)), shape=(len(values), len(kinds)))
        if self.name not in self._options.categories:
            self._note_odd_text(values, kinds, len(rows))
        return [(matrix, [f"{self.name}={kind}" for kind in kinds]), *self._indicator(gaps)]

    def _sets(self) -> Parts:
        """Lists of texts, as of tags: a column for each value that any row has, 1 where a row has it."""
        lists = self._values.to_pylist()
        gaps = np.array([each is None for each in lists], dtype=bool)
        if gaps.any() and self._options.missing == "error":
            self._refuse_gap(gaps)
        pairs = sorted({(row, text) for row, each in enumerate(lists) for text in each or () if text})
        kinds, codes = np.unique([text for _, text in pairs], return_inverse=True)
        rows = np.array([row for row, _ in pairs], dtype=np.int64)
        matrix = sp.csr_array((np.ones(len(rows)), (rows, codes)), shape=(len(lists), len(kinds)))
        return [(matrix, [f"{self.name}={kind}" for kind in kinds]), *self._indicator(gaps)]

    def _indicator(self, gaps: npt.NDArray[np.bool_]) -> Parts:
        """A column that says where a value is missing, if that is asked for."""
        if not gaps.any() or self._options.missing != "indicator":
            return []
        return [(gaps.astype(np.float64)[:, None], [f"{self.name} is missing"])]

    def _refuse_text(self, values: npt.NDArray[np.object_], allowed: str) -> None:
        row = _first_text(values)
        found = "" if row is None else f", as {values[row]!r} in {self._row(row)}"
        raise FormatError(
            f"{self._path}, column {self.name!r} holds text{found}; allowed: {allowed}, as the model was fitted with.",
            row,
        )

    def _note_odd_text(self, values: npt.NDArray[np.object_], kinds: npt.NDArray[np.object_], n: int) -> None:
        """Note columns that were probably not meant as text: numbers with a word among them, or names of rows."""
        row = _first_text(values)
        if row is not None and 2 * sum(map(_is_number, kinds)) > len(kinds):
            self.notes.append(
                f"column {self.name!r} is read as text, for {values[row]!r} in {self._row(row)} is no number: it "
                f"became {len(kinds):,} columns, one for each value. Leave it out with --ignore {quote(self.name)}; or "
                "leave the value empty in the file, and say with --missing what becomes of it."
            )
        elif n >= _MANY and len(kinds) >= _NEARLY_ALL * n:
            self.notes.append(
                f"column {self.name!r} is text with {len(kinds):,} values in {n:,} rows: it became {len(kinds):,} "
                f"columns, one for each value. If it names the rows give --id {quote(self.name)}, else leave it out "
                f"with --ignore {quote(self.name)}."
            )


def _first_text(values: npt.NDArray[np.object_]) -> int | None:
    """The first row whose value is neither a number nor a spelling of "missing"."""
    import pyarrow.csv

    empty = {None, *pyarrow.csv.ConvertOptions().null_values}
    return next((row for row, value in enumerate(values) if value not in empty and not _is_number(value)), None)


def _is_number(value: str) -> bool:
    """Whether it is a number, or a date or boolean, which become numbers."""
    if value.lower() in ("true", "false"):
        return True
    for read in (float, datetime.fromisoformat):
        try:
            read(value)
        except ValueError:
            continue
        return "_" not in value
    return False


def seconds_of(dates: Any) -> Doubles:
    """Dates and times as seconds since 1970."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if dates.type == pa.date32():
        return pc.cast(dates, pa.int32()).to_numpy(zero_copy_only=False).astype(np.float64) * _DAY
    a_second = {"s": 1e0, "ms": 1e3, "us": 1e6, "ns": 1e9}["ms" if dates.type == pa.date64() else dates.type.unit]
    return pc.cast(dates, pa.int64()).to_numpy(zero_copy_only=False).astype(np.float64) / a_second
