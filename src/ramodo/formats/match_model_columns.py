"""Match the columns of a matrix with the features of a model, by name, and scale them like the training data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data.mapped import is_mapped
from ..data.validation import open_block
from . import expression
from .format import How
from .scales import of_matrix
from .schema import Column, Schema
from .table import FormatError, Table, lacking
from .values import named_values


def as_columns(path: str, kind: str, table: Table, how: How, are_genes: bool = False) -> Table:
    """A matrix of numbers as its columns were learned, or as is learned of them now."""
    schema, own = how.schema, table.schema
    zero_based = schema.zero_based if own.zero_based is None else own.zero_based
    if schema.n_features is not None and schema.expression is not None:
        return _as_expression(path, kind, table, schema)
    if schema.n_features is not None:
        X = _matched(path, kind, table, schema)
        table = replace(table, X=X, schema=replace(schema, zero_based=zero_based))
        return _scaled(path, table) if schema.is_scaled else table
    found = replace(schema, columns=own.columns, plain=own.plain, marks_last=own.marks_last, zero_based=zero_based)
    table = replace(table, schema=found)
    is_asked = schema.top_variable is not None or schema.within is not None
    if (schema.scale == "log" or is_asked or (are_genes and schema.scale == "auto")) and not own.marks_last:
        return _expression(path, table, how)
    return table if schema.scale == "none" else _scaled(path, table)


def _expression(path: str, table: Table, how: How) -> Table:
    """A matrix of one kind of measurement: see expression.py."""
    _refuse_mapped(path, table, table.schema.scale)
    with named_values(path, table):
        open_block(table.X, name=path)
    if table.names is None and table.schema.top_variable:
        raise FormatError(f"{path} must have names of columns for {how.option('top-variable')}, got none.")
    means = {column.name: column.mean for column in table.schema.columns}
    found = expression.Measured(table.X, table.names, _batches(path, table))
    X, schema, notes = expression.learned(found, replace(table.schema, columns=()), how)
    if table.schema.missing == "mean":
        columns = tuple(replace(column, mean=means.get(column.name)) for column in schema.columns)
        schema = replace(schema, columns=columns)
    return replace(table, X=X, schema=schema, notes=[*table.notes, *notes])


def _as_expression(path: str, kind: str, table: Table, schema: Schema) -> Table:
    """The same by what was learned of other rows."""
    names, X = expression.needed(schema), table.X
    if table.names is not None and not schema.is_numbered:
        place = {name: number for number, name in enumerate(table.names)}
        if absent := [name for name in names if name not in place]:
            raise FormatError(lacking(path, table.names, names, absent))
        X = (sp.csc_array(X) if sp.issparse(X) else X)[:, [place[name] for name in names]]
    elif X.shape[1] != len(names):
        raise FormatError(other_data(path, kind, X.shape[1], schema, schema.n_features))
    with named_values(path, replace(table, schema=replace(schema, columns=(), plain=tuple(names)))):
        open_block(X, name=path)
    X = expression.read(expression.Measured(X, names, _batches(path, table)), schema)
    return replace(table, X=X, schema=replace(schema, zero_based=table.schema.zero_based or schema.zero_based))


def _batches(path: str, table: Table) -> list[str | None] | None:
    within = table.schema.within
    if within is None:
        return None
    if within not in table.beside:
        raise FormatError(f"{path} has no column {within!r}, within which rows are centred.")
    return [None if value is None else str(value) for value in table.beside[within]]


def _refuse_mapped(path: str, table: Table, how: str) -> None:
    """Raise for a matrix on disk, which stays as it is."""
    if sp.issparse(table.X) and is_mapped(table.X.data):
        raise FormatError(
            f"--scale must be none, since {path} stays on disk, got {how}. Scale its numbers before they are written "
            "there."
        )


def _matched(path: str, kind: str, table: Table, schema: Schema) -> Any:
    """Return the features of a schema, matched by name if both have names, else by number.

    Marks of missing values, and categories that no row has, may be absent if their column has any other feature.
    """
    names, own = schema.names, table.names
    if names is None or own is None or schema.first_named:
        if table.X.shape[1] != schema.n_features or (schema.texts and not schema.is_text):
            raise FormatError(other_data(path, kind, table.X.shape[1], schema, schema.n_features))
        return table.X
    place = {name: number for number, name in enumerate(own)}
    known = [number for number, name in enumerate(names) if name in place]
    absent = sorted(set(range(len(names))).difference(known))
    if absent and schema.columns:
        there = {schema.feature(number).column.name for number in known}
        features = [(number, schema.feature(number)) for number in absent]
        absent = [n for n, each in features if each.part not in ("value", "missing") or each.column.name not in there]
    if absent and schema.texts:
        raise FormatError(other_data(path, kind, None, schema, schema.n_features))
    if absent:
        columns = names if not schema.columns else [column.name for column in schema.columns]
        lacked = names if not schema.columns else [each.column.name for each in schema.features()]
        raise FormatError(lacking(path, own, columns, list(dict.fromkeys(lacked[number] for number in absent))))
    return placed(table.X, [place[names[number]] for number in known], known, len(names))


def placed(X: Any, columns: Any, places: Any, width: int) -> Any:
    """Return these columns of a matrix at their places among `width` columns; all others are zero."""
    if not sp.issparse(X):
        taken = X[:, columns]
        if len(places) == width:
            return taken
        wide = np.zeros((taken.shape[0], width), dtype=taken.dtype)
        wide[:, places] = taken
        return wide  # still dense: whether a row's neighbours lack a value must not change its last bits
    taken = sp.csc_array(X)[:, columns]
    if len(places) < width:
        spread = (np.ones(len(places)), (np.arange(len(places)), places))
        taken = sp.csr_array(taken) @ sp.csr_array(spread, shape=(len(places), width))
    return sp.csr_array(taken)


def _scaled(path: str, table: Table) -> Table:
    """Return a matrix of numbers with scaled columns, by the scales of the schema or learned from its values."""
    schema, how = table.schema, table.schema.scale
    _refuse_mapped(path, table, how)
    with named_values(path, table):  # a scale would hide what is too large, and make no number of infinity
        open_block(table.X, name=path)
    if not schema.is_scaled:
        names = schema.plain or map(str, range(table.X.shape[1]))
        columns = schema.columns or tuple(Column(name=name) for name in names)
        scales = of_matrix(table.X[:, : len(columns)], how)  # marks of missing values stay as they are
        columns = tuple(replace(column, scales=(scale,)) for column, scale in zip(columns, scales, strict=True))
        schema = replace(schema, columns=columns, is_numbered=table.names is None, plain=None)
    return replace(table, X=schema.scales.apply(table.X), schema=schema)


def other_data(path: str, kind: str | None, n: int | None, schema: Schema, n_features: int | None) -> str:
    """Return a message for data without the columns of a model: what they are, what it was fitted to, what to do."""
    name, width = "standard input" if path == "-" else path, n_features or 0
    if schema.texts:
        named = ", ".join(map(repr, schema.text))
        if not named:
            fitted, advice = "text, a document a line", " Give --format text if it has such lines."
        else:
            fitted, advice = f"a table with documents in the column {named}", ""
        return f"{name} must be {fitted}, as the model was fitted to, got {kind}.{advice}"
    columns, all_of = ("", " columns") if n is None else (f", with {n:,} columns", "")
    if schema.format not in (None, kind):
        return (
            f"{name} must be {schema.format} with {width:,}{all_of}, as the model was fitted to, got {kind}{columns}. "
            f"Give --format {schema.format} if it is."
        )
    return (
        f"{name} must have the {width:,} columns of the model, in the same order, got {n or 0:,}. To rank these data "
        "by themselves: ramodo detect."
    )
