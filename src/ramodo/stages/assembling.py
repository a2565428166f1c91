"""The replaceable stages of RAMODO, what each must do, and what happens where one does not.

    scorer          ranks the rows, gives the loss its φ, detects in the representation   scoring.py, foreign.py
    ranker          the initial ranking, where it is not the scorer's own                 ensembles.py, foreign.py
    thresholder     split(scores, labels) -> Candidates                                   thresholding.py
    sampler         n_queries, draw(pools, n_epochs, n, batch_size, rng) -> triplets      triplets.py
    representation  first_width, head(rng) -> forward and backward                        representation.py
    loss            loss(rows, triplets) -> mean loss, gradient                           ranking.py
    cutoff          cutoff(scores) -> the line of `predict`                               thresholding.py, conformal.py

A scorer or ranker of one's own needs `fit(X)` and `score_samples(X)`, lower being more outlying, as in scikit-learn.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..fitting.training import Adadelta
from ..kernels import Phi
from ..options import Integer, OptionError, check
from .foreign import Foreign, as_scorer
from .layers import Layers
from .ranking import RankingHinge
from .scoring import RandomDistance, Sp
from .thresholding import Candidates, Cantelli
from .triplets import Pools, TripletSampler


class StageError(ValueError):
    """A stage gave something that the next one cannot use; the message names the stage."""


@dataclass(frozen=True)
class Stages:
    """All stages of one fit."""

    scorer: Any
    ranker: Any
    thresholder: Any
    sampler: Any
    representation: Any
    loss: Any
    cutoff: Any
    optimizer: Adadelta = field(default_factory=Adadelta)
    labels_in_score: bool = True
    """Whether labelled outliers also enter the final score (direction.py), or training alone, as in the paper."""


def assemble(
    scorer: Any = None,
    ranker: Any = None,
    thresholder: Any = None,
    sampler: Any = None,
    representation: Any = None,
    loss: Any = None,
    cutoff: Any = None,
) -> Stages:
    """Stages with REPEN's where none is given; raises `OptionError` for an object that lacks a stage's methods."""
    scorer = as_scorer(Sp() if scorer is None else scorer, "scorer")
    ranker = scorer if ranker is None else as_scorer(ranker, "ranker")
    thresholder = _checked_stage("thresholder", Cantelli() if thresholder is None else thresholder)
    sampler = _checked_stage("sampler", _default_sampler(scorer) if sampler is None else sampler)
    representation = _checked_stage("representation", Layers() if representation is None else representation)
    cutoff = _checked_stage("cutoff", Cantelli() if cutoff is None else cutoff)
    loss = RankingHinge() if loss is None else loss
    check({"n_queries": sampler.n_queries})
    if not _WIDTH.accepts(representation.first_width):
        raise OptionError(
            f"first_width={representation.first_width!r} was given by the representation "
            f"{type(representation).__name__}; allowed: {_WIDTH}."
        )
    if isinstance(loss, type) or not (callable(loss) or isinstance(loss, RankingHinge)):
        raise OptionError(
            f"loss={loss!r} was given; allowed: a function of rows and triplets, see ramodo.stages.ranking."
        )
    return Stages(
        scorer=scorer,
        ranker=ranker,
        thresholder=thresholder,
        sampler=sampler,
        representation=representation,
        loss=loss.for_phi(phi_of(scorer), sampler.n_queries) if isinstance(loss, RankingHinge) else loss,
        cutoff=cutoff,
        labels_in_score=getattr(sampler, "labeled_fraction", "auto") == "auto",
    )


def copied(stages: Stages, n_estimators: int) -> Stages:
    """The stages for one of several models, which threads may train side by side: each may keep state of its own.

    One object in two places is one object in the copy. Functions are shared: they have no state that could be copied.
    """
    memo: dict[int, Any] = {}
    parts = {part.name: getattr(stages, part.name) for part in fields(stages)}
    return replace(stages, **{name: _copied(name, part, memo, n_estimators) for name, part in parts.items()})


def _copied(name: str, stage: Any, memo: dict[int, Any], n_estimators: int) -> Any:
    try:
        return copy.deepcopy(stage, memo)
    except Exception as error:  # of whatever the stage holds
        raise OptionError(
            f"the {name} {_name_of(stage)} cannot be copied ({type(error).__name__}: {error}), and n_estimators="
            f"{n_estimators} was given; allowed: stages that can, since each model has its own. Give it a __deepcopy__ "
            "that shares what is only read, or fit one model."
        ) from error


_NEEDED = {
    "thresholder": ("split",),
    "sampler": ("n_queries", "draw"),
    "representation": ("first_width", "head"),
    "cutoff": ("cutoff",),
}

_WIDTH = Integer(1, 4096)


def _checked_stage(name: str, stage: Any) -> Any:
    """The stage, where it has what it needs; the options of ramodo's own ones are looked at before any work."""
    needed = _NEEDED[name]
    if isinstance(stage, type | str) or not all(hasattr(stage, method) for method in needed):
        raise OptionError(
            f"{name}={stage!r} was given; allowed: an object with {' and '.join(needed)}, see ramodo.stages."
        )
    if type(stage).__module__.startswith("ramodo."):
        check(stage.get_params(deep=False))
    return stage


def phi_of(scorer: Any) -> Phi:
    """The scorer's φ; the nearest, where it has none of its own."""
    return scorer.phi if isinstance(scorer, RandomDistance) else Phi()


def _default_sampler(scorer: Any) -> TripletSampler:
    """One query where the nearest counts; where more count, as many as the scorer has references to choose from."""
    return TripletSampler(1 if phi_of(scorer).k == 1 else scorer.subsample_size)


# ---- what a stage gave, checked --------------------------------------------------------------------------------------


