"""Another cut-off for rows that a model scores, without another fit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..model.terms import offset_of
from ..model.ties import settled
from ..options import OptionError, check, option_error
from .flags import Cutting

if TYPE_CHECKING:
    from ..model.file.saving import Opened

_OF_BATCH = ("--fdr", "--top")
"""Flags whose meaning depends on all rows."""


def refuse(detector: Opened, cutting: Cutting, is_stream: bool) -> None:
    """Raise, before any work, for a cut-off that this model or this source cannot have."""
    given = cutting.given()
    if given in _OF_BATCH and is_stream:
        raise OptionError(f"{given} looks at all rows together, and a stream has no end; use --share or --cutoff.")
    if cutting.fdr is not None:
        check({"fdr": cutting.fdr})
        if len(detector.calibration_scores_) == 0:
            raise OptionError("--fdr needs rows that training did without: fit the model with --fdr, too.")
    if cutting.cutoff is not None and not math.isfinite(cutting.cutoff):
        raise option_error("--cutoff", "a finite number", str(cutting.cutoff))


def with_threshold(detector: Opened, cutting: Cutting) -> str:
    """Give the model the threshold that was asked for; returns what it guarantees, or nothing."""
    known = detector.outlier_scores_
    if cutting.share is not None:
        n = max(1, round(cutting.share * len(known)))
        _use(detector, settled(float(np.partition(known, len(known) - n)[len(known) - n]), known))
        return f"the share {cutting.share:g} of the training rows reaches it; of other rows, any share can"
    if cutting.cutoff is not None:
        _use(detector, cutting.cutoff)
        return f"{(known >= cutting.cutoff).mean():.2%} of the training rows reach it; nothing else is known"
    return ""


def found_in(detector: Opened, cutting: Cutting, X: Any, scores: Any) -> tuple[npt.NDArray[np.bool_] | None, str]:
    """Which rows are flagged where all of them together decide that, and what it guarantees."""
    if cutting.top is not None and len(scores):
        _use(detector, float(np.sort(scores)[-min(cutting.top, len(scores))]))
        return None, f"the {cutting.top:,} highest of these rows reach it, and rows that tie; it says nothing of others"
    if cutting.fdr is not None:
        from ..insight.discoveries import PValues  # they import scikit-learn, which scoring should not wait for
        from ..stages.benjamini_hochberg import benjamini_hochberg

        p = detector.rows_of(X).gather(PValues.of(detector, detector.n_jobs))
        said = f"of the flagged rows, an expected share of at most {cutting.fdr:g} is flagged by chance"
        return benjamini_hochberg(p, cutting.fdr), f"{said}, if ordinary rows are like the training rows"
    return None, ""


def _use(detector: Opened, threshold: float) -> None:
    detector.threshold_, detector.offset_ = threshold, offset_of(threshold)
