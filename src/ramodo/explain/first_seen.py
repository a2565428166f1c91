"""Find what no training row had: runs of characters of documents, or features, with their first row and row count.

The most widespread come first. A run is named after the first row that has it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..formats import Table
from ..formats.text_and_columns import documents_of
from ..model.rarity import Rarity
from ..model.terms import Term
from .passages import Passage, facts_of

MOST = 5
"""Maximum number of new features or runs to name."""

_SHORTEST = 3
"""Minimum number of characters in a meaningful run."""

_TRIED = 50
"""Number of features to try before giving up."""


class FirstSeen(NamedTuple):
    """A new feature or run, the first row that has it, and how many rows have it."""

    name: str
    row: int
    n_rows: int

    def in_words(self, line: int) -> str:
        """Return a sentence with the line of the file, counted from 1."""
        return f"first seen at line {line:,}: {self.name}, in {self.n_rows:,} row{'s' * (self.n_rows > 1)}"


def first_seen(detector: Any, table: Table, most: int = MOST) -> list[FirstSeen]:
    """Return what the rows of a table have and no training row had, most widespread first."""
    known = _known(detector)
    if known is None or not sp.issparse(table.X) or table.X.shape[0] == 0:
        return []
    X = sp.csr_array(table.X)
    new = (X.data != 0) & ~_is_in(X.indices, known)
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[new]
    columns, first, counts = np.unique(X.indices[new], return_index=True, return_counts=True)
    found, done = list[FirstSeen](), set[int]()
    for place in np.argsort(-counts, kind="stable")[:_TRIED].tolist():
        row, column = int(rows[first[place]]), int(columns[place])
        if column in done or len(found) == most:
            continue
        own = np.unique(X.indices[new][rows == row]).astype(np.int64)
        name, like = _named(table, row, own, column)
        done.update(like)
        if name and not any(name in other.name or other.name in name for other in found):
            found.append(FirstSeen(name, row, int(counts[place])))
    return found


def _known(detector: Any) -> npt.NDArray[np.int64] | None:
    """Return the features of training rows, in order; None if the model did not count them."""
    evidence = detector.model_.evidence
    views: tuple[Term, ...] = () if evidence is None else evidence.views
    return next((view.frequencies.columns for view in views if isinstance(view, Rarity)), None)


def _is_in(values: npt.NDArray[Any], known: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    if not len(known):
        return np.zeros(len(values), dtype=bool)
    return np.asarray(known[np.minimum(np.searchsorted(known, values), len(known) - 1)] == values)


def _named(table: Table, row: int, own: npt.NDArray[np.int64], column: int) -> tuple[str, list[int]]:
    """Return the name of a feature, or the run of characters around it, and the names of all features in that run."""
    if table.texts is None:
        return (table.names or [f"feature {column}"])[column if table.names else 0], [column]
    runs = facts_of(documents_of(table, row), (), own, np.ones(len(own)), table.schema.tokens).found
    at = int(np.searchsorted(own, column))
    run = next((one for one in runs if at in one.places.tolist()), None)
    if run is None or _length(run) < _SHORTEST:
        return "", [column]
    return run.name, own[run.places].tolist()


def _length(run: Passage) -> int:
    return len(run.text.strip())
