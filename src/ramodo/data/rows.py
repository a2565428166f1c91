"""Rows: all that any part of the package may ask of data.

Two verbs carry everything: `map` a function over blocks of rows, in order, and `take` some rows into memory. Each place
where data can live implements these two:

    SparseRows, DenseRows   in memory                                      blocks.py
    MappedRows              in a folder on disk, read as it is used        blocks.py, over arrays of mapped.py

All else is derived from them, so that an engine that keeps blocks elsewhere has nothing more to write. Functions that
are mapped can be pickled: they may run where the blocks are.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import methodcaller
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .blocks import Block

T = TypeVar("T")
Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Show = Callable[[int, int], None]
"""Takes the rows that are done, and all of them."""

_FINGERPRINTED = 1000
"""Rows that a fingerprint looks at."""


@dataclass(frozen=True)
class Facts:
    """What one pass over the data tells: how many features occur, and the largest absolute value."""

    n_seen: int
    largest: float


class Rows(ABC):
    """A sequence of rows, wherever they are."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Rows in all."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Columns, most of which may never occur."""

    @abstractmethod
    def map(self, function: Callable[[Block], T], show: Show | None = None) -> list[T]:
        """`function` of each block of consecutive rows, in order."""

    @abstractmethod
    def take(self, numbers: Integers) -> Block:
        """A copy of some rows in memory, in the order given."""

    def in_memory(self) -> Block:
        """All of them, in memory."""
        return self.take(np.arange(self.n_rows))

    # ---- derived -------------------------------------------------------------------------------------------------

    def gather(self, function: Callable[[Block], npt.NDArray[Any]], show: Show | None = None) -> npt.NDArray[Any]:
        """What `map` gives, one below the other."""
        results = self.map(function, show)
        return results[0] if len(results) == 1 else np.concatenate(results)

    def squared_norms(self, n_threads: int = 1) -> Doubles:
        """Sum of squares of each row, before normalisation."""
        return self.gather(methodcaller("squared_norms", n_threads))

    def largest_values(self, n_threads: int = 1) -> Doubles:
        """Largest absolute value of each row, before normalisation."""
        return self.gather(methodcaller("largest_values", n_threads))

    def lengths(self) -> Integers:
        """Non-zeros of each row."""
        return self.gather(methodcaller("lengths"))

    def facts(self) -> Facts:
        """Features that occur in any block, and the largest absolute value of all."""
        found = self.map(methodcaller("features_and_largest"))
        seen = np.unique(np.concatenate([columns for columns, _ in found]))
        return Facts(len(seen), max(largest for _, largest in found))

    def normalized(self, how: str | None, n_threads: int = 1) -> Rows:
        """The rows with length 1 ("l2") or largest absolute value 1 ("max"); see `Block.normalized`."""
        return self if how is None else NormalizedRows(self, how, n_threads)

    def fingerprint(self) -> str:
        """A checksum of the size and of evenly spaced rows: tells one data set from another."""
        numbers = np.unique(np.linspace(0, self.n_rows - 1, min(self.n_rows, _FINGERPRINTED)).astype(np.int64))
        code = zlib.crc32(self.take(numbers).content(), zlib.crc32(f"{self.n_rows} {self.n_features}".encode()))
        return f"{self.n_rows}x{self.n_features}-{code:08x}"

    def for_training(self, epochs: Integers, extra: Sequence[Block]) -> tuple[Block, Integers]:
        """In memory, the rows that triplets name, and the same triplets as places in them.

        Triplets count the rows of `extra` on from `n_rows`.
        """
        drawn = np.unique(epochs)
        own = drawn[drawn < self.n_rows]
        renumbered = np.where(epochs < self.n_rows, np.searchsorted(own, epochs), epochs - self.n_rows + len(own))
        return self.take(own).stacked(extra), renumbered


@dataclass(frozen=True)
class NormalizedRows(Rows):
    """Rows elsewhere, each block of which is normalised where it is."""

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


@dataclass(frozen=True)
class _OfNormalized:
    """A function of normalised blocks, as one of blocks."""

    function: Callable[[Block], Any]
    how: str
    n_threads: int

    def __call__(self, block: Block) -> Any:
        return self.function(block.normalized(self.how, self.n_threads))
