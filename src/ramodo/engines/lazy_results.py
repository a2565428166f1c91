"""Results of a model for a Dask collection, as a lazy collection of the same kind with the same partitions.

All tasks share one copy of the function, with the model in it, on each worker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt
from dask.delayed import Delayed, delayed
from dask.highlevelgraph import HighLevelGraph

from ..data.dask_inputs import OfBlock
from . import serialization
from .dask_collections import is_array, is_frame, partitions_of
from .dask_rows import DaskRows
from .dask_runner import current_runner
from .partitions import Form, Partition, block_of


def map_partitions(X: Any, of_block: OfBlock, like: npt.NDArray[Any], model: Any) -> Any:
    """Return a collection of the results of `of_block` for each partition, read as the model reads its data."""
    form = Form.of_model(model)
    if isinstance(X, DaskRows):
        form = X.form_for(form)
    held, _ = current_runner().hold((of_block, form), is_lazy=True)
    if is_frame(X):
        return _as_frame(X, [_of_frame(held, part) for part in partitions_of(X)], like)
    parts = partitions_of(X)
    if isinstance(X, list | tuple):
        return [delayed(_of_partition, pure=False)(part.source, part.place, *held) for part in parts]
    return _as_array(parts, held, like)


def map_lazy_values(values: Any, function: Callable[[Any], Any]) -> Any:
    """Return a collection of a function's results for the values of each partition."""
    if isinstance(values, list | tuple):
        return [delayed(function, pure=False)(one) for one in values]
    if is_array(values):
        return values.map_blocks(function, dtype=function(np.empty(0)).dtype)
    return values.map_partitions(partial(_of_series, function=function), meta=_of_series(values._meta, function))


def computed(values: Any) -> npt.NDArray[Any]:
    """Return the values of all partitions, as one array in this process."""
    import dask

    return np.concatenate(dask.compute(*values)) if isinstance(values, list | tuple) else np.asarray(values)


def _of_partition(source: Any, place: str, *held: serialization.Parcel) -> npt.NDArray[Any]:
    of_block, form = serialization.opened(held)
    return of_block(block_of(source, place, form))


def _as_array(parts: Sequence[Partition], held: Sequence[Any], like: npt.NDArray[Any]) -> Any:
    """Return a Dask array with one task for each partition: even tasks that do nothing take time."""
    import dask.array as da

    name = f"ramodo-{uuid4().hex}"
    sources = [part.source for part in parts]
    needed = [one for one in (*sources, *held) if isinstance(one, Delayed)]
    tasks = {
        (name, i, *(0,) * (like.ndim - 1)): (_of_partition, _key(part.source), part.place, *map(_key, held))
        for i, part in enumerate(parts)
    }
    sizes = tuple(np.nan if part.n_rows is None else part.n_rows for part in parts)
    chunks = (sizes, *((n,) for n in like.shape[1:]))
    return da.Array(HighLevelGraph.from_collections(name, tasks, needed), name, chunks, like.dtype)


def _key(one: Any) -> Any:
    return one.key if isinstance(one, Delayed) else one


def _of_frame(held: Sequence[Any], part: Partition) -> Delayed:
    found = delayed(_of_partition, pure=False)(part.source, part.place, *held)
    return delayed(_indexed, pure=False)(found, part.source)


def _indexed(values: npt.NDArray[Any], frame: Any) -> Any:
    """Return values as a series, or as a frame, with the index of their rows."""
    import pandas

    if values.ndim == 1:
        return pandas.Series(values, index=frame.index, name=_SERIES)
    return pandas.DataFrame(values, index=frame.index, columns=_columns(values.shape[1]))


_SERIES = "outlier_score"


def _columns(n: int) -> list[str]:
    return [f"c{i}" for i in range(n)]


def _as_frame(X: Any, found: Sequence[Delayed], like: npt.NDArray[Any]) -> Any:
    import dask.dataframe as dd

    return dd.from_delayed(list(found), meta=_indexed(like, X._meta), divisions=X.divisions, verify_meta=False)


def _of_series(values: Any, function: Callable[[Any], Any]) -> Any:
    import pandas

    return pandas.Series(function(values.to_numpy()), index=values.index, name=values.name)
