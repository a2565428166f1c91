"""LC: scikit-feature's lung.mat, X of 203 x 3,312 and Y of 1 to 5."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...formats import FormatError
from .labelled_lines import scale
from .prepared import LabeledData

_INLIERS, _OUTLIERS = 1, 5


def convert(files: Sequence[Path], seed: int) -> LabeledData:
    """Class 5 against class 1; the other three go."""
    import scipy.io

    (path,) = files
    try:
        arrays = scipy.io.loadmat(path, variable_names=["X", "Y"])
        X, classes = np.asarray(arrays["X"], dtype=np.float32), np.asarray(arrays["Y"], dtype=np.float64).ravel()
        if X.ndim != 2 or len(classes) != len(X) or not np.isfinite(X).all():
            raise ValueError(f"X has shape {X.shape} and Y {classes.shape}")
    except FileNotFoundError:
        raise
    except Exception as error:  # scipy raises many kinds of errors
        raise FormatError(f"{path} is not a MATLAB file with X and Y: {str(error).rstrip('.')}.") from None
    if not {_INLIERS, _OUTLIERS} <= set(classes):
        raise FormatError(f"{path} must have the classes 1 and 5, got {sorted(set(classes))}.")
    kept = np.isin(classes, (_INLIERS, _OUTLIERS))
    X = X[kept]
    scale(X)
    return LabeledData(X, (classes[kept] == _OUTLIERS).astype(np.int8), None)
