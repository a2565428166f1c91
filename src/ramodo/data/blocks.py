"""Rows in memory: CSR arrays, or a dense matrix. Sparse data stays sparse, and users' arrays are never changed.

Rows may carry `factors`, one per row, which the kernels multiply in as they read: normalisation without a copy.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .. import kernels
from .distinct_numbers import distinct_numbers
from .folds import folds_of
from .mapped import refuse_changed
from .rows import Doubles, Integers, Rows, Show

T = TypeVar("T")
Shown = Callable[[npt.NDArray[Any], npt.NDArray[Any]], Doubles]
"""Converts the values of some columns, given both, to values as people know them."""

_SMALLEST = 1e-30
"""Rows with smaller values are not normalised: the kernels use single precision, which cannot represent them well."""

_BLOCK_ENTRIES = 1 << 24
"""Non-zeros (or dense values) per block: enough to keep threads busy, few enough for Ctrl-C and progress."""


_MOSTLY = 0.9
"""If a larger share of the rows is distinct, copying them costs more than it saves."""


class Distinct(NamedTuple):
    """Distinct rows, and the position of each row among them, which is None if all rows are distinct."""

    rows: Block
    places: Integers | None = None

    def each(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return a value for each row, given those of the distinct rows."""
        return values if self.places is None else values[self.places]


