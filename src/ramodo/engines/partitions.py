"""A partition: consecutive rows that are elsewhere, as a task finds them, and as a block in memory.

A partition comes as a matrix, as a data frame, or as a file that is read where the task runs. One look at each
(`look`) finds what all of them together must be known for; what they then have in common is their `Form`, in which
they come out as blocks that could be parts of one matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..data.blocks import Block, DenseRows, SparseRows
from ..data.validation import DataError, open_block
from ..formats.classes import Classes
from ..formats.format import How
from ..formats.table import Table
from . import tables

Integers = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]


class Loader(Protocol):
    """A file: what reads it, in the task that needs it."""

    def load(self, form: Form) -> Table:
        """The rows, with as many columns as `form` says where the file does not say it."""


@dataclass(frozen=True)
class Form:
    """What the blocks of all partitions have in common; None where it does not matter."""

    n_features: int = 0
    """0 where it is not known yet."""
    names: tuple[str, ...] | None = None
    """Of the columns, where partitions are tables."""
    is_sparse: bool | None = None
    is_double: bool | None = None
    zero_based: bool | None = None
    """Whether the indices of svmlight files begin at 0."""
    how: How | None = None
    """Options for reading files."""

    def empty(self) -> Block:
        """No rows of this form."""
        kind = np.float64 if self.is_double else np.float32
        if self.is_sparse:
            empty = SparseRows.empty(0, self.n_features)
            return replace(
                empty, indices=empty.indices.astype(_index_type(self.n_features)), data=empty.data.astype(kind)
            )
        return DenseRows(np.empty((0, self.n_features), dtype=kind))


@dataclass(frozen=True)
class Seen:
    """What one look at a partition finds."""

    n_rows: int
    n_features: int
    is_sparse: bool
    is_double: bool
    n_bytes: int
    largest: float
    features: Integers
    """Those that occur, in order."""
    lengths: Integers
    squared_norms: Doubles
    names: tuple[str, ...] | None
    categories: tuple[str, ...]
    zero_based: bool | None
    takes_width: bool
    """A later partition may have more columns."""
    ids: tuple[str, ...] | None
    classes: Classes | None
    given: tuple[str, ...]
    """Columns that the matrix of a table was made of."""
    header: bool | None
    """Whether a CSV file began with a line of names."""

    @property
    def n_entries(self) -> int:
        """Non-zeros."""
        return int(self.lengths.sum())


@dataclass(frozen=True)
class Partition:
    """Where rows come from: a task's result or a loader, what messages call it, and its rows where that is known."""

    source: Any
    place: str
    n_rows: int | None = None


def look(source: Any, place: str, form: Form) -> Seen:
    """One pass over a partition. `form` is what is known of all of them before."""
    table = _table(source, place, form)
    block = _opened(table, place, form)
    features, largest = block.features_and_largest()
    return Seen(
        block.n_rows,
        block.n_features,
        block.is_sparse,
        _is_double(block),
        _n_bytes(block),
        largest,
        features,
        block.lengths(),
        block.squared_norms(),
        _names(table, form),
        tuple(table.categories),
        table.zero_based,
        getattr(source, "takes_width", False),
        None if table.ids is None else tuple(table.ids),
        table.classes,
        tuple(table.given),
        table.header,
    )


def block_of(source: Any, place: str, form: Form) -> Block:
    """A partition as a block of the common form; raises `DataError` where it is not of that form."""
    block = _opened(_table(source, place, form), place, form)
    if form.is_sparse is not None and block.is_sparse != form.is_sparse:
        block = block.as_sparse() if form.is_sparse else block.as_dense()
    if form.is_double is not None and _is_double(block) != form.is_double:
        block = block.in_doubles()
    return block


def _table(source: Any, place: str, form: Form) -> Table:
    if hasattr(source, "load"):
        return source.load(form)
    if tables.is_frame(source):
        return tables.of_frame(source, place)
    return Table(source)


def _opened(table: Table, place: str, form: Form) -> Block:
    X = table.X
    if form.names is not None and table.names is not None:
        X = tables.aligned(table, form.names, place)
    if X.shape[0] == 0:  # which one matrix may not be, but one of many partitions may
        width = form.n_features or X.shape[1]
        return Form(width, is_sparse=not isinstance(X, np.ndarray), is_double=X.dtype == np.float64).empty()
    block = open_block(X, name=place)
    if form.n_features not in (0, block.n_features):
        raise DataError(
            f"{place} has {block.n_features:,} features; allowed: the {form.n_features:,} of the other partitions, or "
            "of the model."
        )
    return block


def _names(table: Table, form: Form) -> tuple[str, ...] | None:
    """Of the columns that features are numbered by."""
    return form.names if table.names is None or form.names is not None else tuple(table.names)


def _is_double(block: Block) -> bool:
    arrays = block.arrays()
    return bool(arrays.get("data", arrays.get("values")).dtype == np.float64)  # type: ignore[union-attr]


def _n_bytes(block: Block) -> int:
    """Bytes of a block in memory."""
    if block.is_sparse:
        rows = block.as_sparse()
        entries = int(rows.indptr[-1] - rows.indptr[0])
        return rows.indptr.nbytes + entries * (rows.indices.itemsize + rows.data.itemsize)
    return block.as_dense().values.nbytes


def _index_type(n_features: int) -> type[np.signedinteger[Any]]:
    return np.int32 if n_features < 2**31 else np.int64
