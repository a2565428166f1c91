"""What a person sees of a row: the raw row, its reasons, where it stands, and normal rows to compare it with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..data.rows import Rows
from ..explain.reasons import RowExplanation, above
from .nearest import Inliers
from .ranker import Ranked
from .raw import Raw, raw

_VISIBLE = 0.002
"""Amounts below this share of the largest are no bar that anybody sees."""


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

    @property
    def bars(self) -> list[tuple[str, str, float]]:
        """Each reason in words, what is usual instead, and what it adds; amounts too small to see are left out."""
        found = [(one.in_words(), one.typical(), one.contribution) for one in self.explanation.reasons]
        if self.lacked:
            found.append((self.lacked, "", self.explanation.lacks.contribution))
        found.append(("all else", "", self.explanation.rest))
        return [bar for bar in found if abs(bar[2]) >= _VISIBLE * self.largest]

    def _on_scale(self, score: float) -> float:
        width = self.highest - self.lowest
        return 100.0 if width <= 0 else round(100 * min(1.0, max(0.0, (score - self.lowest) / width)), 1)


def view(ranked: Ranked, rows: Rows, row: int, inliers: Inliers, labels: Mapping[str, int], label: int | None) -> View:
    """A row under the model that ranks."""
    explanation = ranked.explanation(row)
    added = {reason.column: reason.contribution for reason in explanation.reasons}
    spans = [span for reason in explanation.reasons for span in reason.spans if span.contribution > 0]
    return View(
        raw(ranked, rows, row, added, spans, mark=True),
        float(ranked.scores[row]),
        ranked.threshold,
        ranked.percentile(row),
        int(ranked.ranking.places[row]) + 1,
        len(ranked.scores),
        explanation,
        tuple(raw(ranked, rows, other, added, (), mark=False) for other in inliers.to(row)),
        dict(labels),
        label,
        float(ranked.scores.min()),
        float(ranked.scores.max()),
    )
