"""What a person sees of a row: the raw row, its reasons, where it stands, and normal rows to compare it with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..data.rows import Rows
from ..explain.reasons import RowExplanation, Span, above
from ..terminal.escaping import escape_controls
from .nearest import Inliers
from .ranker import Ranked

_VALUES = 25
"""Values of a row that are shown."""

_CHARACTERS = 20_000
"""Characters of a document that are shown."""


@dataclass(frozen=True)
class Value:
    """A feature of a row, and what it adds to the score."""

    name: str
    value: float
    contribution: float


@dataclass(frozen=True)
class Piece:
    """A piece of a document, and how much it matters: 0 not at all, to 3."""

    text: str
    strength: int


@dataclass(frozen=True)
class Raw:
    """A row as it is: its document, or its values."""

    row: int
    id: str
    pieces: tuple[Piece, ...] | None
    """The document, cut where what matters begins and ends; None where there is none."""
    values: tuple[Value, ...]
    n_values: int
    """Of the row, not zero; more than are shown."""


@dataclass(frozen=True)
class View:
    """A row with what it takes to decide."""

    raw: Raw
    score: float
    threshold: float
    percentile: float
    place: int
    """The highest score is 1."""
    n_rows: int
    explanation: RowExplanation
    nearest: tuple[Raw, ...]
    """Rows that are taken for normal and look most like it."""
    labels: Mapping[str, int]
    """Who labelled it as what."""
    label: int | None

    lowest: float
    highest: float
    """Scores of all rows, for the scale."""

    @property
    def flagged(self) -> bool:
        return self.score >= self.threshold

    @property
    def at(self) -> float:
        """Where its score is between the lowest and the highest, in percent."""
        return self._on_scale(self.score)

    @property
    def cut(self) -> float:
        """Where the cut-off is."""
        return self._on_scale(self.threshold)

    @property
    def above(self) -> str:
        """Share of the rows that score lower, in percent."""
        return above(self.percentile)

    @property
    def lacked(self) -> str:
        """What it lacks, in words."""
        return self.explanation.lacks.in_words()

    @property
    def largest(self) -> float:
        """The largest amount that is shown as a bar."""
        shown = [reason.contribution for reason in self.explanation.reasons]
        return max(map(abs, [*shown, self.explanation.rest, self.explanation.lacks.contribution]))

    def _on_scale(self, score: float) -> float:
        width = self.highest - self.lowest
        return 100.0 if width <= 0 else round(100 * min(1.0, max(0.0, (score - self.lowest) / width)), 1)


def view(ranked: Ranked, rows: Rows, row: int, inliers: Inliers, labels: Mapping[str, int], label: int | None) -> View:
    """A row under the model that ranks."""
    explanation = ranked.explanation(row)
    added = {reason.column: reason.contribution for reason in explanation.reasons}
    names = {reason.column: reason.feature for reason in explanation.reasons}
    spans = [span for reason in explanation.reasons for span in reason.spans if span.contribution > 0]
    return View(
        _raw(ranked, rows, row, added, names, spans),
        float(ranked.scores[row]),
        ranked.threshold,
        ranked.percentile(row),
        int(ranked.ranking.places[row]) + 1,
        len(ranked.scores),
        explanation,
        tuple(_raw(ranked, rows, other, added, names, ()) for other in inliers.to(row)),
        dict(labels),
        label,
        float(ranked.scores.min()),
        float(ranked.scores.max()),
    )


def _raw(
    ranked: Ranked, rows: Rows, row: int, added: Mapping[int, float], names: dict[int, str], spans: Sequence[Span]
) -> Raw:
    """The values that matter first, then the largest; those of reasons are shown even where they are zero."""
    columns, values = rows.take(np.array([row])).row(0)
    columns = np.arange(len(values)) if columns is None else columns
    known = dict(zip(columns.tolist(), values.tolist(), strict=True))
    n_values = sum(value != 0 for value in known.values())
    texts = ranked.table.texts
    if texts is not None:
        return Raw(row, ranked.table.id_of(row), _pieces(texts[row], spans), (), n_values)
    largest = sorted((c for c in known if known[c] != 0 and c not in added), key=lambda c: (-abs(known[c]), c))
    shown = [*added, *largest][:_VALUES]
    named = {**ranked.names(shown, [row]), **names}
    return Raw(
        row,
        ranked.table.id_of(row),
        None,
        tuple(Value(named[c], known.get(c, 0.0), added.get(c, 0.0)) for c in shown),
        n_values,
    )


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
