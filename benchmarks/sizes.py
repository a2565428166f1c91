"""How large a benchmark is: as published or, with RAMODO_TINY=1, so small that a test can run it.

A tiny run shows that a benchmark works; its figures mean nothing.
"""

from __future__ import annotations

import os
from typing import TypeVar

import numpy as np

from ramodo.datasets import make_ultrahigh
from ramodo.paper.datasets import LabeledData, load_prepared

IS_TINY = os.environ.get("RAMODO_TINY", "") not in ("", "0")

_T = TypeVar("_T")
_POOL = 90


def sized(full: _T, tiny: _T) -> _T:
    """The one of the two that is asked for."""
    return tiny if IS_TINY else full


def load(name: str) -> LabeledData:
    """A prepared set; in a tiny run a generated one of 210 rows, with a pool, whatever the name."""
    if not IS_TINY:
        return load_prepared(name)
    X, y = make_ultrahigh(300, 2000, row_length=20, outlier_fraction=(_POOL + 10) / 300, random_state=0)
    outliers = np.flatnonzero(y)
    kept = np.setdiff1d(np.arange(300), outliers[:_POOL])
    return LabeledData(X[kept], y[kept], X[outliers[:_POOL]], "generated")
