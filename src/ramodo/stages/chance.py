"""A cut-off that flags rows which stand out more than chance explains, in views that training has not shaped.

Training pulls its outlier candidates away from all other rows, even in noise. So the scores of a representation cannot
tell whether its training rows stand out, but views without learned parameters can. An ordinary row's evidence in each
of them follows an exponential law, so its sum over independent views follows a gamma law. That law is fitted to the
bulk of the rows (tail.py), and Benjamini and Hochberg's rule finds the rows beyond it.

Flags follow the ranking by score. Some rows at or above a threshold stand out and some do not; the chosen threshold
is the one with the largest surplus of rows that do.
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

    Only for `Consensus`, because it needs views without learned parameters. In pure noise it flags nothing. With
    `copies_once`, rows with the same score count once, unless more stand out when all count: for logs.

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import AboveChance, Consensus
    >>> noise = np.random.default_rng(0).normal(size=(200, 5))
    >>> int((Consensus(cutoff=AboveChance(), random_state=0).fit_predict(noise) == -1).sum())
    0
    """

    by_evidence = True

    def __init__(self, fdr: float = 0.1, *, copies_once: bool = False) -> None:
        self.fdr = fdr
        self.copies_once = copies_once

    def cutoff(self, scores: Scores) -> float:
        """Raise an error, because this rule needs more than scores."""
        raise OptionError(NEEDS_VIEWS)

    def stand_out(self, evidence: Scores, bulk: Scores, heaviest: float, n_rows: int) -> npt.NDArray[np.bool_]:
        """Return a mask of the rows that stand out, given the highest evidence among `n_rows` rows.

        `bulk` is the evidence of evenly drawn rows, `heaviest` the largest weight of a view.
        """
        check(self.get_params(deep=False))
        return benjamini_hochberg(Gamma.of(bulk, heaviest).p_values(evidence), self.fdr, n_rows)

    def flags_of_noise(self, n_rows: int) -> int:
        """Return 0, which holds for nine of ten data sets of noise at the rate 0.1."""
        return 0

    def guarantee(self, is_training: bool, finds_nothing: bool) -> Guarantee:
        if finds_nothing:
            caveat = "The ranking still says which rows to look at first; a share of the rows, as cut-off, flags them."
        elif is_training:
            caveat = (
                "This assumes that the evidence of ordinary rows follows a gamma law beyond their bulk. It does not "
                "say that all flagged rows are of the kind you look for, nor that the others are not: the ranking "
                "continues below."
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
