"""A row as shown to a person: the raw row, its reasons, its place in the ranking, and normal rows for comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..data.rows import Rows
from ..explain.reasons import RowExplanation, above
from .nearest import Inliers
from .ranked_rows import RankedRows
from .raw import Raw, raw

_VISIBLE = 0.002
"""Bars shorter than this share of the longest cannot be seen."""


@dataclass(frozen=True, kw_only=True)
class Card:
    """A row with everything needed to decide about it.

    place : the highest score has place 1
    nearest : rows considered normal that look most like it
    labels : the label that each analyst gave it
    label : their common label, None without one
    lowest, highest : scores of all rows, for the scale
    """

    raw: Raw
    score: float
    threshold: float
    percentile: float
    place: int
    n_rows: int
    explanation: RowExplanation
    nearest: tuple[Raw, ...]
    labels: Mapping[str, int]
    label: int | None
    lowest: float
    highest: float

    @property
    def flagged(self) -> bool:
        return self.score >= self.threshold

    @property
    def score_at(self) -> float:
        """Where its score lies between the lowest and the highest, in percent."""
        return self._on_scale(self.score)

    @property
    def threshold_at(self) -> float:
        """Where the threshold lies between the lowest and the highest score, in percent."""
        return self._on_scale(self.threshold)

    @property
    def above(self) -> str:
        """The share of rows that score lower, in percent."""
        return above(self.percentile)

    @property
    def lacked(self) -> str:
        """What it lacks, in words."""
        return self.explanation.lacks.in_words()

    @property
    def largest(self) -> float:
        """What the longest bar would stand for: the score, so that bars are shares of it."""
        shown = [self.score, *(reason.contribution for reason in self.explanation.reasons)]
        return max(map(abs, [*shown, self.explanation.rest, self.explanation.lacks.contribution]))

    @property
    def bars(self) -> list[tuple[str, str, float]]:
        """Each reason in words, what is usual instead, and what it adds; amounts too small to see are left out."""
        found = [(one.in_words(), one.typical(), one.contribution) for one in self.explanation.reasons]
        if self.lacked:
            found.append((self.lacked, "", self.explanation.lacks.contribution))
        found.append(("everything else", "", self.explanation.rest))
        return [bar for bar in found if abs(bar[2]) >= _VISIBLE * self.largest]

    def _on_scale(self, score: float) -> float:
        width = self.highest - self.lowest
        return 100.0 if width <= 0 else round(100 * min(1.0, max(0.0, (score - self.lowest) / width)), 1)


def card_of(
    ranked: RankedRows, rows: Rows, row: int, inliers: Inliers, labels: Mapping[str, int], label: int | None
) -> Card:
    """Return the card of a row under the current model."""
    explanation = ranked.explanation(row)
    added = {reason.column: reason.contribution for reason in explanation.reasons}
    spans = [span for reason in explanation.reasons for span in reason.spans if span.contribution > 0]
    return Card(
        raw=raw(ranked, rows, row, added, spans, mark=True),
        score=float(ranked.scores[row]),
        threshold=ranked.threshold,
        percentile=ranked.percentile(row),
        place=int(ranked.ranking.places[row]) + 1,
        n_rows=len(ranked.scores),
        explanation=explanation,
        nearest=tuple(raw(ranked, rows, other, added, (), mark=False) for other in inliers.to(row)),
        labels=dict(labels),
        label=label,
        lowest=float(ranked.scores.min()),
        highest=float(ranked.scores.max()),
    )
