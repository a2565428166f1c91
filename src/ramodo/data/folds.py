"""The fold of a row, by a hash of its content: the same at any position and in every process.

The columns and values of the non-zeros are hashed, in single precision, so equal rows share a fold whether they are
sparse or dense, and whatever their dtype.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .blocks import SparseRows

Hashes = npt.NDArray[np.uint64]


_AT_ONCE = 1 << 20
"""Entries that are hashed at a time."""


def folds_of(rows: SparseRows, n: int) -> npt.NDArray[np.int64]:
    """Return a number from 0 to n - 1 for each row, ignoring its factor."""
    cuts = np.searchsorted(rows.indptr, np.arange(rows.indptr[0], rows.indptr[-1], _AT_ONCE))
    ends = np.unique(np.append(cuts, len(rows.indptr) - 1)).tolist()
    hashes = [_of_rows(rows, first, end) for first, end in pairwise([0, *ends])]
    return ((_mixed(np.concatenate(hashes)) >> np.uint64(32)) % np.uint64(n)).astype(np.int64)


def _of_rows(rows: SparseRows, first: int, end: int) -> Hashes:
    """Return the sum of the hashes of the entries of each row, modulo 2^64."""
    begin, until = int(rows.indptr[first]), int(rows.indptr[end])
    entries = _of_entries(rows.indices[begin:until], rows.data[begin:until])
    before = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries, dtype=np.uint64)])
    return np.diff(before[rows.indptr[first : end + 1] - begin])


def _of_entries(columns: npt.NDArray[Any], values: npt.NDArray[Any]) -> Hashes:
    """Return a hash of each column with its value; 0 for a value of 0, which may be stored or not."""
    with np.errstate(over="ignore", under="ignore"):
        single = values.astype(np.float32)
    hashes = _mixed(_mixed(columns.astype(np.uint64)) + single.view(np.uint32))
    hashes[single == 0] = 0
    return hashes


def _mixed(numbers: Hashes) -> Hashes:
    """Mix the bits so that each depends on all (the finaliser of SplitMix64)."""
    x = numbers + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))
