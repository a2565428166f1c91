"""`ramodo report`, and the report of `ramodo detect --report`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..formats import Table
from ..formats.truth import outliers_in, outliers_named
from . import output as files
from .console import note
from .source import Source, threads_of

if TYPE_CHECKING:
    from ..framework import RandomDistanceDetector


def run_report(
    model: str,
    path: str,
    *,
    output: str,
    format: str | None,
    id: str | None,
    label: str | None,
    outlier: float | str | None,
    threads: int | None,
    quiet: bool,
) -> None:
    """Write a model's report on data."""
    refuse_report(output)
    from ..model.file.saving import load

    detector = load(model)
    detector.n_jobs = threads_of(threads)
    table = Source.of_model(detector, format, id, label).read(path, detector.n_jobs)
    asked = label is not None or outlier is not None
    truth = outliers_named(path, table, 1.0 if outlier is None else outlier) if asked else outliers_in(path, table)
    scores = scored(detector, table.X)
    write(output, detector, path, table, scores, truth)
    note(f"{table.X.shape[0]:,} rows, report in {output}", quiet)


def scored(detector: Any, X: Any) -> Any:
    """Score a matrix whose columns were already compared with the model's."""
    with _compared_names():
        return detector.outlier_score(X)


def refuse_report(path: str) -> None:
    """Raise if no report can be written to this path, or plotly is missing."""
    from ..report import SUFFIXES
    from ..report.page import plotly_script

    files.refuse_target(path, SUFFIXES)
    plotly_script()


def write(path: str, detector: RandomDistanceDetector, data: str, table: Table, scores: Any, truth: Any) -> None:
    """Write the report on the rows of a table."""
    from ..report import write_table_report

    title = Path(data).name if data != "-" else "standard input"
    write_table_report(detector, table, path, y=truth, title=title, scores=scores)


@contextmanager
def _compared_names() -> Iterator[None]:
    """Suppress scikit-learn's warning about missing column names, which were compared when the file was read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield
