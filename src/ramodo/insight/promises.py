"""What a fitted detector's cut-off guarantees, in words: for the training rows, and for other rows."""

from __future__ import annotations

from typing import Any

from ..stages.protocols import Promise


def promise_of(detector: Any, is_training: bool = True) -> Promise:
    """What can be said, and what cannot, about the training rows, or other rows, at or above `threshold_`."""
    finds_nothing = bool(detector.threshold_ > detector.outlier_scores_.max())
    promise: Promise = detector._stages().cutoff.promise(is_training, finds_nothing)
    return promise
