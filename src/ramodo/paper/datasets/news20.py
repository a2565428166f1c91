"""News20: LIBSVM's news20.binary, svmlight with classes 1 and -1."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...formats import svmlight
from .prepared import LabeledData
from .sources import SOURCES
from .two_classes import two_classes


def convert(files: Sequence[Path], seed: int) -> LabeledData:
    """Return the positive class goes down to 2 %."""
    (path,) = files
    table = svmlight.read(str(path), n_features=SOURCES["News20"].n_features)
    assert table.classes is not None  # as svmlight files have them
    return two_classes(str(path), table.X, table.classes, seed)
