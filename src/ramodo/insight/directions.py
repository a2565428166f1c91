"""What the axes of a map mean: the features that correlate with a direction."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..data.blocks import Block

Doubles = npt.NDArray[np.float64]

_RARE = 0.02
"""Minimum share of rows that must have a feature for it to name an axis."""


def ends_of(block: Block, along: Doubles) -> tuple[int | None, int | None]:
    """Return the features that correlate most with the low end of a coordinate of rows, and with its high end."""
    rows = block.as_sparse()
    columns, places = np.unique(rows.indices, return_inverse=True)
    if not len(columns) or np.ptp(along) == 0:
        return None, None
    n, values = rows.n_rows, rows.data.astype(np.float64)
    lengths = np.diff(rows.indptr)
    centred = along - along.mean()
    products = np.bincount(places, values * np.repeat(centred, lengths), len(columns))
    sums, squares = (np.bincount(places, each, len(columns)) for each in (values, values**2))
    spread = np.sqrt(np.maximum(squares - sums**2 / n, 0.0))
    counts = np.bincount(places, values != 0, len(columns))
    fine = (counts >= _RARE * n) & (spread > 1e-9 * np.sqrt(squares))
    correlations = np.where(fine, products / np.where(fine, spread, 1.0), 0.0)
    low, high = int(correlations.argmin()), int(correlations.argmax())
    return (
        int(columns[low]) if correlations[low] < 0 else None,
        int(columns[high]) if correlations[high] > 0 else None,
    )
