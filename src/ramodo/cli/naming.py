"""Reasons of some rows of a file, with the names that the file or the model has for features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..explanation import Explanation, Reason
from ..formats import Table, TextOptions
from ..formats.text import token_names
from ..reasons import explain
from ..rows import open_rows

_MORE_TEXTS = 2000
"""Documents that are searched for the names of features that the explained ones lack."""


def explained(
    detector: Any, table: Table, rows: Sequence[int], scores: Any, top: int, texts: TextOptions
) -> Explanation:
    """Why rows of a table have their scores."""
    taken, _ = open_rows(table.X[rows])
    n_threads = detector.n_jobs or 1
    found = explain(detector.model_, taken, scores[rows], detector.outlier_scores_, _by_index, top, n_threads)
    return found.named(_names(detector, table, rows, found, texts))


def in_words(reasons: Sequence[Reason]) -> str:
    """The strongest of them, in a line."""
    return ", ".join(
        f"{'' if reason.value else 'lacks '}{reason.feature} ({reason.contribution:+.2g})" for reason in reasons
    )


def _by_index(column: int) -> str:
    return f"feature {column}"


def _names(
    detector: Any, table: Table, rows: Sequence[int], found: Explanation, options: TextOptions
) -> Callable[[int], str]:
    """Names of columns: the data's, the tokens of text, or the index."""
    known = getattr(detector, "feature_names_in_", None)
    if known is not None:
        return lambda column: str(known[column])
    if table.texts is None:
        return _by_index
    columns = {reason.column for row in found for reason in row.reasons} | {d.column for d in found.drivers}
    tokens = token_names([table.texts[row] for row in rows], columns, options)
    for text in table.texts[:_MORE_TEXTS]:
        left = columns - tokens.keys()
        if not left:
            break
        tokens |= token_names([text], left, options)
    return lambda column: tokens.get(column, _by_index(column))
