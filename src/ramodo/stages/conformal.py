"""A cut-off with a guarantee: p-values of rows that training did not see, which control the false-discovery rate.

A fit has two models. Each is trained without one fold of the rows, and a row is scored by the model that did not see
its fold. Benjamini and Hochberg's rule on p-values keeps the expected share of false discoveries at or below
the requested rate. There are two kinds of p-values:

The p-value of a new row is the share of training rows of its fold that score at least as high. The model that scores
those rows has not seen them either, so nothing needs to be assumed (Bates, Candès, Lei, Romano, Sesia 2023). Outliers
among them make the p-value more cautious, not less.

Training rows cannot be compared with themselves: a share k/n of them is always among the k highest. Their p-values
follow from the bulk of their scores and an assumption about the scores of ordinary rows beyond it: see tail.py.

With `held_out` there is one model, trained without a share of the rows: half the work, but no valid p-values for
training rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..options import OptionError, check
from .benjamini_hochberg import benjamini_hochberg
from .protocols import Cutoff, Guarantee, Scores
from .tail import tails_of


def p_values(scores: Scores, calibration: Scores) -> Scores:
    """Return (1 + number of calibration scores at or above) / (1 + number of calibration scores), for each score."""
    ordered = np.sort(calibration)
    return (1 + len(ordered) - np.searchsorted(ordered, scores, side="left")) / (1 + len(ordered))


def _lowest(scores: Scores, found: npt.NDArray[np.bool_]) -> float:
    """Return the lowest of the scores marked in `found`, or a number above all scores if none is marked."""
    return float(scores[found].min()) if found.any() else float(np.nextafter(scores.max(), np.inf))


class Conformal(Cutoff):
    """The cut-off by Benjamini and Hochberg's rule at `fdr`, applied to the training rows.

    `discoveries` of the fitted detector applies it to new rows. With `held_out`, the share of unlabelled rows that is
    kept out of training, the fit has one model in place of two, and the rate holds for new rows only.

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import REPEN, Conformal
    >>> X = np.random.default_rng(0).normal(size=(400, 30))
    >>> detector = REPEN(n_epochs=2, cutoff=Conformal(fdr=0.1), random_state=0).fit(X[10:])
    >>> np.flatnonzero(detector.discoveries(np.vstack([X[:10], X[:1] + 5]), fdr=0.1))
    array([10])
    """

    needs_held_out = True

    def __init__(self, fdr: float = 0.1, held_out: float | None = None) -> None:
        self.fdr = fdr
        self.held_out = held_out

    def hold_out(self, candidates: npt.NDArray[np.int64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Draw the rows to keep out of training."""
        check(self.get_params(deep=False))
        if len(candidates) == 0:
            raise OptionError(
                "Conformal needs unlabelled rows (0 in labels) to hold out, and every row has a label. Leave some "
                "unlabelled, or use another cut-off."
            )
        if self.held_out is None:
            return super().hold_out(candidates, rng)
        count = max(1, round(self.held_out * len(candidates)))
        return np.sort(rng.choice(candidates, count, replace=False))

    def cutoff(self, scores: Scores) -> float:
        """Raise an error, because this rule needs more than scores."""
        return self.cutoff_from(scores, np.empty(0))

    def cutoff_from(self, scores: Scores, held_out: Scores) -> float:
        """Return the lowest of `scores` that is a discovery, or a number above all of them if none is."""
        if len(held_out) == 0:
            raise ValueError("Conformal needs the scores of held-out rows; it is a cut-off for final scores only.")
        found = benjamini_hochberg(p_values(scores, held_out), self.fdr)
        return _lowest(scores, found)

    def n_folds(self) -> int:
        """Return 2 models, or 1 if rows are held out."""
        return 2 if self.held_out is None else 1

    def cutoff_of_folds(self, folds: Sequence[Scores]) -> float:
        """Return the lowest score of all folds that is a discovery, or a number above all of them if none is.

        The p-value of a score is the share of ordinary rows of any fold that reach it.
        """
        scores = np.concatenate(folds)
        pairs = zip(folds, tails_of(folds), strict=True)
        reached = np.sum([len(fold) * tail.p_values(scores) for fold, tail in pairs], axis=0)
        return _lowest(scores, benjamini_hochberg(reached / len(scores), self.fdr))

    def guarantee(self, is_training: bool, finds_nothing: bool) -> Guarantee:
        rule = f"that of Benjamini and Hochberg's rule at {self.fdr:g} on the training rows"
        nothing = (
            f"no {'row' if is_training else 'training row'} is a discovery at this rate, so it is above all of them"
        )
        said = [rule, *([nothing] if finds_nothing else []), *self._holds(finds_nothing)]
        return Guarantee("; ".join(said), self._caveat(is_training, finds_nothing))

    def _holds(self, finds_nothing: bool) -> list[str]:
        """Return the rows for which the rate holds, and on what condition, in words."""
        if self.held_out is not None:
            return ["the false-discovery rate holds for new rows only, by `discoveries`"]
        return [] if finds_nothing else [f"{_OF_TRAINING_ROWS.format(self.fdr)}, if {_CONDITION}"]

    def _caveat(self, is_training: bool, finds_nothing: bool) -> str:
        """Return the limits of the rate: a fixed threshold ignores the batch, and training saw rows not held out."""
        if not is_training:
            return (
                "It can flag any share of rows outside the training data, such as these: many flagged rows mean that "
                "these data differ from the training data. The detector's `discoveries` applies the rule to rows such "
                "as these."
            )
        if finds_nothing:
            return "A higher rate, or more rows, may find some. The ranking still says which rows to look at first."
        if self.held_out is None:
            return (
                "Each row was scored by a model that did not see it. More rows can be flagged by chance if the scores "
                "of ordinary rows have a heavy tail, as with rows of very different sizes."
            )
        return (
            "How many of the flagged rows are false alarms is unknown, because the detector was fitted to these rows. "
            "The ranking says which to look at first."
        )


_OF_TRAINING_ROWS = "of the training rows at or above it, an expected share of at most {:g} is there by chance"

_CONDITION = "scores of ordinary rows fall off beyond their bulk as they do within it, or faster"
