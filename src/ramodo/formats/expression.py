"""Gene expression, and other matrices of one kind of measurement: one scale for all columns, and no more columns than
say something.

A column that hardly varies holds noise. With a variance of its own in each column it would count as much as the genes
that differ between cells. So all columns are taken by the same logarithm, and those that vary most are kept.

    counts        counts per million of their row, then log(1 + value / unit); the unit is one count in a row of median
                  total, so that a single count in a shallow row is not taken for a large value
    shares        of rows that sum to 1 or 100: the same, as millionths
    intensities   log(1 + value)
    other         as they are: logarithms already, or standardised
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..data.validation import LARGEST, ValueRefusedError
from .format import How
from .scales import Scale, Scales
from .schema import Column, Expression, Schema
from .table import FormatError, MissingValueError, lacking

MOST_VARIABLE = 2_000
"""Genes that are kept unless the user says how many."""

FEWEST = 100
"""A table with fewer columns of numbers is no expression matrix."""

_MILLION = 1e6

_LARGEST_LOGARITHM = 50.0
"""Larger values are no logarithms."""

_NEAR = 0.02
"""Rows are shares if their sums differ from 1 or 100 by less than this share of it."""

_MOSTLY = 0.8
"""Share of the names of columns that must be names of genes."""

_WITH_DIGITS, _WITH_OWN_LETTERS = 0.3, 0.1
"""Symbols of genes, as TP53 and GAPDH, have digits this often, and this many different beginnings for each name."""

_ACCESSION = re.compile(
    r"ENS[A-Z]*[GTP]\d{6,}(\.\d+)?|\d+(_[sxafr])?_at|AFFX-.*|ILMN_\d+|(?i:gene|probe|transcript)[ _.-]?\d+|[NX][MR]_\d+"
    r"(\.\d+)?|AT[1-5MC]G\d{5}|FBgn\d+|WBGene\d+|Y[A-P][LR]\d{3}[WC](-[A-Z])?|A_\d+_P\d+"
)
_SYMBOL = re.compile(r"([A-Z][A-Z0-9]{1,9}([-.][A-Z0-9]{1,6}){0,2}|C\d{1,2}orf\d+|[A-Z][a-z]{1,6}\d{0,4}[a-z]?\d{0,2})")


def are_genes(names: Sequence[str]) -> bool:
    """Whether most of these are names of genes, probes or transcripts."""
    if len(names) < FEWEST:
        return False
    if sum(_ACCESSION.fullmatch(name) is not None for name in names) >= _MOSTLY * len(names):
        return True
    symbols = [name for name in names if _SYMBOL.fullmatch(name)]
    if len(symbols) < _MOSTLY * len(names):
        return False
    with_digits = sum(any(map(str.isdigit, name)) for name in symbols)
    beginnings = {re.sub(r"\d.*", "", name) for name in symbols}
    return with_digits >= _WITH_DIGITS * len(symbols) and len(beginnings) >= _WITH_OWN_LETTERS * len(symbols)


class Measured(NamedTuple):
    """A matrix of numbers, the names of its columns if they have some, and the batch of each row if it is known."""

    X: Any
    names: Sequence[str] | None
    batches: Sequence[str | None] | None = None


def learned(found: Measured, schema: Schema, how: How) -> tuple[Any, Schema, list[str]]:
    """The features, the schema that reads other rows into the same, and what to say."""
    X, expression, unit, notes = found.X, Expression(), 0.0, list[str]()
    if schema.scale != "none":
        per_million, unit, kind = _kind_of(X, is_asked=schema.scale == "log")
        expression = replace(expression, per_million=per_million)
        is_news = schema.scale == "auto" and unit > 0
        notes += [f"the values are {kind}, and are compared by their logarithms"] * is_news
    names = [str(i) for i in range(X.shape[1])] if found.names is None else list(found.names)
    scale = (Scale(unit=unit),) if unit else ()
    columns = tuple(Column(name=name, scales=scale) for name in names)
    taken = _taken(X, _totals(X) if expression.per_million else None, columns)
    kept = _most_variable(taken, schema, how)
    if len(kept) < len(names):
        said = f"the {len(kept):,} of {len(names):,} columns that vary most are kept"
        notes += [said] * (schema.top_variable is None)
        others = sorted(set(range(len(names))).difference(kept.tolist()))
        if expression.per_million:
            expression = replace(expression, others=tuple(names[i] for i in others))
        columns, taken = tuple(columns[i] for i in kept.tolist()), taken[:, kept]
    if found.batches is not None:
        expression = replace(expression, batches=tuple(sorted({batch for batch in found.batches if batch})))
        columns = _with_offsets(taken, columns, _codes(found.batches, expression.batches))
    is_numbered = found.names is None
    schema = replace(schema, columns=columns, plain=None, expression=expression, is_numbered=is_numbered)
    if notes:
        none = how.option("scale", "none")
        notes = [f"{'; '.join(notes)}. To compare all values as they are give {none}."]
    return _centred(taken, found.batches, schema), schema, notes


def read(found: Measured, schema: Schema) -> Any:
    """Rows as features, by a learned schema: the columns are its own, and after them those that count to a total."""
    assert schema.expression is not None
    totals = _totals(found.X) if schema.expression.per_million else None
    kept = found.X[:, : len(schema.columns)] if schema.expression.others else found.X
    return _centred(_taken(kept, totals, schema.columns), found.batches, schema)


def needed(schema: Schema) -> list[str]:
    """Names of the columns that `read` takes, in order."""
    others = () if schema.expression is None else schema.expression.others
    return [*(column.name for column in schema.columns), *others]


def _kind_of(X: Any, is_asked: bool) -> tuple[bool, float, str]:
    """Whether values become counts per million; the unit of the logarithm, 0 for none; and what they are, in words."""
    values = X.data if sp.issparse(X) else X
    lowest, largest = (float(values.min(initial=0.0)), float(values.max(initial=0.0)))
    if lowest >= 0:
        if largest > 1 and X.shape[1] >= FEWEST and bool((values == np.rint(values)).all()):
            sums = _totals(X)
            unit = _MILLION / float(np.median(sums[sums > 0]))
            return True, unit, "counts, which become counts per million of their row"
        sums = _totals(X)
        for whole in (1.0, 100.0):
            if largest <= whole and X.shape[1] >= FEWEST and bool((np.abs(sums - whole) < _NEAR * whole).all()):
                return False, whole / _MILLION, "shares of their row"
    if is_asked or (largest > _LARGEST_LOGARITHM and -lowest < largest / 10):
        return False, 1.0, "intensities"
    return False, 0.0, ""


def _totals(X: Any) -> npt.NDArray[np.float64]:
    """The sum of each row; the same bits for sparse and dense counts, whose sums are exact."""
    return np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()


def _taken(X: Any, totals: npt.NDArray[np.float64] | None, columns: Sequence[Column]) -> Any:
    """Values as counts per million where there are totals, and by the scale that all columns share."""
    scales = Scales([column.scales[0] if column.scales else Scale() for column in columns])
    if totals is None:
        return scales.apply(X)
    factors = _MILLION / np.where(totals > 0, totals, 1.0)
    if not sp.issparse(X):
        return scales.apply(np.asarray(X, dtype=np.float64) * factors[:, None])
    X = sp.csr_array(X, dtype=np.float64, copy=True)
    X.data *= np.repeat(factors, np.diff(X.indptr))
    return scales.apply(X)


def _most_variable(X: Any, schema: Schema, how: How) -> npt.NDArray[np.int64]:
    """The columns of the highest variance, in order: as many as the user asks for."""
    asked = schema.top_variable
    most = X.shape[1] if asked == 0 else (asked or (MOST_VARIABLE if schema.scale == "auto" else X.shape[1]))
    if most >= X.shape[1]:
        return np.arange(X.shape[1])
    rows = sp.csr_array(X)  # one order of sums for sparse and dense
    rows.sum_duplicates()
    sums = np.bincount(rows.indices, rows.data, X.shape[1]) / X.shape[0]
    away = np.bincount(rows.indices, (rows.data - sums[rows.indices]) ** 2, X.shape[1])
    zeros = X.shape[0] - np.bincount(rows.indices, rows.data != 0, X.shape[1])
    return np.sort(np.argsort(-(away + zeros * sums**2), kind="stable")[:most])


# ---- batches ---------------------------------------------------------------------------------------------------------


def _codes(batches: Sequence[str | None], known: Sequence[str]) -> npt.NDArray[np.int64]:
    """The place of the batch of each row, -1 for one that training did not have."""
    place = {batch: number for number, batch in enumerate(known)}
    return np.array([place.get(batch or "", -1) for batch in batches], dtype=np.int64)


def _with_offsets(X: Any, columns: Sequence[Column], codes: npt.NDArray[np.int64]) -> tuple[Column, ...]:
    """Columns with the mean of each batch less that of all rows."""
    dense = X.toarray() if sp.issparse(X) else X
    whole = dense.mean(axis=0)
    means = [dense[codes == code].mean(axis=0) - whole for code in range(codes.max(initial=-1) + 1)]
    return tuple(replace(column, offsets=tuple(float(mean[i]) for mean in means)) for i, column in enumerate(columns))


def _centred(X: Any, batches: Sequence[str | None] | None, schema: Schema) -> Any:
    """Rows moved as if all batches had one mean; rows of other batches stay where they are."""
    if schema.expression is None or not schema.expression.batches or batches is None:
        return X
    offsets = np.array([*zip(*(column.offsets for column in schema.columns), strict=True)])
    codes = _codes(batches, schema.expression.batches)
    dense = X.toarray() if sp.issparse(X) else X
    return dense - np.where(codes[:, None] >= 0, offsets[np.maximum(codes, 0)], 0.0)


# ---- tables ----------------------------------------------------------------------------------------------------------


def of_table(path: str, table: Any, names: Sequence[str], how: How) -> tuple[Any, Schema, list[str]] | None:
    """Features of a table of pyarrow's that is such a matrix, its schema and notes; None for any other table."""
    schema = how.schema
    if schema.expression is None and not _is_measured(path, table, names, how):
        return None
    used = needed(schema) if schema.columns else [name for name in names if name != schema.within]
    X = _numbers(path, table, used)
    gaps = np.isnan(X)
    if gaps.any() and not schema.columns and schema.missing == "indicator" and not _is_asked(schema):
        return None  # which marks them
    refuse(path, X, gaps, used, schema, how)
    means = [column.mean for column in schema.columns]
    if schema.missing == "mean" and not schema.columns:
        means = (np.where(gaps, 0.0, X).sum(axis=0) / np.maximum(1, (~gaps).sum(axis=0))).tolist()
    if gaps.any():
        X = np.where(gaps, np.array([mean or 0.0 for mean in means] + [0.0] * (len(used) - len(means))), X)
    batches = None if schema.within is None else _batches(path, table, schema.within)
    found = Measured(X, used, batches)
    if schema.columns:
        return read(found, schema), schema, []
    X, schema, notes = learned(found, schema, how)
    if schema.missing == "mean":
        mean = dict(zip(used, means, strict=True))
        schema = replace(schema, columns=tuple(replace(column, mean=mean[column.name]) for column in schema.columns))
    return X, schema, notes


