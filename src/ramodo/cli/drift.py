"""`ramodo drift`, and what `ramodo score` says about rows that differ from the training rows."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..explain.naming import names_of
from ..formats import FormatError, Table
from ..formats.values import named_values
from ..insight.drift import Drift, compare
from ..model.file.saving import open_model
from ..options import OptionError
from ..terminal.escaping import escape_controls
from . import DRIFTED
from . import output as files
from .console import bar, note, out, print_facts
from .source import Source, threads_of
from .streaming import scores_of

if TYPE_CHECKING:
    from ..model.file.saving import Opened


def run_drift(
    model: str,
    path: str,
    *,
    output: str | None,
    format: str | None,
    id: str | None,
    threads: int | None,
    quiet: bool,
    fails: bool,
    as_json: bool,
) -> None:
    """Compare rows with the training rows of a model, and say what moved."""
    if output is not None:
        from ..report import SUFFIXES  # imports scikit-learn, which scoring should not wait for

        files.refuse_target(output, SUFFIXES)
    detector = open_model(model)
    refuse_without_profile(detector, model)
    detector.n_jobs = threads_of(threads)
    table = Source.of_model(detector, format, id).read(path, detector.n_jobs, quiet)
    progress = bar("scoring", "rows", quiet)
    with named_values(path, table):
        scores = scores_of(detector, table.X, progress.show)
    progress.clear()
    found = drift_of(detector, table, scores)
    facts = {"data": path, "model": model, "checksum": detector.checksum_, **said(found, len(scores))}
    if output is not None:
        _write(output, path, found, f"{model}, checksum {detector.checksum_}")
    if as_json:
        print_facts(facts, True)
    else:
        _print(facts, found)
    end(found, fails)


def drift_of(detector: Opened, table: Table, scores: Any) -> Drift | None:
    """How the rows of a table differ from the training rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # names were compared when the rows were read
        rows = detector.rows_of(table.X)
    return compare(detector, rows, scores, lambda numbers: names_of(detector, table, numbers))


def said(found: Drift | None, n_rows: int) -> dict[str, Any]:
    """Everything about a comparison, for JSON; that there was none is said, too."""
    return {"n_rows": n_rows, "drift": None} if found is None else found.to_dict()


def warn(found: Drift | None, quiet: bool) -> None:
    """Note what moved, in one line."""
    if found:
        note(f"warning: {found.in_words()} ramodo drift says more", quiet)


def refuse_without_profile(detector: Opened, model: str) -> None:
    """Raise where there is nothing to compare with."""
    if detector.profile_ is None:
        raise OptionError(
            f"{model} keeps no profile of its training rows, with which others could be compared: an earlier version "
            "wrote it. Fit it again."
        )


def end(found: Drift | None, fails: bool) -> None:
    """End with the exit code of drift, where it was asked for and there is some."""
    if fails and found:
        sys.exit(DRIFTED)


def _write(output: str, path: str, found: Drift | None, model: str) -> None:
    """Write the page; where rows are too few to compare, there is nothing to write."""
    if found is None:
        raise FormatError(f"{path} has too few rows to compare; {output} was not written.")
    from ..report.drift_page import write_drift

    title = "standard input" if path == "-" else Path(path).name
    write_drift(found, Path(output), f"{title}: drift", model)


def _print(facts: dict[str, Any], found: Drift | None) -> None:
    if found is None:
        print_facts({"data": facts["data"], "rows": f"{facts['n_rows']:,}: too few to compare"}, False)
        return
    print_facts(
        {
            "data": facts["data"],
            "model": f"{facts['model']}, checksum {facts['checksum']}",
            "rows": f"{found.n_rows:,}, {found.compared:,} of them compared",
            "flagged": f"{found.flagged:.2%}; {found.expected:.2%} of the training rows",
            "moved": f"{len(found.moved):,}" if found else "nothing beyond chance",
        },
        False,
    )
    for sentence in found.sentences():
        out.print(escape_controls(sentence))
