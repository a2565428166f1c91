"""Missing values of a matrix of cells by genes, and values that are no numbers: named, filled or marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data.validation import LARGEST
from .table import FormatError, MissingValueError, TableOptions


def filled(
    path: str, X: Any, cells: Sequence[str], genes: Sequence[str], options: TableOptions
) -> tuple[Any, list[str], dict[str, float] | None]:
    """The matrix without gaps, the names of its columns, and the means of genes, if gaps were replaced by them."""
    rows, columns, values = _entries(X)
    wrong = ~(np.abs(values) <= LARGEST) & ~np.isnan(values)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise FormatError(
            f"{_place(path, cells[rows[at]], genes[columns[at]])} holds {values[at]:g}; allowed: finite numbers up to "
            f"{LARGEST:g} in absolute value."
        )
    gaps = np.isnan(values)
    if gaps.any() and options.missing == "error":
        at = int(np.argmax(gaps))
        raise MissingValueError(_place(path, cells[rows[at]], genes[columns[at]]))
    means = _means(X, genes, options) if options.missing == "mean" else None
    if not gaps.any():
        return X, list(genes), means
    filling = 0.0 if means is None else np.array([means[genes[column]] for column in columns[gaps]])
    full = X.copy()
    if sp.issparse(X):
        full.data[gaps] = filling
    else:
        full[rows[gaps], columns[gaps]] = filling
    if options.missing != "indicator":
        return full, list(genes), means
    marked, places = np.unique(columns[gaps], return_inverse=True)
    marks = sp.csr_array((np.ones(len(places)), (rows[gaps], places)), shape=(X.shape[0], len(marked)))
    both = sp.hstack([full, marks], format="csr") if sp.issparse(X) else np.hstack([full, marks.toarray()])
    return both, [*genes, *(f"{genes[column]} is missing" for column in marked)], means


def _place(path: str, cell: str, gene: str) -> str:
    return f"{path}, cell {cell!r}, gene {gene!r}"


def _entries(X: Any) -> tuple[Any, Any, Any]:
    """Row, column and value of each stored entry, in the order of the matrix."""
    if not sp.issparse(X):
        values = np.asarray(X)
        if np.isfinite(values).all() and np.abs(values).max(initial=0.0) <= LARGEST:  # as a rule: nothing to look for
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
        rows, columns = np.indices(values.shape).reshape(2, -1)
        return rows, columns, values.ravel()
    major = np.repeat(np.arange(len(X.indptr) - 1), np.diff(X.indptr))
    return (major, X.indices, X.data) if X.format == "csr" else (X.indices, major, X.data)


def _means(X: Any, genes: Sequence[str], options: TableOptions) -> dict[str, float]:
    """Of each gene over the cells that have a value; what a sparse matrix does not hold is 0, and counts."""
    if sp.issparse(X):
        known, gaps = X.copy(), X.copy()
        known.data, gaps.data = np.where(np.isnan(X.data), 0.0, X.data), np.isnan(X.data).astype(np.float64)
    else:
        known, gaps = np.where(np.isnan(X), 0.0, X), np.isnan(X)
    sums, there = known.sum(axis=0, dtype=np.float64), X.shape[0] - gaps.sum(axis=0, dtype=np.float64)
    means = np.asarray(sums).ravel() / np.maximum(1, np.asarray(there).ravel())
    return {gene: options.means.get(gene, mean) for gene, mean in zip(genes, means.tolist(), strict=True)}
