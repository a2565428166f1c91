"""Columns of documents, each with its own tokens, and the other columns of a table, as one sparse matrix.

    | tokens of the first column | tokens of the second | ... | other columns |

A token is a feature of its column: `admin` in a path is not `admin` in a referrer. All columns have the same weight:
the values of tokens are divided by the length of a typical document of their column. So two typical documents that
share nothing are √2 apart, like two categories, or two rows in a number of variance 1 (scales.py). The divisor is the
same for all documents of a column: a document that is longer than others, or has rarer words, keeps that difference,
and counts can be computed back from values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .format import How
from .table import Table
from .text import as_table, counted, token_names, weighed

Shown = Callable[[npt.NDArray[Any], npt.NDArray[Any]], npt.NDArray[np.float64]]
"""Converts the values of some features, given both, to values as the user knows them."""


class Document(NamedTuple):
    """A document of a row: its column, if named; where it begins in the shown text, if it is shown; its tokens."""

    field: str
    text: str
    begin: int | None
    first: int
    end: int


def documents_of(table: Table, row: int) -> list[Document]:
    """Return the documents of a row that are not empty."""
    if table.fields is None:
        return [] if table.texts is None else [Document("", table.texts[row], 0, 0, table.X.shape[1])]
    shown = "" if table.texts is None else table.texts[row]
    found, at, first = list[Document](), 0, 0
    for column in table.schema.texts:
        if text := table.fields[column.name][row]:
            begin = shown.find(text, at)
            begin = begin if begin >= 0 else shown.find(text)
            found.append(Document(column.name, text, begin if begin >= 0 else None, first, first + column.n_features))
            at = max(at, begin + len(text))
        first += column.n_features
    return found


def with_texts(fields: Mapping[str, Sequence[str]], others: Table, how: How) -> Table:
    """Return a table of documents by column and of all other columns; the X of `others` is None if there are none."""
    if len(fields) == 1 and others.X is None:
        ((name, texts),) = fields.items()
        found = as_table(texts, how, name)
        return replace(found, ids=others.ids, classes=others.classes, notes=others.notes, beside=others.beside)
    parts = [counted(name, texts, how, how.schema.column(name)) for name, texts in fields.items()]
    tokens = sp.csr_array(sp.hstack([matrix for matrix, _ in parts], format="csr"))
    columns = [column for _, column in parts]
    frequencies = weighed(tokens, how)
    widths = [column.n_features for column in columns]
    if not how.schema.columns:
        weights = _weights(tokens, widths)
        columns = [replace(column, weight=weight) for column, weight in zip(columns, weights, strict=True)]
    weight = np.array([column.weight for column in columns], dtype=np.float32)
    tokens.data *= weight[_field_of(tokens.indices, widths)]
    X = tokens if others.X is None else sp.hstack([tokens, _narrow(others.X, how)], format="csr")
    return replace(
        others,
        X=sp.csr_array(X),
        texts=[" | ".join(filter(None, documents)) for documents in zip(*fields.values(), strict=True)],
        fields=fields,
        schema=replace(others.schema, columns=(*columns, *others.schema.columns)),
        frequencies=frequencies,
    )


def _weights(tokens: sp.csr_array, widths: Sequence[int]) -> list[float]:
    """Return, for each column, one over the median length of its documents that have any token."""
    rows = np.repeat(np.arange(tokens.shape[0]), np.diff(tokens.indptr))
    fields, squares = _field_of(tokens.indices, widths), tokens.data.astype(np.float64) ** 2
    found = []
    for field in range(len(widths)):
        own = fields == field
        lengths = np.sqrt(np.bincount(rows[own], squares[own], minlength=tokens.shape[0]))
        found.append(1 / float(np.median(lengths[lengths > 0])) if lengths.any() else 1.0)
    return found


def _field_of(columns: npt.NDArray[Any], widths: Sequence[int]) -> npt.NDArray[np.int64]:
    """Return the number of the field that each feature belongs to."""
    return np.searchsorted(np.cumsum(widths, dtype=np.int64), columns, side="right")


def _narrow(X: Any, how: How) -> sp.csr_array:
    """Return scaled numbers in single precision, like tokens; others may need double precision."""
    return sp.csr_array(X, dtype=np.float64 if how.schema.scale == "none" else np.float32)


def names_of(table: Table, rows: Iterable[int], features: Iterable[int]) -> dict[int, str]:
    """Return the known names of features: those that have one, and tokens of these rows."""
    wanted, rows, options = set(features), list(rows), table.schema.tokens
    if table.fields is None:
        return {} if table.texts is None else token_names([table.texts[row] for row in rows], wanted, options)
    names, begin = table.names or (), 0
    found = {
        column: names[column - table.schema.first_named] for column in wanted if column >= table.schema.first_named
    }
    for column in table.schema.texts if table.schema.first_named else ():
        own = [number - begin for number in wanted if begin <= number < begin + column.n_features]
        tokens = token_names([table.fields[column.name][row] for row in rows], own, options)
        found |= {begin + number: f"{column.name}: {token}" for number, token in tokens.items()}
        begin += column.n_features
    return found


def units_of(table: Table) -> Shown | None:
    """Return a function from values of the matrix to those of the file; None if they are the same."""
    schema, frequencies = table.schema, table.frequencies
    if table.fields is None and not schema.is_scaled:
        return None if frequencies is None else frequencies.counts
    n_tokens, widths = schema.n_tokens, [column.n_features for column in schema.texts]
    weights = np.array([*(column.weight for column in schema.texts), 1.0])

    def shown(columns: npt.NDArray[Any], values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        columns = np.asarray(columns, dtype=np.int64)
        found = np.asarray(values, dtype=np.float64) / weights[_field_of(columns, widths)]
        tokens, others = columns < n_tokens, columns >= n_tokens
        if frequencies is not None:
            found[tokens] = frequencies.counts(columns[tokens], found[tokens])
        found[others] = schema.scales.undo(columns[others] - n_tokens, found[others])
        return found

    return shown
