"""Text as numbers: the distinct values of a column, in order, and those that each row has.

Empty text is missing: CSV files cannot tell the two apart.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class Coded(NamedTuple):
    """Pairs of a row and the position of its value in `texts`, in order of rows, and the rows without a value."""

    rows: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int64]
    texts: list[str]
    gaps: npt.NDArray[np.bool_]


def of_column(values: Any) -> Coded:
    """Return the categories of a pyarrow array with one text per row, or a value that becomes text."""
    codes, texts = _coded(values)
    gaps = codes < 0
    rows = np.flatnonzero(~gaps)
    return Coded(rows, codes if len(rows) == len(codes) else codes[rows], texts, gaps)


def of_sets(values: Any) -> Coded:
    """Return the categories of an array of lists of texts; each row has each of its texts once."""
    import pyarrow as pa
    import pyarrow.compute as pc

    gaps = np.asarray(values.is_null())
    if pa.types.is_null(values.type):
        nothing = np.empty(0, dtype=np.int64)
        return Coded(nothing, nothing, [], gaps)
    lengths = np.asarray(pc.fill_null(pc.list_value_length(values), 0)).astype(np.int64)
    codes, texts = _coded(pc.list_flatten(values))
    rows = np.repeat(np.arange(len(gaps)), lengths)
    there = codes >= 0
    pairs = np.unique(rows[there] * len(texts) + codes[there])
    rows, codes = np.divmod(pairs, max(len(texts), 1))
    return Coded(rows, codes, texts, gaps)


def _coded(values: Any) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return for each value its position among the sorted texts that occur, or -1 if it is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_null(values.type):
        values = values.cast(pa.string())
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    if isinstance(values, pa.ChunkedArray):
        values = values.unify_dictionaries().combine_chunks()
    given = [None if each is None or each == "" else str(each) for each in values.dictionary.to_pylist()]
    numbers = np.asarray(pc.fill_null(values.indices.cast(pa.int64()), len(given)))
    there = np.bincount(numbers, minlength=len(given) + 1) > 0
    texts = sorted({text for text, is_used in zip(given, there.tolist(), strict=False) if is_used and text})
    place = {text: number for number, text in enumerate(texts)}
    return np.array([*(place.get(text or "", -1) for text in given), -1])[numbers], texts
