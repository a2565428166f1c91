"""Give a fitted model other labels: keep what it learned without labels, and learn only the label direction again.

An analyst who labels row after row wants the new ranking within seconds. The representations and the distances of all
rows to references stay the same: only the label direction (label_direction.py) changes the ranking, and it is fast.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.labels import Labels
from ..data.rows import Rows
from ..model.terms import Model, Scores, Term
from .label_direction import known_rows, learn_direction


@dataclass(frozen=True)
class Unlabeled:
    """The rows, a model's term without labels, its scores of the rows, and the initial ranking."""

    rows: Rows
    term: Term
    scores: Scores
    initial: Scores

    @classmethod
    def of(cls, model: Model, rows: Rows, initial: Scores | None, n_threads: int) -> Unlabeled:
        """Score the rows. `initial` is None if the model was fitted to other rows; then its own ranking is used."""
        term = model.terms[0]
        scores = Model((term,)).score(rows, n_threads)
        return cls(rows, term, scores, scores if initial is None else initial)

    def labeled(self, labels: Labels, seed: int | None, n_threads: int) -> tuple[Model, Scores]:
        """Return the model with these labels and its scores; it is the unlabelled model if no outlier is known."""
        if not (labels == 1).any():
            return Model((self.term,)), self.scores
        known = known_rows(self.rows, labels, None, None, self.initial, np.empty(0))
        others = np.flatnonzero(labels != 1)
        rng = np.random.default_rng(seed)
        return learn_direction(self.rows, others, known, self.initial, self.term, self.scores, rng, n_threads)
