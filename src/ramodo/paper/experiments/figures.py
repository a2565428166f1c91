"""The two kinds of picture: points side by side for each set, and curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

PAPER = "paper: "
COLOURS = ("#1f4e79", "#c8553d", "#5b8c5a", "#8e6c8a", "#d9a441", "#5f6b73", "#3c9d9b", "#a34e6b", "#7a7a2e")


def points(figure: Any, groups: Sequence[str], series: Mapping[str, Sequence[tuple[float, float] | None]]) -> None:
    """For each group a point with its deviation from each series; the paper's are hollow, in the colour of ours."""
    axes = figure.subplots()
    names = list(dict.fromkeys(name.removeprefix(PAPER) for name in series))
    for number, (name, values) in enumerate(series.items()):
        shift = (number - (len(series) - 1) / 2) * 0.8 / max(1, len(series))
        here = [(i + shift, *value) for i, value in enumerate(values) if value is not None]
        if not here:
            continue
        x, mean, deviation = zip(*here, strict=True)
        style = {"mfc": "white"} if name.startswith(PAPER) else {}
        colour = COLOURS[names.index(name.removeprefix(PAPER)) % len(COLOURS)]
        axes.errorbar(x, mean, deviation, fmt="o", ms=5, label=name, color=colour, **style)
    axes.set_xticks(range(len(groups)), groups)
    axes.axhline(0.5, color="#bbbbbb", lw=0.8, ls=":")
    axes.set_ylabel("AUC")
    figure.legend(loc="outside right center", frameon=False)


def curve(axes: Any, x: Sequence[float], y: Sequence[float], name: str, number: int, **style: Any) -> None:
    """One curve with its points marked."""
    if x:
        axes.plot(x, y, **{"marker": "o", "ms": 4, "label": name, "color": COLOURS[number % len(COLOURS)], **style})
