"""How a source is read: the user's request, and what reading learns. A model keeps it as JSON.

A schema without columns is a request. Reading by it learns the columns: kinds, categories, scales, means, weights. The
schema that is returned with the rows has these columns and reads other data into the same features:

    | tokens of the first column of text | of the second | ... | other columns, in the order of the file |
"""

from __future__ import annotations

import json
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import date, timedelta
from functools import cache, cached_property
from itertools import accumulate
from types import UnionType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, get_args, get_origin, get_type_hints

from .cyclic_dates import CYCLES, Circle

if TYPE_CHECKING:
    from ..model.fitted import FittedDetector
    from .scales import Scale, Scales

SCALES = ("auto", "none", "standard", "robust", "log")
"""Ways to scale numbers: see scales.py."""

MISSING = ("error", "zero", "mean", "indicator")
"""Ways to replace missing values."""

KINDS = ("number", "boolean", "date", "category", "set", "list", "text")
"""Kinds of columns: a set is a list of categories, lists have equally many numbers, text holds documents."""

_VALUES, _FIRST = ("category", "set"), date(1970, 1, 1)
_DAYS = (date.min - _FIRST).days, (date.max - _FIRST).days

_DATE_PARTS = (("days", None), *((cycle, part) for cycle in CYCLES for part in ("sine", "cosine")))

_MOST_NAMES = 1 << 22
"""Number of names that a model file may imply beyond its own length: positions of lists take no space in it."""


@dataclass(frozen=True)
class TextOptions:
    """Which tokens to count: n-grams of words and of characters, from .. to, (0, 0) for none; 2^bits features.

    vocabulary : give every token a feature and a name instead of hashing
    idf : weigh tokens by inverse document frequency, with sublinear counts; else their values are counts
    marks : runs of characters other than letters, digits and blanks, such as `=%27`, are tokens, too
    presence : only whether a document has a token counts, and its value is 1
    lines : the kind of log (log_lines.py) whose lines are read in part; empty for whole texts
    masks : what to mask in lines: "auto", and regular expressions; or "none" (masking.py)
    open : words that are nearly always followed by a different word, which is masked
    """

    words: tuple[int, int] = (1, 1)
    characters: tuple[int, int] = (3, 5)
    bits: int = 22
    vocabulary: bool = False
    idf: bool = True
    marks: bool = False
    presence: bool = False
    lines: str = ""
    masks: tuple[str, ...] = ()
    open: tuple[str, ...] = ()

    @property
    def n_features(self) -> int:
        """Number of hashed features."""
        return 1 << self.bits

    @property
    def is_sound(self) -> bool:
        """Whether a model can have been fitted with these options."""
        ranges = (self.words, self.characters)
        fits = 1 <= self.bits <= 48 and all(0 <= a <= b <= 16 and (a == 0) == (b == 0) for a, b in ranges)
        return fits and self._reads_lines()

    def _reads_lines(self) -> bool:
        from .log_lines import KINDS
        from .masking import Masks, MasksError

        try:
            Masks.asked(self.masks)
        except MasksError:
            return False
        return self.lines in ("", *KINDS)


@dataclass(frozen=True)
class SessionOptions:
    """How lines of a log are grouped into rows, and what was learned about their templates.

    by : client, block, a key, or a regular expression
    window : maximum duration of a session in seconds; None for no limit
    usual : templates that most sessions have
    common : other templates that are not rare, and usual ones that many sessions lack
    """

    by: str = "client"
    window: float | None = None
    usual: tuple[str, ...] = ()
    common: tuple[str, ...] = ()


