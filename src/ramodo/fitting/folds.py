"""A fit with out-of-sample scores of the training rows: a model for each fold, fitted without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..data.validation import DataError
from ..model.by_fold import ByFold
from ..model.combining import Sum
from ..model.saved import SMALLEST_UNIT
from ..model.terms import Model, Scores, Term
from ..stages.tail import tails_of
from .flow import Outcome
from .training_data import FEWEST_ROWS, TrainingData

Learn = Callable[[TrainingData, Model | None], Outcome]


def fit_by_fold(learn: Learn, data: TrainingData, n_folds: int, previous: Model | None) -> Outcome:
    """Fit a model for each fold and combine them. All of them see the labelled rows, which calibration leaves out."""
    folds, unlabeled = data.rows.folds(n_folds), data.labels == 0
    calibration = [np.flatnonzero((folds == fold) & unlabeled) for fold in range(n_folds)]
    _refuse_lopsided(data, calibration)
    starts = [None] * n_folds if previous is None else previous.by_fold
    outcomes = [learn(replace(data, held_out=rows), start) for rows, start in zip(calibration, starts, strict=True)]
    units = _units([outcome.scores[rows] for outcome, rows in zip(outcomes, calibration, strict=True)])
    term = ByFold(tuple(_term(one.model) for one in outcomes), units, tuple(map(len, calibration)))
    scores = np.choose(folds, [outcome.scores / unit for outcome, unit in zip(outcomes, units, strict=True)])
    return Outcome(
        Model((term,)),
        tuple(fit for outcome in outcomes for fit in outcome.fits),
        scores,
        np.choose(folds, [outcome.initial for outcome in outcomes]),
        tuple(scores[rows] for rows in calibration),
    )


def _refuse_lopsided(data: TrainingData, calibration: list[npt.NDArray[np.int64]]) -> None:
    """Raise unless each model has rows to learn from, and rows to score."""
    n_rows, most = data.rows.n_rows, max(map(len, calibration))
    if n_rows - most < FEWEST_ROWS or min(map(len, calibration)) == 0:
        raise DataError(
            f"Conformal needs at least {FEWEST_ROWS} rows outside each fold and unlabelled rows in each, got {most} of "
            f"{n_rows} rows in one fold. Equal rows share a fold: remove copies, add rows, or give Conformal a share "
            "to hold out (held_out=0.2)."
        )


def _units(folds: list[Scores]) -> tuple[float, ...]:
    """Return divisors of each model's scores that let one threshold serve all; their geometric mean is 1."""
    highest = np.array([tail.highest for tail in tails_of(folds)])
    if not (np.isfinite(highest) & (highest > SMALLEST_UNIT)).all():
        return (1.0,) * len(folds)
    return tuple((highest / np.exp(np.mean(np.log(highest)))).tolist())


def _term(model: Model) -> Term:
    return model.terms[0] if model.weights == (1.0,) else Sum(model.terms, model.weights)
