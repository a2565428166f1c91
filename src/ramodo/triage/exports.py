"""Labels, rankings and reports as files; each is written whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ..files.spreadsheets import csv_lines
from ..files.whole import write_whole
from ..formats import Table
from .opinions import Labels, Opinions
from .ranked_rows import RankedRows
from .store import Entry


def write_labels(path: Path, table: Table, opinions: Opinions) -> None:
    """Write a line for each labelled row, with its document if it has one."""
    last = {entry.row: entry for entry in opinions.standing()}
    lines = []
    for row in opinions.rows():
        held = opinions.of_row(row)
        disputed = "yes" if len(set(held.values())) > 1 else "no"
        said = (table.id_of(row), opinions.label(row), "; ".join(sorted(held)), disputed, last[row].at, last[row].model)
        lines.append(said if table.texts is None else (*said, table.texts[row]))
    header = ("id", "label", "who", "disputed", "at", "model")
    _write(path, header if table.texts is None else (*header, "text"), lines)


def write_history(path: Path, table: Table, entries: Sequence[Entry]) -> None:
    """Write a line for each entry."""
    header = ("entry", "at", "who", "id", "label", "model", "queue", "batch", "undoes")
    lines = [
        (e.id, e.at, e.who, table.id_of(e.row), "" if e.undoes else e.label, e.model, e.queue, e.batch, e.undoes or "")
        for e in entries
    ]
    _write(path, header, lines)


def write_ranking(path: Path, table: Table, ranked: RankedRows, labels: Labels) -> None:
    """Write a line for each row, highest score first."""
    scores, order = ranked.scores, ranked.ranking.order
    shares = 100 * np.searchsorted(np.sort(scores), scores[order]) / len(scores)
    lines = (
        (table.id_of(row), float(scores[row]), round(share, 3), int(scores[row] >= ranked.threshold), int(labels[row]))
        for row, share in zip(order.tolist(), shares.tolist(), strict=True)
    )
    _write(path, ("id", "score", "percentile", "flag", "label"), lines)


def _write(path: Path, header: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    def write(temporary: str) -> None:
        with open(temporary, "w", encoding="utf-8", newline="") as file:
            file.writelines(csv_lines(chain([header], lines)))

    write_whole(path, write)


def write_report_of(path: Path, ranked: RankedRows, title: str, opinions: Opinions) -> None:
    """Write a report on the rows that also lists their labels."""
    from ..report import write_report
    from ..report.labelled import Labelled

    table = ranked.table
    said = [
        Labelled(table.id_of(row), opinions.label(row) or 0, "; ".join(sorted(opinions.of_row(row))))
        for row in sorted(opinions.rows(), key=lambda row: int(ranked.ranking.places[row]))
    ]
    write_report(
        ranked.detector,
        table.X,
        path,
        ids=table.ids,
        texts=table.texts,
        title=title,
        scores=ranked.scores,
        explain=ranked.explain,
        labelled=said,
    )
