"""The detector of a session with the labels of the moment: what ranks, explains and groups the rows."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..explain.explanation import Explanation, Group
from ..explain.naming import explained
from ..explain.reasons import RowExplanation
from ..formats import Table, TextOptions
from ..formats.text import token_names
from .queues import Ranking

GROUPED = 200
"""Rows from the top that are searched for groups."""

_REASONS = 10
_KEPT = 500
"""Explanations that are kept."""


class Ranked:
    """A detector with labels, the ranking of the rows, and why they stand where they stand."""

    def __init__(self, detector: Any, table: Table, texts: TextOptions, version: int) -> None:
        self.detector, self.table, self.texts, self.version = detector, table, texts, version
        self.scores: npt.NDArray[np.float64] = detector.outlier_scores_
        self.threshold = float(detector.threshold_)
        self.ranking = Ranking.of(self.scores, self.threshold)
        self.names = namer(detector, table, texts)
        self._ascending = np.sort(self.scores)
        self._groups: tuple[Group, ...] | None = None
        self._known: OrderedDict[int, RowExplanation] = OrderedDict()
        self._lock = threading.Lock()

    def percentile(self, row: int) -> float:
        """Share of the rows, in percent, that score lower."""
        return 100 * float(np.searchsorted(self._ascending, self.scores[row])) / len(self.scores)

    def explanation(self, row: int) -> RowExplanation:
        """Why a row has its score; kept, since a page asks for it again."""
        with self._lock:
            if row in self._known:
                return self._known[row]
        found = self.explain([row])[0]
        with self._lock:
            self._known[row] = found
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return found

    def explain(self, rows: Sequence[int]) -> Explanation:
        """Why rows have their scores."""
        return explained(self.detector, self.table, rows, self.scores, _REASONS, self.texts)

    def group(self, labelled: set[int]) -> None:
        """Look for rows at the top that are outliers for the same reason; takes a moment."""
        rows = [row for row in self.ranking.order[: 2 * GROUPED].tolist() if row not in labelled][:GROUPED]
        found = self.explain(rows)
        with self._lock:
            for row, one in zip(rows, found, strict=True):
                self._known[row] = one
        self._groups = tuple(Group(tuple(rows[i] for i in one.rows), one.drivers) for one in found.groups())

    @property
    def groups(self) -> tuple[Group, ...]:
        """Of rows that are outliers for the same reason; none until they were looked for."""
        return self._groups or ()


def namer(detector: Any, table: Table, texts: TextOptions) -> Callable[[Sequence[int], Sequence[int]], dict[int, str]]:
    """Names of columns, looked for in some rows where they are tokens of text."""
    known = getattr(detector, "feature_names_in_", None)
    first = 0 if table.zero_based is None or table.zero_based else 1

    def names(columns: Sequence[int], rows: Sequence[int]) -> dict[int, str]:
        if known is not None:
            return {column: str(known[column]) for column in columns}
        found = {column: f"feature {column + first}" for column in columns}
        if table.texts is not None:
            found |= token_names([table.texts[row] for row in rows], columns, texts)
        return found

    return names