def _is_asked(schema: Schema) -> bool:
    return schema.top_variable is not None or schema.within is not None


def _is_measured(path: str, table: Any, names: Sequence[str], how: How) -> bool:
    """Whether all columns are numbers, and genes by their names, or the user says that they are one kind of thing."""
    schema = how.schema
    is_asked = _is_asked(schema)
    if schema.columns or schema.text or (schema.scale not in _SCALES and not is_asked):
        return False
    names = [name for name in names if name != schema.within]
    odd = next((name for name in names if not _is_number(table.schema.field(name).type)), None)
    if is_asked and (odd is not None or schema.scale not in (*_SCALES, "none")):
        option = how.option("within" if schema.within else "top_variable")
        if odd is None:
            raise FormatError(f"{how.option('scale')} must be auto, log or none with {option}, got {schema.scale}.")
        raise FormatError(
            f"{path}, column {odd!r} must hold numbers, as all columns with {option}, got "
            f"{table.schema.field(odd).type}. Leave it out with {how.option('ignore', odd)}."
        )
    if odd is not None:
        return False
    return is_asked or (len(names) >= FEWEST if schema.scale == "log" else are_genes(names))


_SCALES = ("auto", "log")


def _is_number(type: Any) -> bool:
    import pyarrow.types as t

    return bool(t.is_integer(type) or t.is_floating(type) or t.is_null(type))


