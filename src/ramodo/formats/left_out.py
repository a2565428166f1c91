"""Columns that say nothing of a row, and are left out when a table is first read: row numbers, and single values.

A row number would make the first and the last rows look unusual. Ramodo says what it leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .format import How

_FEWEST = 20
"""With fewer rows, either may be by chance."""

_UNNAMED = re.compile(r"(column|Unnamed:) \d+")
"""A column without a name, as by_place and pandas call it."""


def without_left_out(table: Any, how: How) -> tuple[How, list[str]]:
    """How to read a table of pyarrow without such columns, and what to say of them."""
    schema, n = how.schema, table.num_rows
    if not how.leaves_out or schema.columns or how.plain is not None or n < _FEWEST:
        return how, []
    special = {schema.id, schema.label, *schema.text, *schema.ignore}
    columns = [pair for pair in zip(table.column_names, table.columns, strict=True) if pair[0] not in special]
    counting = [name for name, values in columns if _counts_rows(values)]
    constant = [name for name, values in columns if _is_constant(values)]
    if len(counting) + len(constant) == len(columns) and not schema.text:
        return how, []
    notes = [_of_counting(name, how) for name in counting]
    if constant:
        has, it_is = ("has", "it is") if len(constant) == 1 else ("have", "they are")
        notes.append(f"{_listed(constant)} {has} the same value in all rows: {it_is} left out.")
    return replace(how, schema=replace(schema, ignore=(*schema.ignore, *counting, *constant))), notes


def _of_counting(name: str, how: How) -> str:
    is_unnamed = _UNNAMED.fullmatch(name) is not None
    what = f"{name} has no name and counts the rows" if is_unnamed else f"column {name!r} counts the rows"
    return f"{what}: it is left out. To name rows by it give {how.option('id', name)}."


def _listed(names: Sequence[str]) -> str:
    first = ", ".join(map(repr, names[:5]))
    return f"column{'s' if len(names) > 1 else ''} {first}" + (f" and {len(names) - 5:,} more" if names[5:] else "")


def _counts_rows(values: Any) -> bool:
    """Integers that increase, and of which at least half occur: rows that were filtered keep their numbers."""
    import pyarrow.types as t

    n = len(values)
    if not t.is_integer(values.type) or values.null_count:
        return False
    span = values[n - 1].as_py() - values[0].as_py() + 1
    return bool(n <= span <= 2 * n and (np.diff(values.to_numpy().astype(np.int64)) > 0).all())


def _is_constant(values: Any) -> bool:
    import pyarrow.compute as pc
    import pyarrow.types as t

    type = values.type
    if values.null_count or t.is_nested(type) or t.is_null(type) or values[0] != values[len(values) - 1]:
        return False
    if t.is_dictionary(type):
        values = values.cast(type.value_type)
    return bool(pc.all(pc.equal(values, values[0])).as_py())
