"""A cut-off with a guarantee: conformal p-values from held-out rows, which control the false-discovery rate.

A share of the rows is held out: they are neither references nor in any triplet, so to the fitted detector they are like
new rows. A row's p-value is the share of held-out rows that score at least as high. Benjamini and Hochberg's rule
on the p-values of a batch then keeps the expected share of false discoveries at or below the rate that was asked for
(Bates, Candès, Lei, Romano, Sesia 2023), where the rows of the batch are new. Outliers among the held-out rows make it
more cautious, not less. Nothing is guaranteed for the rows that were trained on: their scores differ from those of
new rows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..options import OptionError, check
from .protocols import Cutoff, Guarantee, Scores


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


class Conformal(Cutoff):
    """The cut-off by Benjamini and Hochberg's rule at `fdr`, applied to the training rows.

    The false-discovery rate itself holds for new rows only, by `discoveries` of the fitted detector.
    `held_out` is the share of unlabelled rows that is kept out of training.
    """

    def __init__(self, fdr: float = 0.1, held_out: float = 0.2) -> None:
        self.fdr = fdr
        self.held_out = held_out

    def hold_out(self, candidates: npt.NDArray[np.int64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """The rows that are kept out of training."""
        check(self.get_params(deep=False))
        if len(candidates) == 0:
            raise OptionError(
                "Conformal was given, but no row is unlabelled (0 in labels); allowed: data with some, to hold out."
            )
        count = max(1, round(self.held_out * len(candidates)))
        return np.sort(rng.choice(candidates, count, replace=False))

    def cutoff(self, scores: Scores) -> float:
        """Raises: scores alone are not enough."""
        return self.cutoff_from(scores, np.empty(0))

    def cutoff_from(self, scores: Scores, held_out: Scores) -> float:
        """The lowest score that is a discovery among `scores`; above all scores if there is none."""
        if len(held_out) == 0:
            raise ValueError("Conformal needs the scores of held-out rows; it is a cut-off for final scores only.")
        found = benjamini_hochberg(p_values(scores, held_out), self.fdr)
        if not found.any():
            return float(np.nextafter(max(scores.max(), held_out.max()), np.inf))
        return float(scores[found].min())

    def guarantee(self, is_training: bool, finds_nothing: bool) -> Guarantee:
        return Guarantee(self._meaning(is_training, finds_nothing), self._caveat(is_training, finds_nothing))

    def _meaning(self, is_training: bool, finds_nothing: bool) -> str:
        nothing = (
            f"; no {'row' if is_training else 'training row'} is a discovery at this rate, so it is above all of them"
        )
        return (
            f"that of Benjamini and Hochberg's rule at {self.fdr:g} on the training rows"
            f"{nothing if finds_nothing else ''}; the false-discovery rate holds for new rows only, by `discoveries`"
        )

    def _caveat(self, is_training: bool, finds_nothing: bool) -> str:
        """P-values of training rows differ from those of new rows, and a fixed threshold ignores the batch."""
        if not is_training:
            return (
                "It can flag any share of rows outside the training data, such as these: many flagged rows mean that "
                "these data differ from the training data. The detector's `discoveries` applies the rule to rows such "
                "as these."
            )
        if finds_nothing:
            return "A higher rate, or more rows, may find some. The ranking still says which rows to look at first."
        return (
            "It is not known how many of the flagged rows are false alarms: the detector was fitted to these rows. The "
            "ranking says which to look at first."
        )
