"""How a cell is computed. Each function takes the cell and its resources, and returns named numbers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.spatial import cKDTree
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import euclidean_distances

from ... import REPEN, Sp
from ...datasets import make_ultrahigh
from ..baselines import AE, HLLE, SRP, CoP
from ..baselines.limits import dense
from ..datasets import LabeledData
from . import sets
from .cells import Cell

Values = dict[str, Any]

DETECTIONS = 10
"""Runs of Sp on a representation that is the same in each run."""

_LEAST_REPEATS, _MOST_REPEATS = 3, 100
_ENOUGH_SECONDS, _TOO_MANY_SECONDS = 1.0, 10.0


@dataclass(frozen=True)
class Resources:
    """The resources that a cell may use."""

    n_threads: int
    bytes: float


@lru_cache(maxsize=1)
def load(file: str) -> LabeledData:
    """Return a set by name; cells of one process share the last one."""
    return sets.load(file)


# ---- AUC of Sp on a representation -------------------------------------------------------------------------------


def auc(cell: Cell, resources: Resources) -> Values:
    """AUC of Sp on the representation of `cell.method`, and for REPEN on the original space too."""
    data = load(cell.dataset)
    if cell.method == "REPEN":
        return _repen_auc(cell, data, resources)
    method = representation(cell.method, cell.option("n_components", 20), cell.seed, resources)
    started = time.perf_counter()
    Z = method.fit_transform(data.X)
    seconds = time.perf_counter() - started
    seeds = range(DETECTIONS) if cell.method in SAME_EACH_RUN else [cell.seed]
    found = [Sp(random_state=seed, n_jobs=resources.n_threads).fit(Z).outlier_scores_ for seed in seeds]
    return {"auc": [_auc(data, scores) for scores in found], "seconds": seconds}


def _repen_auc(cell: Cell, data: LabeledData, resources: Resources) -> Values:
    labels = cell.option("labels", 0)
    options: dict[str, Any] = (
        {"labeled_fraction": 0.5, "labels_in_score": False} if cell.option("way") == "paper" else {}
    )
    detector = REPEN(cell.option("n_components", 20), random_state=cell.seed, n_jobs=resources.n_threads, **options)
    started = time.perf_counter()
    if labels:
        detector.fit(data.X, labeled_outliers=draw_known(data, labels, cell.seed))
    else:
        detector.fit(data.X)
    seconds = time.perf_counter() - started
    return {
        "auc": _auc(data, detector.outlier_scores_),
        "sp": _auc(data, detector.initial_scores_),
        "seconds": seconds,
    }


def draw_known(data: LabeledData, n: int, seed: int) -> sp.csr_array:
    """Return the rows of the pool to be labelled outliers."""
    assert data.pool is not None
    return data.pool[np.random.default_rng(seed).choice(data.pool.shape[0], n, replace=False)]


SAME_EACH_RUN = ("HLLE", "CoP")


def representation(name: str, n_components: int, seed: int, resources: Resources) -> Any:
    """Return a competitor with the settings of section 6.4."""
    if name == "AE":
        return AE(n_components, memory_limit=resources.bytes, random_state=seed)
    if name == "HLLE":
        return HLLE(n_components, memory_limit=resources.bytes)
    return SRP(n_components, random_state=seed) if name == "SRP" else CoP(n_components, memory_limit=resources.bytes)


def _auc(data: LabeledData, scores: npt.NDArray[Any]) -> float:
    return float(roc_auc_score(data.y, scores))


# ---- seconds -----------------------------------------------------------------------------------------------------


def detection(cell: Cell, resources: Resources) -> Values:
    """Seconds of Sp, the paper's way and ours, on the original space and on REPEN's; the fastest of some repeats.

    References are drawn beforehand in both.
    """
    X: Any = load(cell.dataset).X
    detector = REPEN(random_state=cell.seed, n_jobs=resources.n_threads).fit(X)
    Z = detector.transform(X)
    rng = np.random.default_rng(cell.seed)
    drawn = [rng.choice(X.shape[0], 8, replace=False) for _ in range(50)]
    original, learned = (Sp(random_state=cell.seed, n_jobs=resources.n_threads).fit(rows) for rows in (X, Z))
    values: Values = {}
    for name, function in {
        "original, paper's way": lambda: one_subsample_at_a_time(X, drawn),
        "original, ours": lambda: original.outlier_score(X),
        "representation, paper's way": lambda: one_subsample_at_a_time(Z, drawn),
        "representation, ours": lambda: learned.outlier_score(Z),
        "transform": lambda: detector.transform(X),
    }.items():
        taken = stopwatch(function)
        values[name], values[f"repeats of {name}"] = min(taken), len(taken)
    return values


def one_subsample_at_a_time(X: Any, drawn: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.float64]:
    """Sp as section 6.3 has it: a k-d tree for each subsample, or distances of sparse rows to its rows."""
    scores = np.zeros(X.shape[0])
    squares = np.ravel(X.multiply(X).sum(axis=1))[:, None] if sp.issparse(X) else None
    for numbers in drawn:
        references = X[numbers]
        if squares is None:
            scores += cKDTree(references).query(X)[0]
        else:
            scores += euclidean_distances(X, references, X_norm_squared=squares).min(axis=1)
    return scores / len(drawn)


def scalability(cell: Cell, resources: Resources) -> Values:
    """Seconds of training and testing on generated data; the median of some repeats."""
    X, _ = make_ultrahigh(cell.option("n_rows"), cell.option("n_features"), random_state=cell.seed)

    def run() -> None:
        if cell.method == "REPEN":
            REPEN(random_state=cell.seed, n_jobs=resources.n_threads).fit(X)
        else:
            Z = representation(cell.method, 20, cell.seed, resources).fit_transform(X)
            Sp(random_state=cell.seed, n_jobs=resources.n_threads).fit(Z)

    taken = stopwatch(run)
    return {"time": float(np.median(taken)), "repeats": len(taken)}


def stopwatch(function: Callable[[], Any]) -> list[float]:
    """Seconds of each repeat; short runs are repeated, a long one is not."""
    taken: list[float] = []
    while len(taken) < _MOST_REPEATS and sum(taken) < (
        _TOO_MANY_SECONDS if len(taken) < _LEAST_REPEATS else _ENOUGH_SECONDS
    ):
        started = time.perf_counter()
        function()
        taken.append(time.perf_counter() - started)
    return taken


# ---- other libraries ---------------------------------------------------------------------------------------------


def peer(cell: Cell, resources: Resources) -> Values:
    """AUC and seconds of fit and score of a detector that people use today."""
    from .peers import PEERS

    data = load(cell.dataset)
    found = PEERS[cell.method]
    X = data.X if found.sparse else dense(data.X, resources.bytes, np.float32, cell.method)
    seconds, scores = found.timed(X, cell.seed, resources)
    return {"auc": _auc(data, scores), "seconds": seconds}


MEASURES: dict[str, Callable[[Cell, Resources], Values]] = {
    "auc": auc,
    "detection": detection,
    "scalability": scalability,
    "peer": peer,
}
