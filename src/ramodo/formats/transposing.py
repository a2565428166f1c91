"""Tables with the features in rows and the samples in columns, as those of genes often are: turned, or noticed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from .columns import kind_of
from .expression import are_genes
from .format import How
from .table import FormatError, first_of

SAMPLE = "sample"
"""What names the rows of a table that was turned."""

_MANY, _TIMES = 1_000, 3
"""Rows of a table that is noticed, and how many times its columns they are."""


def turned(path: str, table: Any, how: How) -> tuple[Any, How, list[str]]:
    """A table of pyarrow's, turned if the schema asks for it, how to read it then, and what to say."""
    schema = how.schema
    if not schema.transpose:
        return table, how, [] if schema.n_features is not None else _noticed(path, table, how)
    import pyarrow as pa
    import pyarrow.compute as pc

    kinds = {name: kind_of(kind) for name, kind in zip(table.column_names, table.schema.types, strict=True)}
    texts = [name for name, kind in kinds.items() if kind == "category"]
    by = schema.id if schema.id in kinds else (texts or table.column_names)[0]
    samples = [name for name, kind in kinds.items() if kind == "number" and name != by]
    if not samples:
        raise FormatError(
            f"{path} must have columns of numbers, which --transpose makes rows, got {first_of([*kinds])}."
        )
    X = np.stack([pc.cast(table.column(name), pa.float64(), safe=False).to_numpy() for name in samples])
    names = _unique([str(name) for name in table.column(by).to_pylist()])
    columns = [pa.array(samples), *(pa.array(np.ascontiguousarray(values), from_pandas=True) for values in X.T)]
    odd = [name for name in kinds if name != by and name not in samples]
    notes = [f"{path} is turned: its {len(samples):,} columns of numbers are rows."]
    notes += [f"what {first_of(odd)} say of features is left out."] * bool(odd)
    found = pa.Table.from_arrays(columns, names=[SAMPLE, *names])
    return found, replace(how, schema=replace(schema, id=SAMPLE)), notes if schema.n_features is None else []


def _unique(names: list[str]) -> list[str]:
    """Names with a number after those that come again, as several probes of one gene do."""
    seen, there = Counter[str](), {*names, SAMPLE}
    found = []
    for name in names:
        seen[name] += 1
        new = name if seen[name] == 1 and name != SAMPLE else f"{name}.{seen[name]}"
        while new != name and new in there:
            seen[name] += 1
            new = f"{name}.{seen[name]}"
        there.add(new)
        found.append(new)
    return found


def _noticed(path: str, table: Any, how: How) -> list[str]:
    """Whether the names of rows are those of genes."""
    n, width = table.num_rows, table.num_columns
    if n < _MANY or n < _TIMES * width:
        return []
    for name, kind in zip(table.column_names, table.schema.types, strict=True):
        if kind_of(kind) == "category" and name != how.schema.label:
            if not are_genes([str(value) for value in table.column(name).slice(0, _MANY).to_pylist()]):
                return []
            turn = "give its transpose" if how.in_python else "give --transpose"
            return [
                f"{path} has {n:,} rows and {width - 1:,} columns with gene names as ids: if each column is a sample, "
                f"{turn}."
            ]
    return []
