"""A cut-off with a promise: conformal p-values from held-out rows, and the false-discovery rate of those below it.

A share of the rows is held out: they are neither references nor in any triplet, so they are to the fitted detector what
new rows are. A row's p-value is the share of held-out rows that score at least as high. Benjamini and Hochberg's rule
on the p-values of a batch then keeps the expected share of false discoveries at or below the rate that was asked for
(Bates, Candès, Lei, Romano, Sesia 2023), where the rows of the batch are new. Outliers among the held-out rows make it
more cautious, not less. Of the rows that were trained on nothing is promised: their scores are not those of new rows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..options import OptionError, check
from .thresholding import Line, Scores


def p_values(scores: Scores, calibration: Scores) -> Scores:
    """(1 + number of calibration scores at or above) / (1 + number of calibration scores), for each score."""
    ordered = np.sort(calibration)
    return (1 + len(ordered) - np.searchsorted(ordered, scores, side="left")) / (1 + len(ordered))


def benjamini_hochberg(p: Scores, fdr: float) -> npt.NDArray[np.bool_]:
    """Which hypotheses the step-up rule rejects at the rate `fdr`."""
    order = np.argsort(p, kind="stable")
    within = np.flatnonzero(p[order] <= fdr * np.arange(1, len(p) + 1) / max(1, len(p)))
    rejected = np.zeros(len(p), dtype=bool)
    if len(within):
        rejected[order[: within[-1] + 1]] = True
    return rejected


class Conformal(Line):
    """The line that Benjamini and Hochberg's rule at `fdr` draws on the training rows.

    The false-discovery rate itself holds for new rows only, by `discoveries` of the fitted detector.
    `held_out` is the share of unlabelled rows that training does without.
    """

    def __init__(self, fdr: float = 0.1, held_out: float = 0.2) -> None:
        self.fdr = fdr
        self.held_out = held_out

    def hold_out(self, candidates: npt.NDArray[np.int64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """The rows that are kept from training."""
        check(self.get_params(deep=False))
        if len(candidates) == 0:
            raise OptionError("Conformal was given without unlabelled rows (0 in labels); allowed: some, to hold out.")
        count = max(1, round(self.held_out * len(candidates)))
        return np.sort(rng.choice(candidates, count, replace=False))

    def cutoff(self, scores: Scores, calibration: Scores | None = None) -> float:
        """The lowest score that is a discovery among `scores`; above all of them where there is none."""
        if calibration is None or len(calibration) == 0:
            raise ValueError("Conformal needs the scores of held-out rows; it is a cut-off for final scores only.")
        found = benjamini_hochberg(p_values(scores, calibration), self.fdr)
        if not found.any():
            return float(np.nextafter(max(scores.max(), calibration.max()), np.inf))
        return float(scores[found].min())
