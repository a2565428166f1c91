"""Some small fits that together pass through every stage, container, cut-off and term.

Each gives named arrays; `recorded.json` has a checksum of every one of them. A change of the code that is not meant to
change results must leave all of them alone. `python tests/guard/record.py` writes the checksums again.
"""

import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import IsolationForest

from ramodo import (
    RAMODO,
    REPEN,
    AverageNeighborREPEN,
    AverageNN,
    Cantelli,
    Conformal,
    Consensus,
    Ensemble,
    GivenSet,
    KthNeighborREPEN,
    KthNN,
    Layers,
    RankingHinge,
    Sp,
    TopFraction,
    TopK,
    TripletSampler,
    load,
)
from ramodo.formats import Schema, Table, TextOptions, folder, read

QUICK = {"n_epochs": 4, "random_state": 0, "n_jobs": 2}
SMALL = {**QUICK, "n_components": 6, "n_subsamples": 10}
DETECTORS = [Sp(5), KthNN(2, 5), IsolationForest(n_estimators=5)]
GIVEN = GivenSet((1, 2, 9))


def sparse(n_rows=240, n_features=600, seed=0, dtype=np.float32):
    """Counts with a skew; the last rows have features of their own."""
    rng = np.random.default_rng(seed)
    dense = rng.poisson(0.08, (n_rows, n_features)).astype(dtype)
    dense[-8:, -12:] = 1 + rng.poisson(1.0, (8, 12))
    dense[3] = 0.0
    return sp.csr_array(dense)


def dense(n_rows=200, n_features=50, seed=1, dtype=np.float32):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_rows, n_features)).astype(dtype)
    values[-6:] += 2.5
    return values


def labels_of(X, n_outliers=3, n_inliers=4):
    labels = np.zeros(X.shape[0], dtype=int)
    labels[X.shape[0] - n_outliers :] = 1
    labels[10 : 10 + n_inliers] = -1
    return labels


def wide_indices(X, n_features=10**12):
    """The same rows with int64 indices scattered over a huge width."""
    places = np.sort(np.random.default_rng(7).choice(10**9, X.shape[1], replace=False)).astype(np.int64) * 900
    matrix = sp.csr_array((X.shape[0], n_features), dtype=np.float64)
    matrix.data, matrix.indices, matrix.indptr = X.data.astype(np.float64), places[X.indices], X.indptr.astype(np.int64)
    return matrix


class OwnHead:
    """A representation of the user's: tanh of the sums."""

    first_width = 5

    def head(self, rng):
        return self

    def forward(self, hidden):
        self._out = np.tanh(hidden)
        return self._out

    def backward(self, gradient):
        return gradient * (1 - self._out**2)


def own_loss(rows, triplets):
    query, positive, negative = (rows[triplets[:, i]] for i in range(3))
    gradient = np.zeros_like(rows)
    step = (negative - positive) / len(triplets)
    np.add.at(gradient, triplets[:, 1], -step)
    np.add.at(gradient, triplets[:, 2], step)
    return float(((query - positive) ** 2).mean()), gradient


def _from_folder():
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "guard.rows"
        folder.write(path, Table(sparse()))
        return results(REPEN(**SMALL), read(str(path)).X, sparse(40, seed=5))


def _from_text(**options):
    words = ["get", "index", "html", "image", "png", "post", "login", "user", "page", "style", "css", "cart"]
    rng = np.random.default_rng(3)
    lines = [" ".join(rng.choice(words, 8)) for _ in range(150)] + ["../../etc/passwd; cat", "union select 1,2,3 --"]
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "guard.txt"
        path.write_text("\n".join(lines), encoding="utf-8")
        X = read(str(path), schema=Schema(tokens=TextOptions(**options))).X
    return results(REPEN(normalize="l2", **SMALL), X, X[-5:])


def _warm():
    X = sparse()
    detector = REPEN(warm_start=True, **SMALL).fit(X)
    return results(detector, X, sparse(40, seed=5), labels=labels_of(X))


def _extra(make, **more):
    X = make()
    return results(REPEN(**SMALL), X, make(40, seed=5), labeled_outliers=make(12, seed=8), **more)


def _plain(scorer):
    X, new = sparse(), sparse(40, seed=5)
    scorer.fit(X)
    return {"scores": scorer.outlier_scores_, "new": scorer.outlier_score(new), "line": np.array([scorer.threshold_])}


def _sparse(detector, **known):
    return results(detector, sparse(), sparse(40, seed=5), **known)


def _dense(detector, dtype=np.float32, **known):
    return results(detector, dense(dtype=dtype), dense(40, seed=5, dtype=dtype), **known)


