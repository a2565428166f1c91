"""A fit of several views of the same rows (views.py), whose evidence is added up (model/evidence.py).

Views that need no training give the ranking that the representations learn from.

If rows are mostly zeros, have no negative values and differ in length, length may or may not matter. So distances are
also computed with rows of length 1, the second reading. If values are counts or weights, whose sum grows with every
repetition, length says little, and the second reading counts twice as much as the first. If each value is 1, the length
is the number of features of a row and may well matter, so the weight of the second reading depends on how well it
agrees with the first.

Rarity is not computed from distances, so each can check the other. Rarity counts little if it agrees with no distance:
if many outliers share features, these are common. Of two readings, the one that rarity disagrees with counts less.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.stats import spearmanr

from ..model.combining import Normalized
from ..model.evidence import Curve, Evidence
from ..model.learned import LearnedDistance
from ..model.terms import Model, Scores, Term
from ..model.ties import Tied
from ..stages.assembling import Stages
from ..terminal.progress import Progress
from . import flow
from .curves import curve_by_law
from .learn_distance import learn
from .training_data import TrainingData
from .views import LEARNED, VIEWS, Reading, Scored, View, typical

STEPS = 20
"""Gradient steps of an epoch: enough to learn what candidates share, too few to memorise any of them."""

EPOCHS = 5
"""Rankings do not improve with 10, or with the paper's 30 (docs/consensus.md)."""

_UNIT_ROWS = 2.0
"""Weight of the views of rows of length 1, relative to those of the unchanged rows."""

_AGREEING = 0.3
"""Rank correlation of rarity and a distance from which they count as agreeing; below, in proportion."""

_AT_STAKE = 0.75
"""How much of the weight of a reading is lost if rarity agrees with the other alone: long rows may also be rarer."""

_CORRELATED = 1 << 17
"""Rows whose scores are compared at most: sorting ten million for each pair of views takes minutes."""

_VARIED = 0.1
"""If lengths vary by less than this (standard deviation over mean), rows of length 1 look the same."""


@dataclass(frozen=True)
class _Seen:
    """A view's scores of the training rows, and the weights of its evidence in the score and in the initial ranking."""

    view: View
    sentence: str
    scored: Scored
    weight: float
    in_ranking: float


@dataclass(frozen=True)
class _SecondReading:
    """Rows of length 1, their distances, and the least that counts as agreement with the first reading."""

    reading: Reading
    seen: list[_Seen]
    least: float


def fit(
    stages: Stages,
    plan: flow.Plan,
    data: TrainingData,
    normalize: str | None,
    seed: np.random.SeedSequence,
    previous: Model | None,
    progress: Progress,
) -> flow.Outcome:
    """Fit all views and combine them. Training starts from the weights of the model `previous`, if given."""
    starts = _starts(previous)
    as_given = Reading(data, seed, plan.n_threads, progress)
    seen = _without_training(as_given)
    distances, rare = [one for one in seen if one.view.of_values], [one for one in seen if not one.view.of_values]
    again = _of_length_1_too(as_given, distances) if normalize is None else None
    trust, shares = _checked(rare, [distances] if again is None else [distances, again.seen], data)
    rare = [_trusted(one, trust) for one in rare]
    learned, fits = _learn(stages, plan, as_given, [*distances, *rare], starts)
    everything = [*_counted(distances, shares[0]), *rare, *_counted(learned, shares[0])]
    if again is not None:
        also, fits_of_unit = _learn(stages, plan, again.reading, [*again.seen, *rare], starts)
        seen = [*again.seen, *also]
        weight = max(again.least, _agreement(seen, [*distances, *learned], data))
        everything += [_of_unit_rows(one) for one in _counted(seen, shares[1] * weight)]
        fits += fits_of_unit
    counting = [one for one in everything if one.weight > 0]
    evidence, scores = _together(counting, data)
    term: Term = evidence if normalize is None else Normalized(evidence, normalize)
    outcome = flow.with_labels(stages, data, term, scores, fits, as_given.seed_of("labels"), plan.n_threads, progress)
    return replace(outcome, seen=tuple(one.scored.scores for one in counting))


def _without_training(reading: Reading, again: bool = False) -> list[_Seen]:
    """Score the rows of a reading by the views that need no training."""
    return [
        _seen(view, reading, view.score(reading, reading.seed_of(view.name)), again)
        for view in VIEWS
        if view.score is not None and view.weight(reading, again) > 0
    ]


def _seen(view: View, reading: Reading, scored: Scored, again: bool = False) -> _Seen:
    return _Seen(view, view.sentence + reading.name, scored, view.weight(reading, again), view.in_ranking)


def _learn(
    stages: Stages, plan: flow.Plan, reading: Reading, seen: list[_Seen], starts: dict[str, LearnedDistance]
) -> tuple[list[_Seen], list[flow.LearnedFit]]:
    """Train the representations, from a ranking by the views `seen`; training starts from an earlier fit, if any."""
    ranking = [replace(one, weight=one.in_ranking) for one in seen if one.in_ranking > 0]
    term, initial = _together(ranking, reading.data)
    flow.warn_if_flat(initial)
    extra = flow.extra_scores(reading.data, partial(term.score, n_threads=reading.n_threads))
    own = tuple(starts.get(view.sentence + reading.name) for view in LEARNED)
    warm = all(start is not None for start in own)
    fits = learn(
        stages,
        replace(plan, n_epochs=1 if warm else EPOCHS),
        reading.data,
        flow.Ranked(initial, extra),
        [reading.seed_of(what) for what in ("triplets", "weights", "references")],
        own if warm else (None,) * len(LEARNED),
        plan.n_threads,
        reading.progress,
    )
    return [_seen(view, reading, _learned(one)) for view, one in zip(LEARNED, fits, strict=True)], fits


