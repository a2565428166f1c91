"""From an initial ranking to a learned distance: candidates, triplets, training, references, scores."""

from __future__ import annotations

import math
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
from ..model.learned import LearnedDistance
from ..model.references import Fitted, Origin, References
from ..model.representation import Representation, SparseLayer, initial_limit
from ..stages.assembling import Stages
from ..stages.protocols import Candidates, Pools
from ..stages.result_checks import checked_scores, checked_triplets, refuse_few_inliers
from ..terminal.progress import Progress
from .flow import LearnedFit, Plan, Ranked, Scores, Seeds
from .training import Start, scale_for, train
from .training_data import TrainingData

Integers = npt.NDArray[np.int64]

_ENOUGH_ROWS = 50
"""Minimum number of rows for calling a representation collapsed."""

_SAMPLE = 1000
"""Number of rows of the representation to keep for `diagnose`."""

_PAIRS = 1000
"""Number of pairs of rows from which the typical distance is estimated."""


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
    """Learn a distance from an initial ranking; with two starts, also one that is trained for a single epoch.

    Seeds are those of triplets, weights and references. Starts are the distances that training begins with; one given
    for the short training is not trained again.
    """
    with progress.stage("sampling"):
        n_elsewhere = len(ranked.extra["outliers"])
        candidates = _candidates(stages, ranked, data, n_elsewhere)
        epochs = _draw(stages, plan, _pools(candidates, ranked, data), data, seeds[0])
    with progress.stage("training", "epochs") as bar:
        learned, curve = _train(stages, plan, data, epochs, seeds[1], starts, n_threads, show or bar.show)
    fits = []
    for number, representation in enumerate(learned):
        with progress.stage("scoring", "rows") as bar:
            # the same seed: all representations have the same references
            term = _detector(stages.scorer, representation, data, seeds[2], n_threads)
            found, n_rows = data.rows.map(_Scored(term, n_threads), bar.show), data.rows.n_rows
            each = [checked_scores("scorer", stages.scorer, block.scores, block.n_rows) for block in found]
            scores = each[0] if len(each) == 1 else np.concatenate(each)
            places = np.arange(min(_SAMPLE, n_rows)) * n_rows // min(_SAMPLE, n_rows)
            looked_at = data.rows.take(places)
            sample = representation.transform(looked_at, n_threads)
        alive = _count_alive(found, number == len(learned) - 1, partial(scaling_advice, looked_at))
        fits.append(
            LearnedFit(
                term=term,
                initial=ranked.initial,
                extra_initial=ranked.extra,
                candidates=candidates,
                loss_curve=curve,
                scores=scores,
                sample=sample,
                n_alive=alive,
            )
        )
    return fits


@dataclass(frozen=True)
class _Responses:
    """The representations and scores of the rows of a block."""

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
        distinct = block.distinct(self.n_threads)
        mapped = self.term.representation.transform(distinct.rows, self.n_threads)
        responds = mapped != 0
        scores = distinct.each(self.term.detection.score(mapped, self.n_threads))
        empty = distinct.each(~responds.any(axis=1))
        return _Responses(block.n_rows, scores, responds.any(axis=0), int(empty.sum()))


def _candidates(stages: Stages, ranked: Ranked, data: TrainingData, n_elsewhere: int) -> Candidates:
    """Choose candidates among the rows that are not mere copies."""
    own = np.delete(np.arange(len(ranked.initial)), data.copies)
    found = stages.thresholder.split(ranked.initial[own], data.labels_of_candidates[own], n_elsewhere)
    return replace(found, outliers=own[found.outliers], inliers=own[found.inliers])


def _pools(candidates: Candidates, ranked: Ranked, data: TrainingData) -> Pools:
    """Return the pools to draw triplets from. Extra rows are numbered after those of X: outliers, then inliers."""
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
    """Return the representations (with two starts, the briefly trained one first) and the loss of each epoch."""
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
    """Return a first layer with the weights of a start; it stores none if the start has only a seed."""
    columns = np.empty(0, dtype=np.int64) if start.columns is None else start.columns
    weights = np.empty((0, stage.first_width), dtype=np.float32) if start.weights is None else start.weights
    return SparseLayer(
        columns=columns,
        weights=weights,
        n_features=data.rows.n_features,
        seed=start.seed,
        limit=start.limit,
        slope=stage.slope,
    )


def _typical_distance(
    data: TrainingData, representation: Representation, rng: np.random.Generator, n_threads: int
) -> float:
    """Return the median squared distance between two rows that differ, or 1 if all are equal."""
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
    """Return the scorer in the representation: distances to drawn rows, or a user-defined scorer fitted there."""
    rng = np.random.default_rng(seed)
    transform = partial(representation.transform, n_threads=n_threads)
    if not hasattr(scorer, "draw"):
        mapped = DenseRows(data.rows.gather(transform))
        return LearnedDistance(representation, Fitted(scorer.ranking(mapped, data.eligible, rng, n_threads)))
    drawn = scorer.draw(data.to_draw_from(rng), rng)
    taken = data.rows.take(drawn.ravel())
    references = References(transform(taken), drawn.shape[1], scorer.phi_among(drawn.shape[1]))
    return LearnedDistance(representation, references, Origin.of(taken, drawn.ravel()))


def _count_alive(found: list[_Responses], warn: bool, advice: Callable[[], str]) -> int:
    """Count the live units. Warn, if asked to, when few are left and most rows map to zero: scores then mean little."""
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
