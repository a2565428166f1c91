"""From the columns of data to those that a model was fitted with."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
            raise FormatError(
                f"{path} has {table.X.shape[1]:,} features; allowed: the {detector.n_features_in_:,} of the model"
                f"{_fitted_to(detector, kind)}."
            )
        return table
    place = {name: i for i, name in enumerate(table.names)}
    absent = [name for name in names if name not in place and not _may_be_absent(name, place, table.categories)]
    if absent:
        raise FormatError(
            f"{path} lacks the column {absent[0]!r}, which the model was fitted with ({len(absent)} in all)"
            f"{_fitted_to(detector, kind)}."
        )
    columns = sp.csc_array(table.X) if sp.issparse(table.X) else table.X
    known = [i for i, name in enumerate(names) if name in place]
    taken = columns[:, [place[names[i]] for i in known]]
    if len(known) == len(names):
        return Table(
            sp.csr_array(taken) if sp.issparse(taken) else taken, table.ids, list(names), table.classes, table.texts
        )
    if not sp.issparse(taken):  # and stays so: whether a row's neighbours lack a value must not change its last bits
        filled = np.zeros((taken.shape[0], len(names)))
        filled[:, known] = taken
        return Table(filled, table.ids, list(names), table.classes, table.texts)
    spread = sp.csr_array((np.ones(len(known)), (np.arange(len(known)), known)), shape=(len(known), len(names)))
    return Table(sp.csr_array(sp.csr_array(taken) @ spread), table.ids, list(names), table.classes, table.texts)


def _fitted_to(detector: Any, kind: str) -> str:
    """What the model was fitted to, if it says so, and what it was given."""
    source = detector.source_ or {}
    if "words" in source:  # as only documents have them
        column = source.get("text")
        of = "a document a line" if column is None else f"the column {column!r} of a table"
        return f", which reads text ({of}), and was given {kind}"
    return f", which was fitted to {source['format']}, and was given {kind}" if source.get("format") else ""


def _may_be_absent(name: str, place: Mapping[str, int], categories: Sequence[str]) -> bool:
    """Whether data may lack this column of the model: a category's value, or an indicator of missing values."""
    marked = name.removesuffix(" is missing")
    return (marked != name and (marked in place or marked in categories)) or any(
        name.startswith(f"{category}=") for category in categories
    )