@dataclass(frozen=True)
class Expression:
    """What was learned of a matrix of one kind of measurement, such as the expression of genes: see expression.py.

    per_million : values are counts, and become counts per million of their row
    others : columns that count to the total of a row and are not among its features
    batches : the batches that the offsets of columns are of
    """

    per_million: bool = False
    others: tuple[str, ...] = ()
    batches: tuple[str, ...] = ()


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
    offsets : how far the mean of each batch is from that of all rows
    """

    name: str
    kind: str = "number"
    values: tuple[str, ...] = ()
    scales: tuple[Scale, ...] = ()
    mean: float | None = None
    first_day: int | None = None
    width: int = 1
    weight: float = 1.0
    marks_missing: bool = False
    offsets: tuple[float, ...] = ()

    @property
    def n_features(self) -> int:
        """Number of features with its values, not counting the one that marks missing values."""
        if self.kind in _VALUES or (self.kind == "text" and self.values):
            return len(self.values)
        return len(_DATE_PARTS) if self.first_day is not None else self.width

    def feature(self, place: int) -> Feature:
        """Return the feature at this position among those of the column."""
        if self.kind in _VALUES:
            return Feature(self, "value", self.values[place])
        if self.kind == "text":
            return Feature(self, "token", self.values[place] if self.values else None)
        if self.kind == "list":
            return Feature(self, "place", place)
        return Feature(self, "number") if self.first_day is None else Feature(self, *_DATE_PARTS[place])

    def merged(self, other: Self) -> Self:
        """Return the column with the categories of another piece of the same column added."""
        values = tuple(sorted({*self.values, *other.values}))
        return replace(self, values=values, marks_missing=self.marks_missing or other.marks_missing)

    @property
    def is_sound(self) -> bool:
        """Whether its fields are consistent, as they are after reading."""
        is_text, usual = self.kind == "text", {"list": self.width, "number": 1, "boolean": 1, "date": 1}
        return (
            self.kind in KINDS
            and len(self.scales) in (0, usual.get(self.kind, 0))
            and all(scale.width > 0 and scale.unit >= 0 for scale in self.scales)
            and (is_text or list(self.values) == sorted(set(self.values)))
            and (not self.values or (len(set(self.values)) == len(self.values) and self.kind in (*_VALUES, "text")))
            and (self.first_day is None or (self.kind == "date" and len(self.scales) == 1))
            and _DAYS[0] <= (self.first_day or 0) <= _DAYS[1]
            and not (is_text and self.marks_missing)
            and (0 <= self.width <= 1 << 48 if self.kind in ("list", "text") else self.width == 1)
            and self.weight > 0
        )


class Feature(NamedTuple):
    """One feature: the column that it comes from, the part of it, and which value, token or place."""

    column: Column
    part: str
    value: str | int | None = None

    @property
    def name(self) -> str:
        """The name that explanations show."""
        column, value = self.column.name, self.value
        since = f"{column}, days since {_FIRST + timedelta(days=self.column.first_day or 0)}"
        named = {"number": column, "value": f"{column}={value}", "place": f"{column}.{value}", "days": since}
        named |= {"token": f"{column}: {value}", "missing": f"{column} is missing"}
        return named.get(self.part, f"{column} {self.part} ({value})")

    @property
    def scale(self) -> Scale:
        """The scale of its values."""
        from .scales import Scale

        scales, place = self.column.scales, self.value if self.part == "place" else 0
        return scales[place] if scales and self.part in ("number", "place", "days") else Scale()  # type: ignore[index]


# ---- the schema ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Schema:
    """How a source is read; see the head of this module.

    format, suffix : those of the file that the columns were learned from
    id, label : columns that name rows, and that hold the truth
    text, ignore : columns of documents; columns to leave out
    missing : "error"; "zero"; "mean" of the column; "indicator", zero and a feature `name is missing`
    scale : one of `SCALES`; with "none", dates are seconds since 1970, else days and cycles
    delimiter, header : of a CSV file; None to find out
    zero_based : whether the indices of an svmlight file begin at 0; None to find out
    multiline : of a log, what fits the first line of each event; None where the lines themselves tell
    tokens : which tokens of documents are counted
    sessions : how lines become sessions; None where each row is for itself
    layer : of an AnnData file, what is read in place of X
    transpose : rows of the file are features, and its columns are rows
    top_variable : features to keep, those that vary most; 0 for all, None for what is usual
    within : the column that names the batch of a row; each batch is centred
    expression : what was learned of a matrix of one kind of measurement; None for other data
    columns : what was learned, texts first; empty if nothing has been learned yet or there is nothing to learn
    plain : names of the features of a matrix about which nothing else is known
    is_numbered : columns have numbers instead of names
    marks_last : features that mark missing values come after all others, as in a matrix; else after their column
    """

    format: str | None = None
    suffix: str = ""
    id: str | None = None
    label: str | None = None
    text: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    missing: str = "error"
    scale: str = "none"
    delimiter: str | None = None
    header: bool | None = None
    zero_based: bool | None = None
    multiline: str | None = None
    tokens: TextOptions = field(default_factory=TextOptions)
    sessions: SessionOptions | None = None
    layer: str | None = None
    transpose: bool = False
    top_variable: int | None = None
    within: str | None = None
    expression: Expression | None = None
    columns: tuple[Column, ...] = ()
    plain: tuple[str, ...] | None = None
    is_numbered: bool = False
    marks_last: bool = False

    def __post_init__(self) -> None:
        for name in ("text", "ignore"):
            given = getattr(self, name)
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))

    @classmethod
    def of_model(cls, detector: FittedDetector) -> Self:
        """Return the schema of a model; if it was fitted to a matrix, only with names of features, if there are any."""
        schema, names, frequencies = (
            getattr(detector, name, None) for name in ("schema_", "feature_names_in_", "document_frequencies_")
        )
        found, weighs = schema or cls(), frequencies is not None
        if found.tokens.idf != weighs:
            found = replace(found, tokens=replace(found.tokens, idf=weighs))
        return found if names is None or found.n_features else replace(found, plain=tuple(map(str, names)))

    def to_json(self) -> str:
        """Return the text to keep in a model file."""
        inner: dict[str, Any] = {"tokens": _said(self.tokens), "columns": [_said(column) for column in self.columns]}
        if self.sessions is not None:
            inner["sessions"] = _said(self.sessions)
        if self.expression is not None:
            inner["expression"] = _said(self.expression)
        return json.dumps(_said(self) | inner)

    @classmethod
    def from_json(cls, given: str | bytes) -> Self:
        """Return the schema in a model file; raise `ModelFileError` if reading could not have learned it."""
        from ..model.saved import require, shown
        from . import FORMATS

        try:
            found: Self = _built(cls, json.loads(given), "schema")
        except (ValueError, RecursionError) as error:
            require(False, str(error) or "its schema is nested too deeply")
        for name, allowed in (("format", (None, *FORMATS)), ("missing", MISSING), ("scale", SCALES)):
            value = getattr(found, name)
            require(value in allowed, f"its schema says {name}={shown(value)}")
        require(found.tokens.is_sound, f"its schema says tokens={shown(found.tokens)}")
        for column in found.columns:
            require(column.is_sound, f"the column {shown(column.name)} of its schema is not sound")
        kinds, width = [column.kind == "text" for column in found.columns], found.tokens.n_features
        require(kinds == sorted(kinds, reverse=True), "the columns of text of its schema do not come first")
        for column in found.texts:
            fits = bool(column.values) == found.tokens.vocabulary and column.width == (1 if column.values else width)
            require(fits, "its schema has other tokens")
        require(len(found._by_name) == len(found.columns), "its schema has two columns of one name")
        require(not (found.columns and found.plain is not None), "its schema has columns and names")
        n_batches = 0 if found.expression is None else len(found.expression.batches)
        fits = all(len(column.offsets) == n_batches for column in found.columns)
        require(fits, "the columns of its schema have offsets of other batches")
        named = (found.n_features or 0) - found.n_tokens
        require(named <= _MOST_NAMES + len(given), f"its schema has {named:,} names")
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
        """Whether each row is one document and has no other columns."""
        return len(self.columns) == len(self.texts) == 1

    @property
    def is_scaled(self) -> bool:
        """Whether the numbers of any column are scaled."""
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
        """Return the column of this name."""
        return self._by_name.get(name)

    def for_tables(self) -> Self:
        """Return a schema with a column of numbers for each name of a matrix, for reading a table."""
        if self.plain is None:
            return self
        return replace(self, columns=tuple(Column(name=name) for name in self.plain), plain=None)

    # ---- features ----------------------------------------------------------------------------------------------------

    @cached_property
    def _blocks(self) -> tuple[list[tuple[Column, bool]], list[int]]:
        """Blocks of features, of a column or of the mark of its missing values, and the first feature after each."""
        pairs = [(column, marks) for column in self.columns for marks in (False, True)[: 1 + column.marks_missing]]
        if self.marks_last:
            pairs.sort(key=lambda pair: pair[1])
        return pairs, list(accumulate(1 if marks else column.n_features for column, marks in pairs))

    @property
    def n_features(self) -> int | None:
        """Number of features; None if it is not known."""
        if self.columns:
            return self._blocks[1][-1]
        return None if self.plain is None else len(self.plain)

    @cached_property
    def n_tokens(self) -> int:
        """Number of features that are tokens; these come first."""
        return sum(column.n_features for column in self.texts)

    def feature(self, number: int) -> Feature:
        """Return the feature with this number: its column, and which part of it."""
        pairs, ends = self._blocks
        block = bisect_right(ends, number)
        column, marks = pairs[block]
        return Feature(column, "missing") if marks else column.feature(number - ends[block] + column.n_features)

    def features(self) -> Iterator[Feature]:
        """Yield all except tokens, in order."""
        for column, marks in self._blocks[0][len(self.texts) :]:
            if marks:
                yield Feature(column, "missing")
            else:
                yield from map(column.feature, range(column.n_features))

    def features_of(self, column: Column) -> range:
        """The numbers of the features that hold its values."""
        pairs, ends = self._blocks
        end = ends[pairs.index((column, False))]
        return range(end - column.n_features, end)

    def ranges(self, kind: str) -> list[tuple[str, int, int]]:
        """Of each column of a kind its name, its first feature, and the first after it, marks of missing ones aside."""
        pairs = zip(*self._blocks, strict=True)
        return [(c.name, end - c.n_features, end) for (c, marks), end in pairs if c.kind == kind and not marks]

    @property
    def first_named(self) -> int:
        """The first feature that has a name: hashed tokens have none."""
        return self.n_tokens if any(not column.values for column in self.texts) else 0

    @cached_property
    def names(self) -> list[str] | None:
        """Names of the features, starting with the first that has one; None if none has."""
        if not self.columns:
            return None if self.plain is None else list(self.plain)
        if self.is_text or self.is_numbered:
            return list(self.columns[0].values) or None
        texts = () if self.first_named else self.texts
        tokens = [column.feature(place).name for column in texts for place in range(column.n_features)]
        return tokens + [feature.name for feature in self.features()]

    @cached_property
    def scales(self) -> Scales:
        """The scales of all features except tokens."""
        from .scales import Scales

        return Scales([feature.scale for feature in self.features()])

    @cached_property
    def circles(self) -> list[Circle]:
        """Hours and days of the week, each of two features."""
        found, first = list[Circle](), 0
        for (column, marks), end in zip(*self._blocks, strict=True):
            if column.first_day is not None and not marks:
                places = range(first + 1, end, 2)
                found += [Circle((at, at + 1), cycle, column.name) for at, cycle in zip(places, CYCLES, strict=True)]
            first = end
        return found

    def places_in(self, other: Schema) -> list[int]:
        """Return the number of each feature in another schema, -1 if it is not there; tokens are left out."""
        own, others = (
            [(each.column.name, each.part, each.value) for each in schema.for_tables().features()]
            for schema in (self, other)
        )
        place = {key: number for number, key in enumerate(others, other.n_tokens)}
        return [place.get(key, -1) for key in own]


def _said(thing: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that differ from their defaults."""
    values = ((one, getattr(thing, one.name)) for one in fields(thing))
    return {one.name: value for one, value in values if value not in (one.default, one.default_factory)}


