"""The representations that the paper compares REPEN with (section 6.4), as scikit-learn transformers.

Each maps sparse and dense rows to `n_components` columns. If one cannot run, it says why: `ConstraintError` if the data
violate a condition of the method, `MemoryLimitError` if it would need more memory than allowed.
"""

from .ae import AE
from .cop import CoP
from .hlle import HLLE
from .limits import ConstraintError, MemoryLimitError
from .srp import SRP

__all__ = ["AE", "HLLE", "SRP", "ConstraintError", "CoP", "MemoryLimitError"]
