"""`ramodo score` and `ramodo transform`."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

from ..formats import Format, FormatError, Table, format_named
from ..formats.values import named_values
from ..model.file.saving import open_model
from . import cutting as cutoffs
from . import output as files
from .cluster import connected, read_on_cluster, refuse_on_cluster, with_format
from .console import bar, note, print_facts
from .diff import note_new
from .drift import drift_of, end, refuse_without_profile, said, warn
from .flags import Cutting, Writing
from .records import Recorder, to_read
from .source import Source, threads_of
from .streaming import Stream, scores_of

if TYPE_CHECKING:
    from ..insight.drift import Drift
    from ..model.file.saving import Opened


def run_score(
    model: str,
    path: str,
    writing: Writing,
    cutting: Cutting,
    *,
    output: str,
    format: str | None,
    id: str | None,
    cluster: str | None = None,
    threads: int | None,
    quiet: bool,
    strict: bool = False,
    fails: bool = False,
    as_json: bool = False,
) -> None:
    """Score a file as a whole, or standard input as it arrives."""
    writing.refuse(output)
    if output != "-":
        files.refuse_target(output, files.SCORES)
    detector = open_model(model)
    cutoffs.refuse(detector, cutting, path == output == "-")
    if promise := cutoffs.with_threshold(detector, cutting):
        note(f"cut-off {detector.threshold_:.6g}: {promise}", quiet)
    if fails:
        refuse_without_profile(detector, model)
    detector.n_jobs = threads_of(threads)
    source = Source.of_model(detector, format, id)
    if cluster is not None:
        refuse_on_cluster(None, writing)
        detector.n_jobs = 1 if threads is None else detector.n_jobs
        with connected(cluster, quiet):
            source = with_format(path, source)
            table = read_on_cluster(path, source, quiet, detector)
            found = _score(detector, path, table, writing, cutting, output, quiet)
        _end(detector, path, found, as_json, fails, output)
        return
    if path == output == "-":
        kind = _format_of_stream(source)
        if kind.of_stream is not None:
            source = replace(source, format=kind.name)
            source.refuse_flags(path)
            source.refuse_unweighed(path)
            source = to_read(path, source, writing)
            how, recorder = source.how(kind, detector.n_jobs), Recorder(detector, writing)
            stream = Stream(detector, kind, how, recorder, writing.lines, strict=strict, quiet=quiet)
            stream.run()
            if muted := recorder.said_of_muted():
                note(f"{stream.n_rows:,} rows, {recorder.n_flagged:,} flagged, {muted}", quiet)
            _end(detector, path, (stream.n_rows, stream.recent.drift()), as_json, fails, output)
            return
    source = to_read(path, source.for_path(path), writing)
    found = _score(detector, path, source.read(path, detector.n_jobs), writing, cutting, output, quiet)
    _end(detector, path, found, as_json, fails, output)


def _score(
    detector: Opened, path: str, table: Table, writing: Writing, cutting: Cutting, output: str, quiet: bool
) -> tuple[int, Drift | None]:
    """Write scores; returns how many, and how the rows differ from the training rows."""
    progress = bar("scoring", "rows", quiet)
    with named_values(path, table):
        scores = scores_of(detector, table.X, progress.show)
    progress.clear()
    chosen, promise = cutoffs.found_in(detector, cutting, table.X, scores)
    if promise:
        note(f"cut-off: {promise}", quiet)
    recorder = Recorder(detector, writing, chosen)
    files.write_records(output, recorder.of_file(path, table, scores), writing.lines)
    said = ", ".join(filter(None, [f"{recorder.n_flagged:,} flagged", recorder.said_of_muted()]))
    note(f"{len(scores):,} rows, {said}", quiet or output == "-")
    note_new(detector, table, quiet)
    found = drift_of(detector, table, scores)
    warn(found, quiet)
    return len(scores), found


def _end(detector: Opened, path: str, found: tuple[int, Drift | None], as_json: bool, fails: bool, output: str) -> None:
    """The summary, where JSON is asked for, and the exit code."""
    n_rows, drift = found
    if as_json:
        facts = {"data": path, "checksum": detector.checksum_, **said(drift, n_rows)}
        print_facts(facts, True, to_error=output == "-")
    end(drift, fails)


def run_transform(
    model: str, path: str, *, output: str, format: str | None, id: str | None, threads: int | None, quiet: bool
) -> None:
    """Write the representation of each row."""
    files.refuse_target(output, files.MATRICES)
    detector = open_model(model)
    detector.n_jobs = threads_of(threads)
    table = Source.of_model(detector, format, id).read(path, detector.n_jobs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # names were compared when the file was read
        with named_values(path, table):
            matrix = detector.transform(table.X)
    files.write_matrix(output, matrix, table)
    note(f"{matrix.shape[0]:,} rows, {matrix.shape[1]} columns", quiet)


def _format_of_stream(source: Source) -> Format:
    name = source.format or source.schema.format
    if name is None:
        raise FormatError("standard input: the model does not know the format of its data; give --format.")
    return format_named(name)
