"""Rows that are high for the same reason, however many they are.

Rows are alike if the same features, on the same side of what is usual, raise their scores: by the cosine of their
strongest positive contributions, as far as it is above that of chance. Any two rows of a table with five columns are
high by some of the same columns: were the contributions of each in any order, s t / n is the cosine to expect of rows
whose contributions, with length 1, add up to s and t, among n reasons that rows may have. Those
with the highest scores are put together by average linkage; each further row joins the group whose mean it is most
like, if it is like it, and the rows that join none are put together in the same way, so that the work is that of some
thousand rows at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Integers = npt.NDArray[np.int64]

_SAME_REASON = 0.3
"""Rows, or groups, whose reasons have at least this cosine, 0 being that of chance, are high for the same reason."""

_CERTAIN = 0.99
"""Upper limit on the cosine that is attributed to chance."""

_AT_ONCE = 2000
"""Rows that are compared pair by pair."""


def groups_of(reasons: Sequence[tuple[Any, Any]], scores: Sequence[float], n_reasons: int) -> list[list[int]]:
    """Places of two or more rows each, given reasons, by their numbers, and contributions of each row; largest first.

    n_reasons : as many as a row may have
    Places of a group are in the order of scores, and groups of one size in that of their highest.
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
    """A row of length 1 each, of what raises its score; a column for each feature that does."""
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
    """Cosines, on a scale on which 0 is that of chance and 1 is 1."""
    sums = [np.asarray(each.sum(axis=1)).ravel() for each in (rows, others)]
    chance = np.minimum(np.outer(*sums) / n_reasons, _CERTAIN)
    return np.asarray(((rows @ others.T).toarray() - chance) / (1 - chance))


def _linked(rows: sp.csr_array, n_reasons: int) -> Integers:
    """The number of each row's group, from 0; pairs of groups are joined while their mean cosine is high enough."""
    if rows.shape[0] == 1:
        return np.zeros(1, dtype=np.int64)
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    distances = np.clip(1 - _likeness(rows, rows, n_reasons), 0, 1)
    np.fill_diagonal(distances, 0)
    labels = fcluster(linkage(squareform(distances, checks=False), "average"), 1 - _SAME_REASON, "distance")
    return np.asarray(labels, dtype=np.int64) - 1


def _means(rows: sp.csr_array, labels: Integers) -> sp.csr_array:
    """The mean of each group."""
    n, counts = len(labels), np.bincount(labels)
    return sp.csr_array(sp.csr_array((1 / counts[labels], (labels, np.arange(n))), shape=(len(counts), n)) @ rows)


def _nearest(rows: sp.csr_array, means: sp.csr_array, n_reasons: int) -> tuple[Integers, npt.NDArray[np.float64]]:
    """The group that each row is most like, by its mean cosine with the rows of the group; and that."""
    best, likeness = np.zeros(rows.shape[0], dtype=np.int64), np.zeros(rows.shape[0])
    for start in range(0, rows.shape[0], _AT_ONCE):
        part = _likeness(rows[start : start + _AT_ONCE], means, n_reasons)
        best[start : start + _AT_ONCE], likeness[start : start + _AT_ONCE] = part.argmax(axis=1), part.max(axis=1)
    return best, likeness