def _numbers(path: str, table: Any, names: Sequence[str]) -> npt.NDArray[np.float64]:
    """The columns of these names, side by side, NaN where a value is missing."""
    import pyarrow as pa

    there = set(table.column_names)
    if absent := [name for name in names if name not in there]:
        raise FormatError(lacking(path, table.column_names, names, absent))
    batches = table.select(names).combine_chunks().to_batches()
    kinds = set(batches[0].schema.types) if batches else set()
    plain = batches and all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds)
    if plain and hasattr(batches[0], "to_tensor"):  # 60 times as fast as one column after the other
        return np.ascontiguousarray(batches[0].to_tensor(null_to_nan=True).to_numpy(), dtype=np.float64)
    X = np.empty((len(names), table.num_rows))
    for place, column in enumerate(batches[0].columns if batches else ()):
        if not _is_number(column.type) and not pa.types.is_boolean(column.type):
            raise FormatError(f"{path}, column {names[place]!r} must hold numbers, got {column.type}.")
        X[place] = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(X.T)


def refuse(path: str, X: Any, gaps: Any, names: Sequence[str], schema: Schema, how: How) -> None:
    """Raise for a value that no detector takes, or a missing one, as the schema says."""
    wrong = ~(np.abs(X) <= LARGEST) & ~gaps
    for places, is_gap in ((wrong, False), (gaps, schema.missing == "error")):
        if not places.any() or (places is gaps and not is_gap):
            continue
        row, column = (int(number) for number in np.argwhere(places)[0])
        place = f"{path}, row {row}, column {names[column]!r}"
        if is_gap:
            option = how.option("missing")
            raise MissingValueError(place, row, bool(schema.columns), option if how.in_python else f"{option} ")
        raise FormatError(f"{place}: {ValueRefusedError(path, float(X[row, column]), row, column).said}", row)


def _batches(path: str, table: Any, name: str) -> list[str | None]:
    if name not in table.column_names:
        raise FormatError(f"{path} has no column {name!r}, within which rows are centred.")
    return [None if value is None else str(value) for value in table.column(name).to_pylist()]
