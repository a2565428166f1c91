"""Memory limits of baselines, and the errors if one cannot run."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ...constraints import Real
from ...options import Option

DEFAULT_MEMORY = 8e9

MEMORY_LIMIT = Option(
    "memory_limit", DEFAULT_MEMORY, (Real(0, above=True),), "-", "Bytes that the method may use in addition to X."
)


class ConstraintError(ValueError):
    """The data violate a condition of the method: the paper's mark ◦."""


class MemoryLimitError(MemoryError):
    """The method would need more memory than allowed: the paper's mark •."""


def refuse_beyond(limit: float, needed: float, what: str) -> None:
    """Raise before memory is allocated, since an allocation may succeed and be fatal later."""
    MEMORY_LIMIT.refuse_unless_allowed(limit)
    if needed > limit:
        raise MemoryLimitError(f"{what} needs {needed / 1e9:,.1f} GB, more than memory_limit={limit / 1e9:,.1f} GB.")


def dense(X: Any, limit: float, dtype: npt.DTypeLike, what: str) -> npt.NDArray[Any]:
    """X as an array, if that is within the limit."""
    refuse_beyond(limit, float(X.shape[0]) * X.shape[1] * np.dtype(dtype).itemsize, f"{what}: X as a dense array")
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=dtype)
