"""The one door for data: what comes in is checked once and leaves as a sequence of row blocks.

Every stage needs two things of the data only: to map a function over blocks of rows, in order, and to take some rows.
`SparseRows` and `DenseRows` offer both for data in memory. Sparse data stays sparse; the user's arrays are never
changed, and are copied only where they must be (another dtype, another format, unsorted or repeated entries).

Rows may carry `factors`, one for each row, by which the kernels multiply it as they read: normalisation without a copy.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .. import kernels
from .mapped import refuse_changed

Doubles = npt.NDArray[np.float64]

LARGEST = 1e30
"""Largest absolute value that is accepted: its square still fits a double with room for sums."""

_SMALLEST = 1e-30
"""Rows below this size are not normalised: the kernels' single precision has no digits for them."""

_BLOCK_ENTRIES = 1 << 24
"""Non-zeros (or dense values) per block: enough for threads, few enough to answer Ctrl-C and to show progress."""


class DataError(ValueError, TypeError):
    """The data cannot be used; the message says what was given and what is allowed."""


@dataclass(frozen=True)
class SparseRows:
    """CSR arrays with sorted, unique indices. `indptr` may point into the middle of `indices` and `data`."""

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[Any]
    data: npt.NDArray[Any]
    n_features: int
    factors: Doubles | None = None

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    def blocks(self) -> Iterator[SparseRows]:
        """Consecutive rows, in order."""
        entries = self.indptr - self.indptr[0]
        for begin, end in _cuts(entries):
            refuse_changed(self.indices, self.data)
            factors = None if self.factors is None else self.factors[begin:end]
            yield SparseRows(self.indptr[begin : end + 1], self.indices, self.data, self.n_features, factors)
        refuse_changed(self.indices, self.data)

    def take(self, rows: npt.NDArray[np.int64]) -> SparseRows:
        """A copy of some rows, in the order given."""
        lengths = (self.indptr[1:] - self.indptr[:-1])[rows]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        entries = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], lengths)
        factors = None if self.factors is None else self.factors[rows]
        taken = SparseRows(indptr, self.indices[entries], self.data[entries], self.n_features, factors)
        refuse_changed(self.indices, self.data)
        return taken


@dataclass(frozen=True)
class DenseRows:
    """A C-ordered float32 or float64 matrix."""

    values: npt.NDArray[Any]
    factors: Doubles | None = None

    @property
    def n_rows(self) -> int:
        return int(self.values.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.values.shape[1])

    def blocks(self) -> Iterator[DenseRows]:
        """Consecutive rows, in order."""
        for begin, end in _cuts(np.arange(self.n_rows + 1, dtype=np.int64) * self.n_features):
            refuse_changed(self.values)
            yield self.part(begin, end)
        refuse_changed(self.values)

    def part(self, begin: int, end: int) -> DenseRows:
        """Consecutive rows, sharing memory."""
        return DenseRows(self.values[begin:end], None if self.factors is None else self.factors[begin:end])

    def take(self, rows: npt.NDArray[np.int64]) -> DenseRows:
        """A copy of some rows, in the order given."""
        return DenseRows(self.values[rows], None if self.factors is None else self.factors[rows])


Rows = SparseRows | DenseRows


@dataclass(frozen=True)
class Facts:
    """What one pass over the data tells: features that occur, and the largest absolute value."""

    n_seen: int
    largest: float


def map_blocks(
    rows: Rows, function: Callable[[Rows], npt.NDArray[Any]], show: Callable[[int, int], None] | None = None
) -> npt.NDArray[Any]:
    """`function` of each block, in order, one below the other."""
    results, done = [], 0
    for block in rows.blocks():
        results.append(function(block))
        done += block.n_rows
        if show is not None:
            show(done, rows.n_rows)
    return results[0] if len(results) == 1 else np.concatenate(results)


def stack(parts: list[Rows]) -> Rows:
    """Rows of all parts, one below the other; all sparse or all dense, as the first."""
    factors = None
    if parts[0].factors is not None:
        factors = np.concatenate([part.factors for part in parts if part.factors is not None])
    if isinstance(parts[0], DenseRows):
        return DenseRows(np.vstack([part.values for part in parts if isinstance(part, DenseRows)]), factors)
    matrices = [to_csr(part) for part in parts if isinstance(part, SparseRows)]
    return replace(_from_csr(sp.vstack(matrices, format="csr")), factors=factors)


def plain(rows: Rows) -> Rows:
    """The same rows with their factors multiplied in."""
    if rows.factors is None:
        return rows
    if isinstance(rows, DenseRows):
        return DenseRows((rows.values * rows.factors[:, None]).astype(rows.values.dtype))
    factors = np.repeat(rows.factors, rows.indptr[1:] - rows.indptr[:-1])
    return replace(rows, data=(rows.data * factors).astype(rows.data.dtype), factors=None)


