"""The data flow of one fit (figure 1 of the paper), for any stages. It contains no maths.

rows -> initial ranking -> candidates -> triplets -> training -> representation -> references -> scores
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.blocks import Block, DenseRows
from ..data.rows import Show
from ..in_order import in_order
from ..model.combining import Mean, Normalized
from ..model.learned import LearnedDistance
from ..model.references import Fitted, Origin, References
from ..model.representation import Representation, SparseLayer, initial_limit
from ..model.terms import Model, Term
from ..stages.assembling import Stages, copied
from ..stages.checking import checked_pools, checked_scores, checked_triplets
from ..stages.protocols import Candidates, Pools
from ..terminal.progress import Progress
from .label_direction import known_rows, learn_direction
from .training import Start, train
from .training_data import TrainingData

Scores = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Seeds = list[np.random.SeedSequence]

_ENOUGH_ROWS = 50
"""With fewer rows than this there is too little evidence to call a representation collapsed."""

_SAMPLE = 1000
"""Rows of the representation that are kept for `diagnose`."""

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
    calibration: Scores
    threshold: float


def fit(
    stages: Stages,
    plan: Plan,
    data: TrainingData,
    normalize: str | None,
    seed: np.random.SeedSequence,
    previous: Model | None,
    progress: Progress,
) -> Outcome:
    """Everything from rows to a threshold. `previous` is a model whose weights training starts from."""
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
    model = Model((term,))
    if stages.labels_in_score and data.n_labeled_outliers > 0:
        with progress.stage("labels"):
            known = known_rows(
                data.rows, data.labels, data.outliers, data.inliers, fits[0].initial, fits[0].extra_initial["outliers"]
            )
            rng = np.random.default_rng(label_seed)
            model, scores = learn_direction(
                data.rows, data.eligible, known, fits[0].initial, term, scores, rng, plan.n_threads
            )
    calibration = scores[data.held_out]
    return Outcome(model, tuple(fits), scores, calibration, stages.cutoff.cutoff_from(scores, calibration))


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

        return list(in_order(one, list(zip(seeds, starts, strict=True)), workers, stop.set))


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
        initial, extra = _rank(stages.ranker, data, seeds[0], n_threads, bar.show)
    with progress.stage("sampling"):
        n_elsewhere = len(extra["outliers"])
        candidates = stages.thresholder.split(initial, data.labels_of_candidates, n_elsewhere)
        pools = _pools(candidates, initial, extra, data)
        epochs = _draw(stages, plan, pools, data, seeds[1])
    with progress.stage("training", "epochs") as bar:
        representation, curve = _train(stages, plan, data, epochs, seeds[2], start, n_threads, show or bar.show)
    with progress.stage("scoring", "rows") as bar:
        term = _detector(stages.scorer, representation, data, seeds[3], n_threads)
        found, n_rows = data.rows.map(_Scored(term, n_threads), bar.show), data.rows.n_rows
        each = [checked_scores("scorer", stages.scorer, block.scores, block.n_rows) for block in found]
        scores = each[0] if len(each) == 1 else np.concatenate(each)
        places = np.arange(min(_SAMPLE, n_rows)) * n_rows // min(_SAMPLE, n_rows)
        sample = representation.transform(data.rows.take(places), n_threads)
    alive = _warn_if_collapsed(found)
    return LearnedFit(term, initial, extra, candidates, curve, scores, sample, alive)


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


def _rank(
    ranker: Any, data: TrainingData, seed: np.random.SeedSequence, n_threads: int, show: Show
) -> tuple[Scores, dict[str, Scores]]:
    """Scores of the rows of X, and of labelled rows outside X, against references drawn from X."""
    score = ranker.ranking(data.rows, data.eligible, np.random.default_rng(seed), n_threads)
    initial = checked_scores("ranker", ranker, data.rows.gather(score, show), data.rows.n_rows)
    _warn_if_flat(initial)
    extra = {"outliers": np.empty(0), "inliers": np.empty(0)}
    for kind, rows in (("outliers", data.outliers), ("inliers", data.inliers)):
        if rows is not None:
            extra[kind] = checked_scores("ranker", ranker, rows.gather(score), rows.n_rows)
    return initial, extra


def _pools(candidates: Candidates, scores: Scores, extra: dict[str, Scores], data: TrainingData) -> Pools:
    """The pools that triplets are drawn from. Extra rows are numbered after those of X: outliers, then inliers."""
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
    checked_pools(pools, sampler.n_queries)
    drawn = sampler.draw(pools, plan.n_epochs, plan.samples_per_epoch, plan.batch_size, np.random.default_rng(seed))
    n_rows = data.rows.n_rows + sum(rows.n_rows for rows in data.extra())
    return checked_triplets(sampler, drawn, (plan.n_epochs, plan.samples_per_epoch, sampler.n_queries + 2), n_rows)


def _train(
    stages: Stages,
    plan: Plan,
    data: TrainingData,
    epochs: Integers,
    seed: np.random.SeedSequence,
    start: LearnedDistance | None,
    n_threads: int,
    show: Callable[[int, int], None],
) -> tuple[Representation, npt.NDArray[np.float64]]:
    stage = stages.representation
    head = None
    if not (stage.is_native and stages.loss.native):
        rng = np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 0)))
        head = stage.training_head(rng, stages.optimizer, None if start is None else start.representation)
    rows, renumbered = data.rows.for_training(epochs, data.extra())
    begin = _start(data, stage.first_width, seed, start)
    trained = train(
        rows,
        renumbered,
        plan.batch_size,
        width=stage.first_width,
        slope=stage.slope,
        loss=stages.loss,
        head=head,
        start=begin,
        largest=data.largest,
        adadelta=stages.optimizer,
        n_threads=n_threads,
        show=show,
    )
    first = SparseLayer(trained.columns, trained.weights, data.rows.n_features, begin.seed, begin.limit, stage.slope)
    return stage.fitted(first, head), trained.loss_curve


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


def _warn_if_flat(scores: Scores) -> None:
    if np.ptp(scores) <= 1e-12 * abs(scores.max()):
        warnings.warn(
            "All rows have the same initial score: they are equal, or all equally far apart. No row stands out.",
            stacklevel=6,
        )


def _warn_if_collapsed(found: list[_Responses]) -> int:
    """The number of live units; warns if few are left and most rows are at zero, so that scores mean little."""
    n_rows = sum(block.n_rows for block in found)
    responds = np.any([block.alive for block in found], axis=0)
    alive, empty = int(responds.sum()), sum(block.n_empty for block in found) / n_rows
    if n_rows >= _ENOUGH_ROWS and 2 * alive <= len(responds) and empty > 0.9:
        warnings.warn(
            f"The representation has collapsed: only {alive} of {len(responds)} units respond to any row, and "
            f"{empty:.0%} of the rows are mapped to zero. Features on very different scales cause this: take "
            "logarithms or scale them, and compare with initial_scores_, the ranking without a representation.",
            stacklevel=6,
        )
    return alive
