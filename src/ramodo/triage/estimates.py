"""Estimates from labels alone: precision so far, agreement of analysts, outliers left, and when to stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations

import numpy as np
import numpy.typing as npt

from .opinions import INLIER, OUTLIER, UNSURE, Opinions
from .queues import CUTOFF, QUEUES
from .ranking import ABOVE, BELOW, NEAR, Ranking
from .store import Entry

_TENS = 10
_RECENT = 20
"""This many of the last rows labelled at the top predict the following ones."""

_WIDTHS = (60, 300, 900, 3600, 6 * 3600, 86_400, 7 * 86_400, 30 * 86_400)
"""Widths of spans of time, in seconds: 1, 5 and 15 minutes, 1 and 6 hours, a day, a week, a month."""

_MOST_SPANS = 30

_DRAWS = 4000
_FEWEST_DRAWN = 10
"""How many rows must be drawn near and below the cut-off before outliers left there are estimated."""

_FEWEST_RECENT = 30
_LITTLE = 0.05
"""Time to stop: at most this share of the last rows were outliers, and at most this share of all outliers is left."""


@dataclass(frozen=True)
class Ten:
    """`n_rows` labelled rows, counted from the `first`, and how many of them were outliers."""

    first: int
    n_rows: int
    n_outliers: int


@dataclass(frozen=True)
class Span:
    """Labels given in a span of time that begins at `begin`, in UTC, and who gave them."""

    begin: str
    outliers: int
    inliers: int
    unsure: int
    who: tuple[str, ...]

    @property
    def n_labels(self) -> int:
        return self.outliers + self.inliers + self.unsure


@dataclass(frozen=True)
class Agreement:
    """How well two analysts agree on the rows both labelled: Cohen's kappa, and the rows they disagree on."""

    one: str
    other: str
    n_rows: int
    kappa: float
    disagree: tuple[int, ...]


@dataclass(frozen=True)
class Left:
    """Outliers left among the `n_rows` unlabelled rows: a best guess and a 95 % interval."""

    guess: float
    low: int
    high: int
    n_rows: int
    n_drawn: int


def by_tens(entries: Sequence[Entry]) -> list[Ten]:
    """Outliers in every ten rows from the top, in the order in which they were labelled; unsure does not count."""
    seen: dict[int, int] = {}
    for entry in _from_top(entries):
        seen[entry.row] = entry.label  # a row keeps the place where it was labelled first
    labels = list(seen.values())
    parts = [labels[i : i + _TENS] for i in range(0, len(labels), _TENS)]
    return [Ten(1 + _TENS * i, len(part), part.count(OUTLIER)) for i, part in enumerate(parts)]


