"""Table 1: Sp on the original space against Sp on REPEN's, AUC and detection runtime."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import figures, paper
from .cells import NOT_HERE, Cell, Results, repen
from .page import Experiment, Page, Request, Table
from .sets import described
from .statistics import counted, decimals, mean_and_deviation, p_value, seconds_text

_TIMES = {
    "original, paper's way": "Sp",
    "original, ours": "Sp",
    "representation, paper's way": "REPEN",
    "representation, ours": "REPEN",
    "transform": "",
}


def cells(request: Request) -> list[Cell]:
    """Return a fit for each run, and one measurement of time for each set."""
    files = [stand_in.file for stand_in in request.sets]
    return [
        *[repen(file, seed) for file in files for seed in range(request.runs)],
        *[_timing(file, request) for file in files],
    ]


def _timing(file: str, request: Request) -> Cell:
    return Cell("detection", file, "Sp", (("threads", request.threads),), alone=True)


def page(request: Request, results: Results) -> Page:
    """Return both halves of the table, and the tests."""
    aucs = {s.paper: _aucs(s.file, request, results) for s in request.sets}
    facts: dict[str, Any] = {}
    for name, (org, learned) in aucs.items():
        facts[name] = _facts(org, learned)
    means = [(float(np.mean(org)), float(np.mean(learned))) for org, learned in aucs.values() if org]
    p = p_value([m[1] for m in means], [m[0] for m in means])
    ours = "no pair differs" if p is None else f"p = {p:.4f} over the {len(means)} sets here"
    times = {s.paper: results[_timing(s.file, request)] for s in request.sets}
    facts |= {"n_sets": len(means), "least_p": decimals(2 / 2 ** len(means)), **_ratios(times)}
    return Page(
        "table-auc-runtime",
        "Table 1: AUC and detection runtime of Sp on the original space and on REPEN's",
        [
            f"AUC, mean ± standard deviation over {counted(request.runs)}. *p over runs* is Wilcoxon's, of the pairs "
            "of one set's runs; few runs cannot make it small.",
            _auc_table(request, aucs),
            f"Wilcoxon's signed rank test over the sets, as the paper has it: {ours}; the paper: p = "
            f"{paper.AUC_AND_RUNTIME_P} over its eight.",
            "Seconds of detection, without training: 50 subsamples of 8. *k-d tree* is the paper's way, a k-d tree for "
            "each subsample (for sparse rows on the original space, distances of sparse rows to each subsample); "
            f"*ours* is `ramodo.Sp` on {request.threads} threads. References are drawn beforehand; the fastest of many "
            "repeats, no other cell running. *Transform* is the way from the original space to REPEN's.",
            _time_table(request, times),
        ],
        lambda figure: _draw(figure, request, aucs),
        facts,
    )


def _aucs(file: str, request: Request, results: Results) -> tuple[list[float], list[float]]:
    runs = [repen(file, seed) for seed in range(request.runs)]
    return results.collected(runs, "sp")[0], results.collected(runs, "auc")[0]


def _facts(org: list[float], learned: list[float]) -> dict[str, str]:
    if not org:
        return {}
    difference = float(np.mean(learned) - np.mean(org))
    word = "gains" if difference > 0.005 else "loses" if difference < -0.005 else "neither gains nor loses:"
    return {
        "sp": mean_and_deviation(org),
        "repen": mean_and_deviation(learned),
        "gain": f"{word} {decimals(abs(difference), 3)}" if abs(difference) > 0.005 else word.rstrip(":"),
    }


def _ratios(times: dict[str, Any]) -> dict[str, Any]:
    ratios = [
        outcome.values["representation, paper's way"] / outcome.values["representation, ours"]
        for outcome in times.values()
        if not outcome.mark
    ]
    if not ratios:
        return {}
    return {"least_ratio": f"{min(ratios):.1f}", "most_ratio": f"{max(ratios):.1f}"}


def _auc_table(request: Request, aucs: dict[str, tuple[list[float], list[float]]]) -> Table:
    kinds = {s.paper: described(s) for s in request.sets}
    rows = []
    for name in paper.SETS:
        theirs = paper.AUC_AND_RUNTIME[name]
        org, learned = aucs.get(name, ([], []))
        improvement = f"{100 * (np.mean(learned) / np.mean(org) - 1):+.1f} %" if org else NOT_HERE
        p = p_value(learned, org) if org else None
        rows.append(
            [
                name,
                kinds.get(name, "not here"),
                mean_and_deviation(org, NOT_HERE),
                decimals(theirs.org_auc),
                mean_and_deviation(learned, NOT_HERE),
                decimals(theirs.repen_auc),
                improvement,
                f"{theirs.improvement:+.1f} %",
                NOT_HERE if p is None else f"{p:.3f}",
            ]
        )
    header = ["set", "ours", "Sp", "paper: Sp", "REPEN", "paper: REPEN", "IMP", "paper: IMP", "p over runs"]
    return Table(header, rows)


def _time_table(request: Request, times: dict[str, Any]) -> Table:
    rows = []
    for name in paper.SETS:
        theirs = paper.AUC_AND_RUNTIME[name]
        outcome = times.get(name)
        values = outcome.values if outcome is not None else {}
        mark = NOT_HERE if outcome is None else outcome.mark
        taken = [seconds_text([values[key]] if key in values else [], mark) for key in _TIMES]
        ratios = [
            f"{values[slow] / values[fast]:.1f}" if values else mark
            for slow, fast in (
                ("original, paper's way", "representation, paper's way"),
                ("original, ours", "representation, ours"),
                ("representation, paper's way", "representation, ours"),
            )
        ]
        rows.append(
            [name, *taken, *ratios, f"{theirs.org_seconds:g}", f"{theirs.repen_seconds:g}", str(theirs.speedup)]
        )
    header = [
        "set",
        "Sp, k-d tree",
        "Sp, ours",
        "REPEN, k-d tree",
        "REPEN, ours",
        "transform",
        "SU, k-d tree",
        "SU, ours",
        "REPEN: ours against k-d tree",
        "paper: Sp",
        "paper: REPEN",
        "paper: SU",
    ]
    return Table(header, rows)


def _draw(figure: Any, request: Request, aucs: dict[str, tuple[list[float], list[float]]]) -> None:
    def spread(name: str, place: int) -> tuple[float, float] | None:
        values = aucs.get(name, ([], []))[place]
        return (float(np.mean(values)), float(np.std(values))) if values else None

    figures.points(
        figure,
        paper.SETS,
        {
            "Sp": [spread(name, 0) for name in paper.SETS],
            "paper: Sp": [(paper.AUC_AND_RUNTIME[name].org_auc, 0.0) for name in paper.SETS],
            "REPEN": [spread(name, 1) for name in paper.SETS],
            "paper: REPEN": [(paper.AUC_AND_RUNTIME[name].repen_auc, 0.0) for name in paper.SETS],
        },
    )


EXPERIMENT = Experiment("table-auc-runtime", cells, page)
