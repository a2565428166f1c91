"""A row as it is in its file: the document with the parts that matter marked, and the values of other columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..data.rows import Rows
from ..explain.reasons import Span
from ..formats import text_and_columns
from ..terminal.escaping import escape_controls
from .ranked_rows import RankedRows

_VALUES = 25
"""How many values of a row are shown."""

_CHARACTERS = 20_000
"""How many characters of a document are shown."""


@dataclass(frozen=True)
class Value:
    """A column of a row as in the file, and whether it raises the score."""

    name: str
    text: str
    unusual: bool


@dataclass(frozen=True)
class Piece:
    """A piece of a document, and how much it matters, from 0 (not at all) to 3."""

    text: str
    strength: int


@dataclass(frozen=True)
class Raw:
    """A row as it is: its document, its values, or both.

    pieces : the document, cut where a part that matters begins or ends; None without a document
    n_values : how many non-zero values the row has, which may be more than are shown
    """

    row: int
    id: str
    pieces: tuple[Piece, ...] | None
    values: tuple[Value, ...]
    n_values: int


def raw(
    ranked: RankedRows, rows: Rows, row: int, added: Mapping[int, float], spans: Sequence[Span], *, mark: bool
) -> Raw:
    """Return a row with the columns in `added`, contributions to a score, first; then its largest values.

    Columns of a table are shown even if this row is zero there; those of a sparse file are not. With `mark`, columns
    that raise the score are unusual.
    """
    table = ranked.table
    texts = None if table.texts is None else _pieces(table.texts[row], spans)
    if table.is_text:
        return Raw(row, table.id_of(row), texts, (), 0)
    own = _Columns(ranked, rows, row)
    first = [column for column in added if column >= own.n_tokens and (own.has(column) or table.names is not None)]
    values: dict[str, Value] = {}
    for column in [*first, *own.largest(set(first))]:
        name, text = own.written(column)
        raises = mark and added.get(column, 0.0) > 0
        if name not in values or raises:
            values[name] = Value(name, text, raises)
        if len(values) == _VALUES:
            break
    return Raw(row, table.id_of(row), texts, tuple(values.values()), own.n_values)


class _Columns:
    """The columns of a row other than tokens of documents."""

    def __init__(self, ranked: RankedRows, rows: Rows, row: int) -> None:
        self._ranked, self._table, self._row = ranked, ranked.table, row
        self.n_tokens = self._table.schema.n_tokens
        columns, values = rows.take(np.array([row])).row(0)
        columns = np.arange(len(values)) if columns is None else columns
        units = text_and_columns.units_of(self._table)
        shown = values if units is None else units(columns, values)
        pairs = zip(columns.tolist(), values.tolist(), np.asarray(shown).tolist(), strict=True)
        self._values = {column: both for column, *both in pairs if column >= self.n_tokens}
        circles = self._table.schema.circles
        self._circles = {column: circle for circle in circles for column in circle.columns}

    @property
    def n_values(self) -> int:
        """Columns of the file in which the row has a value other than zero."""
        there = [column for column, (value, _) in self._values.items() if value != 0]
        return len({self._category(column) or self._circles.get(column, column) for column in there})

    def has(self, column: int) -> bool:
        """Return whether the row is not zero there."""
        return self._values.get(column, (0.0,))[0] != 0

    def largest(self, but: set[int]) -> list[int]:
        """Return all other non-zero columns, largest first."""
        there = [column for column, (value, _) in self._values.items() if value != 0 and column not in but]
        return sorted(there, key=lambda column: (-abs(self._values[column][0]), column))

    def written(self, column: int) -> tuple[str, str]:
        """Name and value of a column as the file has it: a category by its value in this row, a time as a time."""
        category, circle = self._category(column), self._circles.get(column)
        if category is not None:
            return category, self._categories.get(category, "—")
        if circle is not None:
            sine, cosine = (self._values.get(one, (0.0,))[0] for one in circle.columns)
            return circle.name, circle.shown(circle.value(sine, cosine)) if sine or cosine else "—"
        _, value = self._values.get(column, (0.0, self._nothing(column)))
        return self._name(column), f"{value:.6g}"

    def _nothing(self, column: int) -> float:
        """Return the value in the file's units that zero represents."""
        units = text_and_columns.units_of(self._table)
        return 0.0 if units is None else float(units(np.array([column]), np.zeros(1))[0])

    def _name(self, column: int) -> str:
        return self._ranked.names([column], [self._row])[column]

    def _category(self, column: int) -> str | None:
        """Return the file's column that a column of zeros and ones was made from; None for other columns."""
        if not self._table.schema.columns:
            return None
        feature = self._table.schema.feature(column)
        return feature.column.name if feature.part == "value" else None

    @cached_property
    def _categories(self) -> dict[str, str]:
        """This row's value in each column of categories."""
        found: dict[str, str] = {}
        for column, (value, _) in self._values.items():
            category = self._category(column) if value != 0 else None
            if category is not None:
                found[category] = str(self._table.schema.feature(column).value)
        return found


def _pieces(text: str, spans: Sequence[Span]) -> tuple[Piece, ...]:
    """Return a document in pieces, marked by how much each raises the score; control characters are escaped."""
    largest = max((span.contribution for span in spans), default=0.0)
    found, done = list[Piece](), 0
    for span in sorted(spans):
        if span.begin < done or span.begin >= _CHARACTERS:
            continue
        found += [Piece(text[done : span.begin], 0)] * (span.begin > done)
        found.append(Piece(text[span.begin : span.end], 1 + min(2, int(3 * span.contribution / largest))))
        done = span.end
    rest = text[done : max(done, _CHARACTERS)]
    found += [Piece(rest, 0)] * bool(rest) + [Piece("…", 0)] * (len(text) > max(done, _CHARACTERS))
    return tuple(Piece(_printable(piece.text), piece.strength) for piece in found)


def _printable(text: str) -> str:
    """Return the text with control characters escaped, except line breaks."""
    return "\n".join(map(escape_controls, text.split("\n")))
