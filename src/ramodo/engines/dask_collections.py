"""The partitions of the Dask collections that users pass in."""

from __future__ import annotations

from typing import Any

import numpy as np
from dask.delayed import Delayed, delayed

from ..data.validation import DataError
from .dask_rows import DaskRows
from .dask_runner import is_held
from .partitions import Form, Partition


def rows_of(X: Any, model: Any = None) -> DaskRows:
    """Return X as rows, with the columns of a model. Rows of `open_dataset` are not changed, so files are read once."""
    form = None if model is None else Form.of_model(model)
    if not isinstance(X, DaskRows):
        return DaskRows(partitions_of(X), form)
    return X if form is None else DaskRows(X.partitions, X.form_for(form))


def partitions_of(X: Any) -> list[Partition]:
    """Return the partitions of a Dask array, of a Dask data frame, or of a list of delayed blocks."""
    if isinstance(X, DaskRows):
        return X.sized_partitions()
    if isinstance(X, list | tuple):
        return [Partition(_as_delayed(one), f"block {i} of X") for i, one in enumerate(X)]
    if isinstance(X, Delayed) or type(X).__module__.startswith("distributed."):
        return [Partition(_as_delayed(X), "X")]
    if is_array(X):
        return _of_array(X)
    if is_frame(X):
        parts = X.to_delayed(optimize_graph=not is_held(X))  # optimizing would release persisted data
        return [Partition(one, f"partition {i} of X") for i, one in enumerate(parts)]
    raise DataError(
        f"X must be a two-dimensional Dask array, a Dask data frame or a list of delayed blocks, got a "
        f"{type(X).__module__}.{type(X).__name__}."
    )


def is_array(X: Any) -> bool:
    """Return whether X is a Dask array."""
    return type(X).__module__.startswith("dask.array")


def is_frame(X: Any) -> bool:
    """Return whether X is a Dask data frame or series."""
    return type(X).__module__.startswith("dask.dataframe")


def _of_array(X: Any) -> list[Partition]:
    if X.ndim != 2:
        raise DataError(f"Expected 2D array, got {X.ndim}D array instead: X is a Dask array of shape {X.shape}.")
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    sizes = [None if np.isnan(size) else int(size) for size in X.chunks[0]]
    blocks = X.to_delayed(optimize_graph=not is_held(X)).ravel()
    return [Partition(b, f"partition {i} of X", n) for i, (b, n) in enumerate(zip(blocks, sizes, strict=True))]


def _as_delayed(one: Any) -> Any:
    """Return a delayed block or a future as a delayed block."""
    return one if isinstance(one, Delayed) else delayed(_same, pure=False)(one)


def _same(block: Any) -> Any:
    return block
