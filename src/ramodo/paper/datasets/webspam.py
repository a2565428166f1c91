"""Webspam: LIBSVM's normalised trigrams, svmlight with classes 1 and -1; larger than most memories, so kept on disk.

    Webspam-v1-seed0.rows       the set, with 1 for outliers in classes.npy
    Webspam-v1-seed0-pool.rows  the pool

The file is read twice, a block at a time: for the classes, from which rows are drawn, and for the rows themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ...formats import FormatError, folder, svmlight
from ...formats.byte_streams import Show
from ...threads import n_cores
from .downsampling import downsampled
from .prepared import LabeledData
from .sources import SOURCES
from .two_classes import refuse_other_classes


def convert(files: Sequence[Path], seed: int, place: Path, show: Show | None = None) -> None:
    """The smaller class goes down to 2 %. The set is moved into place last: if it exists, the pool does too."""
    (path,) = files
    classes, smallest = _classes(path, show)
    refuse_other_classes(str(path), classes)
    rare = 1 if np.count_nonzero(classes == 1) < np.count_nonzero(classes == -1) else -1
    is_kept = np.zeros(len(classes), dtype=bool)
    is_kept[downsampled(classes == rare, seed, str(path))[0]] = True
    shift, width = svmlight.shift_of(str(path), smallest, None), SOURCES["Webspam"].n_features
    with (
        folder.writing(set_folder(place)) as ours,
        folder.writing(pool_folder(place)) as others,
        folder.FolderWriter(ours) as kept,
        folder.FolderWriter(others) as pool,
    ):
        for rows, labels, chosen in _chosen_rows(path, is_kept, shift, width, show):
            _add(kept, rows[chosen], labels[chosen] == rare)
            _add(pool, rows[~chosen], None)
        kept.finish(width)
        pool.finish(width)


def load(place: Path) -> LabeledData:
    """Return both folders, mapped from disk."""
    found, pool = folder.read(str(set_folder(place))), folder.read(str(pool_folder(place)))
    assert found.classes is not None  # as `convert` writes them
    return LabeledData(found.X, found.classes.astype(np.int8), pool.X, str(set_folder(place)))


def set_folder(place: Path) -> Path:
    """Return the folder of the set itself."""
    return place.with_name(place.name + ".rows")


def pool_folder(place: Path) -> Path:
    """Return the folder of the rows that downsampling left out."""
    return place.with_name(place.name + "-pool.rows")


def _classes(path: Path, show: Show | None) -> tuple[npt.NDArray[np.float64], int]:
    """Return the class of each row, and the smallest index, which says where indices begin."""
    classes, smallest = [], []
    for block in _blocks(path, show):
        classes.append(block.labels)
        if block.smallest >= 0:
            smallest.append(block.smallest)
    if not smallest:
        raise FormatError(f"{path} has no rows.")
    return np.concatenate(classes), min(smallest)


def _chosen_rows(
    path: Path, is_kept: npt.NDArray[np.bool_], shift: int, width: int, show: Show | None
) -> Iterator[tuple[sp.csr_array, npt.NDArray[np.float64], npt.NDArray[np.bool_]]]:
    """Yield the rows of each block, their classes, and which of them are kept."""
    begin = 0
    for block in _blocks(path, show):
        end = begin + len(block.labels)
        if block.largest - shift >= width:
            raise FormatError(f"a feature of {path} must be from 0 to {width - 1:,}, got {block.largest - shift:,}.")
        rows = sp.csr_array((end - begin, width), dtype=np.float32)
        rows.data, rows.indices, rows.indptr = block.data.astype(np.float32), block.indices - shift, block.indptr
        yield rows, block.labels, is_kept[begin:end]
        begin = end


def _blocks(path: Path, show: Show | None) -> Iterator[svmlight.Block]:
    return svmlight.blocks(str(path), n_threads=n_cores(), show=show)


def _add(writer: folder.FolderWriter, rows: sp.csr_array, is_outlier: npt.NDArray[np.bool_] | None) -> None:
    writer.add(rows.indptr, rows.indices, rows.data, is_outlier)
