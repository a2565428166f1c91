"""The threshold of the cut-off `AboveChance`, from a second look at rows by views without learned parameters.

Looking at a row costs as much as scoring it. So the law of ordinary rows comes from rows drawn evenly along the
ranking. Apart from these, only the highest rows are looked at, doubling their number while most of them stand out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.blocks import Block
from ..data.labels import Labels
from ..data.rows import Rows
from ..model.combining import Normalized
from ..model.evidence import Curve, Evidence
from ..model.terms import Model, Scores, Term
from ..model.ties import Tied
from ..stages.benjamini_hochberg import benjamini_hochberg
from ..stages.tail import tails_of
from .curves import counted_curve, curve_by_law
from .views import typical

_DRAWN = 1000
"""Number of rows to which the law of ordinary rows is fitted."""

_HIGHEST = 256
"""Number of top rows to look at first."""


def threshold(cutoff: Any, model: Model, rows: Rows, scores: Scores, labels: Labels, n_threads: int) -> float:
    """Return the threshold for the scores of these rows.

    Known outliers are left out: they are not ordinary rows, and finding them again is not a discovery.
    """
    order = np.argsort(-scores, kind="stable")
    order = order[labels[order] != 1]
    shares = np.zeros(len(order))
    if cutoff.copies_once:
        first = np.flatnonzero(np.diff(scores[order], prepend=np.inf))
        shares = np.diff(first, append=len(order)) / len(order)
        order = order[first]
    n, highest = len(order), _HIGHEST
    drawn = np.unique(np.linspace(0, n - 1, min(n, _DRAWN)).astype(np.int64))
    law, bulk, heaviest = _by_law(model, rows.take(order[drawn]), n_threads)
    evidence = np.full(n, np.nan)
    evidence[drawn] = bulk
    also = _by_labels(cutoff.fdr, model, scores[order])
    while True:
        unseen = np.flatnonzero(np.isnan(evidence[:highest]))
        if len(unseen):
            evidence[unseen] = law.score_block(rows.take(order[unseen]), n_threads)
        found = cutoff.stand_out(evidence[:highest], bulk, heaviest, n)
        found &= shares[:highest] <= cutoff.fdr * found.sum() / n  # what is common comes by chance as often as it comes
        found |= also[:highest]
        if highest >= n or found.sum() < highest / 2:
            return _dividing(scores[order[:highest]], found)
        highest *= 2


def _dividing(scores: Scores, found: npt.NDArray[np.bool_]) -> float:
    """Return the one of the descending scores with the largest surplus of found rows at or above it."""
    ahead = np.cumsum(np.where(found, 1, -1))
    ahead[np.flatnonzero(scores[1:] == scores[:-1])] = 0  # a threshold does not part equal scores
    best = int(np.argmax(ahead))
    return float(scores[best] if ahead[best] > 0 else np.nextafter(scores[0], np.inf))


def _by_labels(fdr: float, model: Model, scores: Scores) -> npt.NDArray[np.bool_]:
    """Return the rows that resemble known outliers: they stand out by the score with labels, maybe in no view."""
    if not model.has_labels:
        return np.zeros(len(scores), dtype=bool)
    return benjamini_hochberg(tails_of([scores])[0].p_values(scores), fdr)


def _by_law(model: Model, drawn: Block, n_threads: int) -> tuple[Model, Scores, float]:
    """Return a model of the views without learned parameters, the evidence of the drawn rows, and the largest weight.

    The bulk of the drawn rows determines the evidence.
    """
    (evidence, how), block = model.views, model.as_fitted(drawn)
    pairs = zip(evidence.views, evidence.weights, strict=True)
    kept = [(view, weight) for view, weight in pairs if all(term.kind != "learned distance" for term, _ in view.all())]
    views = tuple(Normalized(view, how) if how is not None else view for view, _ in kept)
    scores = [view.score(block, n_threads) for view in views]
    curves = tuple(map(_curve, views, scores))
    weights = tuple(weight for _, weight in kept)
    law = Evidence(tuple(map(str, views)), views, curves, weights, (0.0,) * len(kept))
    return Model((law,)), law.of(scores), max(weights)


def _curve(view: Term, scores: Scores) -> Curve:
    """Return the evidence of a view.

    If most rows have no feature of their own, the bulk tells nothing about the rows that do. Then evidence is counted,
    up to that of the share of rows that score as high.
    """
    rarities: list[Any] = [term for term, _ in view.all() if term.kind == "rarity"]
    few = any(r.unshared and (r.frequencies.counts == 1).sum() < r.frequencies.n_rows for r in rarities)
    tied = Tied.of(scores, typical(scores))
    return counted_curve(tied) if few else curve_by_law(tied)