class Block(Rows):
    """Rows in memory."""

    is_sparse: ClassVar[bool]
    factors: Doubles | None

    @abstractmethod
    def part(self, begin: int, end: int) -> Self:
        """Return consecutive rows, sharing memory."""

    @abstractmethod
    def entries_before(self) -> Integers:
        """Return how many values are stored before each row, and before the end."""

    @abstractmethod
    def take(self, numbers: Integers) -> Self:
        """Return a copy of some rows, in the order given."""

    def in_memory(self) -> Self:
        return self

    def blocks(self) -> Iterator[Self]:
        """Yield consecutive rows, in order."""
        for begin, end in _cuts(self.entries_before()):
            self.refuse_changed()
            yield self.part(begin, end)
        self.refuse_changed()

    def refuse_changed(self) -> None:
        """Raise `ChangedError` if the rows are on disk and their file has been written to."""

    def map(self, function: Callable[[Block], T], show: Show | None = None) -> list[T]:
        results, done = [], 0
        for block in self.blocks():
            try:
                results.append(function(block))
            except ValueError:  # perhaps because the file has changed, which can be checked here
                self.refuse_changed()
                raise
            done += block.n_rows
            if show is not None:
                show(done, self.n_rows)
        return results

    def normalized(self, how: str | None, n_threads: int = 1) -> Self:
        """The same rows with factors that bring each to length 1 ("l2") or largest absolute value 1 ("max").

        Rows of zeros, or of values below 1e-30, are left unchanged.
        """
        if how is None:
            return self
        sizes = np.sqrt(self.squared_norms(n_threads)) if how == "l2" else self.largest_values(n_threads)
        return replace(self, factors=1 / np.where(sizes > _SMALLEST, sizes, 1.0))  # type: ignore[type-var]

    def without_factors(self) -> Self:
        """Return the rows before normalisation."""
        return replace(self, factors=None)  # type: ignore[type-var]

    def for_training(self, epochs: Integers, extra: Sequence[Block]) -> tuple[Block, Integers]:
        """See `Rows`. Nothing is copied if `extra` is empty; drawing most rows takes one copy instead of two."""
        if not extra:
            return self, epochs
        drawn = np.unique(epochs)
        if 2 * int((drawn < self.n_rows).sum()) > self.n_rows:
            return self.stacked(extra), epochs
        return super().for_training(epochs, extra)

    @abstractmethod
    def stacked(self, others: Sequence[Block]) -> Block:
        """Return these rows followed by the others, in this kind, sparse or dense."""

    @abstractmethod
    def matching(self, other: Block) -> Block:
        """Return `other`, made sparse or dense like these rows."""

    @abstractmethod
    def multiplied(self) -> Self:
        """Return the same rows with their factors multiplied in."""

    @abstractmethod
    def in_doubles(self) -> Self:
        """Return the same rows in double precision."""

    @abstractmethod
    def with_wide_indices(self) -> Self:
        """Return the same rows with features numbered in 64 bits, as in files."""

    @abstractmethod
    def to_matrix(self) -> Any:
        """Return the rows as a scipy or numpy matrix, each times its factor, for code outside this package."""

    @abstractmethod
    def as_sparse(self) -> SparseRows:
        """Return the non-zeros of the rows, with the same factors."""

    @abstractmethod
    def as_dense(self) -> DenseRows:
        """Return all values of the rows, with the same factors."""

    @abstractmethod
    def row(self, number: int) -> tuple[Integers | None, Doubles]:
        """Return features (None for all) and values of one row, times its factor."""

    @abstractmethod
    def content(self) -> bytes:
        """Return the non-zeros of the rows as bytes, without factors; sparse and dense rows give the same bytes."""

    def folds(self, n: int) -> Integers:
        return np.concatenate([folds_of(block.as_sparse(), n) for block in self.blocks()])

    def distinct(self, n_threads: int) -> Distinct:
        """Return the distinct rows, for work that depends on one row alone and costs more than finding equal rows."""
        first = kernels.first_equal(self, n_threads)
        own = np.arange(self.n_rows)
        if self.factors is not None:
            first = np.where(self.factors[first] == self.factors, first, own)
        numbers = np.flatnonzero(first == own)
        if len(numbers) > _MOSTLY * self.n_rows:
            return Distinct(self)
        return Distinct(self.take(numbers), np.searchsorted(numbers, first))

    @abstractmethod
    def features_and_largest(self) -> tuple[Integers, float]:
        """Return the features that occur, and the largest absolute value."""

    @abstractmethod
    def features(self) -> Integers:
        """Return the features that have stored values, in order."""

    @abstractmethod
    def slots(self, features: Integers) -> npt.NDArray[np.int32] | None:
        """Return the position of each stored value among sorted features; None if each row stores all of them."""

    @abstractmethod
    def tally(self, slots: Any, counts: Integers, sums: Doubles, shown: Shown) -> None:
        """Add to the counts and the sums of the non-zeros of the features at `slots`, without factors.

        In dense rows, `shown` says which values are zeros to the user.
        """

    @abstractmethod
    def moments(self) -> tuple[Integers, Doubles, Doubles]:
        """Return the features with the mean and mean square of each, over rows times their factors."""

    @abstractmethod
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays that a file must hold to restore the rows, without their factors."""


@dataclass(frozen=True)
class SparseRows(Block):
    """CSR arrays with sorted, unique indices. `indptr` may point into the middle of `indices` and `data`."""

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[Any]
    data: npt.NDArray[Any]
    width: int
    factors: Doubles | None = None
    is_sparse: ClassVar[bool] = True
    may_change: ClassVar[bool] = False
    """Whether others may write into the arrays while they are in use."""

    @classmethod
    def empty(cls, n_rows: int, n_features: int) -> SparseRows:
        """Return rows of zeros only."""
        return cls(np.zeros(n_rows + 1, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0), n_features)

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_features(self) -> int:
        return self.width

    def entries_before(self) -> Integers:
        return self.indptr - self.indptr[0]

    def part(self, begin: int, end: int) -> Self:
        factors = None if self.factors is None else self.factors[begin:end]
        return replace(self, indptr=self.indptr[begin : end + 1], factors=factors)

    def take(self, numbers: Integers) -> Self:
        lengths = (self.indptr[1:] - self.indptr[:-1])[numbers]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        entries = np.arange(indptr[-1]) + np.repeat(self.indptr[numbers] - indptr[:-1], lengths)
        factors = None if self.factors is None else self.factors[numbers]
        return replace(self, indptr=indptr, indices=self.indices[entries], data=self.data[entries], factors=factors)

    def stacked(self, others: Sequence[Block]) -> Block:
        parts = [self, *[other.as_sparse() for other in others]]
        own = [slice(int(part.indptr[0]), int(part.indptr[-1])) for part in parts]
        indptr = np.cumsum(np.concatenate([[0], *[np.diff(part.indptr) for part in parts]]), dtype=np.int64)
        indices = np.concatenate([part.indices[entries] for part, entries in zip(parts, own, strict=True)])
        data = np.concatenate([part.data[entries] for part, entries in zip(parts, own, strict=True)])
        return SparseRows(indptr, indices, data, self.width, _all_factors([self, *others]))

    def matching(self, other: Block) -> Block:
        return other.as_sparse()

    def multiplied(self) -> Self:
        if self.factors is None:
            return self
        start, stop = int(self.indptr[0]), int(self.indptr[-1])
        factors = np.repeat(self.factors, self.indptr[1:] - self.indptr[:-1])
        data = (self.data[start:stop] * factors).astype(self.data.dtype)
        return replace(self, indptr=self.indptr - start, indices=self.indices[start:stop], data=data, factors=None)

    def without_zeros(self) -> Self:
        """Return the same rows without stored zeros, which can change the last bits of sums."""
        return self.selected(self.data[self.indptr[0] : self.indptr[-1]] != 0)

    def selected(self, there: npt.NDArray[np.bool_]) -> Self:
        """Return the same rows with some of their stored values."""
        start, stop = int(self.indptr[0]), int(self.indptr[-1])
        before = np.concatenate([[0], np.cumsum(there, dtype=np.int64)])
        indices, data = self.indices[start:stop][there], self.data[start:stop][there]
        return replace(self, indptr=before[self.indptr - start], indices=indices, data=data)

    def in_doubles(self) -> Self:
        return replace(self, data=self.data.astype(np.float64, copy=False))

    def with_wide_indices(self) -> Self:
        return replace(self, indices=self.indices.astype(np.int64))

    def to_csr(self) -> sp.csr_array:
        """Return the rows as a scipy array, without their factors; shares memory if indptr starts at 0."""
        start, stop = int(self.indptr[0]), int(self.indptr[-1])
        arrays = (self.data[start:stop], self.indices[start:stop], self.indptr - start)
        return sp.csr_array(arrays, shape=(self.n_rows, self.n_features))

    def to_matrix(self) -> Any:
        matrix = sp.csr_matrix(self.to_csr())
        if self.factors is not None:
            matrix.data = matrix.data * np.repeat(self.factors, np.diff(matrix.indptr)).astype(matrix.dtype)
        return matrix

    def as_sparse(self) -> SparseRows:
        return self

    def as_dense(self) -> DenseRows:
        return DenseRows(self.to_csr().toarray(), self.factors)

    def row(self, number: int) -> tuple[Integers | None, Doubles]:
        entries = slice(self.indptr[number], self.indptr[number + 1])
        return self.indices[entries], self.data[entries] * (1.0 if self.factors is None else self.factors[number])

    def content(self) -> bytes:
        entries = slice(self.indptr[0], self.indptr[-1])
        columns, values = self.indices[entries], self.data[entries]
        there = values != 0
        lengths = self.lengths()
        return lengths.tobytes() + columns[there].astype(np.int64).tobytes() + values[there].astype(float).tobytes()

    def squared_norms(self, n_threads: int = 1) -> Doubles:
        return kernels.squared_norms(self, n_threads)

    def largest_values(self, n_threads: int = 1) -> Doubles:
        return kernels.largest_values(self, n_threads)

    def lengths(self) -> Integers:
        stored, values = self.indptr[1:] - self.indptr[:-1], self.data[self.indptr[0] : self.indptr[-1]]
        if np.count_nonzero(values) == len(values):
            return stored
        zeros = np.flatnonzero(values == 0) + self.indptr[0]
        return stored - np.bincount(np.searchsorted(self.indptr, zeros, "right") - 1, minlength=self.n_rows)

    def features_and_largest(self) -> tuple[Integers, float]:
        entries = slice(self.indptr[0], self.indptr[-1])
        values = self.data[entries]
        indices = self.indices[entries]
        seen = _distinct(indices if values.all() else indices[values != 0], self.n_features)
        return seen, _largest(values)

    def features(self) -> Integers:
        return _distinct(self.indices[self.indptr[0] : self.indptr[-1]], self.n_features)

    def slots(self, features: Integers) -> npt.NDArray[np.int32] | None:
        return np.searchsorted(features, self.indices[self.indptr[0] : self.indptr[-1]]).astype(np.int32)

    def tally(self, slots: Any, counts: Integers, sums: Doubles, shown: Shown) -> None:
        own = slice(self.indptr[0], self.indptr[-1])
        np.add.at(counts, slots, self.data[own] != 0)
        np.add.at(sums, slots, self.data[own])

    def moments(self) -> tuple[Integers, Doubles, Doubles]:
        columns, sums, squares = kernels.moments(self)
        return columns, sums / self.n_rows, squares / self.n_rows

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {"indptr": self.indptr, "indices": self.indices.astype(np.int64), "data": self.data}


@dataclass(frozen=True)
class MappedRows(SparseRows):
    """Rows of a folder on disk: the arrays are memory-mapped and read as they are used."""

    may_change: ClassVar[bool] = True

    def refuse_changed(self) -> None:
        refuse_changed(self.indices, self.data)

    def take(self, numbers: Integers) -> SparseRows:  # type: ignore[override]
        taken = super().take(numbers)
        self.refuse_changed()
        return SparseRows(taken.indptr, taken.indices, taken.data, taken.width, taken.factors)


_MARKED = 32
"""With at most this many features per stored value, marking those that occur is faster than sorting the values."""


def _largest(values: npt.NDArray[Any]) -> float:
    """Return the largest absolute value, without copying the values."""
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))


def _distinct(indices: npt.NDArray[Any], n_features: int) -> Integers:
    """Return each feature once, in order."""
    if n_features > _MARKED * len(indices):
        return distinct_numbers(indices).astype(np.int64)
    marks = np.zeros(n_features, dtype=bool)
    marks[indices] = True
    return np.flatnonzero(marks)


@dataclass(frozen=True)
class DenseRows(Block):
    """A C-ordered float32 or float64 matrix, possibly mapped from a file."""

    values: npt.NDArray[Any]
    factors: Doubles | None = None
    is_sparse: ClassVar[bool] = False

    @property
    def n_rows(self) -> int:
        return int(self.values.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.values.shape[1])

    def refuse_changed(self) -> None:
        refuse_changed(self.values)

    def entries_before(self) -> Integers:
        return np.arange(self.n_rows + 1, dtype=np.int64) * self.n_features

    def part(self, begin: int, end: int) -> Self:
        return replace(
            self, values=self.values[begin:end], factors=None if self.factors is None else self.factors[begin:end]
        )

    def take(self, numbers: Integers) -> Self:
        return replace(
            self, values=self.values[numbers], factors=None if self.factors is None else self.factors[numbers]
        )

    def stacked(self, others: Sequence[Block]) -> Block:
        values = [other.as_dense().values for other in others]
        return DenseRows(np.vstack([self.values, *values]), _all_factors([self, *others]))

    def matching(self, other: Block) -> Block:
        return other.as_dense()

    def multiplied(self) -> Self:
        if self.factors is None:
            return self
        return replace(self, values=(self.values * self.factors[:, None]).astype(self.values.dtype), factors=None)

    def in_doubles(self) -> Self:
        return replace(self, values=self.values.astype(np.float64, copy=False))

    def with_wide_indices(self) -> Self:
        return self

    def to_matrix(self) -> Any:
        return self.multiplied().values

    def as_sparse(self) -> SparseRows:
        numbers, columns = np.nonzero(self.values)
        indptr = np.searchsorted(numbers, np.arange(self.n_rows + 1)).astype(np.int64)
        values = self.values[numbers, columns]
        return SparseRows(indptr, columns.astype(np.int64), values, self.n_features, self.factors)

    def as_dense(self) -> DenseRows:
        return self

    def row(self, number: int) -> tuple[Integers | None, Doubles]:
        return None, self.values[number] * (1.0 if self.factors is None else self.factors[number])

    def content(self) -> bytes:
        return self.as_sparse().content()

    def squared_norms(self, n_threads: int = 1) -> Doubles:
        return np.concatenate([np.einsum("ij,ij->i", b.values, b.values, dtype=np.float64) for b in self.blocks()])

    def largest_values(self, n_threads: int = 1) -> Doubles:
        return np.concatenate([np.abs(b.values).max(axis=1).astype(np.float64) for b in self.blocks()])

    def lengths(self) -> Integers:
        return np.concatenate([np.count_nonzero(block.values, axis=1) for block in self.blocks()])

    def features_and_largest(self) -> tuple[Integers, float]:
        return np.flatnonzero(self.values.any(axis=0)), _largest(self.values)

    def features(self) -> Integers:
        return np.arange(self.n_features)

    def slots(self, features: Integers) -> npt.NDArray[np.int32] | None:
        return None

    def tally(self, slots: Any, counts: Integers, sums: Doubles, shown: Shown) -> None:
        columns = np.broadcast_to(np.arange(self.n_features), self.values.shape)
        is_there = shown(columns.ravel(), self.values.ravel()).reshape(self.values.shape) != 0
        counts += is_there.sum(axis=0)
        sums += self.values.sum(axis=0, dtype=np.float64, where=is_there)

    def moments(self) -> tuple[Integers, Doubles, Doubles]:
        sums, squares = np.zeros(self.n_features), np.zeros(self.n_features)
        for block in self.blocks():
            values = block.values if block.factors is None else block.values * block.factors[:, None]
            sums += values.sum(axis=0, dtype=np.float64)
            squares += np.einsum("ij,ij->j", values, values, dtype=np.float64)
        return np.arange(self.n_features), sums / self.n_rows, squares / self.n_rows

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {"values": self.values}


def _all_factors(parts: Sequence[Block]) -> Doubles | None:
    if all(part.factors is None for part in parts):
        return None
    return np.concatenate([np.ones(part.n_rows) if part.factors is None else part.factors for part in parts])


def _cuts(entries: Integers) -> Iterator[tuple[int, int]]:
    """Row ranges of about `_BLOCK_ENTRIES` each, given the entries before each row."""
    n_rows = len(entries) - 1
    if n_rows <= 0 or entries[-1] <= _BLOCK_ENTRIES:
        yield 0, n_rows
        return
    n_blocks = int(entries[-1] // _BLOCK_ENTRIES) + 1
    cuts = np.unique(np.searchsorted(entries, np.linspace(0, entries[-1], n_blocks + 1)[1:-1]))
    edges = [0, *[int(c) for c in cuts if 0 < c < n_rows], n_rows]
    yield from pairwise(edges)
