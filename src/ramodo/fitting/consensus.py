"""A fit of several views of the same rows, whose evidence is added up (model/evidence.py).

    few references      distance to the nearest of 8 rows, over 50 draws,   sees clusters of outliers
                        in tables to the 5th nearest of 100, over 4
    many references     distance to the 5th nearest of up to 4,096 rows     sees needles
    trained briefly     in a representation after one epoch                 sees what the candidates have in common
    trained longer      after five                                          sees what sets them apart

The first two together are the initial ranking that the representations learn from.

Where rows are mostly zeros, none below, and of different lengths, it is unknown whether length matters: all of it is
done once more with rows of length 1. If values are counts or weights, whose sum grows with every repetition, the two
readings count alike. If each value is 1, the length is how many features a row has, and may well be what matters: the
second reading then counts as much as its ranking correlates with that of the first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy.stats import spearmanr

from ..data.blocks import Block
from ..data.rows import Rows
from ..model.combining import Normalized
from ..model.evidence import Curve, Evidence
from ..model.learned import LearnedDistance
from ..model.original import OriginalDistance
from ..model.references import Origin
from ..model.terms import Model, Scores, Term
from ..model.ties import Tied
from ..stages.assembling import Stages
from ..stages.scoring import KthNN, RandomDistance, Sp
from ..terminal.progress import Progress
from . import flow
from .curves import curve_by_law
from .learn_distance import learn
from .training_data import TrainingData

STEPS = 20
"""Gradient steps of an epoch: a representation has learned what candidates share, and none of them by heart."""

EPOCHS = 5
"""With 10, or the paper's 30, rankings are no better (docs/consensus.md)."""

_NEIGHBOR = 5
_FEW, _DRAWS = 100, 4
"""For tables: a twentieth of the rows form a neighbourhood. In bags of features nearly all rows are equally far."""

_MOST_REFERENCES = 4096
_FEWEST_REFERENCES = 256

_WORK = 1 << 18
"""Most products of features for one row and all references: they take about a quarter of a millisecond."""

_NON_ZERO = 1 / 3
"""Rows with at least this share of non-zero values are tables of measurements; others are bags of features."""

_VARIED = 0.1
"""If lengths vary less than this (standard deviation / mean), rows of length 1 add no new view."""

_SAMPLE = 1000
_PROBED = 256

_DOUBLE = 2.0**-40
"""Distances below this share of the typical length of rows are rounding in double precision."""

_SEEDS = 5
"""Seeds of each reading: references of the two plain views, triplets, weights, references in the representations."""


@dataclass(frozen=True)
class _View:
    """A term, its scores of the training rows, and its weight."""

    name: str
    term: Term
    scores: Scores
    size: float
    """What the rounding of scores is relative to; see `Tied`."""
    weight: float = 1.0


def fit(
    stages: Stages,
    plan: flow.Plan,
    data: TrainingData,
    normalize: str | None,
    seed: np.random.SeedSequence,
    previous: Model | None,
    progress: Progress,
) -> flow.Outcome:
    """Everything from rows to scores. `previous` is a model whose weights training starts from."""
    seeds, label_seed = seed.spawn(2 * _SEEDS), seed.spawn(1)[0]
    starts = () if previous is None else previous.learned
    first, fits = _read(stages, plan, _ranked(data, seeds, plan.n_threads, progress), seeds[2:], starts[:2], progress)
    views = first
    least = _weight_of_unit_rows(data.rows) if normalize is None else None
    if least is not None:
        second = _ranked(_of_length_1(data, plan.n_threads), seeds[_SEEDS:], plan.n_threads, progress)
        if max(least, _agreement(second.views, first[: len(second.views)], data.held_out)) > 0:
            more, learned = _read(stages, plan, second, seeds[_SEEDS + 2 :], starts[2:], progress)
            weight = max(least, _agreement(more, first, data.held_out))
            views, fits = first + [_of_unit_rows(view, weight) for view in more], fits + learned
    evidence, scores = _together(views, data.held_out)
    term: Term = evidence if normalize is None else Normalized(evidence, normalize)
    return flow.with_labels(stages, data, term, scores, fits, label_seed, plan.n_threads, progress)


@dataclass(frozen=True)
class _Ranked:
    """The views of the original features, and the rows that they rank."""

    data: TrainingData
    views: list[_View]
    ranking: flow.Ranked


def _ranked(data: TrainingData, seeds: flow.Seeds, n_threads: int, progress: Progress) -> _Ranked:
    few = KthNN(_NEIGHBOR, _DRAWS, _FEW) if _is_table(_sampled(data.rows)) else Sp()
    many = KthNN(_NEIGHBOR, 1, _n_references(data))
    views = [
        _plain("far from most rows", few, data, seeds[0], n_threads, progress),
        _plain("far from the nearest rows", many, data, seeds[1], n_threads, progress),
    ]
    term, initial = _together(views, data.held_out)
    flow.warn_if_flat(initial)
    return _Ranked(data, views, flow.Ranked(initial, flow.extra_scores(data, partial(term.score, n_threads=n_threads))))


