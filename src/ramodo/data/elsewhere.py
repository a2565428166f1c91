"""Data that are not in this process: Dask collections, and files that workers read. See `ramodo.engines`.

What uses Dask is imported only where something of Dask was given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .blocks import Block
    from .rows import Rows

OfBlock = Callable[["Block"], npt.NDArray[Any]]
"""What gives a value, or a row of them, for each row of a block."""

_HOMES = ("dask", "distributed")


def is_elsewhere(X: Any) -> bool:
    """Whether X is a Dask collection, a list of delayed blocks, or what `open_dataset` opened."""
    first = X[0] if isinstance(X, list | tuple) and len(X) else X
    home = type(first).__module__
    return home.partition(".")[0] in _HOMES or home.startswith("ramodo.engines.")


def rows_elsewhere(X: Any, n_features: int = 0, names: Sequence[str] | None = None) -> Rows:
    """The same as rows, which a model with so many features, or these names of them, may expect."""
    from ..engines.opening import rows_of

    return rows_of(X, n_features, names)


def names_elsewhere(rows: Rows) -> npt.NDArray[np.object_] | None:
    """The names of the columns of rows elsewhere, where they have some."""
    while hasattr(rows, "rows"):  # that are normalised
        rows = rows.rows
    names = getattr(rows, "names", None)
    return None if names is None else np.array(names, dtype=object)


def mapped_elsewhere(
    X: Any, of_block: OfBlock, like: npt.NDArray[Any], n_features: int, names: Sequence[str] | None
) -> Any:
    """A collection as X is one, with the same partitions: what a function gives for the rows of each.

    `like` is what it gives for no rows.
    """
    from ..engines.lazy import mapped

    return mapped(X, of_block, like, n_features, names)


def each(function: Callable[[Any], Any], values: Any) -> Any:
    """A function of all values, one by one; of each partition where values are a collection."""
    if not is_elsewhere(values):
        return function(values)
    from ..engines.lazy import again

    return again(values, function)


def here(values: Any) -> npt.NDArray[Any]:
    """Values as an array in this process."""
    if not is_elsewhere(values):
        return np.asarray(values)
    from ..engines.lazy import computed

    return computed(values)
