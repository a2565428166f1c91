"""Checks of what a stage returned. The error names the stage whose result the next one cannot use."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..options import OptionError
from .protocols import Candidates, Pools


class StageError(ValueError):
    """A stage returned something that the next one cannot use; the message names the stage."""


def checked_scores(name: str, stage: Any, scores: Any, n_rows: int) -> npt.NDArray[np.float64]:
    """Return `scores` as float64 if they are one finite number for each row; otherwise raise `StageError`."""
    values = np.asarray(scores)
    if values.shape != (n_rows,) or values.dtype.kind not in "biuf":
        raise stage_error(name, stage, f"scores of shape {values.shape} and dtype {values.dtype}", f"{n_rows} numbers")
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise stage_error(name, stage, f"the score {values[bad[0]]} for row {bad[0]}", "finite numbers")
    return values.astype(np.float64)


def checked_candidates(stage: Any, candidates: Any, n_rows: int, labeled: bool) -> Candidates:
    """Return the candidates if they are two disjoint, non-empty sets of rows; otherwise raise `StageError`.

    `labeled`: there are labelled outliers, so there may be no outlier candidates.
    """
    if not isinstance(candidates, Candidates):
        raise stage_error("thresholder", stage, f"a {type(candidates).__name__}", "ramodo.Candidates")
    sets = {"outliers": np.asarray(candidates.outliers), "inliers": np.asarray(candidates.inliers)}
    for name, rows in sets.items():
        if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
            raise stage_error("thresholder", stage, f"{name} of dtype {rows.dtype}", "row numbers")
        if len(rows) and not (rows.min() >= 0 and rows.max() < n_rows):
            raise stage_error(
                "thresholder", stage, f"{name} beyond the rows of X", f"row numbers from 0 to {n_rows - 1}"
            )
        if len(rows) == 0 and not (name == "outliers" and labeled):
            raise stage_error(
                "thresholder", stage, f"an empty set of candidate {name}", "at least one row of each kind"
            )
    both = np.intersect1d(sets["outliers"], sets["inliers"])
    if len(both):
        raise stage_error("thresholder", stage, f"row {both[0]} as outlier and as inlier", "sets without a common row")
    return Candidates(sets["outliers"].astype(np.int64), sets["inliers"].astype(np.int64), bool(candidates.fallback))


def checked_triplets(stage: Any, triplets: Any, shape: tuple[int, int, int], n_rows: int) -> npt.NDArray[np.int64]:
    """Return the triplets if they are row numbers of this shape: epochs x triplets x (queries, positive, negative)."""
    values = np.asarray(triplets)
    if values.shape != shape or values.dtype.kind not in "iu":
        raise stage_error(
            "sampler", stage, f"triplets of shape {values.shape} and dtype {values.dtype}", f"integers of shape {shape}"
        )
    outside = values[(values < 0) | (values >= n_rows)]
    if len(outside):
        raise stage_error("sampler", stage, f"the row number {outside[0]}", f"row numbers from 0 to {n_rows - 1}")
    return np.ascontiguousarray(values, dtype=np.int64)


def refuse_few_inliers(pools: Pools, n_queries: int) -> None:
    """Raise `OptionError` unless there are enough inliers for the queries and another one as the positive."""
    if len(pools.inliers) < n_queries + 1:
        raise OptionError(
            f"{len(pools.inliers)} inlier candidates are left, n_queries={n_queries} needs at least {n_queries + 1}: "
            "queries and positive are different inliers. Give more rows that are not labelled outliers, a larger "
            "alpha or fewer queries."
        )


def are_finite(values: npt.NDArray[Any]) -> bool:
    """Return whether all values are numbers other than NaN and infinity."""
    return values.dtype.kind in "biuf" and bool(np.isfinite(values).all())


def stage_error(name: str, stage: Any, given: str, needed: str) -> StageError:
    """Return the error that says what the stage called `name` returned and what the next stage needs."""
    return StageError(f"the {name} {name_of(stage)} must return {needed}, got {given}.")


def name_of(stage: Any) -> str:
    """Return the name of the class or function that the user passed in."""
    stage = getattr(stage, "adapted", stage)
    return str(getattr(stage, "__name__", type(stage).__name__))
