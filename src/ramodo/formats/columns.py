"""One column of a table: its kind, what is learned from it, and its features.

Numbers stay numbers, booleans become 0 and 1, and dates become seconds since 1970 or, if numbers are scaled, days and
cycles. A category becomes one sparse feature per value, and a list of numbers one feature per position.

A date is the local time where it was written: the offset from UTC in a text is ignored. Times with a zone in Parquet,
Feather and Arrow are instants, which are converted to UTC.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..data.validation import LARGEST, ValueRefusedError
from .categories import of_column, of_sets
from .cyclic_dates import on_circles
from .format import How
from .json_values import array_of, is_plain
from .scales import Scale, Scales, of_block
from .schema import Column
from .table import FormatError, MissingValueError, Unseen

Doubles = npt.NDArray[np.float64]
Gaps = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]
Read = tuple[Column, list[Any]]
"""A learned column, and matrices of its features, side by side."""

_DAY = 86_400
"""Seconds."""

_MANY, _NEARLY_ALL = 20, 0.95
"""A column with this many values, this share of them distinct, probably names rows rather than describing them."""

_WORDS = {"number": "numbers", "boolean": "numbers", "date": "dates", "category": "text", "set": "lists of text"}
_WORDS |= {"list": "lists of numbers"}


class ColumnReader:
    """Turns one column of a table into features, as learned from its values or as the schema says."""

    def __init__(self, path: str, name: str, values: Any, how: How, ids: Sequence[str] | None = None) -> None:
        self._path, self.name, self._values, self._ids = path, name, values, ids
        self._known, self._missing, self._scale = how.schema.column(name), how.schema.missing, how.schema.scale
        self._how = how
        self._grows = how.grows or self._known is None
        self.notes: list[str] = []
        self.unseen: Unseen | None = None
        """Categories that training did not have, and the rows that have them."""

    def read(self) -> Read:
        """Return the learned column and its features."""
        import pyarrow

        try:
            kind = self._kind()
            if kind == "date":
                return self._dates()
            if kind == "list":
                return self._lists()
            return self._categories(kind) if kind in ("category", "set") else self._numbers(kind, self._floats())
        except (pyarrow.ArrowException, UnicodeDecodeError, OverflowError) as error:
            raise FormatError(f"{self._path}, column {self.name!r}: {str(error).rstrip('.')}.") from None

    def _kind(self) -> str:
        """Return the kind of the column: that in the schema, which its values must fit, or else that of their type."""
        import pyarrow as pa
        import pyarrow.types as t

        type = self._values.type
        if t.is_dictionary(type) and kind_of(type.value_type) == "date":  # as text they would need a known time zone
            self._values = self._values.cast(type.value_type)
        if self._known is not None and self._known.kind not in ("category", "text"):
            self._values = self._converted(self._known.kind)
        type, kind = self._values.type, kind_of(self._values.type)
        if self._known is None:
            if kind is not None:
                return kind
            raise FormatError(
                f"{self._path}, column {self.name!r} must hold numbers, text, lists of them, booleans or dates, got "
                f"{type}. Leave it out with {self._how.option('ignore', self.name)}."
            )
        wanted = self._known.kind
        are_numbers = wanted in ("number", "boolean")
        if t.is_null(type) or kind == wanted or (are_numbers and kind in ("number", "boolean")):
            return wanted
        if wanted == "category" and (t.is_integer(type) or t.is_floating(type) or t.is_boolean(type)):
            self._values = self._values.cast(pa.string())
            return wanted
        if are_numbers and kind == "date" and self._scale == "none":  # which are seconds
            return wanted
        found, row = f"{type}", None
        if kind == "category":
            values = self._values.to_pylist()
            row = _first_text(values)
            found = "text" if row is None else f"text, as {values[row]!r} in {self._row(row)}"
        must = f"must hold {_WORDS[wanted]}, as the model was fitted with"
        raise FormatError(f"{self._path}, column {self.name!r} {must}, got {found}.", row)

    def _converted(self, kind: str) -> Any:
        """Convert numbers or dates written as text, and numbers of a dictionary."""
        import pyarrow.types as t

        type = self._values.type
        if t.is_dictionary(type) and not _is_text(type.value_type):
            return self._values.cast(type.value_type)
        if kind in ("number", "boolean", "date") and kind_of(type) == "category":
            return array_of(self._path, self.name, self._values.to_pylist(), kind)
        return self._values

    # ---- numbers and dates -------------------------------------------------------------------------------------------

    def _floats(self) -> Doubles:
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_null(self._values.type):
            return np.full(len(self._values), np.nan)
        if kind_of(self._values.type) == "date":
            return seconds_of(self._values)
        numbers = pc.cast(self._values, pa.float64(), safe=False)
        return np.asarray(numbers.to_numpy(zero_copy_only=False).astype(np.float64))

    def _numbers(self, kind: str, numbers: Doubles) -> Read:
        gaps, is_marked = np.isnan(numbers), self._missing == "indicator"
        self._refuse_beyond(numbers[:, None], [self.name])
        self._refuse_gaps(gaps)
        column = self._known
        if column is None:
            column = Column(name=self.name, kind=kind, mean=self._mean(numbers, gaps))
        filled = np.where(gaps, 0.0 if column.mean is None else column.mean, numbers)
        if self._known is None:
            column = replace(column, scales=self._scales(filled[~gaps] if is_marked else filled))
        scaled = column.scales[0].apply(filled) if column.scales else filled
        if is_marked:  # the mark of a missing value says enough
            scaled = np.where(gaps, 0.0, scaled)
        return self._marked(column, [scaled[:, None]], gaps)

    def _mean(self, numbers: Doubles, gaps: Gaps) -> float | None:
        """What stands for missing values, if the schema asks for the mean."""
        if self._missing != "mean":
            return None
        return 0.0 if gaps.all() else float(np.nanmean(numbers))

    def _scales(self, values: Doubles) -> tuple[Scale, ...]:
        return () if self._scale == "none" else (Scale.learned(values, self._scale),)

    def _dates(self) -> Read:
        """Return the features of a date: hour and day of the week, each on a circle, and days since the first date."""
        seconds, column = self._floats(), self._known
        if self._scale == "none" if column is None else column.first_day is None:
            return self._numbers("date", seconds)
        gaps = np.isnan(seconds)
        self._refuse_gaps(gaps)
        if column is None:
            first = 0 if gaps.all() else int(np.nanmin(seconds) // _DAY)
            column = Column(name=self.name, kind="date", first_day=first)
        days = np.where(gaps, 0.0, seconds / _DAY - (column.first_day or 0))
        if self._known is None:
            how = "standard" if self._scale == "log" else self._scale
            column = replace(column, scales=(Scale.learned(days[~gaps], how),))
            column.feature(0).name  # noqa: B018 - raises at a year that no calendar has
        scaled = np.where(gaps, 0.0, column.scales[0].apply(days))
        return self._marked(column, [scaled[:, None], on_circles(seconds)], gaps)

    def _marked(self, column: Column, matrices: list[Any], gaps: Gaps) -> Read:
        """Add a feature that marks missing values, if the schema asks for one."""
        if self._grows:
            column = replace(column, marks_missing=self._missing == "indicator" and bool(gaps.any()))
        marks = [gaps.astype(np.float64)[:, None]] if column.marks_missing else []
        return column, matrices + marks

    # ---- lists and categories ----------------------------------------------------------------------------------------

    def _lists(self) -> Read:
        """Return the features of lists of equal length, one for each position."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_null(self._values.type):
            raise self._gap(0)
        values = self._values.combine_chunks() if hasattr(self._values, "combine_chunks") else self._values
        lengths = pc.list_value_length(values).to_numpy(zero_copy_only=False)
        gaps = np.isnan(lengths.astype(np.float64))
        if gaps.any():
            raise self._gap(int(np.argmax(gaps)))
        width = lengths[0] if self._known is None else self._known.width
        if (lengths != width).any():
            row = int(np.argmax(lengths != width))
            raise FormatError(
                f"{self._path}, column {self.name!r} must hold lists of one length, got lists of {width:.0f} values "
                f"and one of {lengths[row]:.0f} in {self._row(row)}. "
                f"Leave it out with {self._how.option('ignore', self.name)}.",
                row,
            )
        flat = pc.cast(pc.list_flatten(values), pa.float64(), safe=False)
        matrix = flat.to_numpy(zero_copy_only=False).astype(np.float64).reshape(len(lengths), int(width))
        if np.isnan(matrix).any():
            raise self._gap(int(np.argmax(np.isnan(matrix).any(axis=1))))
        self._refuse_beyond(matrix, [f"{self.name}.{place}" for place in range(matrix.shape[1])])
        scales = () if self._scale == "none" or self._known else tuple(of_block(matrix, self._scale))
        column = self._known or Column(name=self.name, kind="list", width=int(width), scales=scales)
        return column, [Scales(column.scales).apply(matrix) if column.scales else matrix]

    def _categories(self, kind: str) -> Read:
        """Return one feature per value: 1 for each value that a row has. A missing value has no feature, or a mark."""
        rows, codes, texts, gaps = (of_column if kind == "category" else of_sets)(self._values)
        self._refuse_gaps(gaps)
        column = self._known or Column(name=self.name, kind=kind)
        if self._grows:
            column = replace(column, values=tuple(texts))
        if self._known is None and kind == "category":
            self._note_odd_text(rows, codes, texts)
        if column.values != tuple(texts):
            place = {value: number for number, value in enumerate(column.values)}
            known = np.array([place.get(text, -1) for text in texts], dtype=np.int64)[codes]
            if (known < 0).any():
                self.unseen = Unseen(column, rows[known < 0], codes[known < 0], texts)
            rows, codes = rows[known >= 0], known[known >= 0]
        ends = np.cumsum(np.bincount(rows, minlength=len(gaps)))
        shape = (len(gaps), len(column.values))
        matrix = sp.csr_array((np.ones(len(codes)), codes, np.concatenate([[0], ends])), shape=shape)
        matrix.sort_indices()
        return self._marked(column, [matrix], gaps)

    # ---- what is refused or noted ------------------------------------------------------------------------------------

    def _refuse_gaps(self, gaps: Gaps) -> None:
        if self._missing == "error" and gaps.any():
            raise self._gap(int(np.argmax(gaps)))

    def _gap(self, row: int) -> MissingValueError:
        is_learned = self._known is not None and not self._grows
        place, option = f"{self._path}, {self._row(row)}, column {self.name!r}", self._how.option("missing")
        return MissingValueError(place, row, is_learned, option if self._how.in_python else f"{option} ")

    def _refuse_beyond(self, values: Doubles, names: Sequence[str]) -> None:
        """Raise for a value that no detector accepts, before a scale or mean hides it or is learned from it."""
        beyond = np.abs(values) > LARGEST
        if (self._scale != "none" or self._missing == "mean") and beyond.any():
            row, place = divmod(int(np.argmax(beyond)), values.shape[1])
            said = ValueRefusedError(self._path, float(values[row, place]), row, place).said
            raise FormatError(f"{self._path}, {self._row(row)}, column {names[place]!r}: {said}", row)

    def _row(self, number: int) -> str:
        """Return a row as the user knows it: its id, or its number, counted from 0 as in the scores."""
        return f"row {number}" if self._ids is None else f"row {self._ids[number]!r}"

    def _note_odd_text(self, rows: Places, codes: Places, texts: Sequence[str]) -> None:
        """Note columns that were probably not meant as text: numbers with a word among them, or names of rows."""
        are_odd, n = np.array([not is_plain(text) for text in texts], dtype=bool), len(rows)
        became = f"it became {len(texts):,} columns, one for each value."
        ignore = self._how.option("ignore", self.name)
        if are_odd.any() and 2 * are_odd.sum() < len(texts):
            at = int(np.argmax(are_odd[codes]))
            self.notes.append(
                f"column {self.name!r} is read as text, for {texts[codes[at]]!r} in {self._row(rows[at])} is not a "
                f"number: {became} Leave it out with {ignore}; or leave the value empty, and say with "
                f"{self._how.option('missing')} what becomes of it."
            )
        elif n >= _MANY and 2 * len(texts) >= n and 2 * sum(" " in text.strip() for text in texts) >= len(texts):
            self.notes.append(
                f"column {self.name!r} is text with {len(texts):,} values in {n:,} rows: {became} To compare its words "
                f"give {self._how.option('text', self.name)}."
            )
        elif n >= _MANY and len(texts) >= _NEARLY_ALL * n:
            self.notes.append(
                f"column {self.name!r} is text with {len(texts):,} values in {n:,} rows: {became} If it names the rows "
                f"give {self._how.option('id', self.name)}, else leave it out with {ignore}."
            )


