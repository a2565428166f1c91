"""`ramodo explain`: why rows have their scores."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..explain.naming import explained
from ..explain.reasons import Reason, RowExplanation
from ..formats import FormatError, Table
from ..formats.values import named_values
from ..model.file.saving import open_model
from ..options import TOP
from ..terminal.escaping import escape_controls
from .console import out
from .source import Source, threads_of


def run_explain(
    model: str,
    path: str,
    *,
    rows: list[str],
    top: int,
    format: str | None,
    id: str | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Print the reasons for the named rows, or for the three highest."""
    TOP.of_flag(top)
    detector = open_model(model)
    detector.n_jobs = threads_of(threads)
    table = Source.of_model(detector, format, id).read(path, detector.n_jobs)
    with named_values(path, table):
        scores = detector.outlier_score(table.X)
    chosen = [_number(path, table, name) for name in rows] or np.argsort(-scores, kind="stable")[:3].tolist()
    found = explained(detector, table, chosen, scores, top)
    nearest = [list(map(detector.provenance_.id_of, row.nearest)) for row in found]
    if as_json:
        lines = found.to_dict()
        for line, number, ids in zip(lines, chosen, nearest, strict=True):
            line |= {"row": number, "id": table.id_of(number), "nearest": ids}
        print(json.dumps(lines))
        return
    for row, number, ids in zip(found, chosen, nearest, strict=True):
        first, _, reasons = _as_text(row, table.id_of(number), ids).partition("\n")
        out.print(first)
        if table.texts is not None:
            out.print(f"  {escape_controls(table.texts[number])}")
        out.print(reasons)


def _as_text(row: RowExplanation, id: str, nearest: Sequence[str]) -> str:
    """Return the explanation as text, with control characters in names escaped."""

    def escaped(reasons: Sequence[Reason]) -> tuple[Reason, ...]:
        return tuple(replace(reason, feature=escape_controls(reason.feature)) for reason in reasons)

    lacks = replace(row.lacks, usual=escaped(row.lacks.usual))
    shown = replace(row, reasons=escaped(row.reasons), lacks=lacks)
    return shown.as_text(escape_controls(id), [escape_controls(name) for name in nearest])


def _number(path: str, table: Table, name: str) -> int:
    """Return the number of the row with an id."""
    ids = [table.id_of(row) for row in range(table.X.shape[0])] if table.ids is None else list(table.ids)
    if name not in ids:
        raise FormatError(f"--row must be an id of {path}, such as {', '.join(ids[:3])}, got {name!r}.")
    return ids.index(name)
