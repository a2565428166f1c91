"""The data flow of one fit (figure 1 of the paper), over whatever stages it is given. No maths lives here.

rows -> initial ranking -> candidates -> triplets -> training -> representation -> references -> scores
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.labels import Labels
from ..data.rows import DenseRows, Rows, map_blocks, stack
from ..model.model import Fitted, Member, Model, Origin, References
from ..model.representation import DenseLayer, Representation, SparseLayer, initial_limit
from ..stages.assembling import (
    CheckedHead,
    CheckedLoss,
    Stages,
    checked_candidates,
    checked_pools,
    checked_scores,
    checked_triplets,
    copied,
)
from ..stages.conformal import Conformal
from ..stages.layers import Layers, UpperLayers
from ..stages.ranking import BoundHinge
from ..stages.scoring import RandomDistance
from ..stages.thresholding import Candidates, Cantelli
from ..stages.triplets import Pools
from ..terminal.progress import Progress
from .direction import known_rows, learn_direction
from .training import Start, train

Scores = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Seeds = list[np.random.SeedSequence]

_ENOUGH_ROWS = 50
"""Fewer tell too little of a representation to call it collapsed."""

_SAMPLE = 1000
"""Rows of the representation that are kept for `diagnose`."""

_FIRST_SEEDS = 4
"""Ranking, triplets, weights, references."""


@dataclass(frozen=True)
class TrainingData:
    """The rows of X and what is known of them, and labelled rows that are not in X."""

    rows: Rows
    labels: Labels
    outliers: Rows | None
    inliers: Rows | None
    n_seen: int
    largest: float
    held_out: Integers
    """Rows that only the final cut-off may use."""

    @property
    def eligible(self) -> Integers:
        """Rows that may be references: a row close to a known outlier must not look normal."""
        allowed = self.labels != 1
        allowed[self.held_out] = False
        return np.flatnonzero(allowed)

    @property
    def labels_of_candidates(self) -> Labels:
        """Labels for the choice of candidates: held-out rows are not to be chosen, so they pass for known inliers."""
        labels = self.labels.copy()
        labels[self.held_out] = -1
        return labels

    def extra(self) -> list[Rows]:
        """Outliers first, then inliers."""
        return [rows for rows in (self.outliers, self.inliers) if rows is not None]

    @property
    def n_labeled_outliers(self) -> int:
        """In X and beside it."""
        return int((self.labels == 1).sum()) + (self.outliers.n_rows if self.outliers is not None else 0)


@dataclass(frozen=True)
class Plan:
    """How much to train."""

    n_epochs: int
    samples_per_epoch: int
    batch_size: int
    n_estimators: int
    n_threads: int


@dataclass(frozen=True)
class MemberFit:
    """One member, and what is known of how it came about."""

    member: Member
    initial: Scores
    extra_initial: dict[str, Scores]
    candidates: Candidates
    loss_curve: npt.NDArray[np.float64]
    scores: Scores
    sample: npt.NDArray[np.float32]
    n_alive: int


@dataclass(frozen=True)
class Outcome:
    """All that a fit found."""

    model: Model
    fits: tuple[MemberFit, ...]
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
    """Everything from rows to a cut-off. `previous` is a model whose weights training starts from."""
    first, (line_seed, *more) = seed.spawn(_FIRST_SEEDS), seed.spawn(plan.n_estimators)
    starts = previous.members if previous is not None else (None,) * plan.n_estimators
    if plan.n_estimators == 1:
        fits = [_fit_member(stages, plan, data, first, starts[0], plan.n_threads, progress, None)]
    else:
        seeds = [first, *[s.spawn(_FIRST_SEEDS) for s in more]]
        fits = _fit_members(stages, plan, data, seeds, starts, progress)
    model = Model(tuple(f.member for f in fits), normalize)
    scores = model.average([f.scores for f in fits])
    if stages.labels_in_score and data.n_labeled_outliers > 0:
        with progress.stage("labels"):
            model, scores = _add_direction(model, fits[0], data, scores, line_seed, plan.n_threads)
    calibration = scores[data.held_out]
    if isinstance(stages.cutoff, Conformal):
        threshold = stages.cutoff.cutoff(scores, calibration)
    else:
        threshold = float(checked_scores("cutoff", stages.cutoff, [stages.cutoff.cutoff(scores)], 1)[0])
    return Outcome(model, tuple(fits), scores, calibration, threshold)


def _fit_members(
    stages: Stages, plan: Plan, data: TrainingData, seeds: list[Seeds], starts: Any, progress: Progress
) -> list[MemberFit]:
    """Independent members, as many at a time as there are threads. Ctrl-C stops all of them within an epoch."""
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

        def one(seeds_and_start: Any) -> MemberFit:
            own, start = seeds_and_start
            with lock:  # one at a time: what a stage does to be copied is its own business
                own_stages = copied(stages, plan.n_estimators)
            return _fit_member(own_stages, plan, data, own, start, threads_each, Progress(), show)

        with ThreadPoolExecutor(workers) as pool:
            futures = [pool.submit(one, pair) for pair in zip(seeds, starts, strict=True)]
            try:
                return [future.result() for future in futures]
            except BaseException:
                stop.set()
                for future in futures:
                    future.cancel()
                raise


def _fit_member(
    stages: Stages,
    plan: Plan,
    data: TrainingData,
    seeds: Seeds,
    start: Member | None,
    n_threads: int,
    progress: Progress,
    show: Callable[[int, int], None] | None,
) -> MemberFit:
    with progress.stage("ranking", "rows") as bar:
        initial, extra = _rank(stages.ranker, data, seeds[0], n_threads, bar.show)
    with progress.stage("sampling"):
        asks = getattr(type(stages.thresholder), "split", None) is Cantelli.split
        beside = {"n_beside": len(extra["outliers"])} if asks else {}
        candidates = stages.thresholder.split(initial, data.labels_of_candidates, **beside)
        candidates = checked_candidates(
            stages.thresholder, candidates, data.rows.n_rows, data.n_labeled_outliers > 0 or (data.labels == -1).all()
        )
        pools = _pools(candidates, initial, extra, data)
        epochs = _draw(stages, plan, pools, data, seeds[1])
    with progress.stage("training", "epochs") as bar:
        representation, curve = _train(stages, plan, data, epochs, seeds[2], start, n_threads, show or bar.show)
    with progress.stage("transform", "rows") as bar:
        mapped = map_blocks(data.rows, lambda block: representation.transform(block, n_threads), bar.show)
    with progress.stage("scoring"):
        detection, origin = _detect(stages.scorer, mapped, data, seeds[3], n_threads)
        scores = checked_scores("scorer", stages.scorer, detection.score(mapped, n_threads), len(mapped))
    alive = _warn_if_collapsed(mapped)
    n_kept = min(_SAMPLE, len(mapped))
    sample = mapped[np.arange(n_kept) * len(mapped) // n_kept]
    member = Member(representation, detection, float(np.std(scores)), origin)
    return MemberFit(member, initial, extra, candidates, curve, scores, sample, alive)


def _rank(
    ranker: Any, data: TrainingData, seed: np.random.SeedSequence, n_threads: int, show: Callable[[int, int], None]
) -> tuple[Scores, dict[str, Scores]]:
    """Scores of the rows of X, and of the labelled rows beside it, against references drawn from X."""
    score = ranker.ranking(data.rows, data.eligible, np.random.default_rng(seed), n_threads)
    initial = checked_scores("ranker", ranker, map_blocks(data.rows, score, show), data.rows.n_rows)
    _warn_if_flat(initial)
    extra = {"outliers": np.empty(0), "inliers": np.empty(0)}
    for kind, rows in (("outliers", data.outliers), ("inliers", data.inliers)):
        if rows is not None:
            extra[kind] = checked_scores("ranker", ranker, map_blocks(rows, score), rows.n_rows)
    return initial, extra


def _pools(candidates: Candidates, scores: Scores, extra: dict[str, Scores], data: TrainingData) -> Pools:
    """What triplets are drawn from. Extra rows are numbered after those of X: outliers first, then inliers."""
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
    start: Member | None,
    n_threads: int,
    show: Callable[[int, int], None],
) -> tuple[Representation, npt.NDArray[np.float64]]:
    stage, native_loss = stages.representation, isinstance(stages.loss, BoundHinge)
    slope = stage.slope if isinstance(stage, Layers) else 1.0
    head = _head(stages, seed, start)
    rows, renumbered = _with_extra(data.rows, data.extra(), epochs)
    begin = _start(data, stage.first_width, seed, start)
    trained = train(
        rows,
        renumbered,
        plan.batch_size,
        width=stage.first_width,
        slope=slope,
        loss=stages.loss if native_loss else CheckedLoss(stages.loss),
        head=head,
        start=begin,
        largest=data.largest,
        adadelta=stages.optimizer,
        n_threads=n_threads,
        show=show,
    )
    first = SparseLayer(trained.columns, trained.weights, data.rows.n_features, begin.seed, begin.limit, slope)
    if isinstance(head, CheckedHead):
        return Representation(first, head=head), trained.loss_curve
    upper = () if head is None else tuple(DenseLayer(weights, slope) for weights in head.weights)
    return Representation(first, upper), trained.loss_curve


def _head(stages: Stages, seed: np.random.SeedSequence, start: Member | None) -> UpperLayers | CheckedHead | None:
    """What follows the first layer's sums; None where that is an activation alone, which is native."""
    stage = stages.representation
    rng = np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 0)))
    if not isinstance(stage, Layers):
        return CheckedHead(stage, stage.head(rng))
    if len(stage.checked_widths()) == 1 and isinstance(stages.loss, BoundHinge):
        return None
    head = stage.head(rng)
    if start is not None:
        head.weights = [layer.weights.copy() for layer in start.representation.upper]
    head.optimize_with(stages.optimizer)
    return head


