"""Several views of a row as one score: the sum of their evidence.

A view is a term in its own unit. Its evidence against a row is -log of the share of training rows that
score at least as high: 0 for the most ordinary row, 3 for the highest 5 %, whatever the view. Evidence is summed, which
is Fisher's way to combine tests. So one view that is certain can outweigh several that see nothing. A mean of ranks
would not allow that, since ranks end at 1.

Up to the tail, the highest 5 %, shares are counted. In the tail they follow an exponential law with the mean excess of
the training rows there. There, evidence grows with the score without limit: new rows beyond all training rows do not
tie, and a row ten times as far out as the rest of the tail gets the evidence for it.

Scores that differ only by rounding tie. How rows are stored, and the processor, can change the last bits of the scores
of equal rows, and a curve that told such scores apart would turn the difference into whole units of evidence. So curves
are fitted to tied scores, are flat around each knot, and have knots far enough apart that rounding between them hardly
matters.

Explanations stay exact: the evidence of a view is shared among features in proportion to their contributions to it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..data.blocks import Block
from .parts import Doubles, Part, View
from .saved import Saved, require
from .terms import Scores, Tensors, Term, added
from .ties import Tied

TAIL = 0.05
"""The highest-scoring share of training rows: the tail."""

KNOTS = 256
"""Maximum number of knots of a curve; between them evidence is interpolated."""


@dataclass(frozen=True)
class Curve:
    """The evidence of a score: interpolated between points, linear beyond the last."""

    scores: Doubles
    values: Doubles
    slope: float

    @classmethod
    def of(cls, tied: Tied) -> Curve:
        """Fit the curve to the scores of training rows."""
        ordered, n = tied.ordered, len(tied.ordered)
        start = n - max(1, round(TAIL * n))
        knots = tied.knots(np.linspace(0, start, min(KNOTS, start + 1)).astype(np.int64))
        values = -np.log1p(-np.searchsorted(ordered, knots, "left") / n)
        last = float(knots[-1])
        excess = float(ordered[start:].mean()) - last
        units = (unit for unit in (excess, last) if tied.differ(unit, last))
        return cls(*tied.plateaus(knots, values), 1 / next(units, 1.0))  # equal scores give no unit

    def __call__(self, scores: Scores) -> Scores:
        beyond = np.maximum(scores - self.scores[-1], 0.0)
        return np.asarray(np.interp(scores, self.scores, self.values) + self.slope * beyond)


@dataclass(frozen=True)
class Evidence(Term):
    """The weighted sum of the evidence of views, whose scores must not be negative."""

    names: tuple[str, ...]
    """What a high score in each view means, in words."""
    views: tuple[Term, ...]
    curves: tuple[Curve, ...]
    weights: tuple[float, ...]
    agreement: tuple[float, ...]
    """Rank correlation of each view with the whole score, over the training rows."""
    kind: ClassVar[str] = "evidence"

    def score(self, block: Block, n_threads: int, normalize: str | None = None) -> Scores:
        return self.of([view.score(block, n_threads, normalize) for view in self.views])

    def of(self, scores: list[Scores]) -> Scores:
        """Return the sum of evidence, given the scores of each view."""
        return added(self.each(scores))

    def each(self, scores: list[Scores]) -> list[Scores]:
        """Return the weighted evidence of each view, given its scores."""
        triples = zip(self.curves, self.weights, scores, strict=True)
        return [weight * curve(one) for curve, weight, one in triples]

    def breakdown(self, block: Block, n_threads: int, normalize: str | None = None) -> dict[str, Scores]:
        found = self.each([view.score(block, n_threads, normalize) for view in self.views])
        return dict(zip(self.names, found, strict=True))

    def parts(self, weight: float, normalize: str | None) -> list[Part]:
        return [
            EvidencePart(part, view, curve, weight * own, normalize)
            for view, curve, own in zip(self.views, self.curves, self.weights, strict=True)
            for part in view.parts(1.0, normalize)
        ]

    def facts(self) -> dict[str, Any]:
        return {
            "names": list(self.names),
            "weights": list(self.weights),
            "slopes": [curve.slope for curve in self.curves],
            "agreement": list(self.agreement),
        }

    def tensors(self) -> Tensors:
        pairs = list(enumerate(self.curves))
        return {f"curve.{i}.scores": c.scores for i, c in pairs} | {f"curve.{i}.values": c.values for i, c in pairs}

    @classmethod
    def read(cls, saved: Saved, inner: tuple[Term, ...]) -> Evidence:
        weights, slopes = saved.reals("weights", low=0.0), saved.reals("slopes", low=0.0)
        names, agreement = saved.names("names"), saved.reals("agreement", low=-1.0)
        fine = len(names) == len(weights) == len(slopes) == len(agreement) == len(inner) > 0
        require(fine and max(agreement) <= 1, "evidence has not one name, weight, slope and agreement for each view")
        curves = tuple(_read_curve(saved, i, slope) for i, slope in enumerate(slopes))
        return cls(tuple(names), inner, curves, tuple(weights), tuple(agreement))

    def inner(self) -> tuple[Term, ...]:
        return self.views

    def __str__(self) -> str:
        return f"evidence of {len(self.views)} views ({'; '.join(self.names)})"


def _read_curve(saved: Saved, number: int, slope: float) -> Curve:
    scores, values = (saved.array(f"curve.{number}.{name}", "float64", 1) for name in ("scores", "values"))
    fine = 0 < len(scores) == len(values) <= 2 * KNOTS and float(values[0]) == 0.0
    rises = bool((np.diff(scores) > 0).all() and (np.diff(values) >= 0).all())
    require(fine and rises, f"curve {number} of the evidence does not rise from 0")
    return Curve(scores, values, slope)


class EvidencePart(Part):
    """A part of a view, scaled so that its contributions sum to the evidence and not to the score."""

    def __init__(self, part: Part, view: Term, curve: Curve, weight: float, normalize: str | None) -> None:
        self._part, self._view, self._curve, self._weight, self._normalize = part, view, curve, weight, normalize
        self.projection, self.presence, self.references = part.projection, part.presence, part.references
        self.as_given, self.numbers = part.as_given, part.numbers

    def view(self, block: Block) -> View:
        seen = self._part.view(block)
        scores = self._view.score(block.normalized(self._normalize), 1, self._normalize)
        rates = self._weight * self._curve(scores) / np.where(scores > 0, scores, 1.0)
        return replace(seen, p=seen.p * rates[:, None], q=seen.q * rates[:, None])
