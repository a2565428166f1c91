"""The loop without a page: answers come from a table, in the order in which a queue asks for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .opinions import OUTLIER
from .queues import QUEUES, SCORE
from .session import TriageSession


@dataclass(frozen=True)
class Walk:
    """Rows in the order in which they were labelled, and whether each was an outlier."""

    rows: list[int]
    outliers: list[bool]

    def found(self, n: int) -> int:
        """Return how many of the first n rows were outliers."""
        return sum(self.outliers[:n])


def walk(
    session: TriageSession,
    answers: Mapping[int, int],
    *,
    queue: str = SCORE.name,
    most: int | None = None,
    show: Callable[[int, int], None] | None = None,
) -> Walk:
    """Label the rows of a queue from known answers, at most `most` of them, learning after every `refit_every`.

    Rows without an answer are skipped. Each fit is waited for, so the same answers always give the same walk.
    """
    session.choose(queue)
    if QUEUES[queue].needs_groups:
        session.group()
    left = {row for row in answers if row not in session.labelled}
    rows, outliers = list[int](), list[bool]()
    row = session.next() if left else None
    while row is not None and left and (most is None or len(rows) < most):
        if row not in left:
            row = session.next()
            continue
        left.discard(row)
        rows.append(row)
        outliers.append(answers[row] == OUTLIER)
        session.label(row, answers[row], advance=False)
        session.wait()
        if show is not None:
            show(len(rows), len(rows) + len(left) if most is None else most)
        row = session.next()
    return Walk(rows, outliers)
