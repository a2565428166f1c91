"""The rows that were scored last, compared with the training rows now and then: for streams, servers and batch jobs."""

from __future__ import annotations

from collections import deque
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..data.validation import open_block
from ..model.profile import SAMPLED
from .drift import Drift, compare

if TYPE_CHECKING:
    from ..model.fitted import FittedDetector

_ENOUGH = np.array([SAMPLED, 1 << 22])
"""How many rows and values to keep; older ones are dropped."""

_FIRST = 500
"""Rows after which they are compared for the first time; later, after as many as are kept."""


class Recent:
    """Rows and their scores, as many of the last as a comparison takes. Threads may share it."""

    def __init__(self, detector: FittedDetector) -> None:
        self._detector = detector
        self._kept: deque[tuple[Any, Any]] = deque()
        self._lock = Lock()
        self._n = np.zeros(2, dtype=np.int64)
        self._left = _FIRST
        self._told: frozenset[tuple[str, str, str]] = frozenset()

    def add(self, X: Any, scores: Any) -> Drift | None:
        """Keep rows; returns what moved if it is time to compare and something moved that had not been told."""
        with self._lock:
            self._keep(*((X, scores) if len(scores) <= SAMPLED else (X[-SAMPLED:], scores[-SAMPLED:])))
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

    def _keep(self, X: Any, scores: Any) -> None:
        """Keep rows, and drop the first that are not needed any more."""
        self._kept.append((X, scores))
        self._n += _size(X)
        while len(self._kept) > 1 and (self._n - _size(self._kept[0][0]) >= _ENOUGH).any():
            self._n -= _size(self._kept.popleft()[0])


def _size(X: Any) -> npt.NDArray[np.int64]:
    """Rows, and values."""
    return np.array([X.shape[0], X.nnz if sp.issparse(X) else X.size])
