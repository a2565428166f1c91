"""Group rows that are high for the same reason, however many there are.

Rows are alike if the same features, on the same side of what is usual, raise their scores. Likeness is the cosine of
their strongest positive contributions, in excess of chance: in a table of five columns, any two rows share some
columns. If contributions were shuffled, the expected cosine is s t / n for rows whose contributions, scaled to length
1, add up to s and t, where n is the number of possible reasons.

The rows with the highest scores are grouped by average linkage. Each further row joins the group with the most similar
mean if it is similar enough, and rows that join none are grouped in the same way. So only some thousand rows are
compared at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Integers = npt.NDArray[np.int64]

_SAME_REASON = 0.3
"""Rows, or groups, are high for the same reason if their cosine is at least this, on a scale where chance is 0."""

_CERTAIN = 0.99
"""Upper limit on the cosine that is attributed to chance."""

_AT_ONCE = 2000
"""Number of rows to compare pair by pair."""


def groups_of(reasons: Sequence[tuple[Any, Any]], scores: Sequence[float], n_reasons: int) -> list[list[int]]:
    """Return groups of at least two rows, as positions in `reasons`, largest group first.

    reasons : numbers of the reasons of each row, and their contributions
    n_reasons : number of possible reasons
    Rows of a group are ordered by score, and groups of the same size by their highest score.
    """
    order = np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")
    if len(order) < 2:
        return []
    rows = _unit_rows(reasons)[order]
    n_reasons = max(n_reasons, rows.shape[1])
    labels = np.full(len(order), -1)
    n_groups = 0
    left = np.arange(len(order))
    while len(left):
        some = left[:_AT_ONCE]
        found = n_groups + _linked(rows[some], n_reasons)
        labels[some] = found
        left = left[_AT_ONCE:]
        if len(left):
            means = _means(rows[some], found - n_groups)
            nearest, likeness = _nearest(rows[left], means, n_reasons)
            joins = likeness >= _SAME_REASON
            labels[left[joins]] = n_groups + nearest[joins]
            left = left[~joins]
        n_groups = int(found.max()) + 1
    together: dict[int, list[int]] = {}
    for place, label in zip(order.tolist(), labels.tolist(), strict=True):
        together.setdefault(label, []).append(place)
    return sorted((places for places in together.values() if len(places) > 1), key=len, reverse=True)


def _unit_rows(reasons: Sequence[tuple[Any, Any]]) -> sp.csr_array:
    """Return a matrix of contributions that raise scores, with rows of length 1 and a column per feature."""
    raising = [contributions > 0 for _, contributions in reasons]
    columns = [columns[up] for (columns, _), up in zip(reasons, raising, strict=True)]
    values = np.concatenate([contributions[up] for (_, contributions), up in zip(reasons, raising, strict=True)])
    names, places = np.unique(np.concatenate(columns), return_inverse=True)
    indptr = np.cumsum([0, *map(len, columns)])
    return _of_length_1(sp.csr_array((values, places, indptr), shape=(len(reasons), max(1, len(names)))))


def _of_length_1(matrix: sp.csr_array) -> sp.csr_array:
    lengths = np.sqrt(np.asarray((matrix**2).sum(axis=1)).ravel())
    return sp.csr_array(sp.diags_array(1 / np.where(lengths > 0, lengths, 1.0)) @ matrix)


def _likeness(rows: sp.csr_array, others: sp.csr_array, n_reasons: int) -> npt.NDArray[np.float64]:
    """Return cosines, rescaled so that chance gives 0 and equality 1."""
    sums = [np.asarray(each.sum(axis=1)).ravel() for each in (rows, others)]
    chance = np.minimum(np.outer(*sums) / n_reasons, _CERTAIN)
    return np.asarray(((rows @ others.T).toarray() - chance) / (1 - chance))


def _linked(rows: sp.csr_array, n_reasons: int) -> Integers:
    """Return each row's group number, from 0. Pairs of groups are joined while their mean cosine is high enough."""
    if rows.shape[0] == 1:
        return np.zeros(1, dtype=np.int64)
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    distances = np.clip(1 - _likeness(rows, rows, n_reasons), 0, 1)
    np.fill_diagonal(distances, 0)
    labels = fcluster(linkage(squareform(distances, checks=False), "average"), 1 - _SAME_REASON, "distance")
    return np.asarray(labels, dtype=np.int64) - 1


def _means(rows: sp.csr_array, labels: Integers) -> sp.csr_array:
    """Return the mean of each group."""
    n, counts = len(labels), np.bincount(labels)
    return sp.csr_array(sp.csr_array((1 / counts[labels], (labels, np.arange(n))), shape=(len(counts), n)) @ rows)


def _nearest(rows: sp.csr_array, means: sp.csr_array, n_reasons: int) -> tuple[Integers, npt.NDArray[np.float64]]:
    """Return the group that each row is most like, by its mean cosine with the group's rows, and that cosine."""
    best, likeness = np.zeros(rows.shape[0], dtype=np.int64), np.zeros(rows.shape[0])
    for start in range(0, rows.shape[0], _AT_ONCE):
        part = _likeness(rows[start : start + _AT_ONCE], means, n_reasons)
        best[start : start + _AT_ONCE], likeness[start : start + _AT_ONCE] = part.argmax(axis=1), part.max(axis=1)
    return best, likeness
