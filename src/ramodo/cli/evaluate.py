"""`ramodo evaluate`: how well scores agree with labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..formats import FormatError, Table
from ..formats.labels_by_id import read_labels
from ..formats.truth import outliers_named
from ..formats.values import named_values
from ..insight.agreement import measures
from ..model.file.saving import open_model
from ..options import option_named
from .console import note, print_facts
from .source import Source, threads_of
from .streaming import scores_of


@dataclass(frozen=True)
class Truth:
    """The place of the labels, a separate table or a column of the data, and the label that marks outliers."""

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
    """Print AUC-ROC, average precision and precision at n, with intervals."""
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
    """The rows with labels, and notes on what did not match."""

    table: Table
    notes: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)


def labelled(path: str, table: Table, labels: str, label: str | None, id: str | None) -> Matched:
    """Return the rows that are in a table of labels, with their labels."""
    n, found = table.X.shape[0], read_labels(labels, table, id=id, label=label)
    ids, named = found.ids, found.rows >= 0
    if not named.any():
        raise FormatError(
            f"{labels}: no row of {path} has any of its {len(ids):,} ids; they look like {ids[0]!r}, and those of the "
            f"rows like {table.id_of(0)!r}. Name the column of ids in the data with --id; rows without ids are "
            "numbered from 0."
        )
    order = np.argsort(found.rows[named], kind="stable")
    taken, of_taken = found.rows[named][order], found.labels[named][order]
    unknown, without, notes = len(ids) - len(taken), n - len(taken), []
    if unknown:
        odd = ids[int(np.argmin(named))]
        notes.append(f"{unknown:,} of the {len(ids):,} labels in {labels} match no row of {path}, such as {odd!r}")
    if without:
        notes.append(f"{without:,} of the {n:,} rows of {path} have no label in {labels} and are left out")
    of_taken_rows = [table.id_of(row) for row in taken.tolist()]
    kept = Table(table.X[taken], ids=of_taken_rows, classes=of_taken, schema=table.schema)
    return Matched(kept, tuple(notes), {"labels of no row": unknown, "rows without a label": without})
