"""Figure 4: seconds of training and testing by the number of rows and of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import figures, paper
from .cells import Cell, Results, in_turn
from .page import Experiment, Page, Request, Table
from .statistics import seconds_text

METHODS = ("REPEN", "AE", "HLLE", "SRP")
"""CoP is not in the paper's figure: there it was written in another language."""

ROWS, FEATURES = paper.SCALED_ROWS, paper.SCALED_FEATURES


def cells(request: Request) -> list[Cell]:
    """Sizes in order, so that one beyond a limit spares those above it."""
    return [cell for method in METHODS for sweep in _sweeps(method, request) for cell in sweep]


def _sweeps(method: str, request: Request) -> tuple[list[Cell], list[Cell]]:
    by_rows = [(n, paper.SCALED_ROWS_AT) for n in ROWS]
    by_features = [(paper.SCALED_FEATURES_AT, d) for d in FEATURES]
    return _chain(method, by_rows, request), _chain(method, by_features, request)


def _chain(method: str, shapes: Sequence[tuple[int, int]], request: Request) -> list[Cell]:
    options = [(("n_rows", n), ("n_features", d), ("threads", request.threads)) for n, d in shapes]
    return in_turn(Cell("scalability", "", method, chosen, alone=True) for chosen in options)


def page(request: Request, results: Results) -> Page:
    """Return two tables: by rows, by features."""
    sweeps = {method: _sweeps(method, request) for method in METHODS}
    facts: dict[str, Any] = {}
    for method in METHODS:
        for name, sizes, cells_ in zip(("N", "D"), (ROWS, FEATURES), sweeps[method], strict=True):
            power = _exponent(sizes, cells_, results)
            if power is not None:
                facts[f"{method}_{name}"] = f"{power:.2f}"
    return Page(
        "scalability",
        "Figure 4: time by the number of rows and of features",
        [
            f"Seconds of training and testing; REPEN and Sp on {request.threads} threads, linear algebra on one, no "
            "other cell running; the median of some repeats, fewer where they are long. The data are sparse, from "
            "`make_ultrahigh` with about 100 non-zeros a row: the paper does not say what its own were, and has "
            "only curves, so it has no numbers to compare these with.",
            _table("N", ROWS, [sweeps[m][0] for m in METHODS], results, f"D = {paper.SCALED_ROWS_AT:,}"),
            _table("D", FEATURES, [sweeps[m][1] for m in METHODS], results, f"N = {paper.SCALED_FEATURES_AT:,}"),
        ],
        lambda figure: _draw(figure, sweeps, results),
        facts,
    )


def _times(cell: Cell, results: Results) -> tuple[list[float], str]:
    return results.collected([cell], "time")


def _exponent(sizes: Sequence[int], sweep: list[Cell], results: Results) -> float | None:
    """Return the exponent of the power law through the measured times."""
    here = [(n, _times(cell, results)[0][0]) for n, cell in zip(sizes, sweep, strict=True) if _times(cell, results)[0]]
    if len(here) < 2:
        return None
    return float(np.polyfit(np.log([n for n, _ in here]), np.log([t for _, t in here]), 1)[0])


def _table(axis: str, sizes: Sequence[int], sweeps: list[list[Cell]], results: Results, at: str) -> Table:
    rows = [
        [f"{size:,}", *[seconds_text(*_times(sweep[place], results)) for sweep in sweeps]]
        for place, size in enumerate(sizes)
    ]
    powers = [_exponent(sizes, sweep, results) for sweep in sweeps]
    rows.append(["exponent", *["–" if power is None else f"{power:.2f}" for power in powers]])
    return Table([f"{axis}, at {at}", *METHODS], rows)


def _draw(figure: Any, sweeps: dict[str, tuple[list[Cell], list[Cell]]], results: Results) -> None:
    for place, (axes, name, sizes) in enumerate(zip(figure.subplots(1, 2), ("N", "D"), (ROWS, FEATURES), strict=True)):
        for number, method in enumerate(METHODS):
            here = [
                (n, t) for n, cell in zip(sizes, sweeps[method][place], strict=True) for t in _times(cell, results)[0]
            ]
            figures.curve(axes, [n for n, _ in here], [t for _, t in here], method, number)
        axes.set(xscale="log", yscale="log", xlabel=name, ylabel="seconds")
        axes.legend(frameon=False)


EXPERIMENT = Experiment("scalability", cells, page, needs_data=False)
