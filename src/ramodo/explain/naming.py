"""Explain rows of a file, with names of features from the file or the model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.validation import open_block
from ..formats import Table, frames, text_and_columns
from ..model.provenance import Provenance
from ..model.terms import Model
from ..threads import n_threads
from .contributions import Explainer
from .explanation import Explanation
from .passages import Passages, facts_of
from .reasons import Reason

if TYPE_CHECKING:
    from ..model.fitted import FittedDetector

_SEARCHED = 300_000
"""Number of characters of documents to search for names of features that the explained rows lack."""

_KEPT_TOKENS = 5000
"""Number of names of tokens to keep in a model of text."""


def explained(
    detector: FittedDetector,
    table: Table,
    rows: Sequence[int],
    scores: Any,
    top: int,
    *,
    enough: bool = False,
    in_full: int | None = None,
    explainer: Explainer | None = None,
    together: bool = True,
) -> Explanation:
    """Explain the scores of rows of a table; for documents, by the runs of characters that make them stand out.

    With `enough`, rows get more than `top` reasons if a few more explain 80 % of the score. Documents after the first
    `in_full` get no reasons and are only grouped. `explainer` is the result of `explainer_of`, to be used for several
    calls. Without `together`, common reasons of the rows are left out.
    """
    taken = open_block(table.X[rows])

    has_runs = table.texts is not None and not table.schema.tokens.vocabulary
    circles = table.schema.circles

    def facts(row: int, columns: Any, contributions: Any) -> Passages:
        documents = text_and_columns.documents_of(table, rows[row]) if has_runs else ()
        return facts_of(documents, circles, columns, contributions, table.schema.tokens)

    def unseen(row: int) -> list[tuple[str, str, range]]:
        return [
            (each.column.name, value, table.schema.features_of(each.column))
            for each in table.unseen
            for value in each.of(rows[row])
        ]

    found = (explainer or explainer_of(detector, table)).explain(
        taken,
        scores[rows],
        str,
        top,
        n_threads(detector.n_jobs),
        passages=facts if has_runs or circles else None,
        unseen=unseen if table.unseen else None,
        frequencies=table.frequencies,
        enough=enough,
        in_full=in_full if has_runs else None,
        together=together,
    )
    return found.named(names_of(detector, table, found.columns(), rows))


def explainer_of(detector: FittedDetector, table: Table, like: Explainer | None = None) -> Explainer:
    """Return an explainer that `explained` can use for any rows."""
    units = text_and_columns.units_of(table)
    return Explainer(detector.model_, detector.outlier_scores_, table.X.shape[1], units, like)


class KeptExplainer:
    """Makes the explainer of a detector for the first table, and keeps it. Several threads may share it."""

    def __init__(self, detector: FittedDetector) -> None:
        self._detector, self._lock = detector, threading.Lock()
        self._made: Explainer | None = None

    def __call__(self, table: Table) -> Explainer:
        with self._lock:
            if self._made is None:
                self._made = explainer_of(self._detector, table)
            return self._made


def told(model: Model, table: Table | None, X: Any = None) -> Provenance:
    """Return what a model keeps for explanations: ids of training rows that they may name, and names of tokens.

    table : the training rows; None if they are X, a matrix or a frame of numbers
    """
    ids, origins = frames.index_of(X) if table is None else table.ids, model.origins()
    rows = origins[0].numbers.tolist() if ids is not None and origins else ()
    tokens = {} if table is None else _reference_tokens(origins, table)
    return Provenance(tokens=tokens, reference_ids={str(row): str((ids or ())[row]) for row in rows})


def _reference_tokens(origins: Sequence[Any], table: Table) -> dict[str, str]:
    """Return the names of tokens that most reference documents have, since other documents may lack them."""
    if table.texts is None or table.schema.tokens.vocabulary:
        return {}
    columns, counts = np.unique(
        np.concatenate([origin.rows.as_sparse().indices for origin in origins]), return_counts=True
    )
    if table.fields is not None:
        columns, counts = (values[columns < table.schema.n_tokens] for values in (columns, counts))
    common = columns[np.argsort(-counts, kind="stable")[:_KEPT_TOKENS]].tolist()
    searched = _some(table, (row for origin in origins for row in origin.numbers.tolist()))
    return {str(column): name for column, name in text_and_columns.names_of(table, searched, common).items()}


def _some(table: Table, rows: Iterable[int]) -> list[int]:
    """Return the first rows, up to a total length of their documents."""
    found, length = list[int](), 0
    for row in rows:
        found.append(row)
        length += len((table.texts or ())[row])
        if length > _SEARCHED:
            break
    return found


def in_words(reasons: Sequence[Reason]) -> str:
    """Reasons in one line of text."""
    return ", ".join(f"{reason.in_short()} ({reason.contribution:+.2g})" for reason in reasons)


def names_of(
    detector: FittedDetector, table: Table, columns: Iterable[int], rows: Sequence[int] = ()
) -> Callable[[int], str]:
    """Return a function that names columns: by the data, by tokens of text, or by the index in the file.

    Tokens are searched for in some rows first. A token that no text contains and the model does not keep has no name.
    """
    known = getattr(detector, "feature_names_in_", None)
    if known is not None:
        return lambda column: str(known[column])
    first = 1 if table.schema.zero_based is False else 0
    if table.texts is None:
        return lambda column: f"feature {column + first}"
    wanted, kept = set(columns), detector.provenance_.tokens
    tokens = {column: kept[str(column)] for column in wanted if str(column) in kept}
    tokens |= text_and_columns.names_of(table, rows, wanted - tokens.keys())
    tokens |= text_and_columns.names_of(table, _some(table, range(len(table.texts))), wanted - tokens.keys())
    return lambda column: tokens.get(column, "")
