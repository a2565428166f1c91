"""Beyond the paper: detectors that people use today, on the same sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import figures, paper
from .cells import NOT_HERE, Cell, Results, in_turn
from .page import Experiment, Page, Request, Table
from .peers import PEERS
from .statistics import counted, mean_and_deviation, seconds_text


def cells(request: Request) -> list[Cell]:
    """Return a fit for each run, or one."""
    return [cell for s in request.sets for method in PEERS for cell in _runs(method, s.file, request)]


def _runs(method: str, file: str, request: Request) -> list[Cell]:
    seeds = range(1 if PEERS[method].once else request.runs)
    return in_turn(Cell("peer", file, method, (), seed) for seed in seeds)


def page(request: Request, results: Results) -> Page:
    """AUC, then seconds; a column for each set."""
    sets = {s.paper: s.file for s in request.sets}

    def column(method: str, name: str, value: str) -> tuple[list[float], str]:
        if name not in sets:
            return [], NOT_HERE
        return results.collected(_runs(method, sets[name], request), value)

    def rows(value: str, text: Any) -> list[list[str]]:
        return [
            [method, "yes" if peer.sparse else "no", *[text(*column(method, name, value)) for name in paper.SETS]]
            for method, peer in PEERS.items()
        ]

    header = ["detector", "takes sparse rows", *paper.SETS]
    return Page(
        "peers",
        "Beyond the paper: detectors of today",
        [
            f"AUC, mean ± standard deviation over {counted(request.runs)}; one run where chance has no part, and of "
            "DeepOD's REPEN, which takes minutes. Each with its library's defaults, DeepOD's REPEN with the paper's "
            "settings. Those that take no sparse rows get dense ones where these fit the memory limit.",
            Table(header, rows("auc", mean_and_deviation)),
            "Seconds of fit and score on one thread, with another cell running at the same time:",
            Table(header, rows("seconds", seconds_text)),
        ],
        lambda figure: _draw(figure, {m: [column(m, name, "auc")[0] for name in sets] for m in PEERS}, list(sets)),
        {name: {m.replace(" ", "_"): mean_and_deviation(*column(m, name, "auc")) for m in PEERS} for name in sets},
    )


def _draw(figure: Any, found: dict[str, list[list[float]]], names: list[str]) -> None:
    series = {
        method: [(float(np.mean(v)), float(np.std(v))) if v else None for v in values]
        for method, values in found.items()
    }
    figures.points(figure, names, series)


EXPERIMENT = Experiment("peers", cells, page)
