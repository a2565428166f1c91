"""What the cut-off of a fitted detector guarantees, and how many rows it would flag if there were nothing to find."""

from __future__ import annotations

from typing import Any

from ..stages.custom_stages import AdaptedCutoff
from ..stages.protocols import Guarantee
from ..stages.thresholding import Cantelli

_MANY = 100
"""Most people look at no more flags than this one by one."""

_MORE = 2
"""Flags may all be noise unless they are this many times as many as noise gives."""


def guarantee_of(detector: Any, is_training: bool = True) -> Guarantee:
    """Return what can and cannot be said about the training rows, or other rows, at or above `threshold_`."""
    finds_nothing = bool(detector.threshold_ > detector.outlier_scores_.max())
    return _cutoff_of(detector).guarantee(is_training, finds_nothing)


def flags_of_noise(detector: Any, n_rows: int) -> int | None:
    """Return about how many of `n_rows` rows without outliers would be flagged, or None if unknown."""
    return _cutoff_of(detector).flags_of_noise(n_rows)


def says_little(detector: Any, n_flagged: int, n_rows: int) -> bool:
    """Return whether there are too many flags to look at, or hardly more than noise gives and nobody asked for them."""
    cutoff = _cutoff_of(detector)
    expected = cutoff.flags_of_noise(n_rows)
    few_more = expected is not None and 0 < n_flagged < _MORE * expected
    return n_flagged >= _MANY or (few_more and not cutoff.sets_number)


def _cutoff_of(detector: Any) -> AdaptedCutoff:
    """Return the cut-off in force; detectors without stages have Cantelli's."""
    cutoff: AdaptedCutoff = detector._stages().cutoff if hasattr(detector, "_stages") else AdaptedCutoff(Cantelli())
    return cutoff
