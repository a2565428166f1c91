"""`ramodo detect` and `ramodo fit`."""

from __future__ import annotations

import shlex
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..explain.explanation import Explanation
from ..explain.naming import explained, reference_tokens
from ..formats import FormatError, Table
from ..formats.truth import outliers_in
from . import output as files
from .console import note, print_facts
from .flags import Fitting
from .methods import refuse_files, refuse_options
from .reading import Source, threads_of
from .report import refuse_report, write
from .top_rows import TopRow, print_top, top_rows
from .training import fit

_REASONS = 3
"""Reasons shown for each of the top rows."""

_TOLD = ("score", "percentile", "reasons", "lacks", "views")
"""What JSON tells of each of them."""


def run_detect(
    path: str,
    source: Source,
    fitting: Fitting,
    *,
    output: str | None,
    model: str | None,
    report: str | None = None,
    top: int,
    every: bool = False,
    quiet: bool,
    as_json: bool,
) -> None:
    """Read, fit, rank, write."""
    refuse_options(fitting.method, fitting.options)
    refuse_files(fitting.method, model, report)
    if output is not None and output != "-":
        files.refuse_target(output, files.SCORES)
    if model is not None:
        files.refuse_target(model, None)
    if report is not None:
        refuse_report(report)
    started = time.perf_counter()
    with ThreadPoolExecutor(1) as pool:
        importing = pool.submit(import_module, "ramodo.consensus")  # takes a second, which reading can use
        table = source.read(path, threads_of(fitting.options.get("n_jobs")), quiet)
        importing.result()
    _refuse_few(path, table)
    reading = time.perf_counter() - started
    detector, warned = fit(fitting, table, source.is_text(path), not quiet and sys.stderr.isatty())
    detector.source_ = source.remembered(path, table) | {
        "reference_ids": _reference_ids(detector, table),
        "tokens": reference_tokens(detector, table, source.text_options()),
        "command": shlex.join(["ramodo", *sys.argv[1:]]),
    }
    detector.stage_seconds_ = {"read": reading, **detector.stage_seconds_}
    scores = detector.outlier_scores_
    if output is not None:
        rows = files.rows_of(table, scores, scores, detector.threshold_)
        files.write_scores(output, rows)
    if model is not None:
        detector.save(model)
    if report is not None:
        write(report, detector, path, table, source, detector.outlier_scores_, outliers_in(path, table))
    for text in warned:
        note(f"warning: {text}", quiet)
    if quiet and not as_json:
        return
    written = {"scores": output, "model": model, "report": report}
    _summarize(path, source, table, detector, {k: v for k, v in written.items() if v is not None}, top, every, as_json)


def _refuse_few(path: str, table: Table) -> None:
    from ..fitting.training_data import FEWEST_ROWS

    if (n := table.X.shape[0]) < FEWEST_ROWS:
        raise FormatError(
            f"{path} has {n} row{'s' * (n > 1)}; at least {FEWEST_ROWS} are needed, an outlier being one among others."
        )


def _reference_ids(detector: Any, table: Table) -> dict[str, str] | None:
    """Ids of the training rows that explanations may name as nearest, if rows have ids."""
    if table.ids is None:
        return None
    return {str(row): table.id_of(row) for row in detector.model_.origins()[0].numbers.tolist()}


def _summarize(
    path: str,
    source: Source,
    table: Table,
    detector: Any,
    written: dict[str, str],
    top: int,
    every: bool,
    as_json: bool,
) -> None:
    from ..insight.guarantees import guarantee_of  # imports scikit-learn, which reading is not to wait for

    def explain(rows: list[int]) -> Explanation:
        return explained(detector, table, rows, scores, _REASONS, source.text_options())

    scores, to_error = detector.outlier_scores_, written.get("scores") == "-"
    flagged = int((scores >= detector.threshold_).sum())
    entries = table.X.nnz if sp.issparse(table.X) else int(np.count_nonzero(table.X))
    facts: dict[str, Any] = {
        "data": path,
        "rows": len(scores) if as_json else f"{len(scores):,}",
        "features": table.X.shape[1] if as_json else f"{table.X.shape[1]:,}",
        "non-zeros": int(entries) if as_json else f"{entries:,}",
        "seconds": detector.stage_seconds_ if as_json else _seconds(detector.stage_seconds_),
        "cut-off": detector.threshold_ if as_json else f"{detector.threshold_:.6g}: {guarantee_of(detector).text}",
        "flagged": flagged if as_json else f"{flagged:,} rows, {flagged / len(scores):.2%}",
    }
    facts |= written
    found = detector.diagnose().warnings if hasattr(detector, "diagnose") else ()
    if found:
        facts["to check" if not as_json else "warnings"] = list(found) if as_json else found[0]
    listed = top_rows(scores, detector.threshold_, top, explain, every=every or as_json)
    if as_json:
        facts["top"] = [_as_json(table, scores, row) for row in listed]
    print_facts(facts, as_json, to_error=to_error)
    if listed and not as_json:
        print_top(listed, table, scores, to_error=to_error)


def _as_json(table: Table, scores: Any, row: TopRow) -> dict[str, Any]:
    said = row.why.to_dict()
    return {"id": table.id_of(row.number), **{name: said[name] for name in _TOLD}}


def _seconds(stages: dict[str, float]) -> str:
    parts = ", ".join(f"{name} {seconds:.2f}" for name, seconds in stages.items())
    return f"{sum(stages.values()):.2f} ({parts})"
