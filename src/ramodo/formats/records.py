"""JSON Lines: an object a line; what it holds becomes columns.

Keys within keys become dotted columns, `user.country`. A key that a line lacks, or that is null, is a missing value. A
list of as many numbers on each line becomes one column per place, `vector.0`. A column of text becomes dates if every
value is one, by the clock that wrote it. Half of a surrogate pair, which JSON can spell and UTF-8 cannot, becomes the
replacement character.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..extras import pip_install
from .assembling import assembled
from .byte_streams import line_blocks, need_threads
from .compression import as_utf8
from .expression import needed
from .format import Format, How
from .json_values import array_of
from .left_out import without_left_out
from .table import FormatError, Table

LONGEST_NAME = 1000
"""Characters in the name of a column, its keys joined by dots: deep nesting makes many long names of a short line."""

MOST_COLUMNS = 1_000_000

MOST_CELLS, CELLS_PER_VALUE = 1 << 26, 64
"""Rows times columns, however few values there are; and in larger files, for each value in them."""

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def read(path: str, how: How | None = None) -> Table:
    """All lines of a file; empty ones are left out."""
    how = how or How()
    records: list[dict[str, Any]] = []
    line = 0
    for block in line_blocks(path, show=how.show):
        lines = block.tobytes().split(b"\n")
        records += _records(path, lines, line)
        line += len(lines) - 1
    if not records:
        raise FormatError(f"{path} has no rows.")
    return table_of(path, records, how)


def _records(path: str, lines: list[bytes], before: int) -> Iterator[dict[str, Any]]:
    for number, text in enumerate(lines, before + 1):
        if text.strip():
            yield _record(path, text, number)


def _record(path: str, text: bytes, number: int) -> dict[str, Any]:
    """One line, its keys dotted."""
    try:
        value = json.loads(text.decode("utf-8", "replace"))
        if _SURROGATE.search(text):
            value = json.loads(as_utf8(json.dumps(value, ensure_ascii=False)))
    except (ValueError, RecursionError) as error:
        reason = str(error).partition(":")[0] or type(error).__name__
        raise FormatError(
            f"{path}, line {number}: an object of JSON was expected; found {_shown(text)} ({reason})."
        ) from None
    if not isinstance(value, dict):
        raise FormatError(f"{path}, line {number}: an object of JSON was expected; found {_shown(text)}.")
    return dotted(value, f"{path}, line {number}")


def _shown(text: bytes) -> str:
    return repr(text[:60].decode("utf-8", "replace"))


def dotted(value: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Keys within keys become `outer.inner`. Iterative: what is nested deeply in a file must not nest calls."""
    found, waiting = dict[str, Any](), [("", value)]
    while waiting:
        prefix, inner = waiting.pop()
        for key, each in inner.items():
            name = prefix + key
            if len(name) > LONGEST_NAME:
                raise FormatError(
                    f"{place}: a key must have at most {LONGEST_NAME:,} characters, with the keys around it, got "
                    f"{name[:60]!r}... Use shorter or less nested keys."
                )
            if isinstance(each, Mapping):
                waiting.append((f"{name}.", each))
            else:
                found[sys.intern(name)] = each  # each line has its own copy else
    return found


def _refuse_large(path: str, n_rows: int, n_columns: int, n_values: int) -> None:
    """Raise if a table of all keys would fill the memory because rows have few of them in common."""
    if n_columns > MOST_COLUMNS or n_rows * n_columns > max(MOST_CELLS, CELLS_PER_VALUE * n_values):
        raise FormatError(
            f"{path} must have at most {MOST_COLUMNS:,} different keys, and {MOST_CELLS:,} cells or {CELLS_PER_VALUE} "
            f"for each value, got {n_rows:,} rows with {n_columns:,} keys and {n_values:,} values. Write rows that "
            "have few columns in common as svmlight, or what differs as text: a list of words under one key."
        )


def table_of(path: str, records: Sequence[Mapping[str, Any]], how: How) -> Table:
    """Records, their keys dotted, as a matrix: by their values, or with the columns that a model knows."""
    try:
        import pyarrow
    except ImportError:
        raise FormatError(f"{path}: .jsonl files need the package pyarrow: {pip_install('files')}.") from None
    need_threads(path, pyarrow.cpu_count() + pyarrow.io_thread_count())
    schema = how.schema
    own = dict.fromkeys((name for record in records for name in record), "")
    kinds = dict.fromkeys(needed(schema), "number") | {column.name: column.kind for column in schema.columns}
    kinds |= {schema.within: "text"} if kinds and schema.within else {}
    kinds |= {name: "" for name in (schema.id, schema.label) if name in own} if kinds else own
    kinds |= {name: "text" for name in (schema.id, *schema.text) if name in kinds}
    _refuse_large(path, len(records), len(kinds), sum(map(len, records)))
    columns = {name: array_of(path, name, [record.get(name) for record in records], kinds[name]) for name in kinds}
    how, notes = without_left_out(pyarrow.table(columns), how)
    found = assembled(path, pyarrow.table(columns), how)
    return replace(found, notes=[*notes, *found.notes])


def _of_stream(name: str, block: bytes, line: int, how: How) -> Table:
    records = list(_records(name, block.split(b"\n"), line))
    return table_of(name, records, how) if records else Table(np.empty((0, 1)))


FORMATS = (
    Format(
        "jsonl",
        (".jsonl", ".ndjson"),
        "JSON Lines: an object a line, its keys the columns; needs pyarrow.",
        read,
        columns=("id", "label", "text", "ignore"),
        of_stream=_of_stream,
        is_table=True,
    ),
)
