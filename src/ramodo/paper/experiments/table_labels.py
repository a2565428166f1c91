"""Figure 2 and table 3: AUC with 1 to 80 labelled outliers, and how few they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import figures, paper
from .cells import Cell, Results, repen
from .measures import load
from .page import Experiment, Page, Request, Table
from .sets import StandIn
from .statistics import counted, mean_and_deviation, paper_number

NAME, TITLE = "labels", "Figure 2 and table 3: labelled outliers"

WAYS = {"paper": "REPEN, the paper's way", "ours": "REPEN, ours"}


def pooled(request: Request) -> list[StandIn]:
    """Return the sets that the paper uses and that have a pool."""
    return [s for s in request.sets if s.paper in ("News20", "URL", "Webspam") and load(s.file).pool is not None]


def numbers(stand_in: StandIn) -> list[int]:
    """Return the numbers of labels, up to the size of the pool."""
    pool = load(stand_in.file).pool
    return [n for n in paper.LABELS if pool is not None and n <= pool.shape[0]]


def cells(request: Request) -> list[Cell]:
    """Without labels, with each number of them both ways, and with the most of them in one dimension."""
    wanted = []
    for s in pooled(request):
        for seed in range(request.runs):
            wanted.append(repen(s.file, seed))
            wanted.extend(repen(s.file, seed, labels=n, way=way) for n in numbers(s) for way in WAYS)
            wanted.append(_one_dimension(s, seed))
    return wanted


def _one_dimension(stand_in: StandIn, seed: int) -> Cell:
    return repen(stand_in.file, seed, n_components=1, labels=numbers(stand_in)[-1], way="paper")


def page(request: Request, results: Results) -> Page:
    """AUC by number of labels, then the statistics."""
    sets = pooled(request)
    if not sets:
        return Page(NAME, TITLE, ["None of the sets that were asked for has a pool of labelled outliers."], _draw_none)
    curves = {s.paper: _curves(s, request, results) for s in sets}
    facts = {
        s.paper: {
            **{f"{way}_{n}": mean_and_deviation(values) for way in WAYS for n, values in curves[s.paper][way].items()},
            "one_dimension": _single(s, request, results),
            "one_word": _compared(s, request, results, curves[s.paper]["paper"]),
        }
        for s in sets
    }
    return Page(
        NAME,
        TITLE,
        [
            f"AUC, mean ± standard deviation over {counted(request.runs)}, each with its own draw of labels from the "
            "pool. *The paper's way* is `labeled_fraction=0.5, labels_in_score=False`: labels shape the "
            "triplets and nothing else; *ours* is the default, which also lets them into the final score. The paper's "
            "figure is a picture; its text gives the numbers without labels and the highest.",
            _auc_table(sets, curves),
            "80 labels (or as many as the pool has) and a single dimension, M = 1, the paper's way: "
            + "; ".join(
                f"{s.file} {_single(s, request, results)}, the paper "
                f"{paper_number(paper.LABELED_AUC_ONE_DIMENSION.get(s.paper))}"
                for s in sets
            )
            + ".",
            "Table 3, in percent, ours / the paper's:",
            _statistics_table(sets),
        ],
        lambda figure: _draw(figure, curves),
        facts,
    )


def _curves(s: StandIn, request: Request, results: Results) -> dict[str, dict[int, list[float]]]:
    seeds = range(request.runs)
    plain = results.collected([repen(s.file, seed) for seed in seeds], "auc")[0]
    return {
        way: {
            0: plain,
            **{
                n: results.collected([repen(s.file, seed, labels=n, way=way) for seed in seeds], "auc")[0]
                for n in numbers(s)
            },
        }
        for way in WAYS
    }


def _single(s: StandIn, request: Request, results: Results) -> str:
    return mean_and_deviation(*results.collected([_one_dimension(s, seed) for seed in range(request.runs)], "auc"))


def _compared(s: StandIn, request: Request, results: Results, curve: dict[int, list[float]]) -> str:
    """Return one dimension against twenty, with the same number of labels."""
    single = results.collected([_one_dimension(s, seed) for seed in range(request.runs)], "auc")[0]
    twenty = curve[numbers(s)[-1]]
    return "above" if single and twenty and np.mean(single) > np.mean(twenty) else "below"


def _auc_table(sets: list[StandIn], curves: dict[str, Any]) -> Table:
    rows = []
    for s in sets:
        for n in [0, *numbers(s)]:
            ours = [mean_and_deviation(curves[s.paper][way][n]) for way in WAYS]
            rows.append([s.file, str(n), *ours, paper_number(paper.LABELED_AUC.get(s.paper, {}).get(n))])
    return Table(["set", "labels", *WAYS.values(), "paper"], rows)


def _statistics_table(sets: list[StandIn]) -> Table:
    rows = []
    for factor, theirs in paper.LABEL_STATISTICS.items():
        for s in sets:
            y = load(s.file).y
            n_rows, outliers = len(y), int(y.sum())
            row = [factor, s.file]
            for place, n in enumerate(paper.LABELS):
                share = {"l / N": n / n_rows, "(l + No) / N": (n + outliers) / n_rows, "l / No": n / outliers}[factor]
                known = f"{theirs[s.paper][place]:.2f}" if s.paper in theirs else "–"
                row.append(f"{100 * share:.2f} / {known}")
            rows.append(row)
    return Table(["factor", "set", *map(str, paper.LABELS)], rows)


def _draw(figure: Any, curves: dict[str, Any]) -> None:
    axes = figure.subplots(1, len(curves), squeeze=False)[0]
    for place, (name, ways) in zip(axes, curves.items(), strict=True):
        for number, (way, values) in enumerate(ways.items()):
            here = {n: found for n, found in values.items() if found}
            figures.curve(place, list(here), [float(np.mean(v)) for v in here.values()], WAYS[way], number)
        theirs = paper.LABELED_AUC.get(name, {})
        figures.curve(place, list(theirs), list(theirs.values()), "paper", 5, ls="none", mfc="white")
        place.set(title=name, xlabel="labelled outliers", ylabel="AUC")
        place.legend(frameon=False)


def _draw_none(figure: Any) -> None:
    figure.text(0.5, 0.5, "no set with a pool", ha="center")


EXPERIMENT = Experiment(NAME, cells, page)
