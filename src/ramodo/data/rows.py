"""Rows: the interface through which the whole package sees data.

It has two verbs: `map` a function over blocks of rows, in order, and `take` some rows into memory. There is a class
for each place where data can live:

    SparseRows, DenseRows   in memory                                      blocks.py
    MappedRows              in a folder on disk, read as it is used        blocks.py, over arrays of mapped.py
    DaskRows                in partitions of a Dask collection             ramodo.engines.dask_rows

Everything else is derived from these two, so a new engine has nothing more to implement. Mapped functions must be
picklable, so that they can run where the blocks are.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import methodcaller
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from .distinct_numbers import distinct_numbers

if TYPE_CHECKING:
    from .blocks import Block

T = TypeVar("T")
Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Show = Callable[[int, int], None]
"""Called with the number of rows done so far and the number of all rows."""

_FINGERPRINTED = 1000
"""Number of rows in a fingerprint."""


@dataclass(frozen=True)
class Facts:
    """The results of one pass over the data: how many features occur, and the largest absolute value."""

    n_seen: int
    largest: float


@dataclass(frozen=True)
class TrainingRows:
    """The rows that triplets refer to, a few epochs at a time.

    parts : rows in memory, with epochs whose triplets are positions among them
    n_entries : number of stored values in all parts; -1 if there is one part
    """

    parts: Iterator[tuple[Block, Integers]]
    n_entries: int = -1


class Rows(ABC):
    """A sequence of rows, wherever they are stored."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of columns, including those that never occur."""

    @abstractmethod
    def map(self, function: Callable[[Block], T], show: Show | None = None) -> list[T]:
        """Return the results of `function` for each block of consecutive rows, in order."""

    @abstractmethod
    def take(self, numbers: Integers) -> Block:
        """Return a copy of some rows in memory, in the order given."""

    def in_memory(self) -> Block:
        """Return all rows, in memory."""
        return self.take(np.arange(self.n_rows))

    # ---- derived -------------------------------------------------------------------------------------------------

    def gather(self, function: Callable[[Block], npt.NDArray[Any]], show: Show | None = None) -> npt.NDArray[Any]:
        """Return the results of `map`, concatenated."""
        results = self.map(function, show)
        return results[0] if len(results) == 1 else np.concatenate(results)

    def squared_norms(self, n_threads: int = 1) -> Doubles:
        """Return the sum of squares of each row, before normalisation."""
        return self.gather(methodcaller("squared_norms", n_threads))

    def largest_values(self, n_threads: int = 1) -> Doubles:
        """Return the largest absolute value of each row, before normalisation."""
        return self.gather(methodcaller("largest_values", n_threads))

    def lengths(self) -> Integers:
        """Non-zeros of each row."""
        return self.gather(methodcaller("lengths"))

    def folds(self, n: int) -> Integers:
        """Return the fold of each row, one of `n`, by a hash of its content before normalisation; see folds.py."""
        return self.gather(methodcaller("folds", n))

    def facts(self) -> Facts:
        """Return how many features occur in any block, and the largest absolute value."""
        found = self.map(methodcaller("features_and_largest"))
        seen = distinct_numbers(np.concatenate([columns for columns, _ in found]))
        return Facts(len(seen), max(largest for _, largest in found))

    def normalized(self, how: str | None, n_threads: int = 1) -> Rows:
        """Return the rows with length 1 ("l2") or largest absolute value 1 ("max"); see `Block.normalized`."""
        return self if how is None else NormalizedRows(self, how, n_threads)

    def fingerprint(self) -> str:
        """Return a checksum of the size and some evenly spaced rows, to tell data sets apart."""
        numbers = np.unique(np.linspace(0, self.n_rows - 1, min(self.n_rows, _FINGERPRINTED)).astype(np.int64))
        code = zlib.crc32(self.take(numbers).content(), zlib.crc32(f"{self.n_rows} {self.n_features}".encode()))
        return f"{self.n_rows}x{self.n_features}-{code:08x}"

    def for_training(self, epochs: Integers, extra: Sequence[Block]) -> tuple[Block, Integers]:
        """Return the rows that triplets refer to, in memory, and the triplets as positions among them.

        In `epochs`, the rows of `extra` have the numbers from `n_rows` up.
        """
        drawn = np.unique(epochs)
        own = drawn[drawn < self.n_rows]
        renumbered = np.where(epochs < self.n_rows, np.searchsorted(own, epochs), epochs - self.n_rows + len(own))
        taken = self.take(own)
        return taken.stacked(extra) if extra else taken, renumbered

    def epochs_at_once(self, epochs: Integers) -> int:
        """Return how many epochs' rows are taken into memory together."""
        return len(epochs)

    def training_rows(self, epochs: Integers, extra: Sequence[Block]) -> TrainingRows:
        """Return the rows of all epochs. How many epochs are taken together does not change what is learned."""
        n = self.epochs_at_once(epochs)
        parts = (self.for_training(epochs[first : first + n], extra) for first in range(0, len(epochs), n))
        if n >= len(epochs):
            return TrainingRows(parts)
        drawn = np.unique(epochs)
        of_extra = sum(int(block.entries_before()[-1]) for block in extra)
        return TrainingRows(parts, int(self.lengths()[drawn[drawn < self.n_rows]].sum()) + of_extra)

    def learned_attributes(self) -> dict[str, Any]:
        """Attributes that a fitted detector keeps of how the rows were read, such as `feature_names_in_`."""
        return {}

    def traffic(self) -> str:
        """Return how much data has been moved so far, in words; empty for local rows."""
        return ""


@dataclass(frozen=True)
class NormalizedRows(Rows):
    """Rows whose blocks are normalised where they are stored."""

    rows: Rows
    how: str
    n_threads: int = 1

    @property
    def n_rows(self) -> int:
        return self.rows.n_rows

    @property
    def n_features(self) -> int:
        return self.rows.n_features

    def map(self, function: Callable[[Block], T], show: Show | None = None) -> list[T]:
        return self.rows.map(_OfNormalized(function, self.how, self.n_threads), show)

    def take(self, numbers: Integers) -> Block:
        return self.rows.take(numbers).normalized(self.how, self.n_threads)

    # Properties of the rows before normalisation, which `rows` may know without another pass.

    def squared_norms(self, n_threads: int = 1) -> Doubles:
        return self.rows.squared_norms(n_threads)

    def largest_values(self, n_threads: int = 1) -> Doubles:
        return self.rows.largest_values(n_threads)

    def lengths(self) -> Integers:
        return self.rows.lengths()

    def folds(self, n: int) -> Integers:
        return self.rows.folds(n)

    def epochs_at_once(self, epochs: Integers) -> int:
        return self.rows.epochs_at_once(epochs)

    def learned_attributes(self) -> dict[str, Any]:
        return self.rows.learned_attributes()

    def traffic(self) -> str:
        return self.rows.traffic()


@dataclass(frozen=True)
class _OfNormalized:
    """Normalises a block, then calls the function with it."""

    function: Callable[[Block], Any]
    how: str
    n_threads: int

    def __call__(self, block: Block) -> Any:
        return self.function(block.normalized(self.how, self.n_threads))
