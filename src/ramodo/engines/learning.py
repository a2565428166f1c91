"""What must be learned from all files before the first is read: how numbers are scaled, what replaces missing ones, and
how many documents contain each token.

Counts of documents are added up exactly. Scales and means are those of a table of all rows or, if there are more rows
than `SAMPLE`, of that many rows spread evenly over all files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from dask.delayed import delayed

from ..formats import FormatError, How, Schema, Table
from ..formats.assembling import assembled
from ..formats.frequencies import DocumentFrequencies
from . import serialization
from .dask_runner import current_runner

SAMPLE = 1 << 17
"""Maximum number of rows to learn scales from: their quantiles are right to a few thousandths of the rows."""


class Readable(Protocol):
    """A file that can be read in more than one way."""

    @property
    def path(self) -> str:
        """Its name in messages."""

    def read(self, how: How) -> Table:
        """Return its rows."""


def with_frequencies(files: Sequence[Readable], how: How) -> How:
    """Return `how` with the number of documents in all files that contain each token."""
    found = _of_each(files, _frequencies, [how] * len(files))
    columns, places = np.unique(np.concatenate([one.columns for one in found]), return_inverse=True)
    documents = np.zeros(len(columns), dtype=np.int64)
    np.add.at(documents, places, np.concatenate([one.documents for one in found]))
    n_documents = sum(one.n_documents for one in found)
    merged = DocumentFrequencies(columns, documents.astype(np.int32), n_documents, found[0].n_features)
    return replace(how, frequencies=merged)


def with_scales(files: Sequence[Readable], how: How) -> How:
    """Return `how` with scales, means and first days, learned as if from one table of all rows."""
    import pyarrow

    sizes = _of_each(files, _n_rows, [how] * len(files))
    starts, step = np.cumsum([0, *sizes]), -(-sum(sizes) // SAMPLE)
    rows = [replace(how, plain=slice(int(-start % step), None, step)) for start in starts[:-1]]
    tables = _of_each(files, _plain, rows)
    try:
        whole = pyarrow.concat_tables(tables, promote_options="permissive")
    except pyarrow.ArrowException as error:
        raise FormatError(
            f"all files must have the same columns of the same kinds; {files[0].path} and the files after it differ: "
            f"{str(error).rstrip('.')}."
        ) from None
    try:
        place = f"{files[0].path} and the files after it"
        learned = assembled(place, whole, replace(how, schema=_of_rows(how.schema), beside=()))
    except FormatError:
        _of_each(files, _checked, [replace(how, schema=replace(how.schema, scale="none"))] * len(files))
        raise  # no single file is to blame
    return replace(
        how,
        schema=replace(how.schema, columns=learned.schema.columns, expression=learned.schema.expression),
        grows=True,
    )


def _of_rows(schema: Schema) -> Schema:
    """Return a schema for numbers alone: ids and labels are ignored, and each file reports its own missing values."""
    used = filter(None, (schema.id, schema.label))
    missing = "indicator" if schema.missing == "error" else schema.missing
    return replace(schema, id=None, label=None, ignore=(*schema.ignore, *used), missing=missing)


def _of_each(files: Sequence[Readable], function: Any, hows: Sequence[How]) -> list[Any]:
    found: list[Any] = [None] * len(files)

    def arrived(place: int, data: bytes) -> None:
        found[place] = serialization.unpacked(data)

    tasks = [delayed(_packed, pure=False)(function, *one) for one in zip(files, hows, strict=True)]
    current_runner().run(tasks, arrived)
    return found


def _packed(function: Any, file: Readable, how: How) -> bytes:
    return serialization.packed(function(file, how))


def _frequencies(file: Readable, how: How) -> DocumentFrequencies:
    found = file.read(how).frequencies
    assert found is not None  # tokens are weighted
    return found


def _n_rows(file: Readable, how: How) -> int:
    return int(_plain(file, replace(how, plain=slice(None))).num_rows)


def _checked(file: Readable, how: How) -> None:
    file.read(how)


def _plain(file: Readable, how: How) -> Any:
    return file.read(how).X
