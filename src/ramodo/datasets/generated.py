"""Sparse data of any width whose outliers are known."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

_TOPICS, _TOPIC_SHARE = 10, 0.95
_BLOCK_ENTRIES = 1 << 22


@dataclass(frozen=True)
class _Plan:
    """The features from which rows are made."""

    n_features: int
    topics: npt.NDArray[np.int64]
    marks: npt.NDArray[np.int64]
    skew: float


def make_ultrahigh(
    n_rows: int = 10_000,
    n_features: int = 1_000_000,
    *,
    row_length: int = 100,
    outlier_fraction: float = 0.02,
    n_marks: int = 40,
    marks_per_outlier: int = 20,
    topic_size: float = 5.0,
    skew: float = 0.0,
    random_state: int | None = None,
) -> tuple[sp.csr_array, npt.NDArray[np.int8]]:
    """Return the rows of about `row_length` non-zeros; some are outliers.

    Most of a row's features come from one of ten topics, the rest from the whole width. An outlier is such a row with
    about `marks_per_outlier` more features, out of `n_marks` that inliers rarely have: it differs from them in a few
    dozen of a million features.

    Parameters
    ----------
    topic_size : features of a topic, as a multiple of `row_length`; 0 draws all features from the whole width
    skew : 0 draws features of the whole width uniformly; higher values prefer low numbers, like common words

    Returns
    -------
    X : CSR matrix, float32
    y : 1 for outliers, 0 for inliers

    Examples
    --------
    >>> from ramodo.datasets import make_ultrahigh
    >>> X, y = make_ultrahigh(100, 50_000, random_state=0)
    >>> X.shape, int(y.sum())
    ((100, 50000), 2)
    """
    rng = np.random.default_rng(random_state)
    y = np.zeros(n_rows, dtype=np.int8)
    y[rng.choice(n_rows, round(outlier_fraction * n_rows), replace=False)] = 1
    n_planted = min(n_features, round(_TOPICS * topic_size * row_length) + n_marks)
    planted = rng.choice(n_features, n_planted, replace=False)
    topics = planted[n_marks:][: (len(planted) - n_marks) // _TOPICS * _TOPICS].reshape(_TOPICS, -1)
    plan = _Plan(n_features, topics, planted[:n_marks], skew)

    own = np.maximum(2, rng.poisson(row_length, n_rows))
    extra = np.where(y == 1, rng.poisson(marks_per_outlier, n_rows), 0)
    lengths = own + extra
    index_type = np.int32 if max(n_features, lengths.sum()) < 2**31 else np.int64
    indptr = np.zeros(n_rows + 1, dtype=index_type)
    indices = np.empty(lengths.sum(), dtype=index_type)
    for begin, end in _blocks(lengths):
        rows, columns = _entries(plan, own[begin:end], extra[begin:end], rng)
        indptr[begin + 1 : end + 1] = indptr[begin] + np.cumsum(np.bincount(rows, minlength=end - begin))
        indices[indptr[begin] : indptr[end]] = columns
    data = rng.random(indptr[-1], np.float32) + np.float32(0.5)
    X = sp.csr_array((data, indices[: indptr[-1]], indptr), shape=(n_rows, n_features))
    return X, y


def _blocks(lengths: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return row ranges with a bounded number of entries."""
    ends = np.cumsum(lengths)
    cuts = np.unique(np.searchsorted(ends, np.arange(_BLOCK_ENTRIES, ends[-1], _BLOCK_ENTRIES)) + 1)
    edges = [0, *cuts[cuts < len(lengths)].tolist(), len(lengths)]
    return list(pairwise(edges))


def _entries(
    plan: _Plan, own: npt.NDArray[np.int64], extra: npt.NDArray[np.int64], rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Row and column of each entry of some rows, in order and without repeats."""
    n_rows = len(own)
    rows = np.repeat(np.arange(n_rows), own)
    columns = (plan.n_features * rng.random(len(rows)) ** (1 + plan.skew)).astype(np.int64)
    if plan.topics.shape[1]:
        from_topic = np.flatnonzero(rng.random(len(rows)) < _TOPIC_SHARE)
        topic = rng.integers(_TOPICS, size=n_rows)[rows[from_topic]]
        columns[from_topic] = plan.topics[topic, rng.integers(plan.topics.shape[1], size=len(from_topic))]
    rows = np.concatenate([rows, np.repeat(np.arange(n_rows), extra)])
    columns = np.concatenate([columns, rng.choice(plan.marks, int(extra.sum()))])
    order = (
        np.lexsort((columns, rows))
        if n_rows * plan.n_features >= 2**62
        else np.argsort(rows * plan.n_features + columns, kind="stable")
    )
    rows, columns = rows[order], columns[order]
    fresh = np.ones(len(rows), dtype=bool)
    fresh[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    return rows[fresh], columns[fresh]
