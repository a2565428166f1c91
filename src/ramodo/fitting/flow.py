"""The data flow of one fit (figure 1 of the paper), for any stages. It contains no maths.

rows -> initial ranking -> candidates -> triplets -> training -> representation -> references -> scores
"""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.blocks import Block, DenseRows
from ..data.rows import Show
from ..data.scaling_advice import scaling_advice
from ..model.combining import Mean, Normalized
from ..model.learned import LearnedDistance
from ..model.references import Fitted, Origin, References
from ..model.representation import Representation, SparseLayer, initial_limit
from ..model.terms import Model, Term
from ..stages.assembling import Stages, copied
from ..stages.protocols import Candidates, Pools
from ..stages.result_checks import checked_scores, checked_triplets, refuse_few_inliers
from ..terminal.progress import Progress
from ..thread_map import thread_map
from .label_direction import known_rows, learn_direction
from .training import Start, scale_for, train
from .training_data import TrainingData

Scores = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Seeds = list[np.random.SeedSequence]

_ENOUGH_ROWS = 50
"""With fewer rows than this there is too little evidence to call a representation collapsed."""

_SAMPLE = 1000
"""Rows of the representation that are kept for `diagnose`."""

_PAIRS = 1000
"""Pairs of rows that tell how far apart rows are."""

_FIRST_SEEDS = 4
"""Ranking, triplets, weights, references."""


@dataclass(frozen=True)
class Plan:
    """How much to train."""

    n_epochs: int
    samples_per_epoch: int
    batch_size: int
    n_estimators: int
    n_threads: int


@dataclass(frozen=True)
class Ranked:
    """Initial scores of the rows of X, and of labelled rows outside X, by kind: "outliers" and "inliers"."""

    initial: Scores
    extra: dict[str, Scores]


@dataclass(frozen=True)
class LearnedFit:
    """One learned distance, and how it was learned."""

    term: LearnedDistance
    initial: Scores
    extra_initial: dict[str, Scores]
    candidates: Candidates
    loss_curve: npt.NDArray[np.float64]
    scores: Scores
    sample: npt.NDArray[np.float32]
    n_alive: int


@dataclass(frozen=True)
class Outcome:
    """Everything that a fit found."""

    model: Model
    fits: tuple[LearnedFit, ...]
    scores: Scores
    initial: Scores
    calibration: tuple[Scores, ...]
    """Scores of rows that are like new ones to what scores them, fold by fold."""


def fit(
    stages: Stages,
    plan: Plan,
    data: TrainingData,
    normalize: str | None,
    seed: np.random.SeedSequence,
    previous: Model | None,
    progress: Progress,
) -> Outcome:
    """Everything from rows to scores. `previous` is a model whose weights training starts from."""
    first, (label_seed, *more) = seed.spawn(_FIRST_SEEDS), seed.spawn(plan.n_estimators)
    starts = previous.learned if previous is not None else (None,) * plan.n_estimators
    if plan.n_estimators == 1:
        fits = [_fit_one(stages, plan, data, first, starts[0], plan.n_threads, progress, None)]
    else:
        seeds = [first, *[s.spawn(_FIRST_SEEDS) for s in more]]
        fits = _fit_several(stages, plan, data, seeds, starts, progress)
    term, scores = _together(fits)
    if normalize is not None:
        term = Normalized(term, normalize)
    return with_labels(stages, data, term, scores, fits, label_seed, plan.n_threads, progress)


def with_labels(
    stages: Stages,
    data: TrainingData,
    term: Term,
    scores: Scores,
    fits: list[LearnedFit],
    seed: np.random.SeedSequence,
    n_threads: int,
    progress: Progress,
) -> Outcome:
    """What labels add to the score of a term."""
    model = Model((term,))
    if stages.labels_in_score and data.n_labeled_outliers > 0:
        with progress.stage("labels"):
            known = known_rows(
                data.rows, data.labels, data.outliers, data.inliers, fits[0].initial, fits[0].extra_initial["outliers"]
            )
            rng = np.random.default_rng(seed)
            model, scores = learn_direction(
                data.rows, data.eligible, known, fits[0].initial, term, scores, rng, n_threads
            )
    initial = fits[0].initial if len(fits) == 1 else np.mean([f.initial for f in fits], axis=0)
    return Outcome(model, tuple(fits), scores, initial, (scores[data.held_out],))


