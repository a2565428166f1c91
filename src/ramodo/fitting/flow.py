"""The common part of fits: how much to train, what a fit returns, and how labels are added. It contains no maths.

rows -> initial ranking -> candidates -> triplets -> training -> representation -> references -> scores
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..data.blocks import Block
from ..model.learned import LearnedDistance
from ..model.terms import Model, Term
from ..stages.assembling import Stages
from ..stages.protocols import Candidates
from ..terminal.progress import Progress
from .label_direction import known_rows, learn_direction
from .training_data import TrainingData

Scores = npt.NDArray[np.float64]
Seeds = list[np.random.SeedSequence]


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


@dataclass(frozen=True, kw_only=True)
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
    """Scores of rows that the model scoring them was not trained on, fold by fold."""
    seen: tuple[Scores, ...] = ()
    """What each view of `Consensus` says of the rows, before that becomes evidence."""


def extra_scores(data: TrainingData, score: Callable[[Block], Scores]) -> dict[str, Scores]:
    """Return the scores of labelled rows outside X, by kind."""
    kinds = {"outliers": data.outliers, "inliers": data.inliers}
    return {kind: np.empty(0) if rows is None else score(rows) for kind, rows in kinds.items()}


def warn_if_flat(scores: Scores) -> None:
    """Warn if no row stands out."""
    if np.ptp(scores) <= 1e-12 * abs(scores.max()):
        warnings.warn(
            "All rows have the same initial score: they are equal, or all equally far apart. No row stands out.",
            stacklevel=6,
        )


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
    """Return the outcome of a fit, after adding the label direction to the term's score."""
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
