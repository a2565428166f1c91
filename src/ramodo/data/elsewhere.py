"""Data that are not in this process: Dask collections, and files that workers read. See `ramodo.engines`.

What uses Dask is imported only where something of Dask was given.
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
"""What gives a value, or a row of them, for each row of a block."""

_HOMES = ("dask", "distributed")


def is_elsewhere(X: Any) -> bool:
    """Whether X is a Dask collection, a list of delayed blocks, or what `open_dataset` opened."""
    first = X[0] if isinstance(X, list | tuple) and len(X) else X
    home = type(first).__module__
    return home.partition(".")[0] in _HOMES or home.startswith("ramodo.engines.")


def rows_elsewhere(X: Any, model: Any = None) -> Rows:
    """The same as rows, with the columns of a fitted detector, if there is one."""
    from ..engines.opening import rows_of

    return rows_of(X, model)


def learned_elsewhere(rows: Rows) -> dict[str, Any]:
    """What a detector keeps of how rows elsewhere were read, as its attributes."""
    while hasattr(rows, "rows"):  # that are normalised
        rows = rows.rows
    schema = getattr(rows, "schema", None)
    if schema is None or schema.n_features is None:
        return {}
    found = {"schema_": schema, "document_frequencies_": getattr(rows, "frequencies", None)}
    names = schema.names if schema.first_named == 0 else None
    return found if names is None else found | {"feature_names_in_": np.array(names, dtype=object)}


def mapped_elsewhere(X: Any, of_block: OfBlock, like: npt.NDArray[Any], model: Any) -> Any:
    """A collection as X is one, with the same partitions: what a function gives for the rows of each.

    `like` is what it gives for no rows.
    """
    from ..engines.lazy import mapped

    return mapped(X, of_block, like, model)


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
