"""JSON Lines: an object a line; what it holds becomes columns.

Keys within keys become dotted columns, `user.country`. A key that a line lacks, or that is null, is a missing value. A
list of as many numbers on each line becomes one column per place, `vector.0`. Text of which every value is a date is
dates. Half of a surrogate pair, which JSON can spell and UTF-8 cannot, becomes the replacement character.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import numpy as np

from ..extras import pip_install
from .assembling import assembled
from .format import Format, How
from .opening import line_blocks, need_threads
from .recognising import as_utf8
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
    return _table(path, records, how)


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
    return dict(_dotted(value, f"{path}, line {number}"))


def _shown(text: bytes) -> str:
    return repr(text[:60].decode("utf-8", "replace"))


def _dotted(value: dict[str, Any], place: str) -> Iterator[tuple[str, Any]]:
    """Iterative: what is nested deeply in a file must not nest calls."""
    waiting = [("", value)]
    while waiting:
        prefix, inner = waiting.pop()
        for key, found in inner.items():
            name = prefix + key
            if len(name) > LONGEST_NAME:
                raise FormatError(
                    f"{place}: the key {name[:60]!r}... has more than {LONGEST_NAME:,} characters, the keys around it "
                    "included; allowed: shorter or less nested keys."
                )
            if isinstance(found, dict):
                waiting.append((f"{name}.", found))
            else:
                yield sys.intern(name), found  # each line has its own copy else


def _refuse_large(path: str, n_rows: int, n_columns: int, n_values: int) -> None:
    """Raise if rows have so few keys in common that a table of all of them would fill the memory."""
    if n_columns > MOST_COLUMNS or n_rows * n_columns > max(MOST_CELLS, CELLS_PER_VALUE * n_values):
        raise FormatError(
            f"{path} has {n_rows:,} rows with {n_columns:,} different keys, and {n_values:,} values; allowed: "
            f"{MOST_COLUMNS:,} keys, and a table of {MOST_CELLS:,} cells or {CELLS_PER_VALUE} for each value. Write "
            "rows that have few columns in common as svmlight, or what differs as text: a list of words under one key."
        )


def _table(path: str, records: list[dict[str, Any]], how: How) -> Table:
    try:
        import pyarrow
    except ImportError:
        raise FormatError(f"{path}: .jsonl files need the package pyarrow: {pip_install('files')}.") from None
    need_threads(path, pyarrow.cpu_count() + pyarrow.io_thread_count())
    names = list(dict.fromkeys([*(name for record in records for name in record), *how.table.given]))
    _refuse_large(path, len(records), len(names), sum(map(len, records)))
    texts, categories = {how.table.id, *how.table.text}, set(how.table.categories)
    columns = {
        name: _column(path, name, [record.get(name) for record in records], name in texts, name in categories)
        for name in names
    }
    return assembled(path, pyarrow.table(columns), how)


def _column(path: str, name: str, values: list[Any], is_text: bool, is_category: bool) -> Any:
    """Numbers, booleans, dates, lists of numbers or of texts, or else text."""
    import pyarrow

    there = [value for value in values if value is not None]
    kinds = {bool if isinstance(value, bool) else type(value) for value in there}
    if not there:
        return pyarrow.nulls(len(values))
    try:
        if kinds == {list} and not is_text and (is_category or not _are_numbers(there)):
            texts = [None if value is None else [_as_text(each) for each in value] for value in values]
            return pyarrow.array(texts, pyarrow.list_(pyarrow.string()))
        if is_text or is_category:
            return pyarrow.array([None if value is None else _as_text(value) for value in values], pyarrow.string())
        if kinds == {bool}:
            return pyarrow.array(values, pyarrow.bool_())
        if kinds <= {int, float, bool}:
            return pyarrow.array([None if value is None else float(value) for value in values], pyarrow.float64())
        if kinds == {list}:
            return pyarrow.array(values, pyarrow.list_(pyarrow.float64()))
        if kinds == {str} and all(map(_is_date, there)):
            return pyarrow.array([None if value is None else _utc(value) for value in values], pyarrow.timestamp("us"))
    except (pyarrow.ArrowException, OverflowError, TypeError) as error:
        raise FormatError(f"{path}, column {name!r}: {str(error).rstrip('.')}. Leave it out with --ignore.") from None
    return pyarrow.array([None if value is None else _as_text(value) for value in values], pyarrow.string())


def _are_numbers(lists: list[list[Any]]) -> bool:
    return all(isinstance(each, int | float) for value in lists for each in value)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _is_date(text: str) -> bool:
    if "-" not in text[1:]:  # digits alone are more often something else
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _utc(text: str) -> datetime:
    """The time as it is written: a person means the hour of the place, whichever that is."""
    return datetime.fromisoformat(text).replace(tzinfo=None)


def _of_stream(name: str, block: bytes, line: int, how: How) -> Table:
    records = list(_records(name, block.split(b"\n"), line))
    return _table(name, records, how) if records else Table(np.empty((0, 1)))


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
