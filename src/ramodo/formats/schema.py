"""How a source is read: what a user asks for, and what reading learns. A model keeps it as JSON.

A schema without columns is a request. Reading by it learns the columns: kinds, categories, scales, means, weights. The
schema that comes with the rows has them, and reads other data into the same features:

    | tokens of the first column of text | of the second | ... | other columns, in the order of the file |
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date, timedelta
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ..model.saved import require, shown
from .cyclic_dates import CYCLES, Circle
from .scales import SCALES, Scale, Scales

MISSING = ("error", "zero", "mean", "indicator")
"""What missing values become."""

KINDS = ("number", "boolean", "date", "category", "set", "list", "text")
"""Kinds of columns: a set is a list of categories, a list has as many numbers in each row, text holds documents."""

_VALUES, _FIRST = ("category", "set"), date(1970, 1, 1)

_DATE_PARTS = (("days", None), *((cycle, part) for cycle in CYCLES for part in ("sine", "cosine")))


# ---- what JSON may say -----------------------------------------------------------------------------------------------

_Fits = Callable[[Any], bool]


def _fact(default: Any, fits: _Fits) -> Any:
    """A field with the check that its value in a model file must pass."""
    return field(default=default, metadata={"fits": fits})


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _is_scale(value: Any) -> bool:
    """Center, width and unit of a column."""
    fine = isinstance(value, list) and len(value) == 3 and all(map(_is_number, value))
    return bool(fine and value[1] > 0 and value[2] >= 0)


def _is_range(value: Any) -> bool:
    fine = isinstance(value, list) and len(value) == 2 and all(type(n) is int for n in value)
    return bool(fine and 0 <= value[0] <= value[1] <= 16 and (value[0] == 0) == (value[1] == 0))


def _is_format(value: Any) -> bool:
    from . import FORMATS

    return value in FORMATS


def _between(low: int, high: int) -> _Fits:
    return lambda value: type(value) is int and low <= value <= high


def _one_of(allowed: Sequence[str]) -> _Fits:
    return lambda value: isinstance(value, str) and value in allowed


def _all(fits: _Fits) -> _Fits:
    return lambda value: isinstance(value, list) and all(map(fits, value))


def _or_none(fits: _Fits) -> _Fits:
    return lambda value: value is None or fits(value)


def _said(thing: Any) -> dict[str, Any]:
    """The fields that differ from their defaults."""
    values = ((one, getattr(thing, one.name)) for one in fields(thing))
    return {one.name: value for one, value in values if value not in (one.default, one.default_factory)}


def _checked(kind: type, given: Any) -> dict[str, Any]:
    """The fields of a dataclass as JSON has them, lists made tuples; raises `ModelFileError` for any other."""
    require(isinstance(given, dict), f"its schema says {shown(given)}")
    known = {one.name: one.metadata["fits"] for one in fields(kind)}
    for name, value in given.items():
        require(name in known and known[name](value), f"its schema says {name}={shown(value)}")
    return {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}


# ---- columns and their features --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TextOptions:
    """Which tokens: n-grams of words and of characters, from .. to, (0, 0) for none; 2^bits features.

    vocabulary : every token has a feature and a name, in place of hashing
    idf : weigh tokens by inverse document frequency, with sublinear counts; else their values are counts
    """

    words: tuple[int, int] = _fact((1, 1), _is_range)
    characters: tuple[int, int] = _fact((3, 5), _is_range)
    bits: int = _fact(22, _between(1, 48))
    vocabulary: bool = _fact(False, _is_flag)
    idf: bool = _fact(True, _is_flag)

    @property
    def n_features(self) -> int:
        """Number of hashed features."""
        return 1 << self.bits


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of a source, by its name there, and how it becomes features.

    kind : one of `KINDS`
    values : categories, a feature each, in order; tokens of a vocabulary
    scales : of a number, of the days of a date, or of each place of a list; none where values stay as they are
    mean : what replaces a missing number; None for 0
    first_day : the day that a date is counted from, in days since 1970; None where it is one number, its seconds
    width : places of a list; features of hashed text
    weight : what the values of tokens are multiplied by
    marks_missing : whether one more feature is 1 where the value is missing
    """

    name: str = field(metadata={"fits": _is_text})
    kind: str = _fact("number", _one_of(KINDS))
    values: tuple[str, ...] = _fact((), _all(_is_text))
    scales: tuple[Scale, ...] = _fact((), _all(_is_scale))
    mean: float | None = _fact(None, _or_none(_is_number))
    first_day: int | None = _fact(None, _or_none(_between((date.min - _FIRST).days, (date.max - _FIRST).days)))
    width: int = _fact(1, _between(0, 1 << 48))
    weight: float = _fact(1.0, lambda value: _is_number(value) and value > 0)
    marks_missing: bool = _fact(False, _is_flag)

    @property
    def n_features(self) -> int:
        """How many hold its values; the one that marks missing values is not among them."""
        if self.kind in _VALUES or (self.kind == "text" and self.values):
            return len(self.values)
        return len(_DATE_PARTS) if self.first_day is not None else self.width

    def feature(self, place: int) -> Feature:
        """One of those."""
        if self.kind in _VALUES:
            return Feature(self, "value", self.values[place])
        if self.kind == "text":
            return Feature(self, "token", self.values[place] if self.values else None)
        if self.kind == "list":
            return Feature(self, "place", place)
        return Feature(self, "number") if self.first_day is None else Feature(self, *_DATE_PARTS[place])

    def merged(self, other: Self) -> Self:
        """With the categories of another piece of the same column."""
        values = tuple(sorted({*self.values, *other.values}))
        return replace(self, values=values, marks_missing=self.marks_missing or other.marks_missing)

    @property
    def _is_sound(self) -> bool:
        """Whether its fields fit each other, as those that reading learns do."""
        scales, is_date = len(self.scales), self.kind == "date"
        usual = {"list": self.width, "number": 1, "boolean": 1, "date": 1}.get(self.kind, 0)
        distinct = len(set(self.values)) == len(self.values) and (self.kind == "text" or self.is_sorted)
        return (
            scales in (0, usual)
            and distinct
            and (not self.values or self.kind in (*_VALUES, "text"))
            and (is_date or self.first_day is None)
            and (self.kind in ("list", "text") or self.width == 1)
        )

    @property
    def is_sorted(self) -> bool:
        """Whether its categories are in order, in which they are searched."""
        return list(self.values) == sorted(self.values)


