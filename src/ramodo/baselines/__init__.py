"""The representations that the paper compares REPEN with (section 6.4), as scikit-learn transformers.

Each takes sparse and dense rows to `n_components` columns. Where one cannot run it says why: `ConstraintError` where
the data break a condition of the method, `MemoryLimitError` where it would need more memory than it may have.
"""

from .ae import AE
from .cop import CoP
from .hlle import HLLE
from .limits import ConstraintError, MemoryLimitError
from .srp import SRP

__all__ = ["AE", "HLLE", "SRP", "ConstraintError", "CoP", "MemoryLimitError"]
