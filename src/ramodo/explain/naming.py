"""Explanations of rows of a file, with the names of features from the file or the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..data.validation import open_block
from ..formats import Table, TextOptions, blending
from ..formats.circles import circles_of
from ..threads import n_threads
from .contributions import Explainer
from .explanation import Explanation
from .passages import Passages, facts_of
from .reasons import Reason

_SEARCHED = 300_000
"""Characters of documents that are searched for names of features that the explained rows lack."""

_KEPT_TOKENS = 5000
"""Names of tokens that a model of text keeps."""


def explained(
    detector: Any,
    table: Table,
    rows: Sequence[int],
    scores: Any,
    top: int,
    texts: TextOptions,
    *,
    enough: bool = False,
    in_full: int | None = None,
    explainer: Explainer | None = None,
    together: bool = True,
) -> Explanation:
    """Why rows of a table have their scores: of documents, the runs of characters by which they stand out.

    With `enough`, rows have more reasons than `top` where some more explain 80 % of the score. Documents after the
    first `in_full` have none, and are only put into groups. `explainer` is that of `explainer_of`, for further
    calls; without `together`, what the rows have in common is left out.
    """
    taken = open_block(table.X[rows])

    has_runs = table.texts is not None and not texts.vocabulary
    circles = circles_of(table.names or (), table.dates, table.first_named)

    def facts(row: int, columns: Any, contributions: Any) -> Passages:
        documents = blending.documents_of(table, rows[row]) if has_runs else ()
        return facts_of(documents, circles, columns, contributions, texts)

    found = (explainer or explainer_of(detector, table)).explain(
        taken,
        scores[rows],
        detector.outlier_scores_,
        str,
        top,
        n_threads(detector.n_jobs),
        passages=facts if has_runs or circles else None,
        frequencies=table.frequencies,
        enough=enough,
        in_full=in_full if has_runs else None,
        together=together,
    )
    return found.named(names_of(detector, table, found.columns(), texts, rows))


def explainer_of(detector: Any, table: Table, like: Explainer | None = None) -> Explainer:
    """What `explained` needs of a detector, whatever the rows are."""
    return Explainer(detector.model_, table.X.shape[1], blending.units_of(table), like)


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
    return {str(column): name for column, name in blending.names_of(table, searched, common, options).items()}


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
    return ", ".join(f"{reason.in_words()} ({reason.contribution:+.2g})" for reason in reasons)


def names_of(
    detector: Any, table: Table, columns: Iterable[int], options: TextOptions, rows: Sequence[int] = ()
) -> Callable[[int], str]:
    """Names of columns: those of the data, the tokens of text, of some rows first, or the index as in the file.

    A token that no text at hand has, and that the model does not keep, has no name.
    """
    known = getattr(detector, "feature_names_in_", None)
    if known is not None:
        return lambda column: str(known[column])
    first = 0 if table.zero_based is None or table.zero_based else 1
    if table.texts is None:
        return lambda column: f"feature {column + first}"
    wanted, kept = set(columns), (detector.source_ or {}).get("tokens") or {}
    tokens = {column: kept[str(column)] for column in wanted if str(column) in kept}
    tokens |= blending.names_of(table, rows, wanted - tokens.keys(), options)
    tokens |= blending.names_of(table, _some(table, range(len(table.texts))), wanted - tokens.keys(), options)
    return lambda column: tokens.get(column, "")
