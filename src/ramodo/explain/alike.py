"""Lines of a log that share an entry of a list: copies of one template, and the lines of one burst.

A burst is a session of several lines, at least half of them high: flagged, or among the highest tenth. A long scan may
leave hardly any line flagged. All its lines belong to it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..formats import Table
from ..formats.event_lines import Sessions
from ..formats.masking import Masks, templates_of

Integers = npt.NDArray[np.int64]

_FEWEST, _SHARE = 5, 0.5
"""Minimum number of lines in a burst, and minimum share of them that is high."""

_HIGH = 0.1
"""Share of all lines that is high: a session with more lines is what is ordinary in a log."""

_HIGHEST = 2000
"""Number of highest lines to compare, in addition to the flagged ones."""


class Burst(NamedTuple):
    """Lines of one client within a short time: how many, whose, within how many seconds, and since when."""

    n: int
    client: str
    seconds: float
    begin: float

    def in_words(self) -> str:
        """Return the burst in words: 300 lines of 203.0.113.77 within 4 minutes."""
        return f"{self.n:,} lines of {self.client} within {duration(self.seconds)}"


class Alike(NamedTuple):
    """A number for each row, the same for rows that share an entry, and the bursts by that number."""

    of_row: Integers
    bursts: dict[int, Burst]


def alike(table: Table, scores: npt.NDArray[np.float64], threshold: float) -> Alike:
    """Find the rows of a table that share an entry. Unless rows are lines of a log, each gets its own."""
    n, bursts = len(scores), dict[int, Burst]()
    of_row, flagged = np.arange(n), scores >= threshold
    if not table.are_lines or table.texts is None:
        return Alike(of_row, bursts)
    rows = np.sort(np.argsort(-scores, kind="stable")[: max(_HIGHEST, int(flagged.sum()))])
    found = templates_of((table.texts[row] for row in rows.tolist()), Masks())
    of_row[rows] = n + 2 * found.of_line + flagged[rows]  # flagged rows are not mixed with others
    sessions, times = table.sessions, table.times
    if sessions is not None and times is not None:
        high = flagged | (scores > np.quantile(scores, 1 - _HIGH))
        for client, own in _bursts(sessions, high).items():
            number = 3 * n + int(own[0])
            of_row[own] = number
            bursts[number] = Burst(len(own), client, float(np.ptp(times[own])), float(times[own].min()))
    return Alike(of_row, bursts)


def _bursts(sessions: Sessions, high: npt.NDArray[np.bool_]) -> dict[str, Integers]:
    """Return the lines of all bursts of each client, since a scan may last longer than one session."""
    sizes = np.bincount(sessions.of_line)
    many = np.bincount(sessions.of_line, high) >= _SHARE * sizes
    order = np.argsort(sessions.of_line, kind="stable")
    found: dict[str, list[Integers]] = {}
    for number in np.flatnonzero(many & (sizes >= _FEWEST)).tolist():
        begin = int(sizes[:number].sum())
        found.setdefault(sessions.clients[number], []).append(order[begin : begin + sizes[number]])
    return {client: np.sort(np.concatenate(parts)) for client, parts in found.items()}


def duration(seconds: float) -> str:
    """Return a duration in the unit that people would use."""
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            n = round(seconds / size)
            return f"{n} {name}{'s' * (n != 1)}"
    n = max(1, round(seconds))
    return f"{n} second{'s' * (n != 1)}"
