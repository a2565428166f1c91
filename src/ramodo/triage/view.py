"""What a person sees of a row: the raw row, its reasons, where it stands, and normal rows to compare it with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..data.rows import Rows
from ..explain.explanation import RowExplanation
from .nearest import Inliers
from .ranker import Ranked

_VALUES = 25
"""Values of a row that are shown."""


@dataclass(frozen=True)
class Value:
    """A feature of a row, and what it adds to the score."""

    name: str
    value: float
    contribution: float


@dataclass(frozen=True)
class Raw:
    """A row as it is: its document, or its values."""

    row: int
    id: str
    text: str | None
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

    @property
    def flagged(self) -> bool:
        return self.score >= self.threshold


def view(ranked: Ranked, rows: Rows, row: int, inliers: Inliers, labels: Mapping[str, int], label: int | None) -> View:
    """A row under the model that ranks."""
    explanation = ranked.explanation(row)
    added = {reason.column: reason.contribution for reason in explanation.reasons}
    names = {reason.column: reason.feature for reason in explanation.reasons}
    return View(
        _raw(ranked, rows, row, added, names),
        float(ranked.scores[row]),
        ranked.threshold,
        ranked.percentile(row),
        int(ranked.ranking.places[row]) + 1,
        len(ranked.scores),
        explanation,
        tuple(_raw(ranked, rows, other, added, names) for other in inliers.to(row)),
        dict(labels),
        label,
    )


def _raw(ranked: Ranked, rows: Rows, row: int, added: Mapping[int, float], names: dict[int, str]) -> Raw:
    """The values that matter first, then the largest; those of reasons are shown even where they are zero."""
    columns, values = rows.take(np.array([row])).row(0)
    columns = np.arange(len(values)) if columns is None else columns
    known = dict(zip(columns.tolist(), values.tolist(), strict=True))
    n_values = sum(value != 0 for value in known.values())
    texts = ranked.table.texts
    if texts is not None:
        return Raw(row, ranked.table.id_of(row), texts[row], (), n_values)
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
