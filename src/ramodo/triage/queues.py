"""The queues of the labelling page: the order in which each shows rows, and its purpose.

A new queue is a function from `Waiting` to rows and an entry in `QUEUES`. Nothing here imports numpy: the help of the
command lists the queues.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .ranking import Ranking


@dataclass(frozen=True)
class Waiting:
    """The rows that a queue chooses from.

    gone : rows that are labelled, or that this analyst has seen
    groups : rows that are outliers for the same reason
    of_others : rows that only other analysts have labelled, unless this one has seen them
    """

    ranking: Ranking
    gone: set[int]
    groups: Sequence[Sequence[int]]
    of_others: Iterable[int]

    def left(self, rows: Iterable[int]) -> Iterator[int]:
        """Yield the rows that are not gone."""
        return (row for row in rows if row not in self.gone)


@dataclass(frozen=True, kw_only=True)
class Queue:
    """An order of rows.

    name : in the store and on the command line
    title, purpose : on the page
    at_end : what the page says when no row is left
    rows : the rows, in order
    needs_groups : whether rows must be grouped by their reasons first
    from_top : whether rows come from the top of the ranking, so that labels show its precision
    """

    name: str
    title: str
    purpose: str
    rows: Callable[[Waiting], Iterable[int]]
    at_end: str = "All rows are labelled, skipped, or shown to somebody else."
    needs_groups: bool = False
    from_top: bool = False


def by_variety(waiting: Waiting) -> Iterator[int]:
    """Yield the best row of each group, then the second best of each, and so on.

    A row outside all groups is its own group. A group waits one round for each of its rows that is gone.
    """
    ranking, rounds = waiting.ranking, dict[int, int]()
    for group in waiting.groups:
        ordered = sorted(group, key=lambda row: (row not in waiting.gone, int(ranking.places[row])))
        rounds |= {row: number for number, row in enumerate(ordered)}
    last = max((int(ranking.places[row]) for row in rounds), default=-1) + 1
    first = waiting.left(ranking.listed[:last])
    yield from sorted(first, key=lambda row: (rounds.get(row, 0), int(ranking.places[row])))
    yield from waiting.left(islice(ranking.listed, last, None))


SCORE = Queue(
    name="score",
    title="By score",
    purpose="Highest score first: finds the most outliers in the least time.",
    rows=lambda waiting: waiting.left(waiting.ranking.listed),
    from_top=True,
)
VARIETY = Queue(
    name="variety",
    title="By variety",
    purpose="One of each kind before the next of the same kind: shows early what kinds of outliers there are.",
    rows=by_variety,
    needs_groups=True,
    from_top=True,
)
CUTOFF = Queue(
    name="cut-off",
    title="Near the cut-off",
    purpose="Drawn at random near the cut-off and below it: estimates how many outliers are left.",
    rows=lambda waiting: waiting.left(waiting.ranking.drawn),
    at_end="All rows below the cut-off are labelled, skipped, or shown to somebody else.",
)
SECOND = Queue(
    name="second",
    title="Second look",
    purpose="Rows that another analyst has labelled: measures how well you agree.",
    rows=lambda waiting: waiting.of_others,
    at_end="You have labelled every row that others have labelled.",
)

QUEUES = {queue.name: queue for queue in (SCORE, VARIETY, CUTOFF, SECOND)}
"""In the order in which the page offers them."""
