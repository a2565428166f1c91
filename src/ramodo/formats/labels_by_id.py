"""Labels in a separate table, matched with the rows of the data by id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..files.spreadsheets import unguard
from . import tabular
from .classes import Classes, is_text, shown
from .table import FormatError, Table


class LabelsById(NamedTuple):
    """Labels in the order of their file, and the number of the row of each, which is -1 if no row has the id."""

    ids: Sequence[str]
    rows: npt.NDArray[np.int64]
    labels: Classes


def read_labels(path: str, table: Table, *, id: str | None = None, label: str | None = None) -> LabelsById:
    """Read labels from the column `label`, matched by the column id, or the one that names the rows of the data.

    A file of one column has a label for each row, in order. Ids may be guarded as in the output of `ramodo detect -o`.
    """
    n = table.X.shape[0]
    ids, labels = tabular.read_labels(path, ["id"] if id is None else ["id", id], label)
    if ids is None:
        if len(labels) != n:
            raise FormatError(
                f"{path} has no column id, so it must have one label for each of the {n:,} rows, got {len(labels):,}."
            )
        return LabelsById([table.id_of(row) for row in range(n)], np.arange(n), labels)
    places = {table.id_of(row): row for row in range(n)}
    rows = [places.get(given, places.get(unguard(given), -1)) for given in ids]
    return LabelsById(ids, np.array(rows, dtype=np.int64), labels)


def read_known_labels(path: str, table: Table) -> dict[int, int]:
    """Return known labels by row number: 1 outlier, -1 inlier, 0 unknown. Refuse ids that no row has."""
    found = read_labels(path, table)
    if is_text(found.labels):
        words = ", ".join(map(shown, np.unique(found.labels)[:10]))
        raise FormatError(f"{path}: labels must be 1 (outlier), -1 (inlier) or 0 (unknown), got {words}.")
    for id, row, label in zip(*found, strict=True):
        if row < 0:
            first = ", ".join(repr(table.id_of(i)) for i in range(min(3, table.X.shape[0])))
            raise FormatError(
                f"{path}: no row of the data has the id {id!r}; their ids are {first}, ... Name their column with "
                "--id, or remove this label."
            )
        if label not in (-1, 0, 1):
            raise FormatError(
                f"{path}: the label of {id!r} must be 1 (outlier), -1 (inlier) or 0 (unknown), got {label:g}."
            )
    return {int(row): int(label) for row, label in zip(found.rows, found.labels, strict=True)}
