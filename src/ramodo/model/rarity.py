"""How rare the features of a row are: shared with few training rows, or with none.

The weight of a feature is -ln of the share of training rows that have it, and a row's score is the mean weight of its
features. A variant counts only features that no other row has: their weight is 1, all others' 0. Only whether a value
is zero matters. A mean over few features is unreliable, so `PRIOR` features of ordinary rarity are added to each row;
in the variant these are shared features, so that all rows without a feature of their own score 0.

The score splits exactly, since a mean is a sum over features. A feature that no training row has counts as if half a
row had it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..data.blocks import Block, SparseRows
from .parts import Doubles, Integers, Part, View
from .saved import Saved, require
from .terms import Scores, Tensors, Term

PRIOR = 5
"""Features of ordinary rarity that are added to each row."""

_NEVER = 0.5
"""Rows that have a feature which no training row has."""

Counts = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Frequencies:
    """For each feature that occurs, in how many of `n_rows` training rows it is not zero."""

    columns: Integers
    counts: Counts
    n_rows: int
    n_features: int

    @classmethod
    def of(cls, blocks: Iterable[tuple[Integers, Counts]], n_rows: int, n_features: int) -> Frequencies:
        """Add up the counts of blocks of rows."""
        found = list(blocks)
        if len(found) == 1:
            return cls(*found[0], n_rows, n_features)
        columns, places = np.unique(np.concatenate([columns for columns, _ in found]), return_inverse=True)
        counts = np.bincount(places, np.concatenate([counts for _, counts in found]), len(columns)).astype(np.int32)
        return cls(columns, counts, n_rows, n_features)

    def without(self, columns: Integers, counts: Counts, n_rows: int) -> Frequencies:
        """Return the counts without some rows, which have these counts in these columns."""
        left = self.counts.copy()
        left[np.searchsorted(self.columns, columns)] -= counts
        return Frequencies(self.columns[left > 0], left[left > 0], self.n_rows - n_rows, self.n_features)


def count_features(block: Block, n_threads: int) -> tuple[Integers, Counts]:
    """Return the features of a block of rows, in order, and in how many of the rows each is not zero."""
    return kernels.count_features(block.as_sparse(), n_threads)


@dataclass(frozen=True)
class Rarity(Term):
    """The mean weight of a row's features by how few training rows have them; 0 for a row without features.

    unshared : count only features that at most one training row has
    """

    frequencies: Frequencies
    unshared: bool
    kind: ClassVar[str] = "rarity"

    def _weights_of(self, counts: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        if self.unshared:
            return (counts <= 1).astype(np.float32)
        return np.log(self.frequencies.n_rows / counts).astype(np.float32)

    @cached_property
    def _kernel(self) -> kernels.FeatureWeights:
        """The kernel that sums weights, created on first use."""
        seen = self.frequencies
        never = float(self._weights_of(np.array([_NEVER]))[0])
        return kernels.FeatureWeights(seen.columns, self._weights_of(seen.counts), seen.n_features, never)

    @cached_property
    def ordinary(self) -> float:
        """Weight of the added features: the mean over all features of all rows, or that of a shared feature."""
        counts = self.frequencies.counts
        if self.unshared or len(counts) == 0:
            return 0.0
        return float(np.average(self._weights_of(counts), weights=counts))

    @property
    def is_of_few(self) -> bool:
        """Whether only few rows have features of their own."""
        return self.unshared and int((self.frequencies.counts == 1).sum()) < self.frequencies.n_rows

    def __reduce__(self) -> Any:
        return Rarity, (self.frequencies, self.unshared)

    def score(self, block: Block, n_threads: int, normalize: str | None = None) -> Scores:
        rows = block.as_sparse()
        n = rows.lengths()
        mean = (self._kernel.sums(rows, n_threads) + PRIOR * self.ordinary) / (n + PRIOR)
        return np.where(n > 0, mean, 0.0)

    def parts(self, weight: float, normalize: str | None) -> list[Part]:
        return [RarityPart(self._kernel, self.ordinary, self.frequencies.n_features, weight)]

    def facts(self) -> dict[str, Any]:
        return {"n_rows": self.frequencies.n_rows, "unshared": self.unshared}

    def tensors(self) -> Tensors:
        return {"columns": self.frequencies.columns, "counts": self.frequencies.counts}

    @classmethod
    def read(cls, saved: Saved, inner: tuple[Term, ...]) -> Rarity:
        n_rows, unshared = saved.integer("n_rows", 1, 2**31 - 1), saved.flag("unshared")
        columns, counts = saved.features("columns"), saved.array("counts", "int32", 1)
        fine = len(columns) == len(counts) and (len(counts) == 0 or 0 < counts.min() <= counts.max() <= n_rows)
        require(bool(fine), f"counts of features are not one for each, from 1 to {n_rows}")
        return cls(Frequencies(columns, counts, n_rows, saved.n_features), unshared)

    def __str__(self) -> str:
        return "features that no other row has" if self.unshared else "rare features"


class RarityPart(Part):
    """A sum of weights over the features that a row has, without references.

    Each feature gets its weight and its share of the ordinary features that were added.
    """

    projection = None

    def __init__(self, weights: kernels.FeatureWeights, ordinary: float, n_features: int, weight: float) -> None:
        self.presence, self._ordinary, self._weight = weights, ordinary, weight
        self.references, self.as_given = SparseRows.empty(0, n_features), None
        self.numbers = np.empty(0, dtype=np.int64)

    def view(self, block: Block) -> View:
        n = np.maximum(block.lengths(), 1)
        each = self._weight / (n + PRIOR)
        p: Doubles = np.stack([each, each * PRIOR * self._ordinary / n], axis=1)
        nothing = np.empty((block.n_rows, 0))
        return View(p, np.ones(block.n_rows), nothing.astype(np.int64), nothing, nothing)