def _together(fits: list[LearnedFit]) -> tuple[Term, Scores]:
    """The learned distances as one term, and its scores of the training rows."""
    if len(fits) == 1:
        return fits[0].term, fits[0].scores
    mean = Mean(tuple(f.term for f in fits), tuple(float(np.std(f.scores)) or 1.0 for f in fits))
    return mean, mean.of([f.scores for f in fits])


def _fit_several(
    stages: Stages, plan: Plan, data: TrainingData, seeds: list[Seeds], starts: Any, progress: Progress
) -> list[LearnedFit]:
    """Independent models, as many at a time as there are threads. Ctrl-C stops all of them within an epoch."""
    workers = min(plan.n_threads, plan.n_estimators)
    threads_each = max(1, plan.n_threads // workers)
    stop, lock, done = threading.Event(), threading.Lock(), [0]
    with progress.stage("models") as bar:

        def show(_done: int, _total: int) -> None:
            if stop.is_set():
                raise KeyboardInterrupt
            with lock:
                done[0] += 1
                bar.show(done[0], plan.n_epochs * plan.n_estimators)

        def one(seeds_and_start: Any) -> LearnedFit:
            own, start = seeds_and_start
            with lock:  # one at a time: copying a stage may run any code
                own_stages = copied(stages, plan.n_estimators)
            return _fit_one(own_stages, plan, data, own, start, threads_each, Progress(), show)

        return list(thread_map(one, list(zip(seeds, starts, strict=True)), workers, stop.set))


def _fit_one(
    stages: Stages,
    plan: Plan,
    data: TrainingData,
    seeds: Seeds,
    start: LearnedDistance | None,
    n_threads: int,
    progress: Progress,
    show: Callable[[int, int], None] | None,
) -> LearnedFit:
    with progress.stage("ranking", "rows") as bar:
        ranked = _rank(stages.ranker, data, seeds[0], n_threads, bar.show)
    (one,) = learn(stages, plan, data, ranked, seeds[1:], (start,), n_threads, progress, show)
    return one


def learn(
    stages: Stages,
    plan: Plan,
    data: TrainingData,
    ranked: Ranked,
    seeds: Seeds,
    starts: tuple[LearnedDistance | None, ...],
    n_threads: int,
    progress: Progress,
    show: Show | None = None,
) -> list[LearnedFit]:
    """From an initial ranking to a learned distance: one, or with two starts also one that is trained for one epoch.

    Seeds are those of triplets, weights and references. A start is what training begins with; where there is one for
    the short training, that is left as it was.
    """
    with progress.stage("sampling"):
        n_elsewhere = len(ranked.extra["outliers"])
        candidates = stages.thresholder.split(ranked.initial, data.labels_of_candidates, n_elsewhere)
        epochs = _draw(stages, plan, _pools(candidates, ranked, data), data, seeds[0])
    with progress.stage("training", "epochs") as bar:
        learned, curve = _train(stages, plan, data, epochs, seeds[1], starts, n_threads, show or bar.show)
    fits = []
    for number, representation in enumerate(learned):
        with progress.stage("scoring", "rows") as bar:
            # the same references for all
            term = _detector(stages.scorer, representation, data, seeds[2], n_threads)
            found, n_rows = data.rows.map(_Scored(term, n_threads), bar.show), data.rows.n_rows
            each = [checked_scores("scorer", stages.scorer, block.scores, block.n_rows) for block in found]
            scores = each[0] if len(each) == 1 else np.concatenate(each)
            places = np.arange(min(_SAMPLE, n_rows)) * n_rows // min(_SAMPLE, n_rows)
            looked_at = data.rows.take(places)
            sample = representation.transform(looked_at, n_threads)
        alive = _count_alive(found, number == len(learned) - 1, partial(scaling_advice, looked_at))
        fits.append(LearnedFit(term, ranked.initial, ranked.extra, candidates, curve, scores, sample, alive))
    return fits


@dataclass(frozen=True)
class _Responses:
    """How the rows of a block are represented and scored."""

    n_rows: int
    scores: Scores
    alive: npt.NDArray[np.bool_]
    """For each unit: whether it responds to any row."""
    n_empty: int
    """Rows that no unit responds to."""


@dataclass(frozen=True)
class _Scored:
    """Scores the rows of a block and records how they are represented."""

    term: LearnedDistance
    n_threads: int

    def __call__(self, block: Block) -> _Responses:
        mapped = self.term.representation.transform(block, self.n_threads)
        responds = mapped != 0
        scores = self.term.detection.score(mapped, self.n_threads)
        return _Responses(block.n_rows, scores, responds.any(axis=0), int((~responds.any(axis=1)).sum()))


def _rank(ranker: Any, data: TrainingData, seed: np.random.SeedSequence, n_threads: int, show: Show) -> Ranked:
    """The ranking against references drawn from X."""
    score = ranker.ranking(data.rows, data.eligible, np.random.default_rng(seed), n_threads)
    initial = checked_scores("ranker", ranker, data.rows.gather(score, show), data.rows.n_rows)
    warn_if_flat(initial)
    return Ranked(initial, extra_scores(data, lambda rows: checked_scores("ranker", ranker, score(rows), rows.n_rows)))


def extra_scores(data: TrainingData, score: Callable[[Block], Scores]) -> dict[str, Scores]:
    """The scores of labelled rows outside X, by kind."""
    kinds = {"outliers": data.outliers, "inliers": data.inliers}
    return {kind: np.empty(0) if rows is None else score(rows) for kind, rows in kinds.items()}


def _pools(candidates: Candidates, ranked: Ranked, data: TrainingData) -> Pools:
    """The pools that triplets are drawn from. Extra rows are numbered after those of X: outliers, then inliers."""
    scores, extra = ranked.initial, ranked.extra
    n, n_outliers = len(scores), len(extra["outliers"])
    inliers, outliers = (_without(data.held_out, rows) for rows in (candidates.inliers, candidates.outliers))
    return Pools(
        inliers=np.concatenate([inliers, n + n_outliers + np.arange(len(extra["inliers"]))]),
        inlier_scores=np.concatenate([scores[inliers], extra["inliers"]]),
        outliers=outliers,
        outlier_scores=scores[outliers],
        labeled_outliers=np.concatenate([np.flatnonzero(data.labels == 1), n + np.arange(n_outliers)]),
    )


def _without(held_out: Integers, rows: Integers) -> Integers:
    return rows[~np.isin(rows, held_out)] if len(held_out) else rows


def _draw(stages: Stages, plan: Plan, pools: Pools, data: TrainingData, seed: np.random.SeedSequence) -> Integers:
    sampler = stages.sampler
    refuse_few_inliers(pools, sampler.n_queries)
    drawn = sampler.draw(pools, plan.n_epochs, plan.samples_per_epoch, plan.batch_size, np.random.default_rng(seed))
    n_rows = data.rows.n_rows + sum(rows.n_rows for rows in data.extra())
    return checked_triplets(sampler, drawn, (plan.n_epochs, plan.samples_per_epoch, sampler.n_queries + 2), n_rows)


def _train(
    stages: Stages,
    plan: Plan,
    data: TrainingData,
    epochs: Integers,
    seed: np.random.SeedSequence,
    starts: tuple[LearnedDistance | None, ...],
    n_threads: int,
    show: Callable[[int, int], None],
) -> tuple[list[Representation], npt.NDArray[np.float64]]:
    """The representation, after the one of short training where there are two starts; and the loss of each epoch."""
    stage, (*early, start) = stages.representation, starts
    head = None
    if not (stage.is_native and stages.loss.native):
        rng = np.random.default_rng(_child(seed, 0))
        head = stage.training_head(rng, stages.optimizer, None if start is None else start.representation)
    begin = _start(data, stage.first_width, seed, start)
    loss, scale = stages.loss, scale_for(data.largest)
    if loss.is_relative:
        untrained = stage.fitted(_layer(data, stage, _start(data, stage.first_width, seed, None)), head)
        unit = _typical_distance(data, untrained, np.random.default_rng(_child(seed, 1)), n_threads)
        loss, scale = loss.in_unit(unit), 1 / math.sqrt(unit)
    trained = train(
        data.rows.training_rows(epochs, data.extra()),
        len(epochs),
        plan.batch_size,
        width=stage.first_width,
        slope=stage.slope,
        loss=loss,
        head=head,
        start=begin,
        scale=scale,
        adadelta=stages.optimizer,
        n_threads=n_threads,
        show=show,
        early=early == [None],
    )
    layers = [kept for kept in (trained.early, (trained.columns, trained.weights)) if kept is not None]
    learned = [stage.fitted(_layer(data, stage, replace(begin, columns=c, weights=w)), head) for c, w in layers]
    return [one.representation for one in early if one is not None] + learned, trained.loss_curve


def _child(seed: np.random.SeedSequence, number: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, number))


