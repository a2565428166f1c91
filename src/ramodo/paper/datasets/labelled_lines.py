"""Read tables without a header, as in UCI and ARFF files: numbers, with `?` for missing ones, and a class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import IO

import numpy as np
import numpy.typing as npt

from ...formats import FormatError

_LONGEST_LINE = 1 << 24
_LINES_AT_ONCE = 256

Floats = npt.NDArray[np.float32]


def read_lines(path: str, stream: IO[bytes], n_columns: int, class_at: int = -1) -> tuple[Floats, list[str]]:
    """`n_columns` numbers of each line, NaN where missing, and its class; a comma at the end of a line is ignored."""
    lines, blocks, classes = _lines(path, stream), list[Floats](), list[str]()
    while some := list(islice(lines, _LINES_AT_ONCE)):
        parts = [_parted(line, class_at) for line in some]
        blocks.append(_numbers(path, [numbers for numbers, _ in parts], n_columns, len(classes)))
        classes += [label for _, label in parts]
    if not blocks:
        raise FormatError(f"{path} has no rows.")
    return np.concatenate(blocks), classes


def _lines(path: str, stream: IO[bytes]) -> Iterator[str]:
    while line := stream.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE:
            raise FormatError(f"{path}: a line is longer than {_LONGEST_LINE:,} bytes.")
        text = line.decode("latin-1").strip().removesuffix(",")
        if text and not text.startswith("%"):  # ARFF's comments
            yield text


def _parted(line: str, class_at: int) -> tuple[str, str]:
    """Return the numbers of a line, and its class."""
    if class_at == -1:
        numbers, _, label = line.rpartition(",")
        return numbers, label.strip()
    cells = line.split(",")
    label = cells.pop(class_at) if class_at < len(cells) else ""
    return ",".join(cells), label.strip()


def _numbers(path: str, lines: Sequence[str], n_columns: int, first: int) -> Floats:
    for row, line in enumerate(lines, first + 1):
        found = line.count(",") + 1
        if found != n_columns:
            raise FormatError(
                f"{path}, row {row}: there must be {n_columns:,} numbers in addition to the class, got {found:,}."
            )
    try:
        return np.loadtxt([line.replace("?", "nan") for line in lines], np.float32, delimiter=",", ndmin=2)
    except ValueError as error:
        rows = f"rows {first + 1} to {first + len(lines)}"
        raise FormatError(f"{path}, {rows}: values must be numbers or ?, got: {str(error).rstrip('.')}.") from None


def fill(values: Floats) -> None:
    """Replace missing values, in place, by the mean of their column, or by 0 if it is empty."""
    rows, columns = np.nonzero(np.isnan(values))
    values[rows, columns] = 0
    counts = len(values) - np.bincount(columns, minlength=values.shape[1])
    means = values.sum(axis=0, dtype=np.float64) / np.maximum(counts, 1)
    values[rows, columns] = means[columns]


def scale(values: Floats) -> None:
    """Scale each column to 0..1, in place; a constant column becomes 0."""
    low, high = values.min(axis=0), values.max(axis=0)
    values -= low
    values /= np.where(high > low, high - low, np.float32(1))
