"""AUC and average precision of Consensus without labels, beside what users would take instead, on many real sets.

Three collections: the ten wide sets, 62 wide sets of texts, URLs, logs, one-hot tables, genes, images and embeddings
(sets of one corpus share its weight), and scikit-learn's small tables with each class made rare in turn. Each is ranked
in two ways: the rows at hand, and new rows by a model of half of the inliers, as a model of yesterday's data meets
today's. A last table leaves out one view of Consensus at a time.

Figures are kept in build/suite, in a file for each version of the code, and what is there is not measured again.

python -m benchmarks.suite [--seeds 3] [--only R8,csic2010] [--collection wide] [--detectors 'Consensus|Sp']
"""

from __future__ import annotations

import argparse
import csv
import json
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn import datasets
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.preprocessing import normalize

from ramodo import REPEN, Consensus, KthNN, Sp
from ramodo.data.validation import open_block
from ramodo.paper.datasets import LabeledData
from ramodo.paper.datasets.prepared import data_folder, read_prepared

from .sizes import IS_TINY, load, sized
from .table import print_entries, print_table

ROOT = Path(__file__).parents[1]
TEN = ("R8", "R8_counts", "LC", "AD_dedup", "News20", "URL_iscx", "dorothea", "SMSSpam", "Chowdary", "adb_musk")
SMALL = ("breast_cancer", "digits", "wine", "iris")
TABLE = 1 / 3
"""Sets with at least this share of values that are not zero are given as dense arrays."""
MOST_FEATURES_OF_A_FOREST = 100_000
"""scikit-learn's forest takes hours beyond."""
AT_HAND, NEW = "at hand", "new"

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Fitted:
    """Scores of the rows that a detector was fitted to, or of other rows."""

    scores: Callable[[Any], Scores]
    detector: Any = None


def _ours(detector: Any) -> Callable[[Any, int], Fitted]:
    def fit(X: Any, seed: int) -> Fitted:
        fitted = detector(X.shape[0]).set_params(random_state=seed, n_jobs=1).fit(X)
        return Fitted(fitted.outlier_score, fitted)

    return fit


