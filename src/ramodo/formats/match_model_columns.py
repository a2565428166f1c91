"""A matrix with the features that a model was fitted with, found by their names and scaled as they were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data.mapped import is_mapped
from ..data.validation import open_block
from .assembling import first_of
from .format import How
from .scales import of_matrix
from .schema import Column, Schema
from .table import FormatError, Table
from .values import named_values


def as_columns(path: str, kind: str, table: Table, how: How) -> Table:
    """A matrix of numbers as its columns were learned, or as is learned of them now."""
    schema, own = how.schema, table.schema
    zero_based = schema.zero_based if own.zero_based is None else own.zero_based
    found = replace(schema, columns=own.columns, plain=own.plain, marks_last=own.marks_last, zero_based=zero_based)
    table = replace(table, schema=found)
    if schema.n_features is not None:
        table = replace(_matched(path, kind, table, schema), schema=replace(schema, zero_based=zero_based))
    return table if schema.scale == "none" else _scaled(path, table, is_learned=bool(schema.columns))


def _matched(path: str, kind: str, table: Table, schema: Schema) -> Table:
    """The features of a schema, by name if both have names, else as many.

    What marks a missing value, and categories that no row has, may be absent.
    """
    if schema.names is None or table.names is None or schema.first_named:
        if table.X.shape[1] != schema.n_features:
            raise FormatError(other_data(path, kind, table.X.shape[1], schema, schema.n_features))
        return table
    place = {name: number for number, name in enumerate(table.names)}
    known = [number for number, name in enumerate(schema.names) if name in place]
    _refuse_absent(path, schema, table.names, known)
    columns = [place[schema.names[number]] for number in known]
    return replace(table, X=placed(table.X, columns, known, len(schema.names)))


def _refuse_absent(path: str, schema: Schema, own: Sequence[str], known: Sequence[int]) -> None:
    """Raise where features are absent: only marks and categories may be, of columns that are there."""
    if len(known) == schema.n_features:
        return
    there, names = set(known), schema.names or ()
    absent = [number for number in range(len(names)) if number not in there]
    if schema.columns:
        columns = {schema.feature(number).column.name for number in known}
        features = ((number, schema.feature(number)) for number in absent)
        absent = [n for n, each in features if each.part not in ("value", "missing") or each.column.name not in columns]
    if absent:
        has = first_of([repr(name) for name in own[:5]] + ["..."] * (len(own) > 5))
        raise FormatError(
            f"{path} lacks {len(absent):,} of the {len(names):,} columns that the model was fitted with, as "
            f"{names[absent[0]]!r}; allowed: all of them, by their names. It has {has}."
        )


def placed(X: Any, columns: Any, places: Any, width: int) -> Any:
    """These columns of a matrix, each in its place among `width`, of which all others are zero."""
    if not sp.issparse(X):
        taken = X[:, columns]
        if len(places) == width:
            return taken
        wide = np.zeros((taken.shape[0], width), dtype=taken.dtype)
        wide[:, places] = taken
        return wide  # and stays so: whether a row's neighbours lack a value must not change its last bits
    taken = sp.csc_array(X)[:, columns]
    if len(places) < width:
        spread = (np.ones(len(places)), (np.arange(len(places)), places))
        taken = sp.csr_array(taken) @ sp.csr_array(spread, shape=(len(places), width))
    return sp.csr_array(taken)


def _scaled(path: str, table: Table, *, is_learned: bool) -> Table:
    """A matrix of numbers with scaled columns: as the schema was learned, or by its own values."""
    how = table.schema.scale
    if sp.issparse(table.X) and is_mapped(table.X.data):
        raise FormatError(
            f"{path} stays on disk, and --scale {how} was given; allowed: none, or numbers that are scaled before they "
            "are written there."
        )
    with named_values(path, table):  # a scale would hide what is too large, and make no number of infinity
        open_block(table.X, name=path)
    schema = table.schema
    if not is_learned:
        names = schema.plain or map(str, range(table.X.shape[1]))
        columns = schema.columns or tuple(Column(name=name) for name in names)
        scales = of_matrix(table.X[:, : len(columns)], how)  # marks of missing values stay as they are
        columns = tuple(replace(column, scales=(scale,)) for column, scale in zip(columns, scales, strict=True))
        schema = replace(schema, columns=columns, is_numbered=table.names is None, plain=None)
    return replace(table, X=schema.scales.apply(table.X), schema=schema)


def other_data(path: str, kind: str | None, n: int | None, schema: Schema, n_features: int | None) -> str:
    """That data do not have the columns of a model: what they are, what it was fitted to, and what to do."""
    name, width = "standard input" if path == "-" else path, n_features or 0
    if schema.is_text:
        named = ", ".join(map(repr, schema.text))
        if not named:
            fitted, advice = "text, a document a line", "a file of such lines, with --format text if its name says else"
        else:
            fitted, advice = f"documents, the column {named} of a table", "a table with that column"
        return f"{name} is read as {kind}, and the model was fitted to {fitted}; allowed: {advice}."
    columns, all_of = ("", " columns") if n is None else (f", with {n:,} columns", "")
    if schema.format not in (None, kind):
        return (
            f"{name} is read as {kind}{columns}, and the model was fitted to {schema.format}, with {width:,}{all_of}; "
            f"allowed: data like those of the model, with --format {schema.format} if these are."
        )
    return (
        f"{name} has {n or 0:,} columns, and the model was fitted to {width:,}; allowed: the same columns in the same "
        "order. To rank these data by themselves: ramodo detect."
    )
