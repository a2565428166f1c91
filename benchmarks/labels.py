"""AUC with labelled outliers: ours, no labels, the paper's way, and classifiers on the same labels.

Labels are drawn from a set's pool; where there is none, from its own outliers, which are then left out of the
evaluation. At least half of a set's own outliers stay. Peers are scikit-learn's, of the labelled outliers against all
other rows, classes balanced: LogisticRegression on rows as they are and on rows of length 1; RandomForestClassifier on
100 components of TruncatedSVD where there are more than 2,000 sparse features, and not at all where there are more than
a million, for which the components alone take gigabytes and minutes.

python -m benchmarks.labels [--draws 5] [--labels 1,5,20,80,quarter] [--sets R8,...]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import normalize

from ramodo import REPEN, Consensus
from ramodo.paper.datasets import LabeledData

from .sizes import load, sized
from .table import print_table, reached

SETS = "R8,R8_counts,LC,AD_dedup,News20,URL_iscx,dorothea,SMSSpam,Chowdary,adb_musk"
COLUMNS = [
    "Consensus",
    "no labels",
    "REPEN",
    "the paper's way",
    "logistic regression",
    "logistic regression, unit rows",
    "random forest",
]
LEAST_QUARTER = 5
WORSE = 0.01
"""By how much labels may make a ranking worse."""

PAPERS_WAY: dict[str, Any] = {"labeled_fraction": 0.5, "labels_in_score": False}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=sized(5, 1))
    parser.add_argument("--labels", default=sized("1,5,20,80,quarter", "1,20"))
    parser.add_argument("--sets", default=sized(SETS, "R8"))
    arguments = parser.parse_args()
    found: dict[str, list[Any]] = {}
    rows = []
    for name in arguments.sets.split(","):
        setting = Setting(load(name))
        for labels in arguments.labels.split(","):
            n = setting.number(labels)
            if n is not None:
                aucs = np.array([setting.aucs(n, seed) for seed in range(arguments.draws)])
                rows.append([name, labels, arguments.draws, *_cells(aucs), _verdict(aucs.mean(axis=0))])
                print(*rows[-1], sep=" | ", flush=True)
                found.setdefault(labels, []).append(aucs.mean(axis=0))
    for labels, means in found.items():
        mean = np.mean(means, axis=0)
        rows.append([f"mean of {len(means)}", labels, arguments.draws, *_short(mean), reached(mean[0], _best(mean))])
    print_table(
        "AUC with labelled outliers (mean ± standard deviation over draws of labels)",
        ["set", "labels", "draws", *COLUMNS, "reached"],
        rows,
    )


def _cells(aucs: Any) -> list[str]:
    pairs = zip(aucs.mean(axis=0), aucs.std(axis=0), strict=True)
    return ["-" if np.isnan(mean) else _auc(mean) + f" ± {_auc(spread)}" for mean, spread in pairs]


def _auc(value: float) -> str:
    return f"{value:.4f}".removeprefix("0")


def _short(means: Any) -> list[str]:
    return ["-" if np.isnan(mean) else _auc(mean) for mean in means]


def _best(means: Any) -> float:
    return round(float(np.nanmax(means[1:])), 4)


def _verdict(means: Any) -> str:
    return f"no labels {reached(means[0], round(float(means[1]) - WORSE, 4))}"


@dataclass
class Setting:
    """A set, and what all draws of labels have in common."""

    data: LabeledData

    def number(self, labels: str) -> int | None:
        """How many labels are meant; None where the set has too few outliers."""
        n_outliers = int(self.data.y.sum())
        n = n_outliers // 4 if labels == "quarter" else int(labels)
        most = n_outliers // 2 if self.data.pool is None else self.data.pool.shape[0]
        return n if (n >= LEAST_QUARTER or labels != "quarter") and n <= most else None

    def aucs(self, n: int, seed: int) -> list[float]:
        """One for each column."""
        X, rng = self._rows, np.random.default_rng(seed)
        rest = np.full(X.shape[0], True)
        if self.data.pool is None:
            rest[rng.choice(np.flatnonzero(self.data.y == 1), n, replace=False)] = False
            known = X[~rest]
        else:
            known = self._pool[rng.choice(self._pool.shape[0], n, replace=False)]
        ours, repen = (make(random_state=seed, n_jobs=-1) for make in (Consensus, REPEN))
        papers = REPEN(random_state=seed, n_jobs=-1, **PAPERS_WAY)
        told = [self._told(detector, known, rest) for detector in (ours, repen, papers)]
        scores = [told[0], self._untold(seed), *told[1:]]
        peers: list[Callable[[Any, Any, int], Any]] = [_regression, _of_unit_rows, self._forest]
        scores = [own[rest] for own in scores] + [peer(X[rest], known, seed) for peer in peers]
        return [np.nan if own is None else float(roc_auc_score(self.data.y[rest], own)) for own in scores]

    @cached_property
    def _rows(self) -> Any:
        return _dense_if_full(self.data.X)

    @cached_property
    def _pool(self) -> Any:
        pool: Any = self.data.pool
        return pool if sp.issparse(self._rows) else pool.toarray()

    @cached_property
    def _untold_scores(self) -> dict[int, Any]:
        return {}

    @cached_property
    def _components(self) -> Any:
        return TruncatedSVD(sized(100, 10), n_iter=2, random_state=0).fit(self._rows)

    def _told(self, detector: Any, known: Any, rest: Any) -> Any:
        if rest.all():
            return detector.fit(self._rows, labeled_outliers=known).outlier_scores_
        return detector.fit(self._rows, labels=(~rest).astype(float)).outlier_scores_

    def _untold(self, seed: int) -> Any:
        if seed not in self._untold_scores:
            self._untold_scores[seed] = Consensus(random_state=seed, n_jobs=-1).fit(self._rows).outlier_scores_
        return self._untold_scores[seed]

    def _forest(self, X: Any, known: Any, seed: int) -> Any:
        if X.shape[1] > 1_000_000:
            return None
        if sp.issparse(X) and X.shape[1] > 2000:
            X, known = self._components.transform(X), self._components.transform(known)
        forest = RandomForestClassifier(class_weight="balanced", n_jobs=2, random_state=seed)
        return _fitted(forest, X, known).predict_proba(X)[:, 1]


def _dense_if_full(X: Any) -> Any:
    return X.toarray() if sp.issparse(X) and X.nnz > X.shape[0] * X.shape[1] / 2 else X


def _regression(X: Any, known: Any, seed: int) -> Any:
    return _fitted(LogisticRegression(class_weight="balanced", max_iter=1000), X, known).decision_function(X)


def _of_unit_rows(X: Any, known: Any, seed: int) -> Any:
    return _regression(normalize(X), normalize(known), seed)


def _fitted(peer: Any, X: Any, known: Any) -> Any:
    rows = sp.vstack([X, known]).tocsr() if sp.issparse(X) else np.vstack([X, known])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence, on raw scales
        return peer.fit(rows, np.repeat([0, 1], [X.shape[0], known.shape[0]]))


if __name__ == "__main__":
    main()
