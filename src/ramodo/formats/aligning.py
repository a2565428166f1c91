"""From the columns of data to those that a model was fitted with."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .table import FormatError, Table


def numbers_of(detector: Any) -> Collection[str]:
    """The model's columns of numbers; a column from text also has a value in its name."""
    names = getattr(detector, "feature_names_in_", None)
    return () if names is None else frozenset(map(str, names))


def aligned(path: str, kind: str, table: Table, detector: Any) -> Table:
    """The model's columns, by name if it has names."""
    names = getattr(detector, "feature_names_in_", None)
    if names is None or table.names is None:
        if table.X.shape[1] != detector.n_features_in_:
            raise FormatError(_other_data(path, kind, table.X.shape[1], detector))
        return table
    place = {name: i for i, name in enumerate(table.names)}
    absent = [name for name in names if name not in place and not _may_be_absent(name, place, table.categories)]
    if absent and "words" in (detector.source_ or {}):  # which are tokens of documents, no columns that people know
        raise FormatError(_other_data(path, kind, len(table.names), detector))
    if absent:
        raise FormatError(
            f"{path} lacks {len(absent):,} of the {len(names):,} columns that the model was fitted with, as "
            f"{absent[0]!r}; allowed: all of them, by their names. It has {', '.join(map(repr, table.names[:5]))}"
            f"{', ...' * (len(table.names) > 5)}."
        )
    columns = sp.csc_array(table.X) if sp.issparse(table.X) else table.X
    known = [i for i, name in enumerate(names) if name in place]
    taken = columns[:, [place[names[i]] for i in known]]
    if len(known) == len(names):
        return replace(table, X=sp.csr_array(taken) if sp.issparse(taken) else taken, names=list(names))
    if not sp.issparse(taken):  # and stays so: whether a row's neighbours lack a value must not change its last bits
        filled = np.zeros((taken.shape[0], len(names)))
        filled[:, known] = taken
        return replace(table, X=filled, names=list(names))
    spread = sp.csr_array((np.ones(len(known)), (np.arange(len(known)), known)), shape=(len(known), len(names)))
    return replace(table, X=sp.csr_array(sp.csr_array(taken) @ spread), names=list(names))


def _other_data(path: str, kind: str, n: int, detector: Any) -> str:
    """That data have not the columns of a model: what they are, what it was fitted to, and what to do."""
    source, width = detector.source_ or {}, detector.n_features_in_
    fitted, name = source.get("format"), "standard input" if path == "-" else path
    if "words" in source:  # as only documents have them
        column = source.get("text")
        if column is None:
            fitted, advice = "text, a document a line", "a file of such lines, with --format text if its name says else"
        else:
            fitted, advice = f"documents, the column {column!r} of a table", "a table with that column"
        return f"{name} is read as {kind}, and the model was fitted to {fitted}; allowed: {advice}."
    if fitted not in (None, kind):
        return (
            f"{name} is read as {kind}, with {n:,} columns, and the model was fitted to {fitted}, with {width:,}; "
            f"allowed: data like those of the model, with --format {fitted} if these are."
        )
    return (
        f"{name} has {n:,} columns, and the model was fitted to {width:,}; allowed: the same columns in the same "
        "order. To rank these data by themselves: ramodo detect."
    )


def _may_be_absent(name: str, place: Mapping[str, int], categories: Sequence[str]) -> bool:
    """Whether data may lack this column of the model: a category's value, or an indicator of missing values."""
    marked = name.removesuffix(" is missing")
    return (marked != name and (marked in place or marked in categories)) or any(
        name.startswith(f"{category}=") for category in categories
    )
