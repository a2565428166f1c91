"""JSON Lines: one object per line, whose keys become columns.

Keys within keys become dotted columns, `user.country`. A key that a line lacks, or that is null, is a missing value. A
list with the same number of numbers on each line becomes one column per position, `vector.0`. A column of text becomes
dates, in local time, if every value is one. Half of a surrogate pair, which JSON can hold and UTF-8 cannot, becomes the
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
"""Maximum length of a column's name, its keys joined by dots: deep nesting turns a short line into many long names."""

MOST_COLUMNS = 1_000_000

MOST_CELLS, CELLS_PER_VALUE = 1 << 26, 64
"""Maximum number of rows times columns in any file and, for larger files, per value."""

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def read(path: str, how: How | None = None) -> Table:
    """Read all lines of a file, skipping empty ones."""
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
    """Return one line as a record with dotted keys."""
    try:
        value = json.loads(text.decode("utf-8", "replace"))
        if _SURROGATE.search(text):
            value = json.loads(as_utf8(json.dumps(value, ensure_ascii=False)))
    except (ValueError, RecursionError) as error:
        reason = str(error).partition(":")[0] or type(error).__name__
        raise FormatError(
            f"{path}, line {number}: a JSON object was expected; found {_shown(text)} ({reason})."
        ) from None
    if not isinstance(value, dict):
        raise FormatError(f"{path}, line {number}: a JSON object was expected; found {_shown(text)}.")
    return dotted(value, f"{path}, line {number}")


def _shown(text: bytes) -> str:
    return repr(text[:60].decode("utf-8", "replace"))


def dotted(value: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Turn keys within keys into `outer.inner`. Iterative, so that deep nesting in a file does not nest calls."""
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
                found[sys.intern(name)] = each  # otherwise each line has its own copy
    return found


def _refuse_large(path: str, n_rows: int, n_columns: int, n_values: int) -> None:
    """Raise if a table of all keys would fill the memory because rows share few of them."""
    if n_columns > MOST_COLUMNS or n_rows * n_columns > max(MOST_CELLS, CELLS_PER_VALUE * n_values):
        raise FormatError(
            f"{path} must have at most {MOST_COLUMNS:,} different keys, and {MOST_CELLS:,} cells or {CELLS_PER_VALUE} "
            f"for each value, got {n_rows:,} rows with {n_columns:,} keys and {n_values:,} values. Write rows that "
            "have few columns in common as svmlight, or what differs as text: a list of words under one key."
        )


def table_of(path: str, records: Sequence[Mapping[str, Any]], how: How) -> Table:
    """Return records with dotted keys as a matrix, by their values or with the columns of a model."""
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
        lacks_keys=True,
    ),
)
