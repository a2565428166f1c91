"""Check the user's data once and return it as rows.

Arrays are copied only if necessary: for another dtype or format, or because entries are unsorted or repeated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .. import kernels
from .blocks import Block, DenseRows, MappedRows, SparseRows
from .dask_inputs import is_dask, rows_of_dask
from .mapped import is_mapped
from .rows import Facts, Rows

LARGEST = 1e30
"""Largest absolute value that is accepted: its square still fits a double with room for sums."""


_FEWEST_VALUES, _FEW = 1 << 18, 0.15
"""Fewest values, and largest share of non-zeros, of a dense matrix that is handled as sparse: that is twice as fast if
a tenth of the values are not zero, and no faster at a quarter."""


class DataError(ValueError, TypeError):
    """The data cannot be used; the message says what must hold and what was given."""


class ValueRefusedError(DataError):
    """An unusable value; `said` is the message without the place of the value."""

    def __init__(self, name: str, value: float, row: int, column: int) -> None:
        kind, advice = _kind_and_advice(value)
        must = f"must be finite and at most {LARGEST:g} in absolute value, got {kind}"
        super().__init__(f"the values of {name} {must}, first at row {row}, column {column}. {advice}")
        self.row, self.column, self.said = row, column, f"the value {must}. {advice}"

    def __reduce__(self) -> Any:
        return DataError, self.args


def _kind_and_advice(value: float) -> tuple[str, str]:
    """Return the kind of an unusable value, and what to do about it."""
    if np.isnan(value):
        return "NaN", "Fill or drop missing values first, or read a frame with ramodo.TableReader, which marks them."
    checked = "check where it comes from"
    if np.isinf(value):
        return "infinity", f"It cannot be a measurement: {checked}, and replace it or leave the row out."
    return (
        f"{value:g}",
        f"Replace it if it stands for a missing value; else {checked}, or change the unit.",
    )


def open_rows(X: Any, *, name: str = "X", n_threads: int = 1) -> Rows:
    """Check `X`, any kind of matrix or table, and return it as rows.

    Raises `DataError` for anything that is not a matrix of numbers: wrong shape, text, objects, complex numbers, NaN,
    infinity, values beyond 1e30.
    """
    if is_dask(X):
        X = rows_of_dask(X)
    return X if isinstance(X, Rows) else open_block(X, name=name, n_threads=n_threads)


def open_block(X: Any, *, name: str = "X", n_threads: int = 1) -> Block:
    """Do the same as `open_rows` for data in memory, and return a block."""
    return _opened(X, name, n_threads, counted=False)[0]


def open_with_facts(X: Any, *, name: str = "X", n_threads: int = 1) -> tuple[Rows, Facts]:
    """Do the same as `open_rows`, and collect facts that a fit needs in the same pass over the data.

    A dense matrix that is mostly zeros becomes sparse, and so do the rows that its model scores.
    """
    if is_dask(X):
        X = rows_of_dask(X)
    return (X, X.facts()) if isinstance(X, Rows) else _opened(X, name, n_threads, counted=True)


def _opened(X: Any, name: str, n_threads: int, *, counted: bool) -> tuple[Block, Facts]:
    """Return rows and facts. Counting features takes longer than the checks, so it is done only if `counted`."""
    X = _from_frame(X, name)
    if sp.issparse(X):
        return _open_sparse(X, name, n_threads, counted)
    return _open_dense(X, name, counted)


def _from_frame(X: Any, name: str) -> Any:
    """Return a pandas or polars frame as a matrix, refusing columns that are not numbers."""
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
            f"the columns of {name} must be numbers or booleans, got {len(bad)} other column(s), the first {column!r} "
            f"of dtype {dtype}. Encode text and categories first (one-hot, counts)."
        )


def _target(dtype: np.dtype[Any]) -> type[np.floating[Any]]:
    """Return float32 if it can hold every value of `dtype`, otherwise float64."""
    if dtype.kind == "f":
        return np.float32 if dtype.itemsize <= 4 else np.float64
    return np.float32 if dtype.kind == "b" or dtype.itemsize <= 2 else np.float64


def _refuse_dtype(dtype: np.dtype[Any], name: str) -> None:
    if dtype.kind == "c":
        raise DataError(f"Complex data not supported: {name} must have real numbers or booleans, got dtype {dtype}.")
    if dtype.kind not in "biuf":
        raise DataError(
            f"{name} must have floats, integers or booleans, got dtype {dtype}. Convert a matrix of objects or strings "
            "first: only you know what its entries mean."
        )


def _refuse_shape(shape: tuple[int, ...], name: str) -> None:
    if shape[1] == 0:
        raise DataError(f"{name} has 0 feature(s) (shape={shape}) while a minimum of 1 is required.")
    if shape[0] == 0:
        raise DataError(f"{name} has 0 sample(s) (shape={shape}) while a minimum of 1 is required.")


def _open_dense(X: Any, name: str, counted: bool) -> tuple[Block, Facts]:
    if isinstance(X, np.matrix):
        raise DataError(f"np.matrix is not supported: {name} was given as one; pass np.asarray({name}).")
    if isinstance(X, np.ma.MaskedArray):
        raise DataError(f"{name} is a masked array, whose masked values would count. Fill them first, with .filled(0).")
    values = np.asarray(X)
    if values.ndim < 2 and values.dtype.kind in "USO":
        raise DataError(
            f"{name} must be a matrix of numbers, got text or objects ({type(X).__name__}, dtype {values.dtype}). "
            "Turn text into numbers first, with a vectorizer of sklearn.feature_extraction.text for example."
        )
    if values.ndim != 2:
        raise DataError(
            f"Expected 2D array, got {values.ndim}D array instead: {name} must be a matrix, one row per object, got "
            f"shape {values.shape}. Reshape your data with .reshape(1, -1) if it is a single row."
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
            raise ValueRefusedError(name, float(block.values[row, column]), first + int(row), int(column))
        highest = float(sizes.max())
        largest = max(largest, highest)
        if counted:
            seen |= block.values.any(axis=0)
        first += block.n_rows
    facts = Facts(int(np.count_nonzero(seen)), largest)
    return (rows.as_sparse() if counted and _gains_from_sparse(rows) else rows), facts


def _gains_from_sparse(rows: DenseRows) -> bool:
    """Return whether the rows are in memory, large, and mostly zeros."""
    if rows.values.size < _FEWEST_VALUES or is_mapped(rows.values):
        return False
    return int(rows.lengths().sum()) <= _FEW * rows.values.size


def _open_sparse(X: Any, name: str, n_threads: int, counted: bool) -> tuple[SparseRows, Facts]:
    if X.ndim != 2:
        raise DataError(f"Expected 2D array, got {X.ndim}D array instead: {name} is sparse with shape {X.shape}.")
    _refuse_dtype(X.dtype, name)
    _refuse_shape(X.shape, name)
    refuse_structure(X, name)
    matrix = X.tocsr()
    rows = _from_csr(matrix)
    facts, ordered = _scan(rows, name, n_threads, counted)
    if not ordered:
        matrix = sp.csr_array((rows.data, rows.indices, rows.indptr), shape=matrix.shape, copy=True)
        matrix.sum_duplicates()
        rows = _from_csr(matrix)
        facts, _ = _scan(rows, name, n_threads, counted)
    return rows, facts


def refuse_structure(X: Any, name: str) -> None:
    """Raise `DataError` for inconsistent index arrays: scipy trusts them and would read or write out of bounds."""
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
    if X.format != "csr":  # CSR indices are checked later, in one pass with the values
        refuse_indices(X.indices, minor, name)


def refuse_indices(index: npt.NDArray[Any], size: int, name: str) -> None:
    """Raise `DataError` for indices beyond the columns (or rows) of a sparse matrix."""
    if index.dtype.kind not in "iu" or (len(index) and not (index.min() >= 0 and index.max() < size)):
        raise DataError(
            f"{name} is a damaged sparse matrix: an index lies outside 0 to {size - 1:,}, or is not an integer."
        )


def _from_csr(matrix: Any) -> SparseRows:
    indices = np.ascontiguousarray(matrix.indices)
    if indices.dtype.kind not in "iu":
        raise DataError(f"the feature indices of a sparse matrix must be integers, got dtype {indices.dtype}.")
    if indices.dtype not in (np.int32, np.int64):
        indices = indices.astype(np.int64)
    with np.errstate(over="ignore"):
        data = np.ascontiguousarray(matrix.data, dtype=_target(matrix.dtype))
    arrays = np.ascontiguousarray(matrix.indptr, dtype=np.int64), indices, data, int(matrix.shape[1])
    if is_mapped(indices) or is_mapped(data):
        return MappedRows(*arrays)
    rows = SparseRows(*arrays)
    return rows if data.all() else rows.without_zeros()


def _scan(rows: SparseRows, name: str, n_threads: int, counted: bool) -> tuple[Facts, bool]:
    scan = kernels.Scan(rows.n_features, len(rows.data) if counted else None)
    first, largest, ordered = 0, 0.0, True
    for block in rows.blocks():
        found = scan.add(block, LARGEST, n_threads)
        if found.outside_row >= 0:
            raise DataError(
                f"the feature indices of {name} must be from 0 to {rows.n_features - 1}, since it has "
                f"{rows.n_features} columns, got {found.outside} in row {first + found.outside_row}."
            )
        if found.bad_row >= 0:
            start, stop = block.indptr[found.bad_row : found.bad_row + 2]
            values = block.data[start:stop]
            value = values[~(np.abs(values) <= LARGEST)][0]
            raise ValueRefusedError(name, float(value), first + found.bad_row, found.bad_column)
        largest, ordered = max(largest, found.largest), ordered and found.ordered
        first += block.n_rows
    return Facts(scan.n_seen(), largest), ordered
