"""Logs of web servers, in the common and the combined format: one request per line.

    203.0.113.7 - - [02/Mar/2026:09:14:05 +0000] "GET /cart HTTP/1.1" 200 512 "https://shop.example/" "Mozilla/5.0 ..."

Path, referrer and agent are documents, each with its own tokens. Method and status are categories, the size is a number
and the time a date, in the server's local time. The client address is left out, since it names a row instead of
describing it, and so is anything after the agent. Lines that are not requests are skipped and reported. If there are
many, the file has another format.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from ..extras import pip_install
from .assembling import assembled
from .byte_streams import need_threads
from .file_lines import lines_of, split
from .format import Format, How
from .table import FormatError, Table

_QUOTED = r'"([^"\\]*(?:\\.[^"\\]*)*)"'

_LINE = re.compile(
    rf"\S+ [^\[]*\[(\d\d)/(\w{{3}})/(\d{{4}}):(\d\d):(\d\d):(\d\d)[^\]]*\] {_QUOTED} (\d{{3}}) (\d+|-)"
    rf"(?: {_QUOTED} {_QUOTED})?(?: .*)?",
    re.ASCII,
)

_REQUEST = re.compile(r"([A-Z]{3,20}) (.*?)(?: HTTP/[\d.]+)?", re.ASCII)

_MONTHS = {
    name: number + 1
    for number, name in enumerate(("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"))
}

_TEXTS = ("path", "referrer", "agent")

_MOST_SKIPPED = 0.1
"""Maximum share of lines that are not requests."""

_SHOWN = 3


class Request(NamedTuple):
    """One line."""

    method: str
    path: str
    status: str
    size: float
    referrer: str
    agent: str
    time: datetime


def parse(line: str) -> Request | None:
    """Return the request in a line, or None if there is none. Non-HTTP requests, as probes send, become paths."""
    found = _LINE.fullmatch(line)
    if found is None:
        return None
    day, month, year, hour, minute, second, asked, status, size, referrer, agent = found.groups()
    try:
        time = datetime(int(year), _MONTHS[month], int(day), int(hour), int(minute), min(int(second), 59))
    except (KeyError, ValueError):
        return None
    request = _REQUEST.fullmatch(asked)
    method, path = request.groups() if request is not None else ("none", asked)
    number = 0.0 if size == "-" else float(size)
    return Request(method, path, status, number, _given(referrer), _given(agent), time)


def _given(text: str | None) -> str:
    return "" if text is None or text == "-" else text


def read(path: str, how: How | None = None) -> Table:
    """Return a row for each line that is a request. If some lines are not, the ids of rows are line numbers."""
    how = how or How()
    given = lines_of(path, how.show)
    if not given:
        raise FormatError(f"{path} has no lines.")
    return _table(path, given, how, _MOST_SKIPPED)


def _table(path: str, given: Sequence[str], how: How, most: float, before: int = 0) -> Table:
    requests = [parse(line) for line in given]
    wrong = [number for number, request in enumerate(requests) if request is None and given[number].strip()]
    if len(wrong) > most * len(given):
        raise FormatError(
            f"{path}, line {before + wrong[0] + 1}: a request was expected, in the common or combined format of web "
            f"servers; found {given[wrong[0]][:80]!r}{_others(wrong)}. --format text takes any line as it is."
        )
    kept = [number for number, request in enumerate(requests) if request is not None]
    if not kept:
        return Table(np.empty((0, 1)))
    table = _as_columns(path, [request for request in requests if request is not None])
    schema = replace(how.schema, text=tuple(name for name in _TEXTS if name not in how.schema.ignore))
    found = replace(assembled(path, table, replace(how, schema=schema)), texts=[given[number] for number in kept])
    if len(kept) == len(given):
        return found
    ids = None if before else [str(number) for number in kept]
    return replace(found, ids=ids, skipped=len(wrong), notes=[*_notes(given, wrong), *found.notes])


def _as_columns(path: str, requests: list[Request]) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise FormatError(f"{path}: logs of requests need the package pyarrow: {pip_install('files')}.") from None
    need_threads(path, pyarrow.cpu_count() + pyarrow.io_thread_count())
    columns = dict(zip(Request._fields, map(list, zip(*requests, strict=True)), strict=True))
    return pyarrow.table(columns | {"time": pyarrow.array(columns["time"], pyarrow.timestamp("s"))})


def _others(wrong: list[int]) -> str:
    return f", and {len(wrong) - 1:,} more such lines" if len(wrong) > 1 else ""


def _notes(given: Sequence[str], wrong: list[int]) -> list[str]:
    if not wrong:
        return []
    shown = "; ".join(f"line {number + 1}: {given[number][:60]!r}" for number in wrong[:_SHOWN])
    more = f"; and {len(wrong) - _SHOWN:,} more" if len(wrong) > _SHOWN else ""
    were = "line is not a request and was" if len(wrong) == 1 else "lines are not requests and were"
    return [f"{len(wrong):,} {were} left out: {shown}{more}."]


def _of_stream(name: str, block: bytes, line: int, how: How) -> Table:
    return _table(name, split(block), how, 0.0, line)


FORMATS = (
    Format(
        "accesslog",
        (),
        "The log of a web server, in the common or combined format: a request a line; needs pyarrow.",
        read,
        columns=("ignore",),
        of_stream=_of_stream,
        has_documents=True,
        is_table=True,
    ),
)