FITS = {
    "sparse": lambda: _sparse(REPEN(**QUICK)),
    "sparse float64": lambda: results(REPEN(**SMALL), sparse(dtype=np.float64), sparse(40, seed=5, dtype=np.float64)),
    "sparse huge width": lambda: results(REPEN(**SMALL), wide_indices(sparse()), wide_indices(sparse(40, seed=5))),
    "sparse l2": lambda: _sparse(REPEN(normalize="l2", **SMALL)),
    "dense": lambda: _dense(REPEN(**QUICK)),
    "dense float64": lambda: _dense(REPEN(**SMALL), np.float64),
    "dense max": lambda: _dense(REPEN(normalize="max", **SMALL)),
    "labels sparse": lambda: _sparse(REPEN(**SMALL), labels=labels_of(sparse())),
    "labels dense": lambda: _dense(REPEN(**SMALL), labels=labels_of(dense())),
    "labels in training only": lambda: _sparse(REPEN(**SMALL, **PAPERS_LABELS), labels=labels_of(sparse())),
    "further rows sparse": lambda: _extra(sparse, labeled_inliers=sparse(12, seed=9)[4:]),
    "further rows dense": lambda: _extra(dense),
    "several models": lambda: _sparse(REPEN(n_estimators=3, **SMALL)),
    "several models labels": lambda: _sparse(REPEN(n_estimators=2, **SMALL), labels=labels_of(sparse())),
    "several models dense": lambda: _dense(REPEN(n_estimators=2, normalize="l2", **SMALL)),
    "two layers": lambda: _sparse(RAMODO(representation=Layers((8, 4)), **QUICK)),
    "leaky": lambda: _sparse(RAMODO(representation=Layers((6,), "leaky_relu"), **QUICK)),
    "kth neighbour": lambda: _sparse(KthNeighborREPEN(2, **SMALL)),
    "average neighbour dense": lambda: _dense(AverageNeighborREPEN(3, **SMALL)),
    "ensemble ranker": lambda: _sparse(RAMODO(ranker=Ensemble(DETECTORS), **QUICK)),
    "foreign scorer": lambda: _dense(RAMODO(IsolationForest(n_estimators=10), **QUICK)),
    "given set, top fraction": lambda: _sparse(RAMODO(thresholder=GIVEN, cutoff=TopFraction(0.1), **QUICK)),
    "margin, queries, top k": lambda: _sparse(
        RAMODO(loss=RankingHinge(2.0), sampler=TripletSampler(3), cutoff=TopK(7), thresholder=Cantelli(1.0), **QUICK)
    ),
    "conformal": lambda: _sparse(REPEN(cutoff=Conformal(0.3), **SMALL)),
    "own stages": lambda: _sparse(RAMODO(representation=OwnHead(), loss=own_loss, **QUICK)),
    "folder": _from_folder,
    "text": _from_text,
    "text counts": lambda: _from_text(idf=False),
    "warm start": _warm,
    "Consensus": lambda: _sparse(Consensus(random_state=0, n_jobs=2)),
    "Consensus, dense": lambda: _dense(Consensus(random_state=0, n_jobs=2)),
    "Consensus, labels": lambda: _sparse(Consensus(random_state=0, n_jobs=2), labels=labels_of(sparse())),
    "Sp": lambda: _plain(Sp(random_state=0)),
    "AverageNN": lambda: _plain(AverageNN(2, random_state=0)),
}

PAPERS_LABELS = {"labeled_fraction": 0.5, "labels_in_score": False}
"""Labels as in the paper: they enter training, not the score."""


def results(detector, X, new, **known):
    """What a user sees of a fit."""
    detector.fit(X, **known)
    found = {
        "scores": detector.outlier_scores_,
        "initial": detector.initial_scores_,
        "loss": detector.loss_curve_,
        "line": np.array([detector.threshold_]),
        "candidates": detector.candidate_outliers_,
        "new": detector.outlier_score(new),
        "again": detector.outlier_score(X),
        "mapped": detector.transform(new),
        "diagnosis": np.array([finding.value for finding in detector.diagnose().findings]),
    }
    if len(detector.calibration_scores_):
        found["p"] = detector.p_values(new)
    try:
        explained = detector.explain(new, top=7)
    except ValueError:  # scorers and heads of the user's
        return found
    found["reasons"] = np.array([r.column for row in explained for r in row.reasons])
    found["contributions"] = np.array([r.contribution for row in explained for r in row.reasons])
    found["rest"] = np.array([row.rest for row in explained])
    found["nearest"] = np.array([number for row in explained for number in row.nearest])
    found["drivers"] = np.array([[driver.column, driver.contribution] for driver in explained.drivers])
    try:
        with tempfile.TemporaryDirectory() as place:
            opened = load(detector.save(Path(place) / "guard.ramodo"))
            found["loaded"] = np.concatenate([opened.outlier_score(new), [opened.threshold_]])
    except ValueError:  # stages that have no place in a file
        pass
    return found
