"""Table 2: AUC of Sp on the representations of REPEN, AE, HLLE, SRP and CoP."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import figures, paper
from .cells import NOT_HERE, Cell, Results, in_turn, repen
from .measures import DETECTIONS, SAME_EACH_RUN
from .page import Experiment, Page, Request, Table
from .statistics import counted, mean_and_deviation, p_value, paper_number

_OPTIONS = (("n_components", 20),)


def cells(request: Request) -> list[Cell]:
    """Return a fit for each run; one for a representation that is the same in each."""
    return [cell for s in request.sets for method in paper.METHODS for cell in _runs(method, s.file, request)]


def _runs(method: str, file: str, request: Request) -> list[Cell]:
    if method == "REPEN":
        return [repen(file, seed) for seed in range(request.runs)]
    return in_turn([Cell("auc", file, method, _OPTIONS, seed) for seed in range(_fits(method, request))])


def _fits(method: str, request: Request) -> int:
    return 1 if method in SAME_EACH_RUN else request.runs


def page(request: Request, results: Results) -> Page:
    """Return the table with both numbers in a cell, and p below."""
    found = {
        s.paper: {method: results.collected(_runs(method, s.file, request), "auc") for method in paper.METHODS}
        for s in request.sets
    }
    rows = [
        [name, *[_both(found.get(name, {}).get(method), paper.COMPETITORS[name][method]) for method in paper.METHODS]]
        for name in paper.SETS
    ]
    rows.append(["p-value", "", *[_p_text(found, method) for method in paper.METHODS[1:]]])
    reasons = _reasons(request, results)
    return Page(
        "table-competitors",
        "Table 2: AUC of Sp using REPEN, AE, HLLE, SRP and CoP",
        [
            f"Ours / the paper's. Mean ± standard deviation over {counted(request.runs)}; HLLE and CoP give the same "
            f"representation in each run, so they are computed once and Sp runs {DETECTIONS} times on it. p is "
            "Wilcoxon's, of REPEN's mean against the method's over the sets that have both.",
            Table(["set", *paper.METHODS], rows),
            *reasons,
        ],
        lambda figure: _draw(figure, found),
        {name: {method: mean_and_deviation(*found[name][method]) for method in paper.METHODS} for name in found},
    )


def _both(ours: tuple[list[float], str] | None, theirs: float | str) -> str:
    return f"{mean_and_deviation(*ours) if ours else NOT_HERE} / {paper_number(theirs)}"


def _p_text(found: dict[str, Any], method: str) -> str:
    pairs = [
        (np.mean(here["REPEN"][0]), np.mean(here[method][0]))
        for here in found.values()
        if here["REPEN"][0] and here[method][0]
    ]
    p = p_value([a for a, _ in pairs], [b for _, b in pairs])
    return f"{NOT_HERE if p is None else f'{p:.4f}'} / {paper.COMPETITORS_P[method]}"


def _reasons(request: Request, results: Results) -> list[str]:
    """Why cells have marks, in a list."""
    lines = []
    for s in request.sets:
        for method in paper.METHODS:
            first = next((results[c] for c in _runs(method, s.file, request) if results[c].mark), None)
            if first is not None:
                lines.append(f"- {method} on {s.file} ({first.mark}): {first.reason}")
    return ["\n".join(lines)] if lines else []


def _draw(figure: Any, found: dict[str, Any]) -> None:
    series: dict[str, list[tuple[float, float] | None]] = {}
    for method in paper.METHODS:
        values = [found.get(name, {}).get(method, ([], ""))[0] for name in paper.SETS]
        series[method] = [(float(np.mean(v)), float(np.std(v))) if v else None for v in values]
    figures.points(figure, paper.SETS, series)


EXPERIMENT = Experiment("table-competitors", cells, page)
