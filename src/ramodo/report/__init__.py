"""A single HTML file that shows what a detector found: open it from disk, send it, print it.

content.py gathers what to report, payload.py turns it into JSON and page.py renders the page from page.html, page.css
and the scripts. All data are in one block of JSON, which the scripts insert only as text.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..explain.explanation import Explanation
from ..explain.naming import explained, names_of
from ..explain.over_time import OverTime, over_time
from ..files.whole import write_whole
from ..formats import Table
from ..options import OptionError
from .content import REASONS, SHOWN, gather
from .labelled import Labelled
from .page import plotly_script, render

if TYPE_CHECKING:
    from ..framework import RandomDistanceDetector

__all__ = ["write_report", "write_table_report"]

SUFFIXES = (".html", ".htm")


def write_report(
    detector: RandomDistanceDetector,
    X: Any,
    path: str | os.PathLike[str],
    *,
    y: Any = None,
    ids: Any = None,
    names: Any = None,
    texts: Any = None,
    title: str | None = None,
    scores: Any = None,
    explain: Callable[[list[int]], Explanation] | None = None,
    labelled: Sequence[Labelled] = (),
    name: Callable[[list[int]], Callable[[int], str]] | None = None,
    over_time: OverTime | None = None,
) -> Path:
    """Write a fitted detector's report on the rows of `X`, the training rows or others.

    Parameters
    ----------
    y : truth of each row, for ROC and precision-recall curves: 1 for outliers, 0 or -1 for others
    ids : name of each row; by default the index of a pandas frame unless it only counts rows, else the row number
    names : name of each feature: a sequence, or a function of a feature's index
    texts : document behind each row
    title : title of the report
    scores : scores of the rows, if already known
    explain : a function that explains rows by number, if naming features takes more than their index
    labelled : labels that people gave to rows, to be listed
    name : a function that, given features, returns a function from a feature's index to its name
    over_time : when the rows, lines of a log, were written, and what happened when
    """
    target, script = Path(path), plotly_script()
    if target.suffix.lower() not in SUFFIXES:
        raise OptionError(f"{target} must end in .html or .htm, got {target.suffix or 'no suffix'}.")
    content = gather(
        detector, X, y=y, ids=ids, names=names, texts=texts, title=title, scores=scores, explain=explain, name=name
    )
    content = replace(content, labelled=tuple(labelled), over_time=over_time)
    page = render(content, script)
    write_whole(target, lambda temporary: _write(temporary, page))
    return target


def write_table_report(
    detector: Any,
    table: Table,
    path: str | os.PathLike[str],
    *,
    y: Any = None,
    title: str | None = None,
    scores: Any = None,
) -> Path:
    """Do the same for rows that were read from a file or a frame, with the names and units of their columns."""
    known = detector.outlier_score(table) if scores is None else scores

    def explain(rows: list[int]) -> Explanation:
        return explained(detector, table, rows, known, REASONS, enough=True, in_full=SHOWN)

    def name(columns: list[int]) -> Callable[[int], str]:
        return names_of(detector, table, columns)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # names were compared when the rows were read
        return write_report(
            detector,
            table.X,
            path,
            y=y,
            ids=table.ids,
            texts=table.texts,
            title=title,
            scores=known,
            explain=explain,
            name=name,
            over_time=over_time(table, np.asarray(known, dtype=np.float64), float(detector.threshold_)),
        )


def _write(temporary: str, page: bytes) -> None:
    with open(temporary, "wb") as file:
        file.write(page)