def checked_scores(name: str, stage: Any, scores: Any, n_rows: int) -> npt.NDArray[np.float64]:
    """One finite number for each row."""
    values = np.asarray(scores)
    if values.shape != (n_rows,) or values.dtype.kind not in "biuf":
        raise _error(name, stage, f"scores of shape {values.shape} and dtype {values.dtype}", f"{n_rows} numbers")
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise _error(name, stage, f"the score {values[bad[0]]} for row {bad[0]}", "finite numbers")
    return values.astype(np.float64)


def checked_candidates(stage: Any, candidates: Any, n_rows: int, labeled: bool) -> Candidates:
    """Two sets of rows, neither of them empty, none in both. `labeled`: labelled outliers stand in for candidates."""
    if not isinstance(candidates, Candidates):
        raise _error("thresholder", stage, f"a {type(candidates).__name__}", "ramodo.stages.thresholding.Candidates")
    sets = {"outliers": np.asarray(candidates.outliers), "inliers": np.asarray(candidates.inliers)}
    for name, rows in sets.items():
        if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
            raise _error("thresholder", stage, f"{name} of dtype {rows.dtype}", "row numbers")
        if len(rows) and not (rows.min() >= 0 and rows.max() < n_rows):
            raise _error("thresholder", stage, f"{name} beyond the rows of X", f"row numbers from 0 to {n_rows - 1}")
        if len(rows) == 0 and not (name == "outliers" and labeled):
            raise _error("thresholder", stage, f"an empty set of candidate {name}", "at least one row of each kind")
    both = np.intersect1d(sets["outliers"], sets["inliers"])
    if len(both):
        raise _error("thresholder", stage, f"row {both[0]} as outlier and as inlier", "sets without a common row")
    return Candidates(sets["outliers"].astype(np.int64), sets["inliers"].astype(np.int64), bool(candidates.fallback))


def checked_triplets(stage: Any, triplets: Any, shape: tuple[int, int, int], n_rows: int) -> npt.NDArray[np.int64]:
    """Row numbers of the shape epochs x triplets x (queries, positive, negative)."""
    values = np.asarray(triplets)
    if values.shape != shape or values.dtype.kind not in "iu":
        raise _error(
            "sampler", stage, f"triplets of shape {values.shape} and dtype {values.dtype}", f"integers of {shape}"
        )
    outside = values[(values < 0) | (values >= n_rows)]
    if len(outside):
        raise _error("sampler", stage, f"the row number {outside[0]}", f"0 to {n_rows - 1}")
    return np.ascontiguousarray(values, dtype=np.int64)


class CheckedLoss:
    """A loss of the user's, whose results are looked at."""

    def __init__(self, loss: Any) -> None:
        self._loss = loss

    def __call__(self, rows: npt.NDArray[np.float32], triplets: npt.NDArray[np.int32]) -> tuple[float, Any]:
        result = self._loss(rows, triplets)
        if not isinstance(result, tuple) or len(result) != 2:
            raise _error("loss", self._loss, f"a {type(result).__name__}", "a pair: the mean loss and its gradient")
        value, gradient = np.asarray(result[0]), np.asarray(result[1])
        if value.shape != () or gradient.shape != rows.shape or not (_are_finite(value) and _are_finite(gradient)):
            raise _error(
                "loss",
                self._loss,
                f"the loss {value if value.shape == () else value.shape} and a gradient of shape {gradient.shape}",
                f"a finite loss and a finite gradient of shape {rows.shape}",
            )
        return float(value), gradient.astype(np.float32)


class CheckedHead:
    """A head of the user's, whose results are looked at."""

    def __init__(self, stage: Any, head: Any) -> None:
        if not (hasattr(head, "forward") and hasattr(head, "backward")):
            raise _error("representation", stage, f"the head {head!r}", "an object with forward and backward")
        self._stage, self._head = stage, head

    def forward(self, hidden: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        rows = np.asarray(self._head.forward(hidden))
        if rows.ndim != 2 or len(rows) != len(hidden) or not _are_finite(rows):
            raise _error(
                "representation",
                self._stage,
                f"an array of shape {rows.shape}, or with NaN or infinity",
                f"{len(hidden)} rows of finite numbers",
            )
        return np.ascontiguousarray(rows, dtype=np.float32)

    def backward(self, gradient: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        result = np.asarray(self._head.backward(gradient))
        width = self._stage.first_width
        if result.shape != (len(gradient), width) or not _are_finite(result):
            raise _error(
                "representation",
                self._stage,
                f"a gradient of shape {result.shape}, or with NaN or infinity",
                f"finite numbers of shape {(len(gradient), width)}",
            )
        return result.astype(np.float32)


def checked_pools(pools: Pools, n_queries: int) -> Pools:
    """Enough inliers for the queries and a positive that is none of them."""
    if len(pools.inliers) < n_queries + 1:
        raise OptionError(
            f"{len(pools.inliers)} inlier candidates are left, n_queries={n_queries} needs at least {n_queries + 1}: "
            "queries and positive are different inliers. Give more rows that are not labelled outliers, a larger "
            "alpha or fewer queries."
        )
    return pools


def _are_finite(values: npt.NDArray[Any]) -> bool:
    return values.dtype.kind in "biuf" and bool(np.isfinite(values).all())


def _error(name: str, stage: Any, given: str, allowed: str) -> StageError:
    return StageError(f"the {name} {_name_of(stage)} gave {given}; allowed: {allowed}.")


def _name_of(stage: Any) -> str:
    """The class that the user knows, or the name of a function."""
    if isinstance(stage, Foreign):
        stage = stage.detector
    return str(getattr(stage, "__name__", type(stage).__name__))
