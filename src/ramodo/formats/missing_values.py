"""Name, fill or mark missing values, and values that are not numbers, in a matrix of cells by genes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data.validation import LARGEST
from .schema import Column, Schema
from .table import FormatError, MissingValueError


def filled(path: str, X: Any, cells: Sequence[str], genes: Sequence[str], schema: Schema) -> tuple[Any, Schema]:
    """Return the matrix without gaps, and the schema with names, means and marks of gaps of its columns."""
    rows, columns, values = _entries(X)
    wrong = ~(np.abs(values) <= LARGEST) & ~np.isnan(values)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise FormatError(
            f"{_place(path, cells[rows[at]], genes[columns[at]])} must hold a finite number up to {LARGEST:g} in "
            f"absolute value, got {values[at]:g}."
        )
    gaps = np.isnan(values)
    if gaps.any() and schema.missing == "error":
        at = int(np.argmax(gaps))
        is_learned = schema.n_features is not None
        raise MissingValueError(_place(path, cells[rows[at]], genes[columns[at]]), int(rows[at]), is_learned)
    is_marked = schema.missing == "indicator" and bool(gaps.any())
    if schema.missing != "mean" and not is_marked:
        found = replace(schema, plain=tuple(genes), columns=())
    else:
        marked = set(columns[gaps].tolist()) if is_marked else set[int]()
        means = _means(X, genes, schema) if schema.missing == "mean" else [None] * len(genes)
        known = zip(genes, means, strict=True)
        every = (Column(name=name, mean=mean, marks_missing=i in marked) for i, (name, mean) in enumerate(known))
        found = replace(schema, columns=tuple(every), plain=None, marks_last=True)
    if not gaps.any():
        return X, found
    filling = 0.0 if schema.missing != "mean" else np.array([found.columns[i].mean for i in columns[gaps].tolist()])
    full = X.copy()
    if sp.issparse(X):
        full.data[gaps] = filling
    else:
        full[rows[gaps], columns[gaps]] = filling
    if not is_marked:
        return full, found
    genes_marked, places = np.unique(columns[gaps], return_inverse=True)
    marks = sp.csr_array((np.ones(len(places)), (rows[gaps], places)), shape=(X.shape[0], len(genes_marked)))
    both = sp.hstack([full, marks], format="csr") if sp.issparse(X) else np.hstack([full, marks.toarray()])
    return both, found


def _place(path: str, cell: str, gene: str) -> str:
    return f"{path}, cell {cell!r}, gene {gene!r}"


def _entries(X: Any) -> tuple[Any, Any, Any]:
    """Row, column and value of each stored entry, in the order of the matrix."""
    if not sp.issparse(X):
        values = np.asarray(X)
        if np.isfinite(values).all() and np.abs(values).max(initial=0.0) <= LARGEST:  # usually nothing to look for
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
        rows, columns = np.indices(values.shape).reshape(2, -1)
        return rows, columns, values.ravel()
    major = np.repeat(np.arange(len(X.indptr) - 1), np.diff(X.indptr))
    return (major, X.indices, X.data) if X.format == "csr" else (X.indices, major, X.data)


def _means(X: Any, genes: Sequence[str], schema: Schema) -> list[float]:
    """Return the mean of each gene over the cells with a value, including zeros that a sparse matrix does not store."""
    if sp.issparse(X):
        known, gaps = X.copy(), X.copy()
        known.data, gaps.data = np.where(np.isnan(X.data), 0.0, X.data), np.isnan(X.data).astype(np.float64)
    else:
        known, gaps = np.where(np.isnan(X), 0.0, X), np.isnan(X)
    sums, there = known.sum(axis=0, dtype=np.float64), X.shape[0] - gaps.sum(axis=0, dtype=np.float64)
    means = np.asarray(sums).ravel() / np.maximum(1, np.asarray(there).ravel())
    learned = {column.name: column.mean for column in schema.columns if column.mean is not None}
    return [learned.get(gene, mean) for gene, mean in zip(genes, means.tolist(), strict=True)]
