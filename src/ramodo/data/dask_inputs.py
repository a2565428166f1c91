"""Dask collections, and files that Dask workers read, as input. See `ramodo.engines`.

Dask is imported only if X is one of these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .blocks import Block
    from .rows import Rows

OfBlock = Callable[["Block"], npt.NDArray[Any]]
"""Returns a value, or several, for each row of a block."""

_MODULES = ("dask", "distributed")


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask collection, a list of delayed blocks, or the result of `open_dataset`."""
    first = X[0] if isinstance(X, list | tuple) and len(X) else X
    module = type(first).__module__
    return module.partition(".")[0] in _MODULES or module.startswith("ramodo.engines.")


def rows_of_dask(X: Any, model: Any = None) -> Rows:
    """Return a Dask collection as rows, with the columns of a fitted detector if there is one."""
    from ..engines.dask_collections import rows_of

    return rows_of(X, model)


def map_lazily(X: Any, of_block: OfBlock, like: npt.NDArray[Any], model: Any) -> Any:
    """Return a collection of the same kind as X: the results of a function for the rows of each partition.

    `like` is its result for no rows.
    """
    from ..engines.lazy_results import map_partitions

    return map_partitions(X, of_block, like, model)


def map_values(function: Callable[[Any], Any], values: Any) -> Any:
    """Apply a function to an array of values, or to each partition of a collection of them."""
    if not is_dask(values):
        return function(values)
    from ..engines.lazy_results import map_lazy_values

    return map_lazy_values(values, function)


def as_array(values: Any) -> npt.NDArray[Any]:
    """Return values as an array in this process; those of a collection are computed."""
    if not is_dask(values):
        return np.asarray(values)
    from ..engines.lazy_results import computed

    return computed(values)
