"""The loop without a page: answers come from a table, in the order in which the queue asks for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .labels import OUTLIER
from .queues import SCORE
from .session import TriageSession


@dataclass(frozen=True)
class Walk:
    """Rows in the order in which they were looked at, and which of them were outliers."""

    rows: list[int]
    outliers: list[bool]

    def found(self, n: int) -> int:
        """Outliers among the first n rows."""
        return sum(self.outliers[:n])


def walk(
    session: TriageSession,
    answers: Mapping[int, int],
    *,
    queue: str = SCORE,
    most: int | None = None,
    show: Callable[[int, int], None] | None = None,
) -> Walk:
    """Label the rows of a queue by known answers, learning after every `refit_every`, until they are used up.

    Rows without an answer are passed over. Every fit is waited for, so that the same answers give the same walk.
    """
    session.choose(queue)
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
