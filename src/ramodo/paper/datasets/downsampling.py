"""Turn one class into the outliers: 2 % of the rows, as in section 6.1."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...formats import FormatError

SHARE = 0.02

Rows = npt.NDArray[np.int64]


def downsampled(is_outlier: npt.NDArray[np.bool_], seed: int, name: str) -> tuple[Rows, Rows]:
    """Return the rows to keep, in order, with 2 % outliers, and the pool of the other outliers."""
    outliers, n_inliers = np.flatnonzero(is_outlier), int(np.count_nonzero(~is_outlier))
    n = round(n_inliers * SHARE / (1 - SHARE))
    if not 1 <= n <= len(outliers):
        raise FormatError(
            f"{name} must have enough outliers for a share of 2 %, got {len(outliers):,}, and {n_inliers:,} inliers."
        )
    drawn = np.random.default_rng(seed).choice(outliers, n, replace=False)
    is_drawn = ~is_outlier
    is_drawn[drawn] = True
    return np.flatnonzero(is_drawn), np.flatnonzero(~is_drawn)
