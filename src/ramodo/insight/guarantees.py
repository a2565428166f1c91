"""What a fitted detector's cut-off guarantees, in words: for the training rows, and for other rows."""

from __future__ import annotations

from typing import Any

from ..stages.protocols import Guarantee
from ..stages.thresholding import Cantelli


def guarantee_of(detector: Any, is_training: bool = True) -> Guarantee:
    """What can be said, and what cannot, about the training rows, or other rows, at or above `threshold_`."""
    finds_nothing = bool(detector.threshold_ > detector.outlier_scores_.max())
    cutoff = detector._stages().cutoff if hasattr(detector, "_stages") else Cantelli()  # that of plain detectors
    guarantee: Guarantee = cutoff.guarantee(is_training, finds_nothing)
    return guarantee