def _start(data: TrainingData, width: int, seed: np.random.SeedSequence, start: Member | None) -> Start:
    if start is not None:
        first = start.representation.first
        return Start(first.seed, first.limit, first.columns, first.weights)
    return Start(int(seed.generate_state(1, np.uint64)[0]), initial_limit(data.n_seen, width))


def _with_extra(rows: Rows, extra: list[Rows], epochs: Integers) -> tuple[Rows, Integers]:
    """The rows that triplets name: X itself, or where there are extra rows a copy of what was drawn and those."""
    if not extra:
        return rows, epochs
    drawn = np.unique(epochs)
    own = drawn[drawn < rows.n_rows]
    if 2 * len(own) > rows.n_rows:  # most of them: one copy is cheaper than two
        return stack([rows, *extra]), epochs
    renumbered = np.where(epochs < rows.n_rows, np.searchsorted(own, epochs), epochs - rows.n_rows + len(own))
    return stack([rows.take(own), *extra]), renumbered


def _detect(
    scorer: Any, mapped: npt.NDArray[np.float32], data: TrainingData, seed: np.random.SeedSequence, n_threads: int
) -> tuple[References | Fitted, Origin | None]:
    rng = np.random.default_rng(seed)
    if not isinstance(scorer, RandomDistance):
        return Fitted(scorer.ranking(DenseRows(mapped), data.eligible, rng, n_threads)), None
    drawn = scorer.draw(data.eligible, rng)
    numbers = drawn.ravel()
    references = References(np.ascontiguousarray(mapped[numbers]), drawn.shape[1], scorer.phi_among(drawn.shape[1]))
    return references, Origin.of(data.rows.take(numbers), numbers)