def over_time(entries: Sequence[Entry]) -> list[Span]:
    """Return labels in spans of equal width, the narrowest width that gives no more than 30 spans."""
    times = [datetime.fromisoformat(entry.at).timestamp() for entry in entries]
    if not times:
        return []
    width = next((w for w in _WIDTHS if max(times) - min(times) <= (_MOST_SPANS - 1) * w), _WIDTHS[-1])
    found: dict[int, list[Entry]] = {}
    for entry, at in zip(entries, times, strict=True):
        found.setdefault(int(at // width), []).append(entry)
    return [_span(number * width, found.get(number, [])) for number in range(min(found), max(found) + 1)]


def _span(begin: float, entries: Sequence[Entry]) -> Span:
    labels = [entry.label for entry in entries]
    outliers, inliers, unsure = (labels.count(label) for label in (OUTLIER, INLIER, UNSURE))
    at = datetime.fromtimestamp(begin, UTC).strftime("%Y-%m-%d %H:%M")
    return Span(at, outliers, inliers, unsure, tuple(sorted({entry.who for entry in entries})))


def agreements(opinions: Opinions) -> list[Agreement]:
    """Return the agreement of each pair of analysts with rows in common."""
    held: dict[str, dict[int, int]] = {}
    for row in opinions.rows():
        for who, label in opinions.of_row(row).items():
            if label in (OUTLIER, INLIER):
                held.setdefault(who, {})[row] = label
    found = []
    for one, other in combinations(sorted(held), 2):
        common = sorted(held[one].keys() & held[other].keys())
        if common:
            pairs = np.array([[held[who][row] for row in common] for who in (one, other)])
            differ = tuple(row for row, same in zip(common, pairs[0] == pairs[1], strict=True) if not same)
            found.append(Agreement(one, other, len(common), kappa(pairs[0], pairs[1]), differ))
    return found


def kappa(one: npt.NDArray[np.int64], other: npt.NDArray[np.int64]) -> float:
    """Cohen's kappa: agreement beyond chance, as a share of what is possible; 1 if both always agree."""
    agree = float((one == other).mean())
    by_chance = sum(float((one == label).mean()) * float((other == label).mean()) for label in (OUTLIER, INLIER))
    return 1.0 if by_chance == 1 else (agree - by_chance) / (1 - by_chance)


def left(entries: Sequence[Entry], ranking: Ranking, labelled: set[int]) -> Left | None:
    """Outliers left among unlabelled rows; None until enough rows were drawn near and below the cut-off.

    Above the cut-off, the rows labelled last estimate how many of the next are outliers. Below it, rows drawn at random
    do; if labels have improved the ranking since, this is an overestimate.
    """
    drawn = {s: [e for e in entries if e.queue == CUTOFF.name and e.stratum == s] for s in (NEAR, BELOW)}
    if min(map(len, drawn.values())) == 0 or sum(map(len, drawn.values())) < _FEWEST_DRAWN:
        return None
    looked = [e for e in _from_top(entries) if e.stratum == ABOVE][-_RECENT:]
    rng, total = np.random.default_rng(0), np.zeros(_DRAWS)
    n_unlabelled = 0
    for stratum, seen in {**drawn, ABOVE: looked}.items():
        n = sum(row not in labelled for row in ranking.rows(stratum).tolist())
        found = sum(entry.label == OUTLIER for entry in seen)
        rates = rng.beta(found + 0.5, len(seen) - found + 0.5, _DRAWS)  # Jeffreys' prior for a share
        total += rng.binomial(n, rates)
        n_unlabelled += n
    low, high = np.quantile(total, [0.025, 0.975])
    return Left(
        float(np.median(total)), int(np.floor(low)), int(np.ceil(high)), n_unlabelled, sum(map(len, drawn.values()))
    )


def advice(entries: Sequence[Entry], found: int, remaining: Left | None) -> tuple[bool, str]:
    """Return whether it is time to stop, and why or why not."""
    recent = _from_top(entries)[-_FEWEST_RECENT:]
    n = sum(entry.label == OUTLIER for entry in recent)
    if len(recent) < _FEWEST_RECENT:
        return False, f"Keep going: you have labelled {len(recent)} rows from the top; advice needs {_FEWEST_RECENT}."
    if n > _LITTLE * len(recent):
        return False, f"Keep going: {n} of the last {len(recent)} rows from the top were outliers."
    if remaining is None:
        return False, (
            f"Nearly there: {n} of the last {len(recent)} rows from the top were outliers. Label at least "
            f"{_FEWEST_DRAWN} rows of the queue “{CUTOFF.title}” to estimate how many outliers are left."
        )
    if remaining.high > max(1, _LITTLE * found):
        return False, (
            f"{n} of the last {len(recent)} rows from the top were outliers, and up to {remaining.high:,} may be left. "
            f"Label more rows of the queue “{CUTOFF.title}” to find them or to narrow that estimate."
        )
    return (
        True,
        f"You can stop: {n} of the last {len(recent)} rows from the top were outliers, and at most "
        f"{remaining.high:,} are left.",
    )


def _from_top(entries: Sequence[Entry]) -> list[Entry]:
    """Return the labels of rows that were taken from the top of the ranking."""
    return [entry for entry in entries if entry.queue in QUEUES and QUEUES[entry.queue].from_top]
