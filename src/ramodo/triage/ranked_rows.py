"""A session's detector with the labels known so far: it ranks, explains and groups the rows."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..explain.contributions import Explainer
from ..explain.explanation import Explanation, Group
from ..explain.naming import explained, explainer_of, names_of
from ..explain.reasons import RowExplanation
from ..formats import Table
from .ranking import Ranking

if TYPE_CHECKING:
    from ..framework import RandomDistanceDetector

GROUPED = 200
"""How many rows, at most, are searched for groups: those above the cut-off and near it."""

_REASONS = 10
_KEPT = 500
"""How many explanations are kept."""


class RankedRows:
    """A detector with labels, the ranking of the rows, and why they rank as they do."""

    def __init__(
        self, detector: RandomDistanceDetector, table: Table, version: int, before: RankedRows | None = None
    ) -> None:
        self.detector, self.table, self.version = detector, table, version
        self.scores: npt.NDArray[np.float64] = detector.outlier_scores_
        self.threshold = float(detector.threshold_)
        self.ranking = Ranking.of(self.scores, self.threshold)
        self._ascending = np.sort(self.scores)
        self._groups: tuple[Group, ...] | None = None
        self._known: OrderedDict[int, RowExplanation] = OrderedDict()
        self._lock = threading.Lock()
        self._prepared: Explainer | None = None
        self._like = None if before is None else before._prepared

    def percentile(self, row: int) -> float:
        """Return the share of rows, in percent, that score lower."""
        return 100 * float(np.searchsorted(self._ascending, self.scores[row])) / len(self.scores)

    def explanation(self, row: int) -> RowExplanation:
        """Why a row has its score; kept, since the page asks again."""
        with self._lock:
            if row in self._known:
                return self._known[row]
        found = self.explain([row], together=False)[0]
        with self._lock:
            self._known[row] = found
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return found

    def explain(self, rows: Sequence[int], together: bool = True) -> Explanation:
        """Why rows have their scores and, with `together`, what they have in common."""
        ready, given = self.prepare(), (self.detector, self.table, rows, self.scores, _REASONS)
        return explained(*given, explainer=ready, together=together)

    @property
    def is_prepared(self) -> bool:
        """Whether the slow part of explaining is done."""
        return self._prepared is not None

    def prepare(self) -> Explainer:
        """Do the slow part of explaining, once, so that the next row is shown without a wait."""
        with self._lock:
            if self._prepared is None:
                self._prepared, self._like = explainer_of(self.detector, self.table, self._like), None
            return self._prepared

    def names(self, columns: Sequence[int], rows: Sequence[int]) -> dict[int, str]:
        """Return the names of columns; tokens of text are searched for in `rows` first."""
        name_of = names_of(self.detector, self.table, columns, rows)
        return {column: name_of(column) or f"feature {column}" for column in columns}

    def group(self, labelled: set[int]) -> None:
        """Find rows at the top that are outliers for the same reason, which takes a moment."""
        highest = self.ranking.order[: self.ranking.n_above + self.ranking.n_near].tolist()
        rows = [row for row in highest if row not in labelled][:GROUPED]
        found = self.explain(rows)
        with self._lock:
            for row, one in zip(rows, found, strict=True):
                self._known[row] = one
        self._groups = tuple(Group(tuple(rows[i] for i in one.rows), one.drivers) for one in found.groups())

    @property
    def groups(self) -> tuple[Group, ...]:
        """Groups of rows that are outliers for the same reason; none before `group` was called."""
        return self._groups or ()
