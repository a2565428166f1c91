"""What a fitted detector's cut-off promises, in words: to the rows that it was drawn on, and to others."""

from __future__ import annotations

from typing import Any

from ..stages.protocols import Promise


def promise_of(detector: Any, is_training: bool = True) -> Promise:
    """What may be said, and what not, of the rows at or above `threshold_`: of the training rows, or of others."""
    finds_nothing = bool(detector.threshold_ > detector.outlier_scores_.max())
    promise: Promise = detector._stages().cutoff.promise(is_training, finds_nothing)
    return promise