def _layer(data: TrainingData, stage: Any, start: Start) -> SparseLayer:
    """A first layer with the weights of a start; none are stored where it has only a seed."""
    columns = np.empty(0, dtype=np.int64) if start.columns is None else start.columns
    weights = np.empty((0, stage.first_width), dtype=np.float32) if start.weights is None else start.weights
    return SparseLayer(columns, weights, data.rows.n_features, start.seed, start.limit, stage.slope)


def _typical_distance(
    data: TrainingData, representation: Representation, rng: np.random.Generator, n_threads: int
) -> float:
    """The median squared distance between two rows that differ; 1 where there are none."""
    pairs = data.eligible[rng.integers(len(data.eligible), size=2 * _PAIRS)]
    taken, places = np.unique(pairs, return_inverse=True)  # few rows may be wide
    mapped = representation.transform(data.rows.take(taken), n_threads).astype(np.float64)[places]
    squared = ((mapped[:_PAIRS] - mapped[_PAIRS:]) ** 2).sum(axis=1)
    return float(np.median(squared[squared > 0])) if squared.any() else 1.0


def _start(data: TrainingData, width: int, seed: np.random.SeedSequence, start: LearnedDistance | None) -> Start:
    if start is not None:
        first = start.representation.first
        return Start(first.seed, first.limit, first.columns, first.weights)
    return Start(int(seed.generate_state(1, np.uint64)[0]), initial_limit(data.n_seen, width))


