"""AD: UCI's ad.data, `height, width, ratio, local, 1554 x 0/1, ad.|nonad.`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from ...formats import FormatError
from .labelled_lines import read_lines
from .prepared import LabeledData

_MEASURES, _COLUMNS = 3, 1558


def convert(files: Sequence[Path], seed: int) -> LabeledData:
    """Advertisements are outliers; the three measures go, as they do in the paper's 1,555 features."""
    (path,) = files
    with open(path, "rb") as stream:
        values, classes = read_lines(str(path), stream, _COLUMNS)
    unknown = sorted(set(classes) - {"ad.", "nonad."})
    if unknown:
        raise FormatError(f"a class of {path} must be 'ad.' or 'nonad.', got {unknown[0]!r}.")
    X = sp.csr_array(np.nan_to_num(values[:, _MEASURES:]))
    return LabeledData(X, np.array([label == "ad." for label in classes], dtype=np.int8), None)
