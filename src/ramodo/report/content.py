"""Everything a report says, computed from a fitted detector and rows, before any HTML and with full texts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import threads
from ..data.rows import Rows
from ..explain.explanation import Explanation, Group, feature_namer
from ..explain.over_time import OverTime
from ..explain.reasons import RowExplanation
from ..insight.directions import ends_of
from ..insight.drift import Drift, compare
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

if TYPE_CHECKING:
    from ..framework import RandomDistanceDetector

SHOWN, EXPLAINED, FEWEST = 500, 5000, 20
"""At most this many rows in the table, at most this many grouped by their reasons, at least this many of both."""

LISTED = 30
"""Number of kinds whose highest row is in the table, however low it ranks."""

REASONS = 10


@dataclass(frozen=True, kw_only=True)
class Content:
    """The content of a report. `table`, `explained` and `map_rows` are row numbers, the first two highest first."""

    title: str
    detector: RandomDistanceDetector
    scores: Doubles
    n_entries: int
    is_training: bool
    """Whether these are the training rows."""
    ids: Sequence[Any] | None
    texts: Sequence[str] | None
    truth: npt.NDArray[np.bool_] | None
    histogram: Histogram
    map: FlatMap
    map_rows: Integers
    axes: list[tuple[str, str]]
    """For each axis of the map, a feature of the rows at its low end and one at its high end; may be empty."""
    table: Integers
    explained: Integers
    groups: tuple[Group, ...]
    """Groups of explained rows, by their places in `explained`."""
    explanation: Explanation | None
    unexplained: str
    """Why explanations are absent; empty if they are there."""
    curves: Curves | None
    reproduction: Reproduction
    drift: Drift | None
    """How the rows differ from the training rows; None where they are these."""
    labelled: tuple[Labelled, ...] = ()
    """Labels that people gave to rows."""
    over_time: OverTime | None = None
    """Of lines of a log, when they were written."""

    @property
    def threshold(self) -> float:
        """Rows that score at least this are flagged."""
        return float(self.detector.threshold_)

    @property
    def n_flagged(self) -> int:
        """How many rows are flagged."""
        return int((self.scores >= self.threshold).sum())

    def id_of(self, row: int) -> str:
        """Return the row's id, or its number."""
        return str(row) if self.ids is None else str(self.ids[row])

    def nearest_to(self, row: RowExplanation) -> list[str]:
        """Ids of the training rows nearest to an explained row, without the row itself."""
        if not self.is_training:
            known = self.detector.provenance_.reference_ids
            return [known.get(str(number), f"training row {number}") for number in row.nearest]
        return [self.id_of(number) for number in row.nearest if number != self.explained[row.row]]

    def reasons_of(self, row: int) -> RowExplanation | None:
        """Return the explanation of a row, given its number; None without one."""
        place = self._places.get(row)
        return None if place is None or self.explanation is None else self.explanation[place]

    @cached_property
    def kinds(self) -> list[tuple[int, list[int]]]:
        """Kinds of rows, as their size and the places of their rows in the table, that of the highest row first.

        A row that resembles no other forms its own kind.
        """
        places = {row: place for place, row in enumerate(self.table.tolist())}
        grouped = [[places.get(int(self.explained[i]), -1) for i in group.rows] for group in self.groups]
        found = [(len(group), sorted(place for place in group if place >= 0)) for group in grouped]
        taken = {place for _, group in found for place in group}
        found += [(1, [place]) for place in range(len(self.table)) if place not in taken]
        return sorted(((n, group) for n, group in found if group), key=lambda kind: kind[1][0])

    def first_kinds(self, n: int) -> list[tuple[int, list[int]]]:
        """Return the first `n` kinds of flagged rows, or the very first kind if no row is flagged."""
        flagged = [kind for kind in self.kinds if self.scores[self.table[kind[1][0]]] >= self.threshold]
        return (flagged or self.kinds[:1])[:n]

    @property
    def n_kinds(self) -> int:
        """How many kinds the explained rows have; a row that resembles no other is one."""
        return len(self.groups) + len(self.explained) - sum(len(group.rows) for group in self.groups)

    @cached_property
    def _places(self) -> dict[int, int]:
        return {row: place for place, row in enumerate(self.explained.tolist())}


