"""Sets with the classes 1 and -1, whose positive class is reduced to 2 %."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ...data.validation import refuse_indices
from ...formats import FormatError
from .downsampling import downsampled
from .prepared import LabeledData


def two_classes(name: str, X: sp.csr_array, classes: npt.NDArray[np.float64], seed: int) -> LabeledData:
    """Return the rows of both classes, their truth, and the pool."""
    refuse_other_classes(name, classes)
    refuse_indices(X.indices, X.shape[1], name)
    kept, pool = downsampled(classes == 1, seed, name)
    X = sp.csr_array((X.data.astype(np.float32), X.indices.astype(np.int32), X.indptr), shape=X.shape)
    return LabeledData(X[kept], (classes[kept] == 1).astype(np.int8), X[pool])


def refuse_other_classes(name: str, classes: npt.NDArray[np.float64]) -> None:
    """Raise for a class other than 1 and -1."""
    unknown = np.setdiff1d(classes, [-1, 1])
    if len(unknown):
        raise FormatError(f"a class of {name} must be 1 or -1, got {unknown[0]:g}.")
