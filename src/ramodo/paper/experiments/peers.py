"""Detectors of other libraries, with their own defaults: higher scores are more outlying."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM

from ... import REPEN, Sp
from ...extras import pip_install
from .deepod import NotInstalledError, deepod_scores

if TYPE_CHECKING:
    from .measures import Resources

Scores = Callable[[Any, int, "Resources"], Any]


@dataclass(frozen=True)
class Peer:
    """How to get scores of rows, and what it takes; `once` if more runs would add nothing or take too long."""

    scores: Scores
    sparse: bool = True
    once: bool = False

    def timed(self, X: Any, seed: int, resources: Resources) -> tuple[float, Any]:
        """Seconds of fit and score, and the scores."""
        started = time.perf_counter()
        scores = self.scores(X, seed, resources)
        return time.perf_counter() - started, scores


class _DeepOD(Peer):
    """Timed in a separate process, without its start."""

    def timed(self, X: Any, seed: int, resources: Resources) -> tuple[float, Any]:
        return deepod_scores(X, seed)


def _pyod(name: str, **options: Any) -> Scores:
    def scores(X: Any, seed: int, resources: Resources) -> Any:
        try:
            module = import_module(f"pyod.models.{name.lower()}")
        except ImportError:
            raise NotInstalledError(f"PyOD's {name} needs the package pyod: {pip_install('paper')}.") from None
        chosen = {"random_state": seed} if name == "Sampling" else {}
        return getattr(module, name)(**chosen, **options).fit(X).decision_scores_

    return scores


def _repen(X: Any, seed: int, resources: Resources) -> Any:
    return REPEN(random_state=seed, n_jobs=resources.n_threads).fit(X).outlier_scores_


def _forest(X: Any, seed: int, resources: Resources) -> Any:
    return -IsolationForest(random_state=seed, n_jobs=resources.n_threads).fit(X).score_samples(X)


def _lof(X: Any, seed: int, resources: Resources) -> Any:
    neighbours = min(20, X.shape[0] - 1)
    return -LocalOutlierFactor(neighbours, n_jobs=resources.n_threads).fit(X).negative_outlier_factor_


def _svm(X: Any, seed: int, resources: Resources) -> Any:
    return -OneClassSVM().fit(X).decision_function(X)


PEERS = {
    "Sp": Peer(lambda X, seed, resources: Sp(random_state=seed, n_jobs=resources.n_threads).fit(X).outlier_scores_),
    "REPEN": Peer(_repen),
    "IsolationForest": Peer(_forest),
    "LOF": Peer(_lof, once=True),
    "OneClassSVM": Peer(_svm, once=True),
    "PyOD KNN": Peer(_pyod("KNN"), sparse=False, once=True),
    "PyOD ECOD": Peer(_pyod("ECOD"), sparse=False, once=True),
    "PyOD Sampling": Peer(_pyod("Sampling"), sparse=False),
    "DeepOD REPEN": _DeepOD(lambda X, seed, resources: deepod_scores(X, seed)[1], sparse=False, once=True),
}
