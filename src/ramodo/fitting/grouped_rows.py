"""In how many groups of rows each feature occurs, so that the requests of one scan count once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..data.blocks import SparseRows
from ..data.rows import Rows
from ..model.rarity import Frequencies, count_features

Integers = npt.NDArray[np.int64]

_AT_ONCE = 4096
"""Maximum number of rows to merge at a time, unless one group has more."""


def frequencies_of_groups(rows: Rows, numbers: Integers, groups: Integers, n_threads: int) -> Frequencies:
    """Return in how many groups each feature is not zero, among the rows with these numbers."""
    order = numbers[np.argsort(groups[numbers], kind="stable")]
    begins = np.flatnonzero(np.diff(groups[order], prepend=-1))
    counts = (
        count_features(_merged(rows, order[first:end], starts), n_threads)
        for first, end, starts in _parts(begins, len(order))
    )
    return Frequencies.of(counts, len(begins), rows.n_features)


def _parts(begins: Integers, n: int) -> Iterator[tuple[int, int, Integers]]:
    """Yield whole groups at a time: first position, end, and where groups begin, counted from the first position."""
    first = 0
    while first < len(begins):
        last = max(first + 1, int(np.searchsorted(begins, begins[first] + _AT_ONCE, side="right")) - 1)
        last = len(begins) if n - begins[first] <= _AT_ONCE else last
        end = int(begins[last]) if last < len(begins) else n
        yield int(begins[first]), end, begins[first:last] - begins[first]
        first = last


def _merged(rows: Rows, numbers: Integers, starts: Integers) -> SparseRows:
    """Return a row for each group, with 1 for each feature that any of its rows has."""
    found = rows.take(numbers).as_sparse().without_zeros()
    ends = np.append(starts, len(numbers))
    ones = np.ones(len(found.indices), dtype=np.float32)
    merged = sp.csr_array((ones, found.indices, found.indptr[ends]), shape=(len(starts), rows.n_features))
    merged.sum_duplicates()
    return SparseRows(merged.indptr.astype(np.int64), merged.indices, merged.data, rows.n_features)
