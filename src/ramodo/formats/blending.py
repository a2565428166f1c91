"""Columns of documents, each with tokens of its own, and the other columns of a table, as one sparse matrix.

    | tokens of the first column | tokens of the second | ... | other columns |

A token is a feature of its column: `admin` in a path is not `admin` in a referrer. Each column has a say of the same
size: the values of its tokens are divided by the length of a typical document of it, so that two typical documents that
share nothing are √2 apart, as two categories are, or two rows in a number of variance 1 (scales.py). One number for all
documents of a column, and not one for each: a document that is longer, or of rarer words, than others stays so, and
counts can be told from values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .format import How
from .frequencies import DocumentFrequencies
from .scales import Scales
from .table import FormatError, Table, TextOptions
from .text import as_table, counted, token_names

Shown = Callable[[npt.NDArray[Any], npt.NDArray[Any]], npt.NDArray[np.float64]]
"""Columns, and values there, to values as the user knows them."""


class Document(NamedTuple):
    """A document of a row: its column, if it has a name; where it begins in what is shown, if it does; its tokens."""

    field: str
    text: str
    begin: int | None
    first: int
    end: int


def documents_of(table: Table, row: int) -> list[Document]:
    """The documents of a row, none of them empty."""
    if table.fields is None:
        return [] if table.texts is None else [Document("", table.texts[row], 0, 0, table.X.shape[1])]
    shown = "" if table.texts is None else table.texts[row]
    found, at, first = list[Document](), 0, 0
    for (field, texts), width in zip(table.fields.items(), table.widths, strict=True):
        if text := texts[row]:
            begin = shown.find(text, at)
            begin = begin if begin >= 0 else shown.find(text)
            found.append(Document(field, text, begin if begin >= 0 else None, first, first + width))
            at = max(at, begin + len(text))
        first += width
    return found


def blended(fields: Mapping[str, Sequence[str]], others: Table, how: How) -> Table:
    """Documents by column, and the table of all other columns, whose X is None where there are none."""
    if len(fields) == 1 and others.X is None:
        (texts,) = fields.values()
        found = as_table(texts, how)
        return replace(found, ids=others.ids, classes=others.classes, notes=others.notes, beside=others.beside)
    parts = [_counted(name, texts, how) for name, texts in fields.items()]
    widths = [matrix.shape[1] for matrix, _ in parts]
    tokens = sp.csr_array(sp.hstack([matrix for matrix, _ in parts], format="csr"))
    frequencies = None
    if how.texts.idf:
        frequencies = how.frequencies or DocumentFrequencies.of(tokens)
        frequencies.weigh(tokens, how.n_threads)
    weights = how.weights or _weights(tokens, widths)
    if len(weights) != len(widths):
        raise FormatError(f"{len(widths)} columns of documents were given; allowed: the {len(weights)} of the model.")
    tokens.data *= np.asarray(weights, dtype=np.float32)[_field_of(tokens.indices, widths)]
    named = [name for _, names in parts for name in names or ()]
    X = tokens if others.X is None else sp.hstack([tokens, _narrow(others.X, how)], format="csr")
    return replace(
        others,
        X=sp.csr_array(X),
        names=named + list(others.names or ()),
        texts=[" | ".join(filter(None, documents)) for documents in zip(*fields.values(), strict=True)],
        fields=fields,
        widths=widths,
        weights=list(weights),
        frequencies=frequencies,
    )


def _counted(field: str, texts: Sequence[str], how: How) -> tuple[sp.csr_array, list[str] | None]:
    """Counts of the tokens of one column, and their names if they are a vocabulary."""
    first = f"{field}: "
    known = None if how.names is None else [name.removeprefix(first) for name in how.names if name.startswith(first)]
    matrix, names = counted(texts, how, known)
    return matrix, None if names is None else [first + name for name in names]


def _weights(tokens: sp.csr_array, widths: Sequence[int]) -> list[float]:
    """One over the median length of the documents of each column that have any token."""
    rows = np.repeat(np.arange(tokens.shape[0]), np.diff(tokens.indptr))
    fields, squares = _field_of(tokens.indices, widths), tokens.data.astype(np.float64) ** 2
    found = []
    for field in range(len(widths)):
        own = fields == field
        lengths = np.sqrt(np.bincount(rows[own], squares[own], minlength=tokens.shape[0]))
        found.append(1 / float(np.median(lengths[lengths > 0])) if lengths.any() else 1.0)
    return found


def _field_of(columns: npt.NDArray[Any], widths: Sequence[int]) -> npt.NDArray[np.int64]:
    """The number of the field that each column of tokens belongs to."""
    return np.searchsorted(np.cumsum(widths, dtype=np.int64), columns, side="right")


def _narrow(X: Any, how: How) -> sp.csr_array:
    """Scaled numbers in single precision, as tokens are; others may need both halves of theirs."""
    return sp.csr_array(X, dtype=np.float64 if how.table.scale == "none" else np.float32)


def names_of(table: Table, rows: Iterable[int], columns: Iterable[int], options: TextOptions) -> dict[int, str]:
    """Names of the columns that can be told: those that have one, and tokens of these rows."""
    wanted, rows = set(columns), list(rows)
    if table.fields is None:
        return {} if table.texts is None else token_names([table.texts[row] for row in rows], wanted, options)
    names, first = table.names or (), table.first_named
    found = {column: names[column - first] for column in wanted if column >= first}
    if options.vocabulary:
        return found
    begin = 0
    for (field, texts), width in zip(table.fields.items(), table.widths, strict=True):
        own = [column - begin for column in wanted if begin <= column < begin + width]
        tokens = token_names([texts[row] for row in rows], own, options)
        found |= {begin + column: f"{field}: {token}" for column, token in tokens.items()}
        begin += width
    return found


def units_of(table: Table) -> Shown | None:
    """What turns values of the matrix into those of the file; None where they are the same."""
    if not table.weights and not table.scales:
        return None if table.frequencies is None else table.frequencies.counts
    n_tokens = sum(table.widths)
    names = (table.names or [str(i) for i in range(table.X.shape[1])])[n_tokens - table.first_named :]
    scales = Scales.named(names, table.scales)
    weights = np.asarray([*table.weights, 1.0])

    def shown(columns: npt.NDArray[Any], values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        columns = np.asarray(columns, dtype=np.int64)
        found = np.asarray(values, dtype=np.float64) / weights[_field_of(columns, table.widths)]
        tokens, others = columns < n_tokens, columns >= n_tokens
        if table.frequencies is not None:
            found[tokens] = table.frequencies.counts(columns[tokens], found[tokens])
        found[others] = scales.undo(columns[others] - n_tokens, found[others])
        return found

    return shown
