"""A partition: consecutive rows as a task gets them, and as a block in memory.

A partition is a matrix, a data frame, or a file that is read where the task runs. One look at each partition (`look`)
finds what a fit must know about all rows. `Form` holds what all partitions share, so that their blocks fit together as
parts of one matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ..data.blocks import Block, DenseRows, SparseRows
from ..data.validation import DataError, open_block
from ..formats.classes import Classes
from ..formats.format import How
from ..formats.schema import Schema
from ..formats.table import Table
from . import tables

Integers = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Form:
    """The properties that the blocks of all partitions share; None allows any value."""

    n_features: int = 0
    """0 if it is not known yet."""
    schema: Schema | None = None
    """The features, if partitions are tables or have names."""
    is_sparse: bool | None = None
    is_double: bool | None = None
    how: How | None = None
    """How files are read."""

    @classmethod
    def of_model(cls, model: Any) -> Self:
        """Return the form that a fitted detector expects of rows."""
        schema = Schema.of_model(model)
        return cls(model.n_features_in_, None if schema.n_features is None else schema)

    def empty(self) -> Block:
        """No rows of this form."""
        kind = np.float64 if self.is_double else np.float32
        if self.is_sparse:
            empty = SparseRows.empty(0, self.n_features)
            return replace(
                empty, indices=empty.indices.astype(_index_type(self.n_features)), data=empty.data.astype(kind)
            )
        return DenseRows(np.empty((0, self.n_features), dtype=kind))


@dataclass(frozen=True, kw_only=True)
class Seen:
    """The results of a look at a partition."""

    n_rows: int
    n_features: int
    is_sparse: bool
    is_double: bool
    n_bytes: int
    largest: float
    features: Integers
    """The features that occur, in order."""
    lengths: Integers
    squared_norms: Doubles
    schema: Schema
    """The schema that numbers the features."""
    takes_width: bool
    """A later partition may have more columns."""
    ids: tuple[str, ...] | None
    classes: Classes | None

    @property
    def n_entries(self) -> int:
        """Non-zeros."""
        return int(self.lengths.sum())


@dataclass(frozen=True)
class Partition:
    """The source of rows (a task's result or a loader), its name in messages, and its number of rows if known."""

    source: Any
    place: str
    n_rows: int | None = None


def look(source: Any, place: str, form: Form) -> Seen:
    """Read a partition once and return what is found. `form` is what is already known about all partitions."""
    table = _table(source, place, form)
    block = _opened(table, place, form)
    features, largest = block.features_and_largest()
    return Seen(
        n_rows=block.n_rows,
        n_features=block.n_features,
        is_sparse=block.is_sparse,
        is_double=_is_double(block),
        n_bytes=_n_bytes(block),
        largest=largest,
        features=features,
        lengths=block.lengths(),
        squared_norms=block.squared_norms(),
        schema=form.schema or table.schema,
        takes_width=getattr(source, "takes_width", False),
        ids=None if table.ids is None else tuple(table.ids),
        classes=table.classes,
    )


def block_of(source: Any, place: str, form: Form) -> Block:
    """Return a partition as a block of the common form; raises `DataError` if it does not have that form."""
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
        return tables.of_frame(source, place, form.schema)
    return Table(source)


def _opened(table: Table, place: str, form: Form) -> Block:
    X = table.X
    known = form.schema
    if known is not None and known.n_features is not None and table.schema.n_features is not None:
        X = tables.aligned(table, known, place)
    if X.shape[0] == 0:  # fine for one of many partitions
        width = form.n_features or X.shape[1]
        return Form(width, is_sparse=not isinstance(X, np.ndarray), is_double=X.dtype == np.float64).empty()
    block = open_block(X, name=place)
    if form.n_features not in (0, block.n_features):
        raise DataError(
            f"{place} must have the {form.n_features:,} features of the other partitions or of the model, got "
            f"{block.n_features:,}."
        )
    return block


def _is_double(block: Block) -> bool:
    arrays = block.arrays()
    return bool(arrays.get("data", arrays.get("values")).dtype == np.float64)  # type: ignore[union-attr]


def _n_bytes(block: Block) -> int:
    """Return the bytes of a block in memory."""
    if block.is_sparse:
        rows = block.as_sparse()
        entries = int(rows.indptr[-1] - rows.indptr[0])
        return rows.indptr.nbytes + entries * (rows.indices.itemsize + rows.data.itemsize)
    return block.as_dense().values.nbytes


def _index_type(n_features: int) -> type[np.signedinteger[Any]]:
    return np.int32 if n_features < 2**31 else np.int64
