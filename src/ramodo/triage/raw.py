"""A row as its file has it: the document with what matters marked, and the values of other columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..data.rows import Rows
from ..explain.reasons import Span
from ..formats import text_and_columns
from ..terminal.escaping import escape_controls
from .ranker import Ranked

_VALUES = 25
"""Values of a row that are shown."""

_CHARACTERS = 20_000
"""Characters of a document that are shown."""


@dataclass(frozen=True)
class Value:
    """A column of a row, as it is written in the file, and whether it raises the score."""

    name: str
    text: str
    unusual: bool


@dataclass(frozen=True)
class Piece:
    """A piece of a document, and how much it matters: 0 not at all, to 3."""

    text: str
    strength: int


@dataclass(frozen=True)
class Raw:
    """A row as it is: its document, its values, or both."""

    row: int
    id: str
    pieces: tuple[Piece, ...] | None
    """The document, cut where what matters begins and ends; None where there is none."""
    values: tuple[Value, ...]
    n_values: int
    """Of the row, not zero; may be more than are shown."""


def raw(ranked: Ranked, rows: Rows, row: int, added: Mapping[int, float], spans: Sequence[Span], *, mark: bool) -> Raw:
    """Columns of `added`, contributions to a score, come first; then the largest.

    Columns of a table are shown whether or not this row has them; what a row has none of in a sparse file is not there.

    With `mark`, those that raise the score are unusual.
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
    """The columns of a row that are no tokens of documents."""

    def __init__(self, ranked: Ranked, rows: Rows, row: int) -> None:
        self._ranked, self._table, self._row = ranked, ranked.table, row
        self.n_tokens = self._table.schema.n_tokens
        columns, values = rows.take(np.array([row])).row(0)
        columns = np.arange(len(values)) if columns is None else columns
        units = text_and_columns.units_of(self._table)
        shown = values if units is None else units(columns, values)
        pairs = zip(columns.tolist(), values.tolist(), np.asarray(shown).tolist(), strict=True)
        self._values = {column: both for column, *both in pairs if column >= self.n_tokens}

    @property
    def n_values(self) -> int:
        """Columns of the file in which it has a value other than zero."""
        there = [column for column, (value, _) in self._values.items() if value != 0]
        return len(self._categories) + sum(self._category(column) is None for column in there)

    def has(self, column: int) -> bool:
        """Whether it is not zero."""
        return self._values.get(column, (0.0,))[0] != 0

    def largest(self, but: set[int]) -> list[int]:
        """All other columns that are not zero, the largest first."""
        there = [column for column, (value, _) in self._values.items() if value != 0 and column not in but]
        return sorted(there, key=lambda column: (-abs(self._values[column][0]), column))

    def written(self, column: int) -> tuple[str, str]:
        """A column as the file has it: name and value; of a category, the value that this row has."""
        category = self._category(column)
        if category is not None:
            return category, self._categories.get(category, "—")
        _, value = self._values.get(column, (0.0, self._nothing(column)))
        return self._name(column), f"{value:.6g}"

    def _nothing(self, column: int) -> float:
        """What zero is in the file's units."""
        units = text_and_columns.units_of(self._table)
        return 0.0 if units is None else float(units(np.array([column]), np.zeros(1))[0])

    def _name(self, column: int) -> str:
        return self._ranked.names([column], [self._row])[column]

    def _category(self, column: int) -> str | None:
        """The column of the file that a column of zeros and ones was made of."""
        if not self._table.schema.columns:
            return None
        feature = self._table.schema.feature(column)
        return feature.column.name if feature.part == "value" else None

    @cached_property
    def _categories(self) -> dict[str, str]:
        """The value of this row in each column of categories."""
        found: dict[str, str] = {}
        for column, (value, _) in self._values.items():
            category = self._category(column) if value != 0 else None
            if category is not None:
                found[category] = str(self._table.schema.feature(column).value)
        return found


def _pieces(text: str, spans: Sequence[Span]) -> tuple[Piece, ...]:
    """A document as pieces, those that raise its score marked by how much they do; control characters escaped."""
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
    """Lines stay lines."""
    return "\n".join(map(escape_controls, text.split("\n")))
