"""`ramodo diff`: find what is new in a log, compared with a log that is known to be good."""

from __future__ import annotations

from ..explain.alike import alike
from ..explain.explanation import Explanation
from ..explain.first_seen import first_seen
from ..explain.naming import explained
from ..formats import Table
from ..formats.values import named_values
from .console import note, print_facts
from .detect import REASONS
from .flags import Fitting, Keeping
from .provenance import told
from .report import refuse_report, scored, write
from .source import Source, threads_of
from .top_rows import print_top, top_rows
from .training import fit


def run_diff(
    good: str, bad: str, source: Source, fitting: Fitting, *, output: str | None, top: int, quiet: bool
) -> None:
    """Fit a model to the good log, score the other, and say what is new in it."""
    if output is not None:
        refuse_report(output)
    n_threads = threads_of(fitting.options.get("n_jobs"))
    known = source.read(good, n_threads, quiet)
    with named_values(good, known):
        detector, _ = fit(fitting, known, known.is_text, False)
    detector.provenance_ = told(detector, Keeping())
    table = Source.of_model(detector, None, None).for_path(bad).read(bad, n_threads, quiet)
    with named_values(bad, table):
        scores = scored(detector, table.X)
    threshold = float(detector.threshold_)

    def explain(rows: list[int]) -> Explanation:
        return explained(detector, table, rows, scores, REASONS)

    n_flagged = int((scores >= threshold).sum())
    facts = {"good": f"{good}: {known.X.shape[0]:,} rows", "bad": f"{bad}: {len(scores):,} rows, {n_flagged:,} flagged"}
    if output is not None:
        write(output, detector, bad, table, scores, None)
        facts["report"] = output
    print_facts(facts, False)
    for said in said_of_new(detector, table):
        print(said)
    print_top(
        top_rows(scores, threshold, top, explain, alike(table, scores, threshold), every=False),
        table,
        scores,
        threshold,
        to_error=False,
    )


def said_of_new(detector: object, table: Table) -> list[str]:
    """Return a sentence for each new thing; control characters in a log stay text."""
    from ..terminal.escaping import escape_controls

    def line(row: int) -> int:
        return 1 + (int(table.ids[row]) if table.ids is not None and table.ids[row].isdigit() else row)

    return [escape_controls(one.in_words(line(one.row))) for one in first_seen(detector, table)]


def note_new(detector: object, table: Table, quiet: bool) -> None:
    """Print a note about what is new, if scores go to a file."""
    if not quiet and table.texts is not None:
        for said in said_of_new(detector, table):
            note(said, quiet)