class Feature(NamedTuple):
    """One feature: the column that it comes from, the part of it, and which value, token or place."""

    column: Column
    part: str
    value: str | int | None = None

    @property
    def name(self) -> str:
        """As explanations show it."""
        column = self.column.name
        if self.part == "value":
            return f"{column}={self.value}"
        if self.part == "place":
            return f"{column}.{self.value}"
        if self.part == "missing":
            return f"{column} is missing"
        if self.part == "days":
            return f"{column}, days since {_FIRST + timedelta(days=self.column.first_day or 0)}"
        if self.part == "token":
            return f"{column}: {self.value}"
        return column if self.part == "number" else f"{column} {self.part} ({self.value})"

    @property
    def scale(self) -> Scale:
        """What is done to its values."""
        scales, place = self.column.scales, self.value if self.part == "place" else 0
        return scales[place] if scales and self.part in ("number", "place", "days") else Scale()  # type: ignore[index]

    @property
    def key(self) -> tuple[str, str, str | int | None]:
        """By which it is found in another schema."""
        return self.column.name, self.part, self.value


# ---- the schema ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Schema:
    """How a source is read; see the head of this module.

    format, suffix : of the file that the columns were learned from
    id, label : columns that name rows, and that hold the truth
    text, ignore : columns of documents; columns to leave out
    missing : "error"; "zero"; "mean" of the column; "indicator", zero and a feature `name is missing`
    scale : one of `SCALES`; with "none", dates are seconds since 1970, else days and cycles
    delimiter, header : of a CSV file; None to find out
    zero_based : whether the indices of an svmlight file begin at 0; None to find out
    tokens : which tokens of documents are counted
    columns : what was learned, texts first; nothing where it is still to be learned, or there is nothing to learn
    plain : names of the features of a matrix of which nothing else is known
    is_numbered : columns have no names, and are called by their numbers
    marks_last : features that mark missing values come after all others, as in a matrix; else after their column
    """

    format: str | None = _fact(None, _or_none(_is_format))
    suffix: str = _fact("", _is_text)
    id: str | None = _fact(None, _or_none(_is_text))
    label: str | None = _fact(None, _or_none(_is_text))
    text: tuple[str, ...] = _fact((), _all(_is_text))
    ignore: tuple[str, ...] = _fact((), _all(_is_text))
    missing: str = _fact("error", _one_of(MISSING))
    scale: str = _fact("none", _one_of(SCALES))
    delimiter: str | None = _fact(None, _or_none(_is_text))
    header: bool | None = _fact(None, _or_none(_is_flag))
    zero_based: bool | None = _fact(None, _or_none(_is_flag))
    tokens: TextOptions = field(default_factory=TextOptions, metadata={"fits": lambda value: isinstance(value, dict)})
    columns: tuple[Column, ...] = _fact((), _all(lambda value: isinstance(value, dict)))
    plain: tuple[str, ...] | None = _fact(None, _or_none(_all(_is_text)))
    is_numbered: bool = _fact(False, _is_flag)
    marks_last: bool = _fact(False, _is_flag)

    def __post_init__(self) -> None:
        for name in ("text", "ignore"):
            given = getattr(self, name)
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))

    @classmethod
    def of_model(cls, detector: Any) -> Self:
        """That of a model; of one fitted to a matrix, it has the names of the features, where there are some."""
        schema, names = getattr(detector, "schema_", None), getattr(detector, "feature_names_in_", None)
        found: Self = cls(tokens=TextOptions(idf=False)) if schema is None else schema
        return found if names is None or found.n_features else replace(found, plain=tuple(map(str, names)))

    def to_json(self) -> str:
        """What a model file keeps."""
        inner = {"tokens": _said(self.tokens), "columns": [_said(column) for column in self.columns]}
        return json.dumps(_said(self) | inner)

    @classmethod
    def from_json(cls, given: str | bytes) -> Self:
        """The schema that a model file keeps; raises `ModelFileError` where it is none that reading learns."""
        try:
            said = _checked(cls, json.loads(given))
        except (ValueError, RecursionError) as error:
            require(False, str(error) or "its schema is nested too deeply")
        said["tokens"] = TextOptions(**_checked(TextOptions, said.get("tokens", {})))
        said["columns"] = tuple(map(_column, said.get("columns", ())))
        found = cls(**said)
        names = [column.name for column in found.columns]
        require(len(set(names)) == len(names), "its schema has two columns of one name")
        kinds = [column.kind == "text" for column in found.columns]
        require(kinds == sorted(kinds, reverse=True), "the columns of text of its schema do not come first")
        require(not (found.columns and found.plain is not None), "its schema has columns and names")
        width = 0 if found.tokens.vocabulary else found.tokens.n_features
        for column in found.texts:
            require(bool(column.values) != bool(width) and column.width == (width or 1), "its schema has other tokens")
        return found

    # ---- columns -----------------------------------------------------------------------------------------------------

    @cached_property
    def texts(self) -> tuple[Column, ...]:
        """The columns of documents."""
        return tuple(column for column in self.columns if column.kind == "text")

    @property
    def others(self) -> tuple[Column, ...]:
        """All other columns."""
        return self.columns[len(self.texts) :]

    @property
    def is_text(self) -> bool:
        """Whether rows are documents, one each, and nothing else."""
        return len(self.columns) == len(self.texts) == 1

    @property
    def is_sparse(self) -> bool:
        """Whether rows of a table become a sparse matrix."""
        return any(column.kind in (*_VALUES, "text") for column in self.columns)

    @property
    def is_scaled(self) -> bool:
        """Whether the numbers of any column are."""
        return any(column.scales for column in self.columns)

    @property
    def categories(self) -> list[str]:
        """Names of the columns of categories."""
        return [column.name for column in self.columns if column.kind in _VALUES]

    @property
    def unneeded(self) -> tuple[str, ...]:
        """Columns that were named when the others were learned, and that other data need not have."""
        label = () if self.label is None else (self.label,)
        return () if self.n_features is None else (*label, *self.ignore)

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    def column(self, name: str) -> Column | None:
        """The column of this name."""
        return self._by_name.get(name)

    def for_tables(self) -> Self:
        """With a column of numbers for each name of a matrix, by which a table can be read."""
        if self.plain is None:
            return self
        return replace(self, columns=tuple(Column(name=name) for name in self.plain), plain=None)

    # ---- features ----------------------------------------------------------------------------------------------------

    @cached_property
    def _blocks(self) -> tuple[list[tuple[Column, bool]], npt.NDArray[np.int64]]:
        """Features of one column, or the one that marks its missing values; and the first feature after each."""
        pairs = [(column, marks) for column in self.columns for marks in (False, True)[: 1 + column.marks_missing]]
        if self.marks_last:
            pairs.sort(key=lambda pair: pair[1])
        ends = accumulate(1 if marks else column.n_features for column, marks in pairs)
        return pairs, np.fromiter(ends, dtype=np.int64)

    @property
    def n_features(self) -> int | None:
        """How many there are; None where that is not known."""
        if self.columns:
            return int(self._blocks[1][-1])
        return None if self.plain is None else len(self.plain)

    @cached_property
    def n_tokens(self) -> int:
        """Features that are tokens, which come first."""
        return sum(column.n_features for column in self.texts)

    def feature(self, number: int) -> Feature:
        """Which part of which column a feature is."""
        pairs, ends = self._blocks
        block = int(np.searchsorted(ends, number, side="right"))
        column, marks = pairs[block]
        return Feature(column, "missing") if marks else column.feature(number - int(ends[block]) + column.n_features)

    def features(self) -> Iterator[Feature]:
        """All that are no tokens, in order."""
        for column, marks in self._blocks[0][len(self.texts) :]:
            if marks:
                yield Feature(column, "missing")
            else:
                yield from map(column.feature, range(column.n_features))

    @property
    def first_named(self) -> int:
        """The first feature that has a name: hashed tokens have none."""
        return self.n_tokens if any(not column.values for column in self.texts) else 0

    @cached_property
    def names(self) -> list[str] | None:
        """Of the features, from the first that has one on; None where none has."""
        if not self.columns:
            return None if self.plain is None else list(self.plain)
        if self.is_text or self.is_numbered:
            return list(self.columns[0].values) or None
        tokens = (
            []
            if self.first_named
            else [column.feature(i).name for column in self.texts for i in range(column.n_features)]
        )
        return tokens + [feature.name for feature in self.features()]

    @cached_property
    def scales(self) -> Scales:
        """Of all features that are no tokens."""
        return Scales([feature.scale for feature in self.features()])

    @cached_property
    def circles(self) -> list[Circle]:
        """Hours and days of the week, each of two features."""
        found, first = list[Circle](), 0
        for (column, marks), end in zip(*self._blocks, strict=True):
            if column.first_day is not None and not marks:
                places = range(first + 1, int(end), 2)
                found += [Circle((at, at + 1), cycle, column.name) for at, cycle in zip(places, CYCLES, strict=True)]
            first = int(end)
        return found

    def places_in(self, other: Schema) -> npt.NDArray[np.int64]:
        """The number in another schema of each feature that is no token; -1 where it is not there."""
        if self.plain is not None and other.plain is not None:
            place: dict[Any, int] = {name: i for i, name in enumerate(other.plain)}
            return np.fromiter((place.get(name, -1) for name in self.plain), dtype=np.int64)
        place = {feature.key: i for i, feature in enumerate(other.for_tables().features(), other.n_tokens)}
        return np.fromiter((place.get(each.key, -1) for each in self.for_tables().features()), dtype=np.int64)


def _column(given: Any) -> Column:
    said = _checked(Column, given)
    require("name" in said, "a column of its schema has no name")
    found = Column(**said | {"scales": tuple(Scale(*scale) for scale in said.get("scales", ()))})
    require(found._is_sound, f"the column {shown(found.name)} of its schema is not sound")
    return found


def merged(pieces: Sequence[Schema]) -> Schema:
    """That of a table of all rows, given those of its pieces: columns as they first appear, with all categories."""
    if not any(piece.columns for piece in pieces):
        return pieces[0]
    pieces = [piece.for_tables() for piece in pieces]
    found: dict[str, Column] = {}
    for piece in pieces:
        for column in piece.columns:
            found[column.name] = found[column.name].merged(column) if column.name in found else column
    return replace(pieces[0], columns=tuple(found.values()))
