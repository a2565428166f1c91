"""A fitted model with other labels: what it learned without labels stays, and the direction of labels is learned again.

An analyst who labels row after row wants the new ranking in seconds. Distances of all rows to references, and the
representations, do not have to be computed again for that: the direction of the labels (label_direction.py) is what
changes a ranking, and it is quick.
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
    """The rows, the term of a model that is not about labels, its scores of the rows, and the initial ranking."""

    rows: Rows
    term: Term
    scores: Scores
    initial: Scores

    @classmethod
    def of(cls, model: Model, rows: Rows, initial: Scores | None, n_threads: int) -> Unlabeled:
        """Score the rows. `initial` is None if the model was fitted to other rows; its own ranking takes its place."""
        term = model.terms[0]
        scores = Model((term,)).score(rows, n_threads)
        return cls(rows, term, scores, scores if initial is None else initial)

    def labeled(self, labels: Labels, seed: int | None, n_threads: int) -> tuple[Model, Scores]:
        """The model with these labels, and its scores of the rows; the unlabelled model if no outlier is known."""
        if not (labels == 1).any():
            return Model((self.term,)), self.scores
        known = known_rows(self.rows, labels, None, None, self.initial, np.empty(0))
        others = np.flatnonzero(labels != 1)
        rng = np.random.default_rng(seed)
        return learn_direction(self.rows, others, known, self.initial, self.term, self.scores, rng, n_threads)