def to_matrix(rows: Rows) -> Any:
    """The rows as a scipy or numpy matrix, each times its factor: for code that knows no `Rows`."""
    if isinstance(rows, DenseRows):
        return rows.values if rows.factors is None else (rows.values * rows.factors[:, None]).astype(rows.values.dtype)
    matrix = sp.csr_matrix(to_csr(rows))
    if rows.factors is not None:
        matrix.data = matrix.data * np.repeat(rows.factors, np.diff(matrix.indptr)).astype(matrix.dtype)
    return matrix


def to_csr(rows: SparseRows) -> sp.csr_array:
    """The rows as scipy knows them, without their factors, sharing memory where indptr starts at 0."""
    start, stop = int(rows.indptr[0]), int(rows.indptr[-1])
    return sp.csr_array(
        (rows.data[start:stop], rows.indices[start:stop], rows.indptr - start), shape=(rows.n_rows, rows.n_features)
    )


def like(rows: Rows, other: Rows) -> Rows:
    """`other` in the kind of `rows` (sparse or dense), for data that came in both kinds."""
    if isinstance(rows, DenseRows):
        return DenseRows(to_csr(other).toarray(), other.factors) if isinstance(other, SparseRows) else other
    if isinstance(other, SparseRows):
        return other
    return replace(_from_csr(sp.csr_array(other.values)), factors=other.factors)


def normalized(rows: Rows, how: str | None, n_threads: int) -> Rows:
    """The same rows with factors that bring each to length 1 ("l2") or largest absolute value 1 ("max").

    Rows of zeros, and of values below 1e-30, stay as they are.
    """
    if how is None:
        return rows
    sizes = np.sqrt(squared_norms(rows, n_threads)) if how == "l2" else largest_values(rows, n_threads)
    return replace(rows, factors=1 / np.where(sizes > _SMALLEST, sizes, 1.0))


def squared_norms(rows: Rows, n_threads: int) -> Doubles:
    """Sum of squares of each row, without factors."""
    if isinstance(rows, SparseRows):
        return kernels.squared_norms(rows, n_threads)
    return np.concatenate([np.einsum("ij,ij->i", b.values, b.values, dtype=np.float64) for b in rows.blocks()])


def largest_values(rows: Rows, n_threads: int) -> Doubles:
    """Largest absolute value of each row, without factors."""
    if isinstance(rows, SparseRows):
        return kernels.largest_values(rows, n_threads)
    return np.concatenate([np.abs(b.values).max(axis=1).astype(np.float64) for b in rows.blocks()])


_FINGERPRINTED = 1 << 16
"""Values that each piece of a fingerprint looks at; there are at most 64 pieces."""


