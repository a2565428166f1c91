"""What happened when in a log, in words: bursts of one client, times with far more lines, and regular lines that stop.

A line is regular if lines like it, equal but for times and numbers, come at even distances, as heartbeats do. They have
stopped where one of these distances is many times as long as it is usual.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..formats import Table
from ..formats.event_lines import without_times
from ..insight.timeline import Timeline
from .alike import alike, duration

Doubles = npt.NDArray[np.float64]


class OverTime(NamedTuple):
    """When each line of a log was written, and what happened when, in words."""

    times: Doubles
    said: tuple[str, ...]


_MOST = 3
"""Sentences of each kind."""

_FEWEST, _EVEN, _LONG = 12, 0.8, 5.0
"""Lines that tell whether they are regular; the share of distances that are within half of the usual one; and how many
times as long as that one a silence is."""

_TYPICAL, _MANY, _ENOUGH = 100, 8.0, 30
"""Steps that the lines of a log are counted in; how many times as many as usual, and how many lines, are a surge."""

_NUMBER = re.compile(r"(?<![\w.-])(?:0x)?[0-9a-fA-F]*\d[0-9a-fA-F]*(?![\w.-])|(?<=[=\[(])\d+(?:\.\d+)?")

_LONGEST = 60


class Silence(NamedTuple):
    """Lines that stopped: an example, between when and when, and the seconds that usually pass from one to the next."""

    name: str
    begin: float
    end: float
    usual: float


def over_time(table: Table, scores: Doubles, threshold: float) -> OverTime | None:
    """The times of a log, with a sentence for each burst, surge and silence; None for other tables."""
    times, texts = table.times, table.texts
    if times is None or texts is None:
        return None
    clock = Clock.of(times)
    bursts = [
        f"{burst.in_words()}, from {clock.at(burst.begin)}."
        for burst in sorted(alike(table, scores, threshold).bursts.values(), key=lambda one: -one.n)[:_MOST]
    ]
    names = [_like(text) for text in texts]
    stopped = [_said(one, clock) for one in silences(names, times)[:_MOST]]
    return OverTime(times, tuple(_capital(one) for one in (*bursts, *_surges(names, times, clock), *stopped)))


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


class Clock(NamedTuple):
    """How times are said: by day if there are several, by second if all is within minutes."""

    spelling: str

    @classmethod
    def of(cls, times: Doubles) -> Clock:
        first, last = (datetime.fromtimestamp(float(time), UTC) for time in (times.min(), times.max()))
        day = "" if first.date() == last.date() else "%b %d "
        return cls(f"{day}%H:%M" if (last - first).total_seconds() > 3600 else f"{day}%H:%M:%S")

    def at(self, time: float) -> str:
        """A time in words."""
        return datetime.fromtimestamp(time, UTC).strftime(self.spelling)


def _like(text: str) -> str:
    """A line without its time, and with its numbers alike; names such as db-7 and addresses stay."""
    return " ".join(_NUMBER.sub("0", without_times(text.partition("\n")[0])).split())


# ---- silences --------------------------------------------------------------------------------------------------------


def silences(names: Sequence[str], times: Doubles) -> list[Silence]:
    """Where regular lines stop, the longest compared with what is usual first; each stretch of time once."""
    rows: dict[str, list[int]] = defaultdict(list)
    for row, name in enumerate(names):
        rows[name].append(row)
    found = [one for name, own in rows.items() if len(own) >= _FEWEST for one in _stops(name, times[own], times.max())]
    found.sort(key=lambda one: -(one.end - one.begin) / one.usual)
    whole = _stops("", times, times.max()) if len(times) >= _FEWEST else []
    kept = list[Silence]()
    for one in [*whole, *found]:
        if not any(_same(one, other) for other in kept):
            kept.append(one)
    return kept


def _stops(name: str, times: Doubles, last: float) -> list[Silence]:
    """The long distances between lines of one kind, if others are even; to the end of the log, too."""
    ordered = np.unique(times)
    distances = np.diff(ordered)
    if len(distances) < _FEWEST - 1:
        return []
    usual = float(np.median(distances))
    if np.mean(np.abs(distances - usual) <= usual / 2) < _EVEN:
        return []
    distances = np.append(distances, last - ordered[-1])
    long = distances > _LONG * usual
    if distances[long].sum() > distances[~long].sum():  # silent for longer than regular
        return []
    return [Silence(name, float(ordered[i]), float(ordered[i] + distances[i]), usual) for i in np.flatnonzero(long)]


def _same(one: Silence, other: Silence) -> bool:
    """Whether most of the one is within the other, when nothing came or another line of the same source stopped."""
    shared = min(one.end, other.end) - max(one.begin, other.begin)
    if shared < 0.5 * (one.end - one.begin):
        return False
    return not other.name or len(set(one.name.split()) & set(other.name.split())) > 0


def _said(one: Silence, clock: Clock) -> str:
    what = f"no line like “{one.name[:_LONGEST]}”" if one.name else "no line at all"
    return f"{what} between {clock.at(one.begin)} and {clock.at(one.end)}; usually one every {duration(one.usual)}."


# ---- surges ----------------------------------------------------------------------------------------------------------


def _surges(names: Sequence[str], times: Doubles, clock: Clock) -> list[str]:
    """Times with far more lines than usual, and which line is most of them, the largest first."""
    line = Timeline.of(times)
    if line is None:
        return []
    together = -(-line.n_steps // _TYPICAL)
    step, of_line = line.step * together, line.of_line // together
    counts = np.bincount(of_line)
    usual = float(np.median(counts[counts > 0]))
    high = np.flatnonzero(counts >= max(_MANY * usual, usual + _ENOUGH))
    said = []
    for steps in np.split(high, np.flatnonzero(np.diff(high) > 1) + 1) if len(high) else ():
        rows = np.flatnonzero((of_line >= steps[0]) & (of_line <= steps[-1]))
        name, n = Counter(re.sub(r"\d+", "0", names[row]) for row in rows.tolist()).most_common(1)[0]
        begin, end = line.begin + step * steps[0], line.begin + step * (steps[-1] + 1)
        times_usual = len(rows) / (usual * len(steps))
        what = f", {n:,} of them like “{name[:_LONGEST]}”" if 2 * n >= len(rows) else ""
        sentence = f"{len(rows):,} lines between {clock.at(begin)} and {clock.at(end)}, {times_usual:.0f} times as many"
        said.append((len(rows), f"{sentence} as usual{what}."))
    return [sentence for _, sentence in sorted(said, reverse=True)[:_MOST]]
