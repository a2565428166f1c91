"""Tests of whether two samples of rows are alike, for many features at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]

MATTERS = 0.05
"""The least difference of shares that is reported."""

_RARE, _TIMES = 0.01, 3.0
"""That of what is rare, and how many times as many, or as few, rows that needs."""


def bound(apart: Doubles, n: int, n_known: int) -> Doubles:
    """At least the chance that two samples of one distribution are so far apart."""
    return np.minimum(1.0, 3.0 * np.exp(-2.0 * (n * n_known / (n + n_known)) * apart**2))


def chance(now: npt.NDArray[Any], n: int, known: npt.NDArray[Any], n_known: int) -> Doubles:
    """The chance of so different shares, given how many rows have it altogether, or lack it if those are fewer."""
    from scipy.special import betainc

    flip = 2 * (now + known) > n + n_known
    some = np.where(flip, n - now, now).astype(np.float64)
    total = some + np.where(flip, n_known - known, known)
    q = n / (n + n_known)
    up = np.where(some > 0, betainc(np.maximum(some, 1), total - some + 1, q), 1.0)
    down = np.where(total > some, 1.0 - betainc(some + 1, np.maximum(total - some, 1), q), 1.0)
    return np.minimum(1.0, 2.0 * np.minimum(up, down))


def matters(share: Doubles, known: Doubles, n_known: int) -> npt.NDArray[np.bool_]:
    """Whether a difference of shares is large enough to be worth a word."""
    difference, low, high = np.abs(share - known), np.minimum(share, known), np.maximum(share, known)
    return (difference >= MATTERS) | ((difference >= _RARE) & (high >= _TIMES * np.maximum(low, 1 / n_known)))