def kind_of(type: Any) -> str | None:
    """Return the kind of a column of this pyarrow type; None for types that cannot be used."""
    import pyarrow.types as t

    if t.is_timestamp(type) or t.is_date(type):
        return "date"
    if t.is_dictionary(type) or _is_text(type):
        return "category"
    if t.is_list(type) or t.is_large_list(type) or t.is_fixed_size_list(type):
        inner = type.value_type
        return "set" if t.is_null(inner) or _is_text(inner) else "list"
    if t.is_boolean(type):
        return "boolean"
    return "number" if t.is_null(type) or t.is_integer(type) or t.is_floating(type) or t.is_decimal(type) else None


def _is_text(type: Any) -> bool:
    import pyarrow.types as t

    is_view = hasattr(t, "is_string_view") and t.is_string_view(type)
    return bool(t.is_string(type) or t.is_large_string(type) or is_view)


def _first_text(values: Iterable[Any]) -> int | None:
    """Return the first row whose value is neither a number nor a spelling of "missing"."""
    return next((row for row, value in enumerate(values) if value is not None and not is_plain(value)), None)


def seconds_of(dates: Any) -> Doubles:
    """Return dates and times as seconds since 1970."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if dates.type == pa.date32():
        return pc.cast(dates, pa.int32()).to_numpy(zero_copy_only=False).astype(np.float64) * _DAY
    a_second = {"s": 1e0, "ms": 1e3, "us": 1e6, "ns": 1e9}["ms" if dates.type == pa.date64() else dates.type.unit]
    return pc.cast(dates, pa.int64()).to_numpy(zero_copy_only=False).astype(np.float64) / a_second
