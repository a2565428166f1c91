"""The threshold of the cut-off `AboveChance`, from a second look at rows by views without learned parameters.

A fit has the scores of all rows by each view. Elsewhere looking at a row costs as much as scoring it. So the law of
ordinary rows comes from rows drawn evenly along the ranking. Apart from these, only the highest rows are looked at,
doubling their number while most of them stand out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

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

Integers = npt.NDArray[np.int64]
Look = Callable[[Integers], list[Scores]]
"""Returns the scores of the rows with these numbers by each view without learned parameters."""

_DRAWN = 1000
"""Number of rows to which the law of ordinary rows is fitted."""

_HIGHEST = 256
"""Number of top rows to look at first."""


def look_at(model: Model, seen: Sequence[Scores]) -> Look:
    """Return a look at rows whose scores by each view of the model are known."""
    return lambda numbers: [seen[place][numbers] for place, _ in _unlearned(model)]


def look_again(model: Model, rows: Rows, n_threads: int) -> Look:
    """Return a look at rows that scores them."""

    def look(numbers: Integers) -> list[Scores]:
        how = model.views[1]
        views = [Normalized(view, how) if how is not None else view for _, view in _unlearned(model)]
        block = model.as_fitted(rows.take(numbers))
        return [view.score(block, n_threads) for view in views]

    return look


def threshold(cutoff: Any, model: Model, look: Look, scores: Scores, labels: Labels) -> float:
    """Return the threshold for the scores of these rows.

    Known outliers are left out: they are not ordinary rows, and finding them again is not a discovery. Where copies may
    count once, it is the lower of two thresholds: a scan may consist of copies, while others hide among those of
    ordinary rows.
    """
    order = np.argsort(-scores, kind="stable")
    order = order[labels[order] != 1]
    ways = (False, True) if cutoff.copies_once else (False,)
    return min(_threshold(cutoff, model, look, scores, order, once=once) for once in ways)


def _threshold(cutoff: Any, model: Model, look: Look, scores: Scores, order: Integers, *, once: bool) -> float:
    """Return the threshold for rows in the order of their scores; with `once`, equal rows count once."""
    shares = np.zeros(len(order))
    if once:
        first = np.flatnonzero(np.diff(scores[order], prepend=np.inf))
        shares = np.diff(first, append=len(order)) / len(order)
        order = order[first]
    n, highest = len(order), _HIGHEST
    drawn = np.unique(np.linspace(0, n - 1, min(n, _DRAWN)).astype(np.int64))
    found_in_drawn = look(order[drawn])
    law = _law(model, found_in_drawn)
    bulk, heaviest = law.of(found_in_drawn), max(law.weights)
    evidence = np.full(n, np.nan)
    evidence[drawn] = bulk
    also = _by_labels(cutoff.fdr, model, scores[order])
    while True:
        unseen = np.flatnonzero(np.isnan(evidence[:highest]))
        if len(unseen):
            evidence[unseen] = law.of(look(order[unseen]))
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


def _unlearned(model: Model) -> list[tuple[int, Term]]:
    """Return the views without learned parameters, with their places among all views."""
    views = enumerate(model.views[0].views)
    return [(place, view) for place, view in views if all(term.kind != "learned distance" for term, _ in view.all())]


def _law(model: Model, scores: list[Scores]) -> Evidence:
    """Return the evidence of the views without learned parameters, determined by the bulk of these scores."""
    places, views = zip(*_unlearned(model), strict=True)
    curves = tuple(map(_curve, views, scores))
    weights = tuple(model.views[0].weights[place] for place in places)
    return Evidence(tuple(map(str, views)), views, curves, weights, (0.0,) * len(views))


def _curve(view: Term, scores: Scores) -> Curve:
    """Return the evidence of a view.

    If most rows have no feature of their own, the bulk tells nothing about the rows that do. Then evidence is counted,
    up to that of the share of rows that score as high.
    """
    rarities: list[Any] = [term for term, _ in view.all() if term.kind == "rarity"]
    few = any(rarity.is_of_few for rarity in rarities)
    tied = Tied.of(scores, typical(scores))
    return counted_curve(tied) if few else curve_by_law(tied)
