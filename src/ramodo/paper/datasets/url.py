"""URL: UCI's url_svmlight.tar.gz, one svmlight file a day, with class 1 for malicious ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from ...formats import svmlight
from .archives import files_in_tar
from .prepared import LabeledData
from .sources import SOURCES
from .two_classes import two_classes

_WEEK = [f"Day{day}.svm" for day in range(7)]
_MOST_BYTES = 1 << 29


def convert(files: Sequence[Path], seed: int) -> LabeledData:
    """Malicious URLs of the first week go down to 2 %."""
    (path,) = files
    texts = files_in_tar(path, _WEEK, _MOST_BYTES)
    days = []
    for name in _WEEK:
        text = np.frombuffer(texts.pop(name), dtype=np.uint8)
        days.append(svmlight.parse(f"{path}, {name}", text, 0, zero_based=True))
    width = SOURCES["URL"].n_features
    indices = np.concatenate([day.X.indices for day in days])
    shift = svmlight.shift_of(str(path), int(indices.min(initial=1)), None)
    lengths = np.concatenate([np.diff(day.X.indptr) for day in days])
    X = sp.csr_array((len(lengths), width), dtype=np.float32)
    X.data = np.concatenate([day.X.data.astype(np.float32) for day in days])
    X.indices, X.indptr = indices - shift, np.concatenate([[0], np.cumsum(lengths)])
    classes = np.concatenate([day.classes for day in days if day.classes is not None])
    return two_classes(str(path), X, classes, seed)