def _read(
    stages: Stages,
    plan: flow.Plan,
    ranked: _Ranked,
    seeds: flow.Seeds,
    starts: tuple[LearnedDistance, ...],
    progress: Progress,
) -> tuple[list[_View], list[flow.LearnedFit]]:
    """All views of one reading of the rows; training starts from the weights of an earlier fit if there was one."""
    plan = replace(plan, n_epochs=1 if starts else EPOCHS)
    fits = learn(stages, plan, ranked.data, ranked.ranking, seeds, starts or (None, None), plan.n_threads, progress)
    names = ("far in a representation trained briefly", "far in a representation trained longer")
    return ranked.views + [_learned(name, one) for name, one in zip(names, fits, strict=True)], fits


def _learned(name: str, fit: flow.LearnedFit) -> _View:
    """The distance in a representation, which is computed in single precision."""
    references = fit.term.detection.references
    assert references is not None
    return _View(name, fit.term, fit.scores, _typical(np.linalg.norm(references.rows.astype(np.float64), axis=1)))


def _plain(
    name: str,
    scorer: RandomDistance,
    data: TrainingData,
    seed: np.random.SeedSequence,
    n_threads: int,
    progress: Progress,
) -> _View:
    """The distance to drawn rows, in the original features."""
    drawn = scorer.draw(data.eligible, np.random.default_rng(seed))
    size = drawn.shape[1]
    with progress.stage("ranking", "rows") as bar:
        taken = data.rows.take(drawn.ravel())
        score = scorer.against(taken, size, n_threads)
        term = OriginalDistance(Origin.of(taken, drawn.ravel()), size, scorer.phi_among(size))
        scores = data.rows.gather(score, bar.show)
    return _View(name, term, scores, _size(taken, scores))


def _size(references: Block, scores: Scores) -> float:
    """What rounding errors of distances are relative to: the distances, which are computed in double precision.

    Normalised rows may be multiples of each other that were given in single precision: there it is their length.
    """
    length = _typical(np.sqrt(references.multiplied().squared_norms()))
    return length if references.factors is not None else _typical(scores[scores > _DOUBLE * length], length)


def _typical(sizes: Scores, otherwise: float = 1.0) -> float:
    """The median of the positive values; `otherwise` if there are none."""
    sizes = sizes[sizes > 0]
    return float(np.median(sizes)) if len(sizes) else otherwise


def _n_references(data: TrainingData) -> int:
    """The number of references that a row can be compared with in time: fewer if rows share many features."""
    some = data.eligible[: _PROBED * max(1, len(data.eligible) // _PROBED) : max(1, len(data.eligible) // _PROBED)]
    rows = data.rows.take(some).as_sparse()
    counts = np.unique(rows.indices[rows.data != 0], return_counts=True)[1].astype(np.float64)
    n = rows.n_rows
    shared = float((counts * (counts - 1)).sum()) / max(1, n * (n - 1))
    return int(np.clip(_WORK / max(shared, 1.0), _FEWEST_REFERENCES, _MOST_REFERENCES))


def _weight_of_unit_rows(rows: Rows) -> float | None:
    """The least weight of views of rows of length 1; None if they would add nothing new or mislead."""
    block = _sampled(rows)
    values = block.as_sparse().data
    values, lengths = values[values != 0], np.sqrt(block.squared_norms())
    if _is_table(block) or (values < 0).any() or lengths.std() <= _VARIED * lengths.mean():
        return None
    return 0.0 if (values == values[0]).all() else 1.0


def _sampled(rows: Rows) -> Block:
    return rows.take(np.unique(np.linspace(0, rows.n_rows - 1, min(rows.n_rows, _SAMPLE)).astype(np.int64)))


def _is_table(block: Block) -> bool:
    return bool(block.lengths().sum() >= _NON_ZERO * block.n_rows * block.n_features)


def _of_length_1(data: TrainingData, n_threads: int) -> TrainingData:
    outliers, inliers = (
        None if rows is None else rows.normalized("l2", n_threads) for rows in (data.outliers, data.inliers)
    )
    return replace(data, rows=data.rows.normalized("l2", n_threads), outliers=outliers, inliers=inliers, largest=1.0)


def _of_unit_rows(view: _View, weight: float) -> _View:
    return replace(view, name=f"{view.name} (rows of length 1)", term=Normalized(view.term, "l2"), weight=weight)


def _agreement(some: list[_View], others: list[_View], held_out: npt.NDArray[np.int64]) -> float:
    """Rank correlation of the evidence of two readings of the rows."""
    return _correlation(*(np.delete(_together(views, held_out)[1], held_out) for views in (some, others)))


def _together(views: list[_View], held_out: npt.NDArray[np.int64]) -> tuple[Evidence, Scores]:
    """The views as one term, and its scores of the training rows; held-out rows do not shape the curves."""
    shaping = [Tied.of(np.delete(view.scores, held_out), view.size) for view in views]
    term = Evidence(
        tuple(view.name for view in views),
        tuple(view.term for view in views),
        tuple(map(curve_by_law if len(held_out) else Curve.of, shaping)),
        tuple(view.weight for view in views),
        (0.0,) * len(views),
    )
    scores = term.of([view.scores for view in views])
    each = (
        curve(view.scores) for curve, view in zip(term.curves, views, strict=True)
    )  # evidence ties where scores differ by rounding
    return replace(term, agreement=tuple(_correlation(one, scores) for one in each)), scores


def _correlation(one: Scores, other: Scores) -> float:
    """Spearman's rank correlation; 0 if one of them does not vary."""
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    return float(np.clip(spearmanr(one, other).statistic, -1, 1))
