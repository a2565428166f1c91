"""A fit of REPEN and its siblings (figure 1 of the paper), with any stages: one learned distance or several."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.rows import Show
from ..model.combining import Mean, Normalized
from ..model.learned import LearnedDistance
from ..model.terms import Model, Term
from ..stages.assembling import Stages, copied
from ..stages.result_checks import checked_scores
from ..terminal.progress import Progress
from ..thread_map import thread_map
from .flow import LearnedFit, Outcome, Plan, Ranked, Scores, Seeds, extra_scores, warn_if_flat, with_labels
from .learn_distance import learn
from .training_data import TrainingData

_FIRST_SEEDS = 4
"""Seeds of one model: ranking, triplets, weights, references."""


def fit(
    stages: Stages,
    plan: Plan,
    data: TrainingData,
    normalize: str | None,
    seed: np.random.SeedSequence,
    previous: Model | None,
    progress: Progress,
) -> Outcome:
    """Fit one learned distance or several. Training starts from the weights of the model `previous`, if given."""
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


def _together(fits: list[LearnedFit]) -> tuple[Term, Scores]:
    """Return the learned distances as one term, and its scores of the training rows."""
    if len(fits) == 1:
        return fits[0].term, fits[0].scores
    mean = Mean(tuple(f.term for f in fits), tuple(float(np.std(f.scores)) or 1.0 for f in fits))
    return mean, mean.of([f.scores for f in fits])


def _fit_several(
    stages: Stages, plan: Plan, data: TrainingData, seeds: list[Seeds], starts: Any, progress: Progress
) -> list[LearnedFit]:
    """Fit independent models, one per thread at a time. Ctrl-C stops all of them within an epoch."""
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


def _rank(ranker: Any, data: TrainingData, seed: np.random.SeedSequence, n_threads: int, show: Show) -> Ranked:
    """Rank the rows against references drawn from X."""
    score = ranker.ranking(data.rows, data.eligible, np.random.default_rng(seed), n_threads)
    initial = checked_scores("ranker", ranker, data.rows.gather(score, show), data.rows.n_rows)
    warn_if_flat(initial)
    return Ranked(initial, extra_scores(data, lambda rows: checked_scores("ranker", ranker, score(rows), rows.n_rows)))
