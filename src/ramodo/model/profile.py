"""A compact profile of the training rows, with which every scoring compares (insight/drift.py).

It describes a sample of them, drawn by the seed of the fit, feature by feature: in how many rows a feature is, and how
its values are distributed, at a few knots. Where features are too many, the most frequent are described. Which features
occur at all is kept as a bitmap, in which some share a bit. Its size is bounded whatever the data.

What is new to a training row is counted as if the model had been fitted without it: new rows meet rare features, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from ..data.blocks import Block, SparseRows
from ..data.rows import Rows
from .rarity import count_features
from .saved import Saved, require

if TYPE_CHECKING:
    from ..formats.schema import Schema

Integers = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]

SAMPLED = 4096
"""Rows of the sample at most."""

_MOST_ENTRIES = 1 << 23
"""Values in it at most: of rows that are long, fewer are taken."""

_KNOTS, _FEWEST_KNOTS, _OF_ALL = 32, 3, 1 << 15
"""Knots of a feature: at most, at least, and of all features together."""

_BITS = 1 << 20
"""Of the bitmap at most."""

_AT_ONCE = 1 << 17
"""Values that are compared with knots together."""

_LARGEST = float(np.finfo(np.float32).max)

_SHARES = np.linspace(0, 1, 33)[:-1].astype(np.float32)
"""Knots of the share of a row's features that are new."""