def fingerprint(rows: Rows) -> str:
    """A checksum of the data, of evenly spaced pieces where they are many: tells one data set from another."""
    arrays = [rows.values.reshape(-1)] if isinstance(rows, DenseRows) else [rows.indices, rows.data]
    code = zlib.crc32(f"{rows.n_rows} {rows.n_features}".encode())
    for array in arrays:
        n_pieces = min(64, -(-len(array) // _FINGERPRINTED))
        starts = np.linspace(0, max(0, len(array) - _FINGERPRINTED), n_pieces).astype(np.int64)
        for start in starts:
            code = zlib.crc32(np.ascontiguousarray(array[start : start + _FINGERPRINTED]).tobytes(), code)
    return f"{rows.n_rows}x{rows.n_features}-{code:08x}"


def lengths(rows: Rows) -> npt.NDArray[np.int64]:
    """Non-zeros of each row."""
    if isinstance(rows, SparseRows):
        stored, values = rows.indptr[1:] - rows.indptr[:-1], rows.data[rows.indptr[0] : rows.indptr[-1]]
        if np.count_nonzero(values) == len(values):
            return stored
        zeros = np.flatnonzero(values == 0) + rows.indptr[0]
        return stored - np.bincount(np.searchsorted(rows.indptr, zeros, "right") - 1, minlength=rows.n_rows)
    return np.concatenate([np.count_nonzero(block.values, axis=1) for block in rows.blocks()])


def open_rows(X: Any, *, name: str = "X", n_threads: int = 1) -> tuple[Rows, Facts]:
    """Check `X`, whatever kind of matrix or table it is, and hand it out as rows.

    Raises `DataError` for anything that has no meaning as numbers: wrong shape, text, objects, complex numbers, NaN,
    infinity, values beyond 1e30.
    """
    X = _from_frame(X, name)
    if sp.issparse(X):
        return _open_sparse(X, name, n_threads)
    return _open_dense(X, name)


def _cuts(entries: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Row ranges of about `_BLOCK_ENTRIES` each, given the entries before each row."""
    n_rows = len(entries) - 1
    if n_rows <= 0 or entries[-1] <= _BLOCK_ENTRIES:
        yield 0, n_rows
        return
    n_blocks = int(entries[-1] // _BLOCK_ENTRIES) + 1
    cuts = np.unique(np.searchsorted(entries, np.linspace(0, entries[-1], n_blocks + 1)[1:-1]))
    edges = [0, *[int(c) for c in cuts if 0 < c < n_rows], n_rows]
    yield from pairwise(edges)


def _from_frame(X: Any, name: str) -> Any:
    """A pandas or polars frame as a matrix, refusing columns that are not numbers."""
    module = type(X).__module__.split(".")[0]
    if module == "pandas" and hasattr(X, "dtypes") and X.ndim == 2:
        _refuse_columns(name, [(c, str(t)) for c, t in X.dtypes.items() if getattr(t, "kind", "O") not in "biuf"])
        if len(X.columns) and all(str(t).startswith("Sparse") for t in X.dtypes):
            return X.sparse.to_coo()
        return X.to_numpy(dtype=_common_dtype(list(X.dtypes)), na_value=np.nan)
    if module == "polars" and hasattr(X, "schema"):
        _refuse_columns(name, [(c, str(t)) for c, t in X.schema.items() if not (t.is_numeric() or str(t) == "Boolean")])
        return X.select(_polars_float()).to_numpy() if X.width else np.empty((X.height, 0))
    return X


def _polars_float() -> Any:
    import polars

    return polars.all().cast(polars.Float64)


def _common_dtype(dtypes: list[Any]) -> Any:
    kinds = {
        np.dtype(getattr(t, "numpy_dtype", t)) if not str(t).startswith("Sparse") else np.dtype(t.subtype)
        for t in dtypes
    }
    return np.float32 if kinds and all(_target(k) == np.float32 for k in kinds) else np.float64


def _refuse_columns(name: str, bad: list[tuple[Any, str]]) -> None:
    if bad:
        column, dtype = bad[0]
        raise DataError(
            f"{name} has {len(bad)} column(s) that are not numbers, the first {column!r} of dtype {dtype}; "
            "allowed: numbers and booleans. Encode text and categories first (one-hot, counts)."
        )


def _target(dtype: np.dtype[Any]) -> type[np.floating[Any]]:
    """float32 where it holds every value of `dtype`, else float64."""
    if dtype.kind == "f":
        return np.float32 if dtype.itemsize <= 4 else np.float64
    return np.float32 if dtype.kind == "b" or dtype.itemsize <= 2 else np.float64


def _refuse_dtype(dtype: np.dtype[Any], name: str) -> None:
    if dtype.kind == "c":
        raise DataError(f"Complex data not supported: {name} has dtype {dtype}; allowed: real numbers and booleans.")
    if dtype.kind not in "biuf":
        raise DataError(
            f"{name} has dtype {dtype}; allowed: floats, integers and booleans. An object or string matrix must be "
            "converted by the caller, who knows what its entries mean."
        )


def _refuse_shape(shape: tuple[int, ...], name: str) -> None:
    if shape[1] == 0:
        raise DataError(f"{name} has 0 feature(s) (shape={shape}) while a minimum of 1 is required.")
    if shape[0] == 0:
        raise DataError(f"{name} has 0 sample(s) (shape={shape}) while a minimum of 1 is required.")


def _refuse_value(name: str, value: float, row: int, column: int) -> None:
    kind = "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else f"the value {value:g}"
    raise DataError(
        f"{name} contains {kind}, first at row {row}, column {column}; allowed: finite numbers up to {LARGEST:g} in "
        "absolute value. Fill or drop missing values first."
    )


def _open_dense(X: Any, name: str) -> tuple[Rows, Facts]:
    if isinstance(X, np.matrix):
        raise DataError(f"np.matrix is not supported: {name} was given as one; pass np.asarray({name}).")
    if isinstance(X, np.ma.MaskedArray):
        raise DataError(f"{name} is a masked array: its masked values would count. Fill them first, with .filled(0).")
    values = np.asarray(X)
    if values.ndim < 2 and values.dtype.kind in "USO":
        raise DataError(
            f"{name} holds text or objects ({type(X).__name__}, dtype {values.dtype}); allowed: a matrix of numbers. "
            "Turn text into numbers first, with a vectorizer of sklearn.feature_extraction.text for example."
        )
    if values.ndim != 2:
        raise DataError(
            f"Expected 2D array, got {values.ndim}D array instead: {name} has shape {values.shape}; allowed: a matrix, "
            "one row per object. Reshape your data with .reshape(1, -1) if it is a single row."
        )
    _refuse_dtype(values.dtype, name)
    _refuse_shape(values.shape, name)
    with np.errstate(over="ignore"):
        rows = DenseRows(np.ascontiguousarray(values, dtype=_target(values.dtype)))
    limit = rows.values.dtype.type(LARGEST)
    largest, seen, first = 0.0, np.zeros(rows.n_features, dtype=bool), 0
    for block in rows.blocks():
        sizes = np.abs(block.values)
        if not sizes.max() <= limit:
            row, column = np.argwhere(~(sizes <= limit))[0]
            _refuse_value(name, float(block.values[row, column]), first + int(row), int(column))
        highest = float(sizes.max())
        largest = max(largest, highest)
        seen |= block.values.any(axis=0)
        first += block.n_rows
    return rows, Facts(int(np.count_nonzero(seen)), largest)


def _open_sparse(X: Any, name: str, n_threads: int) -> tuple[Rows, Facts]:
    if X.ndim != 2:
        raise DataError(f"Expected 2D array, got {X.ndim}D array instead: {name} is sparse with shape {X.shape}.")
    _refuse_dtype(X.dtype, name)
    _refuse_shape(X.shape, name)
    refuse_structure(X, name)
    matrix = X.tocsr()
    rows = _from_csr(matrix)
    facts, ordered = _scan(rows, name, n_threads)
    if not ordered:
        matrix = sp.csr_array((rows.data, rows.indices, rows.indptr), shape=matrix.shape, copy=True)
        matrix.sum_duplicates()
        rows = _from_csr(matrix)
        facts, _ = _scan(rows, name, n_threads)
    return rows, facts


def refuse_structure(X: Any, name: str) -> None:
    """Index arrays that do not fit together: scipy trusts them, and a conversion would read or write out of bounds."""
    if X.format == "coo":
        for axis, index in enumerate(X.coords):
            refuse_indices(index, X.shape[axis], name)
    if X.format not in ("csr", "csc", "bsr"):
        return
    height, width = getattr(X, "blocksize", (1, 1)) if X.format == "bsr" else (1, 1)
    major, minor = (X.shape[1], X.shape[0]) if X.format == "csc" else (X.shape[0] // height, X.shape[1] // width)
    indptr = X.indptr
    sound = (
        indptr.ndim == X.indices.ndim == 1
        and indptr.dtype.kind in "iu"
        and X.data.ndim == (3 if X.format == "bsr" else 1)
        and len(indptr) == major + 1
        and indptr[0] == 0
        and bool((indptr[1:] >= indptr[:-1]).all())
        and indptr[-1] <= min(len(X.indices), len(X.data))
    )
    if not sound:
        raise DataError(
            f"{name} is a damaged {X.format} matrix: indptr must hold {major + 1:,} non-decreasing integers, from 0 to "
            f"at most {min(len(X.indices), len(X.data)):,}, the number of its entries."
        )
    if X.format != "csr":  # those of CSR are looked at anyway, in one pass with its values
        refuse_indices(X.indices, minor, name)


def refuse_indices(index: npt.NDArray[Any], size: int, name: str) -> None:
    """Indices beyond the columns (or rows) of a sparse matrix."""
    if index.dtype.kind not in "iu" or (len(index) and not (index.min() >= 0 and index.max() < size)):
        raise DataError(
            f"{name} is a damaged sparse matrix: an index lies outside of 0 to {size - 1:,}, or is no integer."
        )


def _from_csr(matrix: Any) -> SparseRows:
    indices = np.ascontiguousarray(matrix.indices)
    if indices.dtype.kind not in "iu":
        raise DataError(f"a sparse matrix has feature indices of dtype {indices.dtype}; allowed: integers.")
    if indices.dtype not in (np.int32, np.int64):
        indices = indices.astype(np.int64)
    with np.errstate(over="ignore"):
        data = np.ascontiguousarray(matrix.data, dtype=_target(matrix.dtype))
    return SparseRows(np.ascontiguousarray(matrix.indptr, dtype=np.int64), indices, data, int(matrix.shape[1]))


def _scan(rows: SparseRows, name: str, n_threads: int) -> tuple[Facts, bool]:
    scan = kernels.Scan(rows.n_features, len(rows.data))
    first, largest, ordered = 0, 0.0, True
    for block in rows.blocks():
        found = scan.add(block, LARGEST, n_threads)
        if found.outside_row >= 0:
            raise DataError(
                f"{name} has the feature index {found.outside} in row {first + found.outside_row}; allowed: 0 to "
                f"{rows.n_features - 1}, since {name} has {rows.n_features} columns."
            )
        if found.bad_row >= 0:
            start, stop = block.indptr[found.bad_row : found.bad_row + 2]
            values = block.data[start:stop]
            value = values[~(np.abs(values) <= LARGEST)][0]
            _refuse_value(name, float(value), first + found.bad_row, found.bad_column)
        largest, ordered = max(largest, found.largest), ordered and found.ordered
        first += block.n_rows
    return Facts(scan.n_seen(), largest), ordered
