"""Explanations of rows of a file, with the names of features from the file or the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..data.opening import open_block
from ..formats import Table, TextOptions
from ..formats.blending import names_of, units_of
from ..threads import n_threads
from .contributions import explain
from .explanation import Explanation, Reason

_SEARCHED = 300_000
"""Characters of documents that are searched for names of features that the explained rows lack."""

_CANDIDATES = 100
"""Reasons of a document that are looked at, of which those with a name are given."""

_KEPT_TOKENS = 5000
"""Names of tokens that a model of text keeps."""


def explained(
    detector: Any, table: Table, rows: Sequence[int], scores: Any, top: int, texts: TextOptions
) -> Explanation:
    """Why rows of a table have their scores."""
    taken, _ = open_block(table.X[rows])
    threads = n_threads(detector.n_jobs)
    hashed = table.texts is not None and getattr(detector, "feature_names_in_", None) is None
    n = max(top, _CANDIDATES) if hashed else top
    found = explain(detector.model_, taken, scores[rows], detector.outlier_scores_, str, n, threads, units_of(table))
    if not hashed:
        return found.named(_names(detector, table))
    tokens = _tokens(detector, table, rows, found, top, texts)
    return found.of_columns(tokens, top).named(tokens.__getitem__)


def reference_tokens(detector: Any, table: Table, options: TextOptions) -> dict[str, str] | None:
    """Names of the tokens that most reference documents have, for a model to keep: other documents may lack them."""
    if table.texts is None or options.vocabulary:
        return None
    origins = detector.model_.origins()
    columns, counts = np.unique(np.concatenate([origin.rows.indices for origin in origins]), return_counts=True)
    if table.fields is not None:
        columns, counts = (values[columns < sum(table.widths)] for values in (columns, counts))
    common = columns[np.argsort(-counts, kind="stable")[:_KEPT_TOKENS]].tolist()
    searched = _some(table, (row for origin in origins for row in origin.numbers.tolist()))
    return {str(column): name for column, name in names_of(table, searched, common, options).items()}


def _some(table: Table, rows: Iterable[int]) -> list[int]:
    """The first rows, up to a total length of their documents."""
    found, length = list[int](), 0
    for row in rows:
        found.append(row)
        length += len((table.texts or ())[row])
        if length > _SEARCHED:
            break
    return found


def in_words(reasons: Sequence[Reason]) -> str:
    """Reasons in one line of text."""
    return ", ".join(
        f"{'' if reason.value else 'lacks '}{reason.feature} ({reason.contribution:+.2g})" for reason in reasons
    )


def _names(detector: Any, table: Table) -> Callable[[int], str]:
    """Names of columns: those of the data, or the index as written in the file."""
    known = getattr(detector, "feature_names_in_", None)
    if known is not None:
        return lambda column: str(known[column])
    first = 0 if table.zero_based is None or table.zero_based else 1
    return lambda column: f"feature {column + first}"


def _tokens(
    detector: Any, table: Table, rows: Sequence[int], found: Explanation, top: int, options: TextOptions
) -> dict[int, str]:
    """The tokens of hashed columns: those of the rows themselves, those that the model keeps, and some of other rows.

    A model need not keep any: what a row has is named by the row, what it lacks may then have no name.
    """
    assert table.texts is not None
    shown = found.columns(top)
    wanted = found.columns() | found.columns_of_groups()
    kept = (detector.source_ or {}).get("tokens") or {}
    tokens = {column: kept[str(column)] for column in wanted if str(column) in kept}
    tokens |= names_of(table, rows, wanted, options)
    tokens |= names_of(table, _some(table, range(len(table.texts))), shown - tokens.keys(), options)
    return tokens
