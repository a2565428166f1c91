"""The output of an experiment: Markdown, JSON and a figure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from ...extras import pip_install
from ...files.whole import write_whole
from .cells import MARKS, Results
from .sets import StandIn

Figure = Any


class FigureError(ValueError):
    """Figures cannot be drawn."""


@dataclass(frozen=True)
class Request:
    """What to run."""

    sets: Sequence[StandIn]
    runs: int
    threads: int


@dataclass(frozen=True)
class Table:
    """Rows under a header."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        lines = [self.header, ["---"] * len(self.header), *self.rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)


@dataclass(frozen=True)
class Page:
    """One experiment's results, ready to be written."""

    name: str
    title: str
    parts: Sequence[str | Table]
    draw: Callable[[Figure], None]
    facts: Mapping[str, Any] = field(default_factory=dict)

    def markdown(self, figure: str) -> str:
        """Return the page, with a link to its figure."""
        body = [part.markdown() if isinstance(part, Table) else part for part in self.parts]
        marks = marks_used("\n".join(body))
        blocks = [f"## {self.title}", *body, *marks, f"![{self.title}]({figure})", *notes(self.name, self.facts)]
        return "\n\n".join(blocks) + "\n"


@dataclass(frozen=True)
class Experiment:
    """The cells it needs, and the page that they make."""

    name: str
    cells: Callable[[Request], list[Any]]
    page: Callable[[Request, Results], Page]
    needs_data: bool = True


def marks_used(text: str) -> list[str]:
    """Return a line that explains the marks in a text; empty if there are none."""
    cells = {word for line in text.splitlines() if line.startswith("|") for word in line.split()}
    used = [f"`{mark}` {meaning}" for mark, meaning in MARKS.items() if mark in cells]
    return ["Marks: " + "; ".join(used) + "."] if used else []


def notes(name: str, facts: Mapping[str, Any]) -> list[str]:
    """Return the notes on an experiment's numbers, without paragraphs about numbers that are missing."""
    file = resources.files(__package__) / "notes" / f"{name}.md"
    paragraphs = file.read_text(encoding="utf-8").strip().split("\n\n")
    filled = []
    for paragraph in paragraphs:
        try:
            filled.append(paragraph.format_map(facts))
        except KeyError:
            continue
    return filled


def write(page: Page, results: Results, about: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write NAME.md, NAME.json and NAME.svg, and return their paths."""
    paths = [folder / f"{page.name}{suffix}" for suffix in (".md", ".json", ".svg")]
    cells = [
        {
            "set": cell.dataset,
            "method": cell.method,
            "measure": cell.measure,
            **dict(cell.options),
            "seed": cell.seed,
            "mark": outcome.mark,
            "reason": outcome.reason,
            **outcome.values,
        }
        for cell, outcome in results.items()
    ]
    tables = [{"header": part.header, "rows": part.rows} for part in page.parts if isinstance(part, Table)]
    data = {"experiment": page.name, **about, "tables": tables, "cells": cells}
    write_text(paths[0], page.markdown(paths[2].name))
    write_text(paths[1], json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    write_whole(paths[2], lambda temporary: _save(page, temporary))
    return paths


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    write_whole(path, lambda temporary: _write(temporary, text))


def _write(path: str, text: str) -> None:
    Path(path).write_text(text, encoding="utf-8")


def refuse_without_figures() -> None:
    """Raise before hours are spent on figures that cannot be drawn."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise FigureError(f"Figures need the package matplotlib: {pip_install('paper')}.") from None


def _save(page: Page, path: str) -> None:
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    with mpl.rc_context(
        {"svg.hashsalt": page.name, "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
    ):
        figure = Canvas(figsize=(8, 4), layout="constrained")
        page.draw(figure)
        canvas: Any = FigureCanvasSVG(figure)
        canvas.print_svg(path, metadata={"Date": None})