def sample_of(rows: Rows, seed: Any) -> tuple[SparseRows, Integers]:
    """Rows at random, in order and without factors, and their numbers; all of them where they are not too many."""
    n = min(rows.n_rows, SAMPLED)
    first = np.sort(np.random.default_rng(seed).choice(rows.n_rows, n, replace=False))
    if rows.n_rows == 0:
        return SparseRows.empty(0, rows.n_features), first
    mean = max(1.0, float(rows.take(first[:: max(1, n // 16)]).lengths().mean()))
    if n * mean > _MOST_ENTRIES:
        first = first[:: int(np.ceil(n * mean / _MOST_ENTRIES))]
    taken = rows.take(first)
    return taken.without_factors().as_sparse().without_zeros(), first


@dataclass(frozen=True)
class Bits:
    """Bits for features: one each where there are no more than bits, else by a hash."""

    n: int

    @classmethod
    def of(cls, n_seen: int, n_features: int) -> Self:
        """Eight bits for each feature that occurs, and no more than there are features."""
        return cls(min(n_features, _BITS, max(1 << 10, 1 << int(8 * n_seen).bit_length())))

    def places(self, features: npt.NDArray[Any], n_features: int) -> Integers:
        """The bit of each feature."""
        if n_features <= self.n:
            return features.astype(np.int64)
        mixed = features.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        return np.asarray((mixed >> np.uint64(20)) % np.uint64(self.n), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Profile:
    """What a model keeps of its training rows.

    n_rows : of the sample
    n_features : of the training data
    columns : the features that are described, in order
    present : in how many rows of the sample each is not zero
    rest : the largest such number of a feature that is not described
    knots, below : for each described feature, some values in order, and how many rows have at most these
    seen : the bitmap of the features that occur in any training row
    n_bits : its length
    fresh : how many rows of the sample have at most these shares of features that no other training row has
    unknown : how many have features, and none that any other training row has
    absent : for each column of categories, how many have none that any other training row has
    """

    n_rows: int
    n_features: int
    columns: Integers
    present: Counts
    rest: int
    knots: Floats
    below: Counts
    seen: npt.NDArray[np.uint8]
    n_bits: int
    fresh: Counts
    unknown: int
    absent: Counts

    @classmethod
    def of(cls, rows: Rows, seed: Any, schema: Schema | None, n_threads: int) -> Self:
        """The profile of training rows; the same for any number of threads, and wherever the rows are."""
        sample, _ = sample_of(rows, seed)
        found = rows.map(partial(_counted, n_threads=n_threads))
        bits = Bits.of(_distinct([columns for columns, _ in found]), rows.n_features)
        of_bits = np.zeros(bits.n, dtype=np.int64)
        for columns, counts in found:
            of_bits += np.bincount(bits.places(columns, rows.n_features), counts, bits.n).astype(np.int64)
        described, present, rest = _most_frequent(*count_features(sample, n_threads))
        knots = _knots(sample, described)
        is_new = of_bits[bits.places(sample.indices, rows.n_features)] <= 1
        shares = new_shares(sample, is_new)
        return cls(
            sample.n_rows,
            rows.n_features,
            described,
            present,
            rest,
            knots,
            below(sample, described, knots),
            np.packbits(of_bits > 0),
            bits.n,
            at_most(shares, _SHARES),
            int((shares == 1).sum()),
            absent(sample.selected(~is_new), ranges_of(schema)),
        )

    def is_new(self, features: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Whether no training row has a feature; a few in a hundred that are new are not recognised as such."""
        places = Bits(self.n_bits).places(features, self.n_features)
        return np.asarray((self.seen[places >> 3] >> (7 - (places & 7))) & 1 == 0)

    @property
    def fresh_knots(self) -> Floats:
        """The shares that `fresh` counts rows for."""
        return _SHARES

    # ---- in a model file -----------------------------------------------------------------------------------------

    def facts(self) -> dict[str, Any]:
        """The numbers to save, ready for JSON."""
        return {name: getattr(self, name) for name in _FACTS}

    def tensors(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays to save."""
        return {f"{PREFIX}{name}": getattr(self, name) for name in _ARRAYS}

    @classmethod
    def read(cls, facts: Any, tensors: dict[str, npt.NDArray[Any]], n_features: int) -> Self:
        """The profile in a model file, whose arrays are taken out of `tensors`; raises if it is not sound."""
        saved = Saved(facts, tensors, n_features, 0, PREFIX)
        numbers: dict[str, Any] = {name: saved.integer(name, 0, high) for name, high in _FACTS.items()}
        saved.finish()
        columns = saved.features("columns")
        arrays: dict[str, Any] = {
            name: saved.array(name, kind, ndim) for name, (kind, ndim) in _ARRAYS.items() if name != "columns"
        }
        n, shape = numbers["n_rows"], arrays["knots"].shape
        fine = len(columns) == len(arrays["present"]) == shape[0] and arrays["below"].shape == shape
        fine = fine and shape[0] * shape[1] <= max(_OF_ALL, shape[0] * _FEWEST_KNOTS) and shape[1] <= _KNOTS
        fine = fine and len(arrays["fresh"]) == len(_SHARES) and len(arrays["absent"]) <= _OF_ALL
        fine = fine and 0 < numbers["n_bits"] <= _BITS and len(arrays["seen"]) == (numbers["n_bits"] + 7) // 8
        fine = fine and max(numbers["rest"], numbers["unknown"]) <= n
        for name in ("present", "below", "fresh", "absent"):
            each = arrays[name]
            fine = fine and (each.size == 0 or bool(each.min() >= 0 and each.max() <= n))
        knots = arrays["knots"]
        fine = fine and shape[1] >= _FEWEST_KNOTS and bool((knots == 0).any(axis=1).all())
        require(bool(fine), "its profile of the training rows is not sound")
        return cls(columns=columns, **numbers, **arrays, n_features=n_features)


PREFIX = "profile."
"""What the names of its arrays begin with."""

_FACTS = {"n_rows": SAMPLED, "rest": SAMPLED, "n_bits": _BITS, "unknown": SAMPLED}
"""Its numbers, and the largest that each may be."""

_ARRAYS = {
    "columns": ("int64", 1),
    "present": ("int32", 1),
    "knots": ("float32", 2),
    "below": ("int32", 2),
    "seen": ("uint8", 1),
    "fresh": ("int32", 1),
    "absent": ("int32", 1),
}


# ---- counts of rows, of the sample and of rows to compare ------------------------------------------------------------


def below(rows: SparseRows, columns: Integers, knots: Floats) -> Counts:
    """For each of these features, how many rows have at most the value of each of its knots."""
    places, values = _entries(rows, columns)
    n_knots = knots.shape[1]
    counts = np.zeros(len(columns) * (n_knots + 1), dtype=np.int64)
    for start in range(0, len(places), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        bins = (values[part, None] > knots[places[part]]).sum(axis=1)
        counts += np.bincount(places[part] * (n_knots + 1) + bins, minlength=len(counts))
    counts = counts.reshape(len(columns), n_knots + 1)
    zeros = rows.n_rows - counts.sum(axis=1, keepdims=True)
    return np.asarray(counts.cumsum(axis=1)[:, :-1] + zeros * (knots >= 0), dtype=np.int32)


def at_most(values: npt.NDArray[Any], knots: npt.NDArray[Any]) -> Counts:
    """How many values are at most each knot."""
    return np.searchsorted(np.sort(values.astype(knots.dtype)), knots, "right").astype(np.int32)


def new_shares(rows: SparseRows, is_new: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """The share of each row's features that are new; 0 for a row without any."""
    before = np.concatenate([[0], np.cumsum(is_new)])
    lengths = np.diff(rows.indptr)
    return np.diff(before[rows.indptr - rows.indptr[0]]) / np.maximum(1, lengths)


def absent(rows: SparseRows, ranges: Sequence[tuple[int, int]]) -> Counts:
    """How many rows have no feature of each range."""
    if not ranges:
        return np.zeros(0, dtype=np.int32)
    starts, ends = np.array(ranges, dtype=np.int64).T
    place = np.searchsorted(starts, rows.indices, "right") - 1
    fits = (place >= 0) & (rows.indices < ends[place])
    numbers = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
    pairs = np.unique(place[fits] * rows.n_rows + numbers[fits])
    return (rows.n_rows - np.bincount(pairs // max(1, rows.n_rows), minlength=len(ranges))).astype(np.int32)


def ranges_of(schema: Schema | None) -> list[tuple[int, int]]:
    """The first feature of each column of one category a row, and the first after it."""
    return [] if schema is None else [(begin, end) for _, begin, end in schema.ranges("category")][:_OF_ALL]


def _counted(block: Block, n_threads: int) -> tuple[Integers, npt.NDArray[Any]]:
    """The features of a block of rows, and in how many of them each is not zero."""
    if block.is_sparse:
        return count_features(block, n_threads)
    counts = np.count_nonzero(block.as_dense().values, axis=0)
    return np.flatnonzero(counts), counts[counts > 0]


def _distinct(parts: list[Integers]) -> int:
    """How many different features there are."""
    if len(parts) == 1:
        return len(parts[0])
    ordered = np.sort(np.concatenate(parts))
    return int(np.count_nonzero(np.diff(ordered))) + (len(ordered) > 0)


def _most_frequent(columns: Integers, counts: npt.NDArray[Any]) -> tuple[Integers, Counts, int]:
    """The features to describe, in order, in how many rows each is, and the largest such number of all others."""
    order = np.argsort(-counts, kind="stable")
    kept = np.sort(order[: _OF_ALL // _FEWEST_KNOTS])
    rest = counts[order[len(kept) :]]
    return columns[kept].astype(np.int64), counts[kept].astype(np.int32), int(rest.max(initial=0))


def _entries(rows: SparseRows, columns: Integers) -> tuple[Integers, Floats]:
    """The values of some features in rows, in single precision, and the place of each among these features."""
    if len(columns) == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
    places = np.minimum(np.searchsorted(columns, rows.indices), len(columns) - 1)
    fits = columns[places] == rows.indices
    return places[fits], np.clip(rows.data[fits], -_LARGEST, _LARGEST).astype(np.float32)


def _knots(rows: SparseRows, columns: Integers) -> Floats:
    """Zero and, of the values of each feature that are not zero, evenly spaced quantiles."""
    n_knots = int(np.clip(_OF_ALL // max(1, len(columns)), _FEWEST_KNOTS, _KNOTS))
    places, values = _entries(rows, columns)
    ordered = values[np.lexsort((values, places))]
    counts = np.bincount(places, minlength=len(columns))
    starts = np.cumsum(counts) - counts
    levels = (np.arange(n_knots - 1) + 0.5) / (n_knots - 1)
    taken = ordered[starts[:, None] + np.floor(levels * counts[:, None]).astype(np.int64)]
    return np.sort(np.hstack([taken, np.zeros((len(columns), 1), dtype=np.float32)]), axis=1)
