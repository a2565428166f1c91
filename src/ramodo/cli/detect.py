"""`ramodo detect` and `ramodo fit`."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from ..explain.alike import alike
from ..explain.explanation import Explanation
from ..explain.naming import explained
from ..formats import FormatError, Table
from ..formats.truth import outliers_in
from ..formats.values import named_values
from . import output as files
from .cluster import connected, read_on_cluster, refuse_on_cluster, with_format
from .console import note, print_facts, print_line
from .flags import Fitting, Keeping, Writing
from .methods import refuse_files, refuse_options
from .next_step import labelling
from .provenance import save, told
from .records import Recorder, beside_of, column_of, to_read
from .report import refuse_report, write
from .source import Source, threads_of
from .top_rows import TopRow, print_top, top_rows
from .training import fit

REASONS = 3
"""How many reasons to show for each of the top rows."""

_IN_JSON = ("score", "percentile", "reasons", "lacks", "views")
"""Fields of each of the top rows in JSON."""


@dataclass(frozen=True)
class Targets:
    """Files to write, the columns to write about rows, and what to leave out of the model file."""

    output: str | None = None
    model: str | None = None
    report: str | None = None
    writing: Writing = field(default_factory=Writing)
    keeping: Keeping = field(default_factory=Keeping)

    def refuse(self, method: str, source: Source) -> None:
        """Raise, before any work is done, if one of the files cannot be written."""
        refuse_files(method, self.model, self.report)
        self.writing.refuse(self.output)
        self.keeping.refuse(self.model, source.schema.tokens.vocabulary)
        if self.output is not None and self.output != "-":
            files.refuse_target(self.output, files.SCORES)
        if self.model is not None:
            files.refuse_target(self.model, None)
        if self.report is not None:
            refuse_report(self.report)

    def named(self) -> dict[str, str]:
        """Return the files to be written, by what they hold."""
        given = {"scores": self.output, "model": self.model, "report": self.report}
        return {name: path for name, path in given.items() if path is not None}


def run_detect(
    path: str,
    source: Source,
    fitting: Fitting,
    targets: Targets,
    *,
    cluster: str | None = None,
    top: int,
    every: bool = False,
    quiet: bool,
    as_json: bool,
) -> None:
    """Read, fit, rank and write."""
    refuse_options(fitting.method, fitting.options)
    if cluster is not None:
        refuse_on_cluster(targets.report, targets.writing)
        fitting = fitting.for_workers()
    targets.refuse(fitting.method, source)
    with connected(cluster, quiet):
        _detect(path, source, fitting, targets, cluster is not None, top, every, quiet, as_json)


def _detect(
    path: str,
    source: Source,
    fitting: Fitting,
    targets: Targets,
    on_cluster: bool,
    top: int,
    every: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    source = with_format(path, source) if on_cluster else to_read(path, source, targets.writing)
    started = time.perf_counter()
    with ThreadPoolExecutor(1) as pool:
        importing = pool.submit(import_module, "ramodo.consensus")  # takes a second; meanwhile, read
        table = (
            read_on_cluster(path, source, quiet)
            if on_cluster
            else source.read(path, threads_of(fitting.options.get("n_jobs")), quiet)
        )
        importing.result()
    _refuse_few(path, table)
    for name in beside_of(targets.writing):
        column_of(path, table, name, np.arange(1))  # raises before the fit if there is no such column
    reading = time.perf_counter() - started
    is_text = table.is_text or (on_cluster and source.format_at(path).has_documents)
    with named_values(path, table):
        detector, warned = fit(fitting, table, is_text, not quiet and sys.stderr.isatty())
    detector.schema_, detector.provenance_ = table.schema, told(detector, targets.keeping)
    detector.stage_seconds_ = {"read": reading, **detector.stage_seconds_}
    if targets.output is not None:
        recorder = Recorder(detector, targets.writing)
        records = recorder.of_file(path, table, detector.outlier_scores_)
        if muted := recorder.said_of_muted():
            note(f"{recorder.n_flagged:,} flagged, {muted}", quiet)
        files.write_records(targets.output, records, targets.writing.lines)
    if targets.model is not None:
        save(targets.model, detector, targets.keeping)
    if targets.report is not None:
        write(targets.report, detector, path, table, detector.outlier_scores_, outliers_in(path, table))
    for text in warned:
        note(f"warning: {text}", quiet)
    if quiet and not as_json:
        return
    next_step = "" if on_cluster or not top else labelling(path, fitting)
    _summarize(path, table, detector, targets.named(), top, every, next_step, as_json)


def _refuse_few(path: str, table: Table) -> None:
    from ..fitting.training_data import FEWEST_ROWS

    if (n := table.X.shape[0]) < FEWEST_ROWS:
        raise FormatError(f"{path} must have at least {FEWEST_ROWS} rows, got {n}: an outlier is one among others.")


def _summarize(
    path: str,
    table: Table,
    detector: Any,
    written: dict[str, str],
    top: int,
    every: bool,
    next_step: str,
    as_json: bool,
) -> None:
    from ..insight.cutoffs import guarantee_of  # imports scikit-learn, which reading should not wait for

    def explain(rows: list[int]) -> Explanation:
        return explained(detector, table, rows, scores, REASONS)

    scores, to_error = detector.outlier_scores_, written.get("scores") == "-"
    flagged = int((scores >= detector.threshold_).sum())
    entries = table.X.nnz if hasattr(table.X, "nnz") else int(np.count_nonzero(table.X))
    facts: dict[str, Any] = {
        "data": path,
        "rows": len(scores) if as_json else f"{len(scores):,}",
        "features": table.X.shape[1] if as_json else f"{table.X.shape[1]:,}",
        "non-zeros": int(entries) if as_json else f"{entries:,}",
        "seconds": detector.stage_seconds_ if as_json else _seconds(detector.stage_seconds_),
        "cut-off": detector.threshold_ if as_json else f"{detector.threshold_:.6g}: {guarantee_of(detector).text}",
        "flagged": flagged if as_json else _flagged(detector, flagged, len(scores)),
    }
    facts |= written
    found = detector.diagnose().warnings if hasattr(detector, "diagnose") else ()
    if found:
        facts["to check" if not as_json else "warnings"] = list(found) if as_json else found[0]
    threshold = float(detector.threshold_)
    listed = top_rows(scores, threshold, top, explain, alike(table, scores, threshold), every=every)
    if as_json:
        facts["top"] = [_as_json(table, row, scores, threshold, every) for row in listed]
        facts |= {"next": next_step} if next_step else {}
    print_facts(facts, as_json, to_error=to_error)
    if listed and not as_json:
        print_top(listed, table, scores, threshold, to_error=to_error)
        if next_step:
            print_line(f"Next, label ten of these rows: {next_step}", to_error=to_error)


def _as_json(table: Table, row: TopRow, scores: Any, threshold: float, every: bool) -> dict[str, Any]:
    """What is known of a row; unless every row is listed, with the kind that it stands for."""
    said, n_flagged = row.why.to_dict(), row.n_flagged(scores, threshold)
    facts: dict[str, Any] = {"id": table.id_of(row.number), "flagged": bool(scores[row.number] >= threshold)}
    facts |= {name: said[name] for name in _IN_JSON}
    facts["like"] = [table.id_of(number) for number in row.like]
    if not every:
        facts["kind"] = {"rows": 1 + len(row.like), "flagged": n_flagged}
    if table.lines is not None:
        facts["lines"] = list(table.lines[row.number])
    return facts if row.burst is None else {**facts, "burst": row.burst._asdict()}


def _flagged(detector: Any, flagged: int, n_rows: int) -> str:
    """Say how many rows are flagged and, if that means little, how many would be flagged without any outliers."""
    from ..insight.cutoffs import flags_of_noise, says_little

    expected = flags_of_noise(detector, n_rows) if says_little(detector, flagged, n_rows) else None
    noise = "" if expected is None else f"; rows without any outlier would give about {expected:,}: start at the top"
    return f"{flagged:,} rows, {flagged / n_rows:.2%}{noise}"


def _seconds(stages: dict[str, float]) -> str:
    parts = ", ".join(f"{name} {seconds:.2f}" for name, seconds in stages.items())
    return f"{sum(stages.values()):.2f} ({parts})"
