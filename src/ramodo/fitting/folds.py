"""A fit whose scores of the training rows are out of sample: a model for each fold, which does without it."""

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
    """The models of all folds as one. All of them know the labelled rows, which are not used to calibrate."""
    folds, unlabeled = data.rows.folds(n_folds), data.labels == 0
    calibration = [np.flatnonzero((folds == fold) & unlabeled) for fold in range(n_folds)]
    _refuse_lopsided(data, calibration)
    starts = [None] * n_folds if previous is None else previous.by_fold
    models = [learn(replace(data, held_out=rows), start) for rows, start in zip(calibration, starts, strict=True)]
    units = _units([model.scores[rows] for model, rows in zip(models, calibration, strict=True)])
    term = ByFold(tuple(_term(one.model) for one in models), units, tuple(map(len, calibration)))
    scores = np.choose(folds, [model.scores / unit for model, unit in zip(models, units, strict=True)])
    return Outcome(
        Model((term,)),
        tuple(fit for model in models for fit in model.fits),
        scores,
        np.choose(folds, [model.initial for model in models]),
        tuple(scores[rows] for rows in calibration),
    )


def _refuse_lopsided(data: TrainingData, calibration: list[npt.NDArray[np.int64]]) -> None:
    """Each model needs rows to learn from, and rows to score."""
    n_rows, most = data.rows.n_rows, max(map(len, calibration))
    if n_rows - most < FEWEST_ROWS or min(map(len, calibration)) == 0:
        raise DataError(
            f"Conformal was given, and of {n_rows} rows {most} are in one fold; allowed: data with at least "
            f"{FEWEST_ROWS} rows outside it and unlabelled ones in each. Equal rows share a fold: remove copies, add "
            "rows, or give Conformal a share to hold out (held_out=0.2)."
        )


def _units(folds: list[Scores]) -> tuple[float, ...]:
    """What to divide each model's scores by, so that one threshold serves all; 1 in the geometric mean."""
    highest = np.array([tail.highest for tail in tails_of(folds)])
    if not (np.isfinite(highest) & (highest > SMALLEST_UNIT)).all():
        return (1.0,) * len(folds)
    return tuple((highest / np.exp(np.mean(np.log(highest)))).tolist())


def _term(model: Model) -> Term:
    return model.terms[0] if model.weights == (1.0,) else Sum(model.terms, model.weights)
