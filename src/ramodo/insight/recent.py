"""The rows that were scored last, compared with the training rows now and then: for streams, servers and batch jobs."""

from __future__ import annotations

from collections import deque
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ..data.validation import open_block
from ..model.profile import SAMPLED
from .drift import Drift, compare

if TYPE_CHECKING:
    from ..model.fitted import FittedDetector

_MOST_ENTRIES = 1 << 22
"""Values that are kept, but for those of the last rows."""

_FIRST = 500
"""Rows after which they are compared for the first time; later, after as many as are kept."""


class Recent:
    """Rows and their scores, as many of the last as a comparison takes. Threads may share it."""

    def __init__(self, detector: FittedDetector) -> None:
        self._detector = detector
        self._kept: deque[tuple[Any, Any]] = deque()
        self._lock = Lock()
        self._left = _FIRST
        self._told: frozenset[tuple[str, str, str]] = frozenset()

    def add(self, X: Any, scores: Any) -> Drift | None:
        """Keep rows; returns what moved if it is time to compare and something moved that had not been told."""
        with self._lock:
            self._kept.append((X[-SAMPLED:], scores[-SAMPLED:]))
            while len(self._kept) > 1 and self._is_enough():
                self._kept.popleft()
            self._left -= len(scores)
            if self._left > 0:
                return None
            self._left = SAMPLED
        found = self.drift()
        moved = (
            frozenset((each.what, each.name, each.kind) for each in found.moved) if found is not None else frozenset()
        )
        news, self._told = moved - self._told, moved
        return found if news else None

    def drift(self) -> Drift | None:
        """How the rows that are kept differ from the training rows; None where there are few, or no profile."""
        with self._lock:
            kept = list(self._kept)
        if not kept:
            return None
        rows = [X for X, _ in kept]
        X = sp.vstack(rows, format="csr") if sp.issparse(rows[0]) else np.vstack(rows)
        return compare(self._detector, open_block(X), np.concatenate([scores for _, scores in kept]))

    def _is_enough(self) -> bool:
        """Whether the rows without the first of them are enough."""
        later = [X for X, _ in list(self._kept)[1:]]
        sizes = [X.nnz if sp.issparse(X) else X.size for X in later]
        return sum(X.shape[0] for X in later) >= SAMPLED or sum(sizes) >= _MOST_ENTRIES
