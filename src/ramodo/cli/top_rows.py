"""The rows that `ramodo detect` lists: the highest of each kind, or all of the highest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..explain.explanation import Explanation
from ..explain.naming import in_words
from ..explain.reasons import Reason, RowExplanation
from ..formats import Table
from ..formats.line_reading import reader_of
from ..insight.figures import percentiles
from .console import print_rows

COMPARED = 200
"""How many of the highest rows are grouped into kinds."""

_LONGEST = 80

_COUNTS = 0.001
"""A reason that adds a smaller share of the score is left out."""


class TopRow(NamedTuple):
    """A row number, why the row is high, and how many of the highest rows are high for the same reason."""

    number: int
    why: RowExplanation
    n_like: int


def top_rows(
    scores: Any, threshold: float, top: int, explain: Callable[[list[int]], Explanation], *, every: bool
) -> list[TopRow]:
    """The highest rows; without `every`, flagged rows of the same kind are represented by the highest."""
    n = top if every or not top else max(top, COMPARED)
    highest = np.argsort(-scores, kind="stable")[:n].tolist()
    if not highest:
        return []
    found = explain(highest)
    groups = () if every else found.groups(threshold)
    n_like = {group.rows[0]: len(group.rows) for group in groups}
    others = {row for group in groups for row in group.rows[1:]}
    listed = [place for place in range(len(highest)) if place not in others][:top]
    return [TopRow(highest[place], found[place], n_like.get(place, 1)) for place in listed]


def print_top(rows: list[TopRow], table: Table, scores: Any, threshold: float, *, to_error: bool) -> None:
    """Print a line for each row: whether it is flagged, its reasons, and its document if there is one."""
    shares = percentiles(scores[[row.number for row in rows]], scores).tolist()
    alike = any(row.n_like > 1 for row in rows)
    print_rows(
        [
            *("id", "score", "percentile", "flagged"),
            *(["like it"] if alike else []),
            *("reasons", *(["text"] if table.texts else [])),
        ],
        [
            [
                table.id_of(row.number),
                f"{scores[row.number]:.6g}",
                f"{share:.2f}",
                "yes" if scores[row.number] >= threshold else "no",
                *([f"{row.n_like - 1:,}" if row.n_like > 1 else ""] if alike else []),
                _reasons(row.why),
                *([_short(_document(table, row.number))] if table.texts else []),
            ]
            for row, share in zip(rows, shares, strict=True)
        ],
        to_error=to_error,
    )


def _document(table: Table, row: int) -> str:
    """A document; of a log's line, from where it is ranked."""
    text = (table.texts or ())[row]
    reader = reader_of(table.schema.tokens)
    return text if reader is None else text[reader.begin_of(text) :]


def _reasons(why: RowExplanation) -> str:
    """The reasons that count, on one line; always the strongest."""
    said = [reason for i, reason in enumerate(why.reasons) if not i or reason.contribution >= _COUNTS * why.score]
    return _short(in_words([_named_shortly(reason) for reason in said]) or why.lacks.in_words())


def _named_shortly(reason: Reason) -> Reason:
    """The reason with its name shortened, to leave room for its contribution and the next reason."""
    return replace(reason, feature=_short(reason.feature, _LONGEST // 2))


def _short(text: str, most: int = _LONGEST) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
