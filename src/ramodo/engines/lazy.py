"""What a model says of a Dask collection, as a collection of the same kind and with the same partitions.

Nothing is computed before it is asked for. The function, with the model in it, is one task that all others share: each
worker has it once.
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

from ..data.elsewhere import OfBlock
from . import wire
from .dask import DaskRows
from .opening import is_array, is_frame, partitions_of
from .partitions import Form, Partition, block_of
from .running import current_runner


def mapped(X: Any, of_block: OfBlock, like: npt.NDArray[Any], model: Any) -> Any:
    """`of_block` of the rows of each partition, which have the columns of a model: values, or rows of them."""
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


def again(values: Any, function: Callable[[Any], Any]) -> Any:
    """A function of the values of each partition."""
    if isinstance(values, list | tuple):
        return [delayed(function, pure=False)(one) for one in values]
    if is_array(values):
        return values.map_blocks(function, dtype=function(np.empty(0)).dtype)
    return values.map_partitions(partial(_of_series, function=function), meta=_of_series(values._meta, function))


def computed(values: Any) -> npt.NDArray[Any]:
    """The values of all partitions, here."""
    import dask

    return np.concatenate(dask.compute(*values)) if isinstance(values, list | tuple) else np.asarray(values)


def _of_partition(source: Any, place: str, *held: wire.Parcel) -> npt.NDArray[Any]:
    of_block, form = wire.opened(held)
    return of_block(block_of(source, place, form))


def _as_array(parts: Sequence[Partition], held: Sequence[Any], like: npt.NDArray[Any]) -> Any:
    """One task for each partition, and nothing besides: tasks cost time even where they do nothing."""
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
    """Values as a series, or as a frame, with the index of the rows that they are of."""
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
