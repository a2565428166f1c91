"""A fit of several views of the same rows (views.py), whose evidence is added up (model/evidence.py).

Views that need no training give the ranking that the representations learn from.

If rows are mostly zeros, have no negative values and differ in length, length may or may not matter. So distances are
also computed with rows of length 1, the second reading. If values are counts or weights, whose sum grows with every
repetition, length says little, and the second reading counts twice as much as the first. If each value is 1, the length
is the number of features of a row and may well matter, so the weight of the second reading depends on how well it
agrees with the first.
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

_VARIED = 0.1
"""If lengths vary by less than this (standard deviation over mean), rows of length 1 look the same."""


@dataclass(frozen=True)
class _Seen:
    """A view's scores of the training rows, and the weight of its evidence in the score."""

    view: View
    sentence: str
    scored: Scored
    weight: float


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
    learned, fits = _learn(stages, plan, as_given, seen, starts)
    everything = seen + learned
    least = _least_agreement(as_given) if normalize is None else None
    if least is not None:
        unit = replace(as_given, data=_of_length_1(data, plan.n_threads), name=" (rows of length 1)")
        more = _without_training(unit, again=True)
        of_values = [one for one in seen if one.view.of_values]
        if max(least, _agreement(more, of_values, data)) > 0:
            rare = [one for one in seen if not one.view.of_values]
            also, fits_of_unit = _learn(stages, plan, unit, more, starts, rare)
            weight = _UNIT_ROWS * max(least, _agreement(more + also, of_values + learned, data))
            everything += [_of_unit_rows(one, weight) for one in more + also]
            fits += fits_of_unit
    evidence, scores = _together(everything, data)
    term: Term = evidence if normalize is None else Normalized(evidence, normalize)
    return flow.with_labels(stages, data, term, scores, fits, as_given.seed_of("labels"), plan.n_threads, progress)


def _without_training(reading: Reading, again: bool = False) -> list[_Seen]:
    """Score the rows of a reading by the views that need no training."""
    return [
        _Seen(view, view.sentence + reading.name, view.score(reading, reading.seed_of(view.name)), view.weight)
        for view in VIEWS
        if view.score is not None and view.applies_to(reading, again)
    ]


def _learn(
    stages: Stages,
    plan: flow.Plan,
    reading: Reading,
    seen: list[_Seen],
    starts: dict[str, LearnedDistance],
    also: list[_Seen] | None = None,
) -> tuple[list[_Seen], list[flow.LearnedFit]]:
    """Train the representations, from a ranking by the views `seen` of this reading and `also` of another.

    Training starts from the representations of an earlier fit, if any.
    """
    weights = [one.view.in_ranking for one in (*seen, *(also or ()))]
    ranking = [replace(one, weight=weight) for one, weight in zip([*seen, *(also or ())], weights, strict=True)]
    term, initial = _together([one for one in ranking if one.weight > 0], reading.data)
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
    return [
        _Seen(view, view.sentence + reading.name, _learned(one), view.weight)
        for view, one in zip(LEARNED, fits, strict=True)
    ], fits


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


def _least_agreement(reading: Reading) -> float | None:
    """Return the least weight of the second reading; None if it would add nothing to the first."""
    values = reading.sample.as_sparse().data
    values, lengths = values[values != 0], np.sqrt(reading.sample.squared_norms())
    if reading.is_table or (values < 0).any() or lengths.std() <= _VARIED * lengths.mean():
        return None
    return 0.0 if (values == values[0]).all() else 1.0


def _of_length_1(data: TrainingData, n_threads: int) -> TrainingData:
    outliers, inliers = (
        None if rows is None else rows.normalized("l2", n_threads) for rows in (data.outliers, data.inliers)
    )
    return replace(data, rows=data.rows.normalized("l2", n_threads), outliers=outliers, inliers=inliers, largest=1.0)


def _of_unit_rows(one: _Seen, weight: float) -> _Seen:
    scored = replace(one.scored, term=Normalized(one.scored.term, "l2"))
    return replace(one, scored=scored, weight=weight * one.weight)


def _agreement(some: list[_Seen], others: list[_Seen], data: TrainingData) -> float:
    """Return the rank correlation of the evidence of two readings of the rows."""
    return _correlation(*(np.delete(_together(seen, data)[1], data.left_out) for seen in (some, others)))


def _together(seen: list[_Seen], data: TrainingData) -> tuple[Evidence, Scores]:
    """Return the views as one term, and its scores of the training rows. Rows left out of training shape no curve."""
    shaping = [Tied.of(np.delete(one.scored.scores, data.left_out), one.scored.size) for one in seen]
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
    """Return Spearman's rank correlation, or 0 if one of the scores does not vary."""
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    return float(np.clip(spearmanr(one, other).statistic, -1, 1))
