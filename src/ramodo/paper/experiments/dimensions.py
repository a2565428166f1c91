"""Figure 3: AUC by the number of columns of the representation."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import figures, paper
from .cells import NOT_HERE, Cell, Results, repen
from .page import Experiment, Page, Request, Table
from .statistics import counted, decimals, mean_and_deviation


def cells(request: Request) -> list[Cell]:
    """Return a fit for each set, M and run."""
    return [cell for s in request.sets for M in paper.DIMENSIONS for cell in _runs(s.file, M, request)]


def _runs(file: str, M: int, request: Request) -> list[Cell]:
    return [repen(file, seed, n_components=M) for seed in range(request.runs)]


def page(request: Request, results: Results) -> Page:
    """Return a row for each set; its range leaves M = 1 out."""
    found = {
        s.paper: {M: results.collected(_runs(s.file, M, request), "auc") for M in paper.DIMENSIONS}
        for s in request.sets
    }
    rows, facts = [], {}
    for name in paper.SETS:
        here = found.get(name)
        if here is None:
            rows.append([name, *[NOT_HERE] * (len(paper.DIMENSIONS) + 1)])
            continue
        means = [float(np.mean(values)) for M, (values, _) in here.items() if values and M >= 10]
        span = decimals(max(means) - min(means), 3) if means else NOT_HERE
        facts[name] = {"range": span, "one": mean_and_deviation(*here[1]), "twenty": mean_and_deviation(*here[20])}
        rows.append([name, *[mean_and_deviation(*here[M]) for M in paper.DIMENSIONS], span])
    return Page(
        "dimensions",
        "Figure 3: AUC by the number of columns of the representation",
        [
            f"Mean ± standard deviation over {counted(request.runs)}. *Range* is the highest less the lowest mean for "
            "M from 10 to 100. The paper has curves only; its text says that they are flat from M = 10 on.",
            Table(["set", *[f"M = {M}" for M in paper.DIMENSIONS], "range"], rows),
        ],
        lambda figure: _draw(figure, found),
        facts,
    )


def _draw(figure: Any, found: dict[str, Any]) -> None:
    axes = figure.subplots()
    for number, (name, by_dimension) in enumerate(found.items()):
        here = {M: float(np.mean(values)) for M, (values, _) in by_dimension.items() if values}
        figures.curve(axes, list(here), list(here.values()), name, number)
    axes.set(xlabel="M", ylabel="AUC")
    figure.legend(loc="outside right center", frameon=False)


EXPERIMENT = Experiment("dimensions", cells, page)