def _some(n_rows: int) -> KthNN:
    return KthNN(3, 10, min(256, n_rows // 2))


def _of_unit_rows(X: Any, seed: int) -> Fitted:
    fitted = _ours(_some)(normalize(X), seed)
    return Fitted(lambda rows: fitted.scores(normalize(rows)))


def _forest(X: Any, seed: int) -> Fitted:
    if X.shape[1] > MOST_FEATURES_OF_A_FOREST:
        return _ours(_some)(X, seed)
    fitted = IsolationForest(random_state=seed).fit(X)
    return Fitted(lambda rows: -fitted.score_samples(rows))


def _rarity(X: Any, seed: int) -> Fitted:
    """The mean over a row's features of -ln(share of rows that have it); half a row has what no row has."""
    if not sp.issparse(X):
        return _ours(_some)(X, seed)
    shares = np.maximum(np.asarray((X != 0).sum(axis=0)).ravel(), 0.5) / X.shape[0]

    def score(rows: Any) -> Scores:
        has = sp.csr_array(rows != 0).astype(np.float64)
        return np.asarray(has @ -np.log(shares)) / np.maximum(has.sum(axis=1), 1)

    return Fitted(score)


def _five_nearest(X: Any, _seed: int) -> Fitted:
    nearest = NearestNeighbors(n_neighbors=min(6, X.shape[0]), algorithm="brute").fit(X)

    def score(rows: Any) -> Scores:
        distances = nearest.kneighbors(rows)[0]  # of a row at hand, the first is its own
        return np.asarray(distances[:, 1:].mean(axis=1) if rows is X else distances[:, :-1].mean(axis=1))

    return Fitted(score)


def _local_factor(X: Any, _seed: int) -> Fitted:
    n = min(20, X.shape[0] - 1)
    fitted = LocalOutlierFactor(n_neighbors=n, algorithm="brute", novelty=True).fit(X)
    return Fitted(lambda rows: -fitted.negative_outlier_factor_ if rows is X else -fitted.score_samples(rows))


DETECTORS: dict[str, Callable[[Any, int], Fitted]] = {
    "Consensus": _ours(lambda _: Consensus()),
    "mean rarity": _rarity,
    "Sp": _ours(lambda _: Sp()),
    "KthNN, 3 of 256 x 10": _ours(_some),
    "the same, unit rows": _of_unit_rows,
    "REPEN": _ours(lambda _: REPEN()),
    "isolation forest": _forest,
    "5 nearest, exact": _five_nearest,
    "LOF": _local_factor,
}
STEADY = {"mean rarity", "5 nearest, exact", "LOF"}
"""Detectors without a seed; on new rows the seed draws the rows that they are fitted to."""


@dataclass(frozen=True)
class Set:
    """A labelled set by its name, and what it is averaged with."""

    collection: str
    kind: str
    corpus: str
    name: str

    def load(self) -> LabeledData:
        if self.collection == "small":
            return _with_a_rare_class(*self.name.split(", "))
        folder = data_folder()
        if self.collection == "ten" or IS_TINY or folder is None:
            return load(self.name)
        return read_prepared(folder / "suite" / f"{self.name}.npz")

    def rows(self) -> tuple[Any, Any]:
        """Rows, and which of them are outliers."""
        data = self.load()
        X = data.X
        return X.toarray() if sp.issparse(X) and X.nnz >= TABLE * np.prod(X.shape) else X, data.y


def sets() -> list[Set]:
    """All that there are: those of the suite only where their folder is."""
    ten = [Set("ten", "wide", name, name) for name in TEN[: sized(len(TEN), 1)]]
    folder, suite = data_folder(), []
    if folder is not None and (folder / "suite" / "index.csv").is_file():
        with open(folder / "suite" / "index.csv", encoding="utf-8") as file:
            suite = [Set("wide", row["kind"], row["corpus"], row["name"]) for row in csv.DictReader(file)]
    small = [Set("small", name, name, f"{name}, {rare}") for name in SMALL for rare in range(_CLASSES[name])]
    return ten + suite[: sized(len(suite), 1)] + small[: sized(len(small), 1)]


_CLASSES = {"breast_cancer": 2, "digits": 10, "wine": 3, "iris": 3}


def _with_a_rare_class(name: str, number: str) -> LabeledData:
    """One of scikit-learn's tables, min-max scaled, with a class reduced to a twentieth."""
    values, classes = getattr(datasets, f"load_{name}")(return_X_y=True)
    X = (values - values.min(axis=0)) / np.maximum(np.ptp(values, axis=0), 1e-12)
    others, own = np.flatnonzero(classes != int(number)), np.flatnonzero(classes == int(number))
    own = np.random.default_rng(0).choice(own, max(5, len(others) // 19), replace=False)
    rows = np.sort(np.concatenate([others, own]))
    return LabeledData(X[rows], (classes[rows] == int(number)).astype(np.int8), None)


def measure(one: Set, detectors: list[str], seeds: int, done: set[tuple[str, str, int]]) -> list[dict[str, Any]]:
    """A cell for each way of ranking, detector and seed that is not `done`."""
    cells: list[dict[str, Any]] = []
    X, y = one.rows()
    for way in (AT_HAND, NEW):
        for name in detectors:
            for seed in range(1 if name in STEADY and way == AT_HAND else seeds):
                if (way, name, seed) not in done and (name != "LOF" or way == AT_HAND):
                    cells.append({"set": one.name, "way": way, "detector": name, "seed": seed})
                    cells[-1] |= _cell(X, y, way, name, seed)
    return cells


def _cell(X: Any, y: Any, way: str, name: str, seed: int) -> dict[str, Any]:
    rows, of_rows, truth = X, X, y
    if way == NEW:
        inliers = np.random.default_rng(seed).permutation(np.flatnonzero(y == 0))
        fitted, kept = np.sort(inliers[::2]), np.sort(np.concatenate([inliers[1::2], np.flatnonzero(y)]))
        rows, of_rows, truth = X[fitted], X[kept], y[kept]
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        detector = DETECTORS[name](rows, seed)
        scores = detector.scores(of_rows)
    cell: dict[str, Any] = {"seconds": time.perf_counter() - started, **_figures(truth, scores)}
    if isinstance(detector.detector, Consensus):
        evidence = detector.detector.model_.breakdown(open_block(of_rows), 1)
        of_view = dict.fromkeys(view.partition(" (")[0] for view in evidence)
        left_out = {view: sum(e for name, e in evidence.items() if view not in name) for view in of_view}
        left_out[UNIT] = sum(e for name, e in evidence.items() if UNIT not in name)
        cell["without"] = {view: _figures(truth, rest) for view, rest in left_out.items() if not np.isscalar(rest)}
    return cell


UNIT = "(rows of length 1)"


def _figures(truth: Any, scores: Any) -> dict[str, float]:
    scores = np.nan_to_num(scores.astype(np.float64))
    auc, precision = roc_auc_score(truth, scores), average_precision_score(truth, scores)
    return {"auc": float(auc), "precision": float(precision)}


def code_version() -> str:
    """A checksum of what results depend on."""
    files = sorted([*(ROOT / "src" / "ramodo").rglob("*.py"), *(ROOT / "native").rglob("*.*pp"), Path(__file__)])
    return f"{zlib.crc32(b''.join(file.read_bytes() for file in files)):08x}"


def collect(chosen: list[Set], detectors: list[str], seeds: int) -> list[dict[str, Any]]:
    """All cells, from the file and measured; two sets at a time, the largest first."""
    path = ROOT / "build" / "suite" / f"{code_version()}{sized('', '-tiny')}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    cells = [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []
    done: dict[str, set[tuple[str, str, int]]] = {}
    for cell in cells:
        done.setdefault(cell["set"], set()).add((cell["way"], cell["detector"], cell["seed"]))
    tasks = [(one, detectors, seeds, done.get(one.name, set())) for one in chosen]
    with open(path, "a", encoding="utf-8") as file:
        for number, (one, found) in enumerate(_measured(tasks), 1):
            file.writelines(json.dumps(cell) + "\n" for cell in found)
            file.flush()
            cells += found
            print(f"{number} of {len(tasks)}: {one.name}", flush=True)
    names = {one.name for one in chosen}
    return [cell for cell in cells if cell["set"] in names and cell["seed"] < seeds]


def _measured(tasks: list[Any]) -> Iterator[tuple[Set, list[dict[str, Any]]]]:
    """The cells of each set, as they come."""
    if IS_TINY:
        yield from ((task[0], measure(*task)) for task in tasks)
        return
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:  # a fork would copy locks of our threads
        waiting = {pool.submit(measure, *task): task[0] for task in tasks}
        yield from ((waiting[future], future.result()) for future in as_completed(waiting))


def means(cells: list[dict[str, Any]], chosen: list[Set], way: str, detector: str) -> dict[str, npt.NDArray[Any]]:
    """For each set, its AUC and average precision over the seeds, as rows of an array."""
    found: dict[str, list[list[float]]] = {}
    for cell in cells:
        if cell["way"] == way and cell["detector"] == detector:
            found.setdefault(cell["set"], []).append([cell["auc"], cell["precision"]])
    return {one.name: np.array(found[one.name]) for one in chosen if one.name in found}


def by_corpus(figures: dict[str, npt.NDArray[Any]], chosen: list[Set]) -> npt.NDArray[Any]:
    """The mean over corpora of the means over their sets and seeds."""
    corpora: dict[str, list[Any]] = {}
    for one in chosen:
        if one.name in figures:
            corpora.setdefault(one.corpus, []).append(figures[one.name].mean(axis=0))
    return np.mean([np.mean(own, axis=0) for own in corpora.values()], axis=0)


def groups(chosen: list[Set]) -> Iterator[tuple[str, list[Set]]]:
    """Sets that share a line of the table, and all of a collection."""
    for kind in dict.fromkeys(one.kind for one in chosen if one.collection == "wide"):
        yield kind, [one for one in chosen if one.collection == "wide" and one.kind == kind]
    names = {"wide": "all wide sets", "ten": "the ten sets", "small": "small tables"}
    for collection, title in names.items():
        own = [one for one in chosen if one.collection == collection]
        if own:
            yield title, own


def show(cells: list[dict[str, Any]], chosen: list[Set], seeds: int) -> None:
    for way in (AT_HAND, NEW):
        figures = {name: means(cells, chosen, way, name) for name in DETECTORS}
        kept = [name for name, own in figures.items() if len(own) == len(chosen)]
        rows = [
            [f"{title} ({len(own)})", *[_pair(by_corpus(_only(figures[name], own), own)) for name in kept]]
            for title, own in groups(chosen)
        ]
        if seeds > 1:
            rows.append(["deviation over seeds", *[_spread(figures[name]) for name in kept]])
        rows.append(["sets more than .05 AUC below Sp", *[_below(figures[name], figures["Sp"]) for name in kept]])
        _print(f"suite_{way.replace(' ', '_')}", f"Rows {way}", ["sets", *kept], rows, seeds)
    own = [one for one in chosen if one.collection == "ten"]
    figures = {name: means(cells, own, AT_HAND, name) for name in DETECTORS}
    kept = [name for name, found in figures.items() if len(found) == len(own)]
    rows = [[one.name, *[_pair(figures[name][one.name].mean(axis=0)) for name in kept]] for one in own]
    _print("rankings", "The ten sets", ["set", *kept], rows, seeds)


def _only(figures: dict[str, Any], own: list[Set]) -> dict[str, Any]:
    return {one.name: figures[one.name] for one in own}


def ablation(cells: list[dict[str, Any]], chosen: list[Set], seeds: int) -> None:
    """What is lost without each view, by collection and way; representations are not trained again."""
    ours = [cell for cell in cells if cell["detector"] == "Consensus"]
    views = dict.fromkeys(view for cell in ours for view in cell["without"])
    titles = [(title, own) for title, own in groups(chosen) if title.startswith(("all", "the ten", "small"))]
    rows = []
    for view in ("none", *views):
        told = [cell | cell["without"].get(view, {}) for cell in ours]
        row = [_pair(by_corpus(means(told, own, way, "Consensus"), own)) for way in (AT_HAND, NEW) for _, own in titles]
        rows.append([view, *row])
    header = [f"{title}, {way}" for way in (AT_HAND, NEW) for title, _ in titles]
    _print("views", "Without a view", ["left out", *header], rows, seeds)


def _print(group: str, title: str, header: list[str], rows: list[Any], seeds: int) -> None:
    runs = f"{seeds} seed{'s' * (seeds > 1)}; AUC / average precision, means over corpora"
    print_table(f"{title}: {runs}", header, rows)
    print_entries(group, "make bench-suite", runs, header, rows)


def _pair(figures: Any) -> str:
    return f"{figures[0]:.3f} / {figures[1]:.3f}".replace("0.", ".")


def _spread(figures: dict[str, npt.NDArray[Any]]) -> str:
    return _pair(np.mean([own.std(axis=0) for own in figures.values()], axis=0))


def _below(figures: dict[str, Any], others: dict[str, Any]) -> str:
    if not others:
        return "-"
    gaps = np.array([own.mean(axis=0)[0] - others[name].mean(axis=0)[0] for name, own in figures.items()])
    return f"{(gaps < -0.05).sum()} of {len(gaps)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=sized(3, 1))
    parser.add_argument("--only", help="names of sets, with commas between them")
    parser.add_argument("--collection", choices=("ten", "wide", "small"))
    parser.add_argument("--detectors", default="|".join(DETECTORS), help="names with | between them")
    arguments = parser.parse_args()
    chosen = [one for one in sets() if arguments.collection in (None, one.collection)]
    if arguments.only is not None:
        chosen = [one for one in chosen if one.name in arguments.only.split(",")]
    cells = collect(chosen, arguments.detectors.split("|"), arguments.seeds)
    show(cells, chosen, arguments.seeds)
    if "Consensus" in arguments.detectors.split("|"):
        ablation(cells, chosen, arguments.seeds)


if __name__ == "__main__":
    main()
