"""JSON Lines: an object a line; what it holds becomes columns.

Keys within keys become dotted columns, `user.country`. A key that a line lacks, or that is null, is a missing value. A
list of as many numbers on each line becomes one column per place, `vector.0`. Text of which every value is a date is
dates, by the clock that wrote them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

import numpy as np

from .assembling import assembled
from .byte_streams import line_blocks, need_threads
from .format import Format, How
from .table import FormatError, RowError, Table


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
    except (ValueError, RecursionError) as error:
        reason = str(error).partition(":")[0] or type(error).__name__
        raise FormatError(
            f"{path}, line {number}: an object of JSON was expected; found {_shown(text)} ({reason})."
        ) from None
    if not isinstance(value, dict):
        raise FormatError(f"{path}, line {number}: an object of JSON was expected; found {_shown(text)}.")
    return dotted(value)


def _shown(text: bytes) -> str:
    return repr(text[:60].decode("utf-8", "replace"))


def dotted(value: Mapping[str, Any]) -> dict[str, Any]:
    """Keys within keys become `outer.inner`. Iterative: what is nested deeply in a file must not nest calls."""
    found, waiting = dict[str, Any](), [("", value)]
    while waiting:
        prefix, inner = waiting.pop()
        for key, each in inner.items():
            if isinstance(each, Mapping):
                waiting.append((f"{prefix}{key}.", each))
            else:
                found[f"{prefix}{key}"] = each
    return found


def table_of(path: str, records: Sequence[Mapping[str, Any]], how: How) -> Table:
    """Records, their keys dotted, as a matrix: by their values, or with the columns that a model knows."""
    try:
        import pyarrow
    except ImportError:
        raise FormatError(f"{path}: .jsonl files need the package pyarrow: pip install 'ramodo[files]'.") from None
    need_threads(path, pyarrow.cpu_count() + pyarrow.io_thread_count())
    schema = how.schema
    own = dict.fromkeys((name for record in records for name in record), "")
    kinds = {column.name: column.kind for column in schema.columns}
    kinds |= {name: "" for name in (schema.id, schema.label) if name in own} if kinds else own
    kinds |= {name: "text" for name in (schema.id, *schema.text) if name in kinds}
    columns = {name: _column(path, name, [record.get(name) for record in records], kinds[name]) for name in kinds}
    return assembled(path, pyarrow.table(columns), how)


def _column(path: str, name: str, values: list[Any], kind: str) -> Any:
    """Values as pyarrow has them: of the kind that a model knows, or else of that which all of them fit."""
    import pyarrow as pa

    there = [value for value in values if value is not None]
    if not there:
        return pa.nulls(len(values))
    kind = kind or _kind_of(there)
    try:
        found = [None if value is None else _READ[kind](value) for value in values]
    except _OtherKindError:
        found, kind = [None if value is None else _as_text(value) for value in values], "text"
    except _UnusableError as error:
        row = next(row for row, value in enumerate(values) if value is error.value)
        raise RowError(path, row, f"column {name!r} has {_brief(error.value)}; allowed: {error.allowed}.") from None
    types = {"date": pa.timestamp("us"), "list": pa.list_(pa.float64()), "set": pa.list_(pa.string())}
    types |= {"number": pa.float64(), "boolean": pa.float64()}
    try:
        return pa.array(found, types.get(kind, pa.string()))
    except (pa.ArrowException, OverflowError, TypeError) as error:
        raise FormatError(f"{path}, column {name!r}: {str(error).rstrip('.')}. Leave it out with --ignore.") from None


def _kind_of(values: list[Any]) -> str:
    """What all values are: numbers, dates, lists of numbers or of texts, or else text."""
    kinds = set(map(type, values))
    if kinds <= {bool, int, float}:
        return "boolean" if kinds == {bool} else "number"
    if kinds == {list}:
        are_numbers = all(isinstance(each, int | float) for value in values for each in value)
        return "list" if are_numbers else "set"
    return "date" if kinds == {str} and all(map(_is_date, values)) else "category"


class _OtherKindError(Exception):
    """A value is of another kind than the others: all of them are text."""


class _UnusableError(Exception):
    """A value that no column of its kind can have."""

    def __init__(self, value: Any, allowed: str) -> None:
        super().__init__(allowed)
        self.value, self.allowed = value, allowed


def _number(value: Any) -> float | None:
    """A number; text that is one, or says that there is none, as in CSV files."""
    if isinstance(value, str):
        word = value.strip().lower()
        if value in _nulls():
            return None
        if word in ("true", "false"):
            return float(word == "true")
        try:
            return float("_" if "_" in word else word)
        except ValueError:
            raise _OtherKindError from None
    if not isinstance(value, int | float):
        raise _UnusableError(value, "a number, a string or null")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isinf(number):
        raise _UnusableError(value, "finite numbers")
    return number


@cache
def _nulls() -> frozenset[str]:
    import pyarrow.csv

    return frozenset(pyarrow.csv.ConvertOptions().null_values)


def _date(value: Any) -> datetime | None:
    """The time as it is written: a person means the hour of the place, whichever that is; see columns.py."""
    if not isinstance(value, str):
        raise _UnusableError(value, "dates")
    if value in _nulls():
        return None
    try:
        return datetime.fromisoformat(value).replace(tzinfo=None)
    except ValueError:
        raise _OtherKindError from None


def _is_date(text: str) -> bool:
    if "-" not in text[1:]:  # digits alone are more often something else
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _as_text(value: Any) -> str:
    """Text, without halves of characters, which JSON may have and UTF-8 has not."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _set(value: Any) -> list[str]:
    return [_as_text(each) for each in (value if isinstance(value, list) else [value])]


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list) or not all(isinstance(each, int | float) for each in value):
        raise _UnusableError(value, "a list of numbers")
    return value


_READ: dict[str, Callable[[Any], Any]] = {"number": _number, "boolean": _number, "date": _date, "list": _list}
_READ |= {"set": _set, "category": _as_text, "text": _as_text}


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _of_stream(name: str, block: bytes, line: int, how: How) -> Table:
    records = list(_records(name, block.split(b"\n"), line))
    return table_of(name, records, how) if records else Table(np.empty((0, 1)))


FORMATS = (
    Format(
        "jsonl",
        (".jsonl", ".ndjson"),
        "JSON Lines: an object a line, its keys the columns; needs `ramodo[files]`.",
        read,
        columns=("id", "label", "text", "ignore"),
        of_stream=_of_stream,
        is_table=True,
    ),
)
