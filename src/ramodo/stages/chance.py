"""A cut-off above what chance gives: rows are flagged that stand out in views which training has not shaped.

Training pulls its outlier candidates away from all other rows, in noise too, so scores of a representation cannot tell
whether the rows that it was trained on stand out. Views that nothing was learned for can. An ordinary row's evidence in
them adds up to a number that follows a gamma law: the sum of exponential laws, as independent as the views are. The
law is that of the bulk (tail.py), and Benjamini and Hochberg's rule says which rows are beyond it.

Flags follow the ranking by score, so the threshold is the score where the rows at or above it that stand out outnumber
the others by most.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..options import OptionError, check
from .benjamini_hochberg import benjamini_hochberg
from .protocols import OF_OTHERS, Cutoff, Guarantee, Scores
from .tail import Gamma


class AboveChance(Cutoff):
    """The score above which most rows stand out more than chance explains, at the false-discovery rate `fdr`.

    For `Consensus`, which has views that nothing is learned for. Noise has no such rows, and none are flagged.

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import AboveChance, Consensus
    >>> noise = np.random.default_rng(0).normal(size=(200, 5))
    >>> int((Consensus(cutoff=AboveChance(), random_state=0).fit_predict(noise) == -1).sum())
    0
    """

    by_evidence = True

    def __init__(self, fdr: float = 0.1) -> None:
        self.fdr = fdr

    def cutoff(self, scores: Scores) -> float:
        """Raises: scores alone are not enough."""
        raise OptionError(NEEDS_VIEWS)

    def stand_out(self, evidence: Scores, bulk: Scores, heaviest: float, n_rows: int) -> npt.NDArray[np.bool_]:
        """Which of the highest of `n_rows` rows stand out, by their evidence and that of evenly drawn rows.

        `heaviest` is the largest weight of a view.
        """
        check(self.get_params(deep=False))
        return benjamini_hochberg(Gamma.of(bulk, heaviest).p_values(evidence), self.fdr, n_rows)

    def flags_of_noise(self, n_rows: int) -> int:
        """None, in nine of ten data sets at the rate 0.1."""
        return 0

    def guarantee(self, is_training: bool, finds_nothing: bool) -> Guarantee:
        if finds_nothing:
            caveat = "The ranking still says which rows to look at first; a share of the rows, as cut-off, flags them."
        elif is_training:
            caveat = (
                "This rests on the evidence of ordinary rows, which goes on beyond their bulk as a gamma law does. It "
                "does not say that all flagged rows are of the kind you look for, nor that the others are not: the "
                "ranking goes on below."
            )
        else:
            caveat = OF_OTHERS
        return Guarantee(self.meaning(is_training, finds_nothing), caveat)

    def meaning(self, is_training: bool, finds_nothing: bool = False) -> str:
        if finds_nothing:
            rows = "row" if is_training else "training row"
            return f"above all training rows, since no {rows} stands out more than chance explains"
        return f"most {'' if is_training else 'training '}rows at or above it stand out more than chance explains"


NEEDS_VIEWS = (
    "the cut-off 'chance' (AboveChance) needs views that are not learned, which only Consensus has. Use Consensus, or "
    "another cut-off: 'cantelli', a share of the rows, or Conformal()."
)
