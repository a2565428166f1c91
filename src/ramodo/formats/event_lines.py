"""When the lines of a log were written, from which address, and which of them belong together.

Times are read in the one format that most lines have, in the server's local time: zones are ignored. A line without a
time, as in a stack trace, gets the time before it. Missing years are counted up.

A session is the activity of one address within `WINDOW` seconds. So three hundred requests of a scan are one event,
while a heartbeat that lasts all day is one event per window. A session of more than a tenth of a log is ordinary there,
and not an event.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import repeat
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

WINDOW = 300.0
"""Seconds."""

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

_NAMED = f"(?P<name>{'|'.join(_MONTHS)})"

_CLOCK = r"(?P<hour>\d\d)[:.](?P<minute>\d\d)[:.](?P<second>\d\d)(?P<part>[.,]\d+)?"

_SPELLINGS = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        rf"(?<!\d)(?P<day>\d\d)/{_NAMED}/(?P<year>\d{{4}}):{_CLOCK}",
        rf"(?<!\d)(?P<year>\d{{4}})[-/.](?P<month>\d\d)[-/.](?P<day>\d\d)[T -]{_CLOCK}",
        rf"\b{_NAMED} (?P<day>[ \d]\d) {_CLOCK} (?P<year>\d{{4}})\b",
        rf"\b{_NAMED} (?P<day>[ \d]\d) {_CLOCK}",
        r"(?<!\d)(?P<year>\d\d)(?P<month>\d\d)(?P<day>\d\d) (?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)(?!\d)",
        r"(?<![\d.])(?P<since>1\d{9})(?P<part>\.\d+)?(?![\d.])",
    )
)
"""Web servers; ISO 8601 and its likes; the C library; syslog; 081109 203518; seconds since 1970."""

NO_YEAR = 2000
"""The year to assume if none is written: a leap year, which has every day."""

_HALF_A_YEAR = 183 * 86_400.0

_ADDRESS = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])|(?<![\w:])(?:[0-9A-Fa-f]{1,4}:){3,7}[0-9A-Fa-f:]*")

_CLIENT = re.compile(r"(\S+) [^\[]{1,200}\[\d\d/")
"""A request in the log of a web server begins with the client."""

_BEGINNING = 300
"""Number of characters of a line in which to look for its time."""

_SAMPLE, _MOST = 200, 0.5
"""Number of lines from which the format is chosen, and the share of lines that must have a time or an address."""

_MOST_CACHED = 1 << 12
"""Spellings of times."""

_ORDINARY = 0.1
"""Share of all lines above which a session is not an event."""

_FEWEST = 20
"""Lines of a session that count as one: with fewer, they are no more alike than lines of different sessions."""


def times_of(lines: Sequence[str]) -> Doubles | None:
    """Return a time for each line, in seconds since 1970; None if most lines have none."""
    if not len(lines):
        return None
    step = max(1, len(lines) // _SAMPLE)
    sample = [line for line in lines[::step] if line.strip()]
    counts = [sum(spelling.search(line[:_BEGINNING]) is not None for line in sample) for spelling in _SPELLINGS]
    if max(counts) < max(1, _MOST * len(sample)):
        return None
    spelling = _SPELLINGS[int(np.argmax(counts))]
    seconds = lru_cache(maxsize=_MOST_CACHED)(lambda text: _seconds(spelling.search(text)))  # neighbours share them
    written = (spelling.search(line[:_BEGINNING]) for line in lines)
    found = np.fromiter((np.nan if each is None else seconds(each[0]) for each in written), np.float64, len(lines))
    if "year" not in spelling.groupindex and "since" not in spelling.groupindex:
        found = _years_in_order(found)
    return _filled(found)


def _seconds(found: re.Match[str] | None) -> float:
    if found is None:
        return np.nan
    said = found.groupdict()
    part = float((said.get("part") or ".0").replace(",", "."))
    if said.get("since"):
        return float(said["since"]) + part
    month = _MONTHS.index(said["name"]) + 1 if said.get("name") else int(said["month"])
    year = int(said.get("year") or NO_YEAR)
    try:
        time = datetime(year + 2000 * (year < 100), month, int(said["day"]), int(said["hour"]), int(said["minute"]))
    except ValueError:
        return np.nan
    return time.replace(tzinfo=UTC).timestamp() + int(said["second"]) + part


def _years_in_order(times: Doubles) -> Doubles:
    """Count up years: January after December belongs to the next year."""
    steps = np.diff(_filled(times), prepend=_filled(times)[:1])
    return times + 366 * 86_400.0 * np.cumsum(steps < -_HALF_A_YEAR)


def _filled(times: Doubles) -> Doubles:
    """Fill each gap with the time before it, and gaps at the beginning with the first time."""
    there = np.flatnonzero(~np.isnan(times))
    if not len(there):
        return times
    return times[there[np.maximum(np.searchsorted(there, np.arange(len(times)), side="right") - 1, 0)]]


def clients_of(lines: Iterable[str]) -> Iterator[str | None]:
    """Yield the address of each line, in front of a request or the first one in the line; None if there is none."""
    for line in lines:
        found = _CLIENT.match(line)
        if found is not None:
            yield found[1]
            continue
        found = _ADDRESS.search(line)
        yield None if found is None else found[0]


def windows_of(whose: Iterable[int], times: Doubles | None, window: float | None) -> Integers:
    """Return the number of the window of each line within its group; the first line after a window begins the next."""
    began: dict[int, float] = {}
    numbers: dict[int, int] = {}
    found = array("q")
    for who, time in zip(whose, repeat(0.0) if times is None else map(float, times), strict=False):
        if who not in began or (window is not None and abs(time - began[who]) > window):
            began[who], numbers[who] = time, numbers.get(who, -1) + 1
        found.append(numbers[who])
    return np.array(found, dtype=np.int64)


class Sessions(NamedTuple):
    """The number of each line's session, and its client, which is "" if the line is a session of its own."""

    of_line: Integers
    clients: list[str]

    @property
    def groups(self) -> Integers:
        """The group of each line, whose lines count once in what is usual; short sessions are no groups."""
        found = self.of_line.copy()
        few = np.bincount(found)[found] < _FEWEST
        found[few] = len(self.clients) + np.arange(few.sum())
        return found


