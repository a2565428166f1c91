"""Everything a report says, computed from a fitted detector and rows, before any HTML and with texts in full."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.rows import Rows
from ..explain.explanation import Explanation, RowExplanation
from ..insight.figures import (
    Curves,
    Doubles,
    FlatMap,
    Histogram,
    Integers,
    curves,
    flat_map,
    rows_of_map,
    score_histogram,
    truth_of,
)
from ..options import OptionError
from .labelled import Labelled
from .reproduction import Reproduction, reproduction

SHOWN, EXPLAINED, FEWEST = 500, 200, 20
"""Rows of the table: at most; with reasons; and at least, even if fewer are flagged."""

REASONS = 10


@dataclass(frozen=True)
class Content:
    """What was found. `table` and `map_rows` are row numbers; the first rows of `table` are those explained."""

    title: str
    detector: Any
    scores: Doubles
    n_entries: int
    is_training: bool
    """Whether these are the rows of the fit."""
    ids: Sequence[Any] | None
    texts: Sequence[str] | None
    truth: npt.NDArray[np.bool_] | None
    histogram: Histogram
    map: FlatMap
    map_rows: Integers
    table: Integers
    explanation: Explanation | None
    unexplained: str
    """Why there are no explanations, or empty."""
    curves: Curves | None
    reproduction: Reproduction
    labelled: tuple[Labelled, ...] = ()
    """What people said about rows."""

    @property
    def threshold(self) -> float:
        """Score at or above which rows are flagged."""
        return float(self.detector.threshold_)

    @property
    def n_flagged(self) -> int:
        """Rows at or above the threshold."""
        return int((self.scores >= self.threshold).sum())

    def id_of(self, row: int) -> str:
        """The row's id, or its number."""
        return str(row) if self.ids is None else str(self.ids[row])

    def nearest_to(self, row: RowExplanation) -> list[str]:
        """Training rows to compare an explained row with, itself not among them."""
        if not self.is_training:
            known = (self.detector.source_ or {}).get("reference_ids") or {}
            return [known.get(str(number), f"training row {number}") for number in row.nearest]
        return [self.id_of(number) for number in row.nearest if number != self.table[row.row]]


def gather(
    detector: Any,
    X: Any,
    *,
    y: Any,
    ids: Any,
    names: Any,
    texts: Any,
    title: str | None,
    scores: Any,
    explain: Callable[[list[int]], Explanation] | None,
) -> Content:
    """Score, sample, map, explain."""
    rows = detector._open(X)
    n_rows, n_threads = rows.n_rows, detector._n_threads()
    ids, texts = _index_of(X) if ids is None else _by_place(ids), _by_place(texts)
    for name, given in (("ids", ids), ("texts", texts)):
        if given is not None and len(given) != n_rows:
            raise OptionError(f"{len(given)} {name} were given; allowed: one for each of the {n_rows} rows.")
    detector._name_of(names)  # refuses unusable names before the work begins
    truth = None if y is None else truth_of(y, n_rows)
    scores = detector.model_.score(rows, n_threads) if scores is None else np.asarray(scores, dtype=np.float64)
    table, map_rows = rows_of_table(scores, detector.threshold_), rows_of_map(scores, detector.threshold_)
    explanation, unexplained = _explained(explain or _explainer(detector, rows, names), table[:EXPLAINED].tolist())
    print_ = rows.fingerprint()
    is_training = print_ == detector.fingerprint_ and len(scores) == len(detector.outlier_scores_)
    return Content(
        title or "Outlier report",
        detector,
        scores,
        int(rows.lengths().sum()),
        is_training,
        ids,
        texts,
        truth,
        score_histogram(scores, float(detector.threshold_)),
        flat_map(detector.model_.transform(rows.take(map_rows), n_threads)),
        map_rows,
        table,
        explanation,
        unexplained,
        None if truth is None else curves(truth, scores),
        reproduction(detector, print_, is_training),
    )


def _by_place(given: Any) -> Any:
    """Values indexed by position; a column of a data frame is indexed by label."""
    return given.to_numpy() if hasattr(given, "to_numpy") else given


def _index_of(X: Any) -> Any:
    """The index of a pandas frame, unless it only counts the rows."""
    if not (hasattr(X, "iloc") and hasattr(X, "index")):
        return None
    counts = type(X.index).__name__ == "RangeIndex" and (X.index.start, X.index.step) == (0, 1)
    return None if counts else X.index


def rows_of_table(scores: Doubles, threshold: float) -> Integers:
    """Rows to list, highest first: the flagged ones, and some more where those are few."""
    n = min(SHOWN, max(FEWEST, int((scores >= threshold).sum())))
    return np.argsort(-scores, kind="stable")[:n]


def _explainer(detector: Any, rows: Rows, names: Any) -> Callable[[list[int]], Explanation]:
    """Explains rows by `detector.explain`."""

    def explain(numbers: list[int]) -> Explanation:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # names were compared when X was opened
            return detector.explain(rows.take(np.array(numbers)).to_matrix(), top=REASONS, names=names)

    return explain


def _explained(explain: Callable[[list[int]], Explanation], rows: list[int]) -> tuple[Explanation | None, str]:
    """The explanation of rows, or why there is none."""
    try:
        return explain(rows), ""
    except OptionError as error:
        return None, str(error)