@cache
def _field_types(kind: type) -> dict[str, Any]:
    """The type of each field of a dataclass."""
    from .scales import Scale

    return get_type_hints(kind, localns={"Scale": Scale})


def _built(hint: Any, given: Any, name: str) -> Any:
    """Return a JSON value as a field of this type; raise `ModelFileError` for a value of another type."""
    from ..model.saved import ModelFileError, require, shown
    from .scales import Scale

    inner, is_tuple = get_args(hint), hint is Scale or get_origin(hint) is tuple
    if get_origin(hint) is UnionType:
        return None if given is None else _built(inner[0], given, name)
    if is_dataclass(hint) and isinstance(given, dict):
        known = _field_types(hint)  # type: ignore[arg-type]
        require(set(given) <= set(known), f"its schema says {', '.join(map(str, set(given) - set(known)))}=")
        require(hint is not Column or "name" in given, "a column of its schema has no name")
        return hint(**{one: _built(known[one], value, one) for one, value in given.items()})  # type: ignore[operator]
    if is_tuple and isinstance(given, list):
        kinds = (float,) * 3 if hint is Scale else inner[:1] * len(given) if inner[1:] == (...,) else inner
        if len(kinds) == len(given):
            values = tuple(_built(kind, value, name) for kind, value in zip(kinds, given, strict=True))
            return Scale(*values) if hint is Scale else values
    if type(given) is hint and hint is not float:
        return given
    if hint is not float or type(given) not in (int, float) or not abs(given) <= sys.float_info.max:
        raise ModelFileError(f"its schema says {name}={shown(given)}")
    return given


def merged(pieces: Sequence[Schema]) -> Schema:
    """Return the schema of a whole table, given those of its pieces: columns as they first appear, all categories."""
    if not any(piece.columns for piece in pieces):
        return pieces[0]
    pieces = [piece.for_tables() for piece in pieces]
    found: dict[str, Column] = {}
    for piece in pieces:
        for column in piece.columns:
            found[column.name] = found[column.name].merged(column) if column.name in found else column
    return replace(pieces[0], columns=tuple(found.values()))