def sessions_of(lines: Sequence[str], times: Doubles | None, window: float = WINDOW) -> Sessions | None:
    """Return the sessions of a log; None if there are no times, or most lines have no address.

    Each line without an address, or in a session that is too large, is a session of its own.
    """
    n, number_of = len(lines), dict[str, int]()
    found = (-1 if who is None else number_of.setdefault(who, len(number_of)) for who in clients_of(lines))
    whose = np.fromiter(found, np.int64, n)
    known = whose >= 0
    if times is None or known.sum() < _MOST * n:
        return None
    windows = windows_of(map(int, whose[known]), times[known], window)
    keys = -1 - np.arange(n)  # each line for itself
    keys[known] = whose[known] * (windows.max() + 1) + windows
    _, of_line, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    alone = sizes[of_line] > _ORDINARY * n
    keys[alone] = -1 - np.flatnonzero(alone)
    _, firsts, of_line = np.unique(keys, return_index=True, return_inverse=True)
    places = np.argsort(np.argsort(firsts))  # sessions in the order in which they begin
    names = ["", *number_of]
    owners = np.where(keys < 0, -1, whose)[np.sort(firsts)]
    return Sessions(places[of_line], [names[owner + 1] for owner in owners.tolist()])


def without_times(line: str) -> str:
    """Return a line without its first time, in any spelling."""
    found = [match for match in (spelling.search(line[:_BEGINNING]) for spelling in _SPELLINGS) if match is not None]
    first = min(found, key=lambda match: match.start(), default=None)
    return line if first is None else line[: first.start()] + line[first.end() :]
