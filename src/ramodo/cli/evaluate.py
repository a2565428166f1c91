"""`ramodo evaluate`: how well do scores agree with labels?"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..formats import FormatError, Table, tabular
from ..formats.classes import Classes
from ..formats.truth import outliers_named
from ..formats.values import named_values
from ..insight.agreement import measures
from ..model.file.saving import open_model
from ..options import option_named
from .console import note, print_facts
from .output import unguarded
from .reading import Source, threads_of
from .streaming import scores_of


@dataclass(frozen=True)
class Truth:
    """Where labels are: in a table of their own, or in the data; in which column; and which of them means outlier."""

    table: str | None
    label: str | None
    outlier: str


def run_evaluate(
    model: str,
    path: str,
    truth: Truth,
    *,
    format: str | None,
    id: str | None,
    threads: int | None,
    seed: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Print AUC-ROC, average precision and precision at n."""
    option_named("random_state").of_flag(seed)
    detector = open_model(model)
    detector.n_jobs = threads_of(threads)
    source = Source.of_model(detector, format, id, None if truth.table else truth.label)
    table = source.read(path, detector.n_jobs)
    found = Matched(table)
    if truth.table is not None:
        found = labelled(path, table, truth.table, truth.label, source.schema.id)
    for text in found.notes:
        note(f"note: {text}", quiet)
    are_outliers = outliers_named(truth.table or path, found.table, truth.outlier)
    with named_values(path, found.table):
        scores = scores_of(detector, found.table.X)
    facts: dict[str, Any] = {"rows": len(are_outliers), "outliers": int(are_outliers.sum())}
    for name, (value, low, high) in measures(are_outliers, scores, np.random.default_rng(seed)).items():
        facts[name] = [value, low, high] if as_json else f"{value:.4f}  (95 %: {low:.4f} to {high:.4f})"
    print_facts({**facts, **(found.counts if as_json else {})}, as_json)


@dataclass(frozen=True)
class Matched:
    """Rows that have labels, and what did not match."""

    table: Table
    notes: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)


def labelled(path: str, table: Table, labels: str, label: str | None, id: str | None) -> Matched:
    """The rows that a table of labels names, with those labels."""
    ids, classes = tabular.read_labels(labels, ["id"] if id is None else ["id", id], label)
    n = table.X.shape[0]
    if ids is not None:
        return _by_id(path, table, labels, ids, classes)
    if len(classes) != n:
        raise FormatError(
            f"{labels} has one column, of {len(classes):,} labels, and {path} {n:,} rows; allowed: as many labels as "
            "rows, in their order, or a column id that says which row a label is of."
        )
    return Matched(replace(table, classes=classes))


def _by_id(path: str, table: Table, labels: str, ids: list[str], classes: Classes) -> Matched:
    n = table.X.shape[0]
    place = {table.id_of(row): row for row in range(n)}
    rows = np.array([place.get(id, place.get(unguarded(id), -1)) for id in ids], dtype=np.int64)
    named = rows >= 0
    if not named.any():
        raise FormatError(
            f"{labels}: none of its {len(ids):,} ids is that of a row of {path}; its ids are such as {ids[0]!r}, those "
            f"of the rows such as {table.id_of(0)!r}. Name the column of ids in the data with --id; where rows have no "
            "ids, their numbers are, from 0."
        )
    order = np.argsort(rows[named], kind="stable")
    taken, of_taken = rows[named][order], classes[named][order]
    unknown, without, notes = len(ids) - len(taken), n - len(taken), []
    if unknown:
        odd = ids[int(np.argmin(named))]
        notes.append(f"{unknown:,} of the {len(ids):,} labels in {labels} are of no row of {path}, as that of {odd!r}")
    if without:
        notes.append(f"{without:,} of the {n:,} rows of {path} have no label in {labels}, and are left out")
    found = Table(
        table.X[taken], ids=[table.id_of(row) for row in taken.tolist()], classes=of_taken, schema=table.schema
    )
    return Matched(found, tuple(notes), {"labels of no row": unknown, "rows without a label": without})
