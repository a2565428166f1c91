"""Columns that say nothing about a row and are left out when a table is first read: row numbers, and constants.

A row number would make the first and the last rows look unusual. Sentences that differ from row to row are documents,
not categories: as categories, each would be new. Ramodo says what it leaves out, and what it reads as text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .format import How

_FEWEST = 20
"""Minimum number of rows; with fewer, both can happen by chance."""

_BLANKS = 2
"""A column is text if at least half of its values have this many blanks."""

_UNNAMED = re.compile(r"(column|Unnamed:) \d+")
"""The names that by_place and pandas give to a column without a name."""


def without_left_out(table: Any, how: How) -> tuple[How, list[str]]:
    """Return how to read a pyarrow table without such columns, and notes about them."""
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
    texts = [name for name, values in columns if name not in constant and _are_sentences(values)]
    for name in texts:
        notes.append(f"column {name!r} has sentences: its words are compared, as with {how.option('text', name)}.")
    found = replace(schema, text=(*schema.text, *texts), ignore=(*schema.ignore, *counting, *constant))
    return replace(how, schema=found), notes


def _are_sentences(values: Any) -> bool:
    """Text of several words, mostly another one in each row."""
    import pyarrow.compute as pc
    import pyarrow.types as t

    if not (t.is_string(values.type) or t.is_large_string(values.type)):
        return False
    there = values.drop_null()
    different = there.unique()
    if len(there) < _FEWEST or 2 * len(different) < len(there):
        return False
    return 2 * pc.sum(pc.greater_equal(pc.count_substring(different, " "), _BLANKS)).as_py() >= len(different)


def _of_counting(name: str, how: How) -> str:
    is_unnamed = _UNNAMED.fullmatch(name) is not None
    what = f"{name} has no name and counts the rows" if is_unnamed else f"column {name!r} counts the rows"
    return f"{what}: it is left out. To name rows by it give {how.option('id', name)}."


def _listed(names: Sequence[str]) -> str:
    first = ", ".join(map(repr, names[:5]))
    return f"column{'s' if len(names) > 1 else ''} {first}" + (f" and {len(names) - 5:,} more" if names[5:] else "")


def _counts_rows(values: Any) -> bool:
    """Return whether values are increasing integers that fill at least half of their range, as after filtering rows."""
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