def _detector(
    scorer: Any, representation: Representation, data: TrainingData, seed: np.random.SeedSequence, n_threads: int
) -> LearnedDistance:
    """The scorer in the representation: distances to drawn rows, or a user-defined scorer fitted there."""
    rng = np.random.default_rng(seed)
    transform = partial(representation.transform, n_threads=n_threads)
    if not hasattr(scorer, "draw"):
        mapped = DenseRows(data.rows.gather(transform))
        return LearnedDistance(representation, Fitted(scorer.ranking(mapped, data.eligible, rng, n_threads)))
    drawn = scorer.draw(data.eligible, rng)
    taken = data.rows.take(drawn.ravel())
    references = References(transform(taken), drawn.shape[1], scorer.phi_among(drawn.shape[1]))
    return LearnedDistance(representation, references, Origin.of(taken, drawn.ravel()))


def warn_if_flat(scores: Scores) -> None:
    """Say so where no row stands out."""
    if np.ptp(scores) <= 1e-12 * abs(scores.max()):
        warnings.warn(
            "All rows have the same initial score: they are equal, or all equally far apart. No row stands out.",
            stacklevel=6,
        )


def _count_alive(found: list[_Responses], warn: bool, advice: Callable[[], str]) -> int:
    """The number of live units; may warn if few are left and most rows are at zero, so that scores mean little."""
    n_rows = sum(block.n_rows for block in found)
    responds = np.any([block.alive for block in found], axis=0)
    alive, empty = int(responds.sum()), sum(block.n_empty for block in found) / n_rows
    if warn and n_rows >= _ENOUGH_ROWS and 2 * alive <= len(responds) and empty > 0.9:
        warnings.warn(
            f"The representation has collapsed: only {alive} of {len(responds)} units respond to any row, and "
            f"{empty:.0%} of the rows are mapped to zero. Features on very different scales cause this: {advice()}, "
            "and compare with initial_scores_, the ranking without a representation.",
            stacklevel=6,
        )
    return alive
