"""The rows that `ramodo detect` lists: the highest row of each kind, or all of the highest rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..explain.alike import Alike, Burst
from ..explain.explanation import Explanation
from ..explain.naming import in_words
from ..explain.reasons import Reason, RowExplanation
from ..formats import Table
from ..formats.line_reading import reader_of
from ..insight.figures import percentiles
from .console import print_line, print_rows

COMPARED = 200
"""How many of the highest rows are grouped into kinds."""

_LONGEST = 80

_COUNTS = 0.001
"""A reason that adds a smaller share of the score is left out."""


class TopRow(NamedTuple):
    """A row number, why the row is high, and the rows that are high for the same reason, highest first."""

    number: int
    why: RowExplanation
    like: tuple[int, ...] = ()
    burst: Burst | None = None

    def n_flagged(self, scores: Any, threshold: float) -> int:
        """How many of the rows that it stands for are flagged, it included."""
        return int((scores[[self.number, *self.like]] >= threshold).sum())


def top_rows(
    scores: Any,
    threshold: float,
    top: int,
    explain: Callable[[list[int]], Explanation],
    together: Alike,
    *,
    every: bool,
) -> list[TopRow]:
    """Return the highest rows; unless `every` is set, the highest represents all rows of its kind."""
    order = np.argsort(-scores, kind="stable")
    if not top:
        return []
    if every:
        return [TopRow(row, why) for row, why in zip(order[:top].tolist(), explain(order[:top].tolist()), strict=True)]
    units = together.of_row[order]
    first = np.sort(np.unique(units, return_index=True)[1])[: max(top, COMPARED)]
    highest = order[first].tolist()
    found = explain(highest)
    groups = {group.rows[0]: group.rows for group in found.groups(threshold)}
    others = {row for rows in groups.values() for row in rows[1:]}
    listed = [place for place in range(len(highest)) if place not in others][:top]
    rows = []
    for place in listed:
        kind = units[first[list(groups.get(place, (place,)))]]
        like = order[np.isin(units, kind)].tolist()
        rows.append(TopRow(highest[place], found[place], tuple(like[1:]), together.bursts.get(int(kind[0]))))
    return rows


def print_top(rows: list[TopRow], table: Table, scores: Any, threshold: float, *, to_error: bool) -> None:
    """Print a line for each row: whether it is flagged, its reasons, and its document if there is one."""
    shares = percentiles(scores[[row.number for row in rows]], scores).tolist()
    alike = any(row.like for row in rows)
    print_rows(
        [
            *("id", "score", "percentile", "flagged"),
            *(["like it"] if alike else []),
            *("reasons", *(["text"] if table.texts else []), *(["lines"] if table.lines else [])),
        ],
        [
            [
                table.id_of(row.number),
                f"{scores[row.number]:.6g}",
                f"{share:.2f}",
                _flagged(row, row.n_flagged(scores, threshold)),
                *([f"{len(row.like):,}" if row.like else ""] if alike else []),
                _reasons(row),
                *([_short(_document(table, row.number))] if table.texts else []),
                *([_lines(table.lines[row.number])] if table.lines else []),
            ]
            for row, share in zip(rows, shares, strict=True)
        ],
        to_error=to_error,
    )
    n_flagged = sum(bool(scores[row.number] >= threshold) for row in rows)
    if n_flagged < len(rows):
        print_line(_of_others(n_flagged, len(rows)), to_error=to_error)


def _flagged(row: TopRow, n: int) -> str:
    """Whether the row and those like it are flagged."""
    n_rows = 1 + len(row.like)
    return "yes" if n == n_rows else f"{n:,} of {n_rows:,}" if n else "no"


def _of_others(n_flagged: int, n: int) -> str:
    """Why rows are listed that are not flagged."""
    if not n_flagged:
        return "None of these rows is flagged: they are the highest below the cut-off."
    first = "The first is" if n_flagged == 1 else f"The first {n_flagged:,} are"
    return f"{first} flagged; the other{'s are' * (n - n_flagged > 1) or ' is'} the highest below the cut-off."


def _document(table: Table, row: int) -> str:
    """Return a document; for a line of a log, only the part that is ranked."""
    text = (table.texts or ())[row]
    reader = reader_of(table.schema.tokens)
    return text if reader is None else text[reader.begin_of(text) :]


def _reasons(row: TopRow) -> str:
    """Return the important reasons on one line, at least the strongest; for a burst, first what it is."""
    why, burst = row.why, row.burst
    said = [reason for i, reason in enumerate(why.reasons) if not i or reason.contribution >= _COUNTS * why.score]
    words = why.thin() or in_words([_named_shortly(reason) for reason in said]) or why.lacks.in_words()
    return _short(words if burst is None else f"{burst.in_words()}: {words}")


def _lines(lines: Sequence[str]) -> str:
    return f"{len(lines):,}: {_short(lines[0])}"


def _named_shortly(reason: Reason) -> Reason:
    """Shorten the name of a reason, to leave room for its contribution and the next reason."""
    return replace(reason, feature=_short(reason.feature, _LONGEST // 2))


def _short(text: str, most: int = _LONGEST) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
