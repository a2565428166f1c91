"""OT: the RSCTC challenge's OvarianTumour as an ARFF file, with its classes in `Decision`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import numpy as np

from ...formats import FormatError
from .labelled_lines import fill, read_lines, scale
from .prepared import LabeledData
from .sources import SOURCES

_CLASS = "decision"


def convert(files: Sequence[Path], seed: int) -> LabeledData:
    """The largest class, and the one that together with it has the paper's number of rows; others are dropped."""
    (path,) = files
    with open(path, "rb") as stream:
        n_attributes, class_at = _header(path, stream)
        values, classes = read_lines(str(path), stream, n_attributes - 1, class_at)
    inlier, outlier = _two_classes(path, Counter(classes))
    kept = np.array([label in (inlier, outlier) for label in classes])
    y = np.array([label == outlier for label in classes], dtype=np.int8)[kept]
    values = values[kept]
    fill(values)
    scale(values)
    return LabeledData(values, y, None)


def _header(path: Path, stream: IO[bytes]) -> tuple[int, int]:
    """Return how many attributes there are, and which is the class."""
    names: list[str] = []
    for line in stream:
        words = line.decode("latin-1").split(None, 2)
        keyword = words[0].lower() if words else ""
        if keyword == "@attribute" and len(words) > 1:
            names.append(words[1].strip("'\"").lower())
        elif keyword == "@data":
            if names.count(_CLASS) != 1:
                raise FormatError(f"{path} must have one attribute named Decision, got {names.count(_CLASS)}.")
            return len(names), names.index(_CLASS)
    raise FormatError(f"{path} is not an ARFF file: it has no line @data.")


def _two_classes(path: Path, counts: Counter[str]) -> tuple[str, str]:
    """Return the classes of inliers and of outliers."""
    ((inlier, most), *others), wanted = counts.most_common(), SOURCES["OT"].n_rows
    fitting = [label for label, count in others if most + count == wanted]
    if len(fitting) != 1:
        shown = ", ".join(f"{label}: {count}" for label, count in counts.most_common())
        raise FormatError(f"{path} must have a class that makes {wanted} rows with the largest, got {shown}.")
    return inlier, fitting[0]
