"""Whatever Dask collection users pass in, as partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from dask.delayed import Delayed, delayed

from ..data.validation import DataError
from .dask import DaskRows
from .partitions import Form, Partition
from .running import is_held


def rows_of(X: Any, n_features: int = 0, names: Sequence[str] | None = None) -> DaskRows:
    """X as rows; of what `open_dataset` opened the same ones, so that one look at them is enough."""
    form = Form(n_features, None if names is None else tuple(map(str, names))) if n_features else None
    if not isinstance(X, DaskRows):
        return DaskRows(partitions_of(X), form)
    return X if form is None else DaskRows(X.partitions, X.form_for(form))


def partitions_of(X: Any) -> list[Partition]:
    """The partitions of a Dask array, of a Dask data frame, or of a list of delayed blocks."""
    if isinstance(X, DaskRows):
        return X.sized_partitions()
    if isinstance(X, list | tuple):
        return [Partition(_as_delayed(one), f"block {i} of X") for i, one in enumerate(X)]
    if isinstance(X, Delayed) or type(X).__module__.startswith("distributed."):
        return [Partition(_as_delayed(X), "X")]
    if is_array(X):
        return _of_array(X)
    if is_frame(X):
        parts = X.to_delayed(optimize_graph=not is_held(X))  # which would forget what they hold, and they then drop it
        return [Partition(one, f"partition {i} of X") for i, one in enumerate(parts)]
    raise DataError(
        f"X is a {type(X).__module__}.{type(X).__name__}; allowed of Dask: an array of two dimensions, a data frame, "
        "or a list of delayed blocks."
    )


def is_array(X: Any) -> bool:
    """Whether X is a Dask array."""
    return type(X).__module__.startswith("dask.array")


def is_frame(X: Any) -> bool:
    """Whether X is a Dask data frame or series."""
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
    """A delayed block; a future, which is one that is computed already, can be used like it."""
    return one if isinstance(one, Delayed) else delayed(_same, pure=False)(one)


def _same(block: Any) -> Any:
    return block