def _add_direction(
    model: Model,
    first: MemberFit,
    data: TrainingData,
    scores: Scores,
    seed: np.random.SeedSequence,
    n_threads: int,
) -> tuple[Model, Scores]:
    """Labelled outliers in the final score."""
    known = known_rows(
        data.rows, data.labels, data.outliers, data.inliers, first.initial, first.extra_initial["outliers"]
    )
    direction, scores = learn_direction(
        data.rows, data.eligible, known, first.initial, scores, np.random.default_rng(seed), n_threads
    )
    return Model(model.members, model.normalize, direction), scores


def _warn_if_flat(scores: Scores) -> None:
    if np.ptp(scores) <= 1e-12 * abs(scores.max()):
        warnings.warn(
            "All rows have the same initial score: they are equal, or equally far apart. No row stands out.",
            stacklevel=6,
        )


def _warn_if_collapsed(mapped: npt.NDArray[np.float32]) -> int:
    """Most units dead and most rows at zero: the scores that are left tell little. The number of units alive."""
    alive = int((mapped != 0).any(axis=0).sum())
    empty = float((mapped == 0).all(axis=1).mean())
    if len(mapped) >= _ENOUGH_ROWS and 2 * alive <= mapped.shape[1] and empty > 0.9:
        warnings.warn(
            f"The representation has collapsed: {alive} of {mapped.shape[1]} units respond to any row, {empty:.0%} of "
            "the rows are mapped to zero. Features on very different scales do this: take logarithms or scale them, "
            "and look at initial_scores_, the ranking without a representation.",
            stacklevel=6,
        )
    return alive