def _learned(fit: flow.LearnedFit) -> Scored:
    """Return the distance in a representation, which is computed in single precision."""
    references = fit.term.detection.references
    assert references is not None
    return Scored(fit.term, fit.scores, typical(np.linalg.norm(references.rows.astype(np.float64), axis=1)))


def _starts(previous: Model | None) -> dict[str, LearnedDistance]:
    """Return the representations of an earlier fit, by the sentences of their views."""
    evidence = None if previous is None else previous.evidence
    if evidence is None:
        return {}
    found = {name: Model((view,)).learned for name, view in zip(evidence.names, evidence.views, strict=True)}
    return {name: learned[0] for name, learned in found.items() if learned}


def _of_length_1_too(as_given: Reading, distances: list[_Seen]) -> _SecondReading | None:
    """Return the reading of rows of length 1; None if it would add nothing, or contradicts the first and must not."""
    values, lengths = as_given.sample.as_sparse().data, np.sqrt(as_given.sample.squared_norms())
    values = values[values != 0]
    if as_given.is_table or (values < 0).any() or lengths.std() <= _VARIED * lengths.mean():
        return None
    least, data = 0.0 if (values == values[0]).all() else 1.0, as_given.data
    reading = replace(as_given, data=_of_length_1(data, as_given.n_threads), name=" (rows of length 1)")
    seen = _without_training(reading, again=True)
    return _SecondReading(reading, seen, least) if max(least, _agreement(seen, distances, data)) > 0 else None


def _of_length_1(data: TrainingData, n_threads: int) -> TrainingData:
    outliers, inliers = (
        None if rows is None else rows.normalized("l2", n_threads) for rows in (data.outliers, data.inliers)
    )
    return replace(data, rows=data.rows.normalized("l2", n_threads), outliers=outliers, inliers=inliers, largest=1.0)


def _of_unit_rows(one: _Seen) -> _Seen:
    scored = replace(one.scored, term=Normalized(one.scored.term, "l2"))
    return replace(one, scored=scored, weight=_UNIT_ROWS * one.weight)


def _trusted(one: _Seen, trust: float) -> _Seen:
    """Return rarity, weighted by how well distances agree with it.

    The view of features that few rows have for themselves keeps its weight: rankings of all rows cannot confirm it.
    """
    if one.scored.of_few:
        return one
    return replace(one, weight=one.weight * trust, in_ranking=one.in_ranking * trust)


def _counted(seen: list[_Seen], share: float) -> list[_Seen]:
    return [replace(one, weight=share * one.weight) for one in seen]


def _checked(rare: list[_Seen], readings: list[list[_Seen]], data: TrainingData) -> tuple[float, list[float]]:
    """Return how much rarity counts and how much each reading counts, from 0 to 1, by how they agree."""
    agreeing = [_agreeing(rare, distances, data) for distances in readings]
    trust = max(agreeing)
    return trust, [1 - _AT_STAKE * (trust - one) for one in agreeing]


def _agreeing(rare: list[_Seen], distances: list[_Seen], data: TrainingData) -> float:
    """Return how well rarity agrees with the distance that it agrees with best, from 0 to 1; 1 without rarity."""
    pairs = [([one], [other]) for one in rare if one.in_ranking > 0 for other in distances]
    best = max((_agreement(*pair, data) for pair in pairs), default=1.0)
    return float(np.clip(best / _AGREEING, 0.0, 1.0))


def _agreement(some: list[_Seen], others: list[_Seen], data: TrainingData) -> float:
    """Return the rank correlation of the evidence of two groups of views."""
    return _correlation(*(np.delete(_together(seen, data)[1], data.left_out) for seen in (some, others)))


def _together(seen: list[_Seen], data: TrainingData) -> tuple[Evidence, Scores]:
    """Return the views as one term, and its scores of the training rows. Rows left out of training shape no curve."""
    shaping = (Tied.of(np.delete(one.scored.scores, data.left_out), one.scored.size) for one in seen)
    term = Evidence(
        tuple(one.sentence for one in seen),
        tuple(one.scored.term for one in seen),
        tuple(map(curve_by_law if len(data.held_out) else Curve.of, shaping)),
        tuple(one.weight for one in seen),
        (0.0,) * len(seen),
    )
    scores = term.of([one.scored.scores for one in seen])
    each = (curve(one.scored.scores) for curve, one in zip(term.curves, seen, strict=True))  # curves keep ties
    return replace(term, agreement=tuple(_correlation(one, scores) for one in each)), scores


def _correlation(one: Scores, other: Scores) -> float:
    """Return Spearman's rank correlation, over evenly spaced rows of many, or 0 if one of the scores does not vary."""
    step = -(-len(one) // _CORRELATED)
    one, other = one[::step], other[::step]
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    return float(np.clip(spearmanr(one, other).statistic, -1, 1))