def gather(
    detector: RandomDistanceDetector,
    X: Any,
    *,
    y: Any,
    ids: Any,
    names: Any,
    texts: Any,
    title: str | None,
    scores: Any,
    explain: Callable[[list[int]], Explanation] | None,
    name: Callable[[list[int]], Callable[[int], str]] | None,
) -> Content:
    """Score, sample, map and explain the rows."""
    rows = detector.rows_of(X)
    n_rows, n_threads = rows.n_rows, threads.n_threads(detector.n_jobs)
    ids, texts = _index_of(X) if ids is None else _by_place(ids), _by_place(texts)
    for what, given in (("ids", ids), ("texts", texts)):
        if given is not None and len(given) != n_rows:
            raise OptionError(f"{what} must have one entry for each of the {n_rows} rows, got {len(given)}.")
    name_of = feature_namer(detector, names)  # refuses unusable names before the work begins
    truth = None if y is None else truth_of(y, n_rows)
    scores = detector.model_.score(rows, n_threads) if scores is None else np.asarray(scores, dtype=np.float64)
    map_rows, explained = rows_of_map(scores, detector.threshold_), highest(scores, detector.threshold_, EXPLAINED)
    explain = explain or _explainer(detector, rows, names)
    explanation, unexplained = _explained(explain, explained.tolist())
    groups = () if explanation is None else explanation.groups(float(detector.threshold_))
    table = highest(scores, detector.threshold_, SHOWN)
    first = explained[[group.rows[0] for group in groups[:LISTED]]]
    table = np.concatenate([table, np.sort(np.setdiff1d(first, table))])
    table = table[np.argsort(-scores[table], kind="stable")]
    if explanation is not None:
        explanation = _completed(explanation, explain, explained, table)
    shown = rows.take(map_rows)
    flat = flat_map(detector.model_.transform(shown, n_threads))
    print_ = rows.fingerprint()
    is_training = print_ == detector.fingerprint_ and len(scores) == len(detector.outlier_scores_)
    return Content(
        title=title or "Outlier report",
        detector=detector,
        scores=scores,
        n_entries=int(rows.lengths().sum()),
        is_training=is_training,
        ids=ids,
        texts=texts,
        truth=truth,
        histogram=score_histogram(scores, float(detector.threshold_)),
        map=flat,
        map_rows=map_rows,
        axes=_axes(shown, flat, name or (lambda _: name_of)),
        table=table,
        explained=explained,
        groups=groups,
        explanation=explanation,
        unexplained=unexplained,
        curves=None if truth is None else curves(truth, scores),
        reproduction=reproduction(detector, print_, is_training),
        drift=None if is_training else compare(detector, rows, scores, name),
    )


def _by_place(given: Any) -> Any:
    """Return values indexed by position; a column of a data frame is indexed by label."""
    return given.to_numpy() if hasattr(given, "to_numpy") else given


def _index_of(X: Any) -> Any:
    """Return the index of a pandas frame; None if it only counts the rows."""
    if not (hasattr(X, "iloc") and hasattr(X, "index")):
        return None
    counts = type(X.index).__name__ == "RangeIndex" and (X.index.start, X.index.step) == (0, 1)
    return None if counts else X.index


def _axes(rows: Any, flat: FlatMap, name: Callable[[list[int]], Callable[[int], str]]) -> list[tuple[str, str]]:
    """Return the names of the features at both ends of each axis of a map."""
    ends = [ends_of(rows, flat.points[:, axis]) for axis in range(2)]
    name_of = name([column for pair in ends for column in pair if column is not None])
    return [("" if a is None else name_of(a), "" if b is None else name_of(b)) for a, b in ends]


def highest(scores: Doubles, threshold: float, most: int) -> Integers:
    """Return rows to list, highest first: the flagged ones, and some more if those are few."""
    n = min(most, max(FEWEST, int((scores >= threshold).sum())))
    return np.argsort(-scores, kind="stable")[:n]


def _explainer(detector: RandomDistanceDetector, rows: Rows, names: Any) -> Callable[[list[int]], Explanation]:
    """Return a function that explains rows by `detector.explain`."""

    def explain(numbers: list[int]) -> Explanation:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # names were compared when X was opened
            return detector.explain(rows.take(np.array(numbers)).to_matrix(), top=REASONS, names=names)

    return explain


def _completed(
    explanation: Explanation, explain: Callable[[list[int]], Explanation], explained: Integers, table: Integers
) -> Explanation:
    """Return the explanation with reasons added for rows of the table without any, such as rows far down."""
    listed = np.isin(explained, table)
    late = [place for place in np.flatnonzero(listed).tolist() if place >= SHOWN and not explanation[place].reasons]
    if not late:
        return explanation
    return explanation.completed(dict(zip(late, explain(explained[late].tolist()), strict=True)))


def _explained(explain: Callable[[list[int]], Explanation], rows: list[int]) -> tuple[Explanation | None, str]:
    """Return the explanation of rows, or None and the reason."""
    try:
        return explain(rows), ""
    except OptionError as error:
        return None, str(error)
