"""Models that were each fitted without one fold of the training rows, and score the rows of that fold.

The fold of a row is a hash of its content, so a row is always scored by a model that never saw it, whether it was
there in training or is new: scores of training rows are out of sample, and the same row has the same score.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..data.blocks import Block
from .parts import Integers, Part, View
from .saved import SMALLEST_UNIT, Saved, require
from .terms import Scores, Term

_MOST_ROWS = 2**62


@dataclass(frozen=True)
class ByFold(Term):
    """The score of each row by the model of its fold, in that model's unit."""

    models: tuple[Term, ...]
    units: tuple[float, ...]
    n_calibration: tuple[int, ...]
    """Number of training rows of each fold that are like new rows to its model: all but the labelled ones."""
    kind: ClassVar[str] = "by fold"

    def score(self, block: Block, n_threads: int, normalize: str | None = None) -> Scores:
        scores = np.empty(block.n_rows)
        for rows, seen, model, unit in self._split(block):
            scores[rows] = model.score(seen, n_threads, normalize) / unit
        return scores

    def breakdown(self, block: Block, n_threads: int, normalize: str | None = None) -> dict[str, Scores]:
        found: dict[str, Scores] = {}
        for rows, seen, model, unit in self._split(block):
            for name, scores in model.breakdown(seen, n_threads, normalize).items():
                found.setdefault(name, np.zeros(block.n_rows))[rows] = scores / unit
        return found

    def _split(self, block: Block) -> Iterator[tuple[Integers, Block, Term, float]]:
        """Yield the rows of each fold, with the model that scores them and its unit."""
        folds = block.folds(len(self.models))
        for fold, (model, unit) in enumerate(zip(self.models, self.units, strict=True)):
            rows = np.flatnonzero(folds == fold)
            if len(rows):
                yield rows, block.take(rows), model, unit

    def parts(self, weight: float, normalize: str | None) -> list[Part]:
        return [
            FoldPart(part, fold, len(self.models))
            for fold, (model, unit) in enumerate(zip(self.models, self.units, strict=True))
            for part in model.parts(weight / unit, normalize)
        ]

    def facts(self) -> dict[str, Any]:
        return {"units": list(self.units), "n_calibration": list(self.n_calibration)}

    @classmethod
    def read(cls, saved: Saved, inner: tuple[Term, ...]) -> ByFold:
        units = saved.reals("units", low=SMALLEST_UNIT)
        counts = saved.integers("n_calibration", 0, _MOST_ROWS)
        fine = len(units) == len(counts) == len(inner) > 1
        require(fine, "folds must have one unit and one number of rows for each of several models")
        return cls(inner, tuple(units), tuple(counts))

    def inner(self) -> tuple[Term, ...]:
        return self.models

    def __str__(self) -> str:
        return f"by the model of {len(self.models)} that did not see the row: {self.models[0]}"


class FoldPart(Part):
    """A part of the model of one fold; it contributes nothing to rows of other folds."""

    def __init__(self, part: Part, fold: int, n_folds: int) -> None:
        self._part, self._fold, self._n_folds = part, fold, n_folds
        self.projection, self.presence, self.references = part.projection, part.presence, part.references
        self.as_given, self.numbers = part.as_given, part.numbers

    def view(self, block: Block) -> View:
        seen, own = self._part.view(block), (block.folds(self._n_folds) == self._fold)[:, None]
        return replace(seen, p=seen.p * own, q=seen.q * own, distances=np.where(own, seen.distances, np.inf))

    def nearest(self, view: View, i: int, most: int = 5) -> tuple[int, ...]:
        return super().nearest(view, i, most) if np.isfinite(view.distances[i]).all() else ()
