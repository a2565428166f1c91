"""A page on how rows differ from the training rows: a sentence and a picture for each thing that moved. No scripts."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from pathlib import Path

from ..files.whole import write_whole
from ..insight.drift import Curve, Drift, Moved
from ..insight.drift_words import number, percent
from ..terminal.escaping import escape_controls

_WIDTH, _HEIGHT, _LEFT, _BELOW = 460, 150, 70, 20
_LOGARITHMIC = 100.0
"""Positive values that differ by more than this factor are on a logarithmic axis."""

_LONGEST = 300
"""Characters of a sentence."""

_LEGEND = (
    "What moved, strongest first. Red is here, blue is in training; curves show the share of rows with at most a value."
)

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #1c2b33 }
svg { display: block; max-width: 100%; margin: .3rem 0 1.5rem } text { font-size: 12px; fill: #51626b }
.here { stroke: #b5402a; fill: #b5402a } .training { stroke: #2a6f97; fill: #2a6f97 }
polyline { fill: none !important; stroke-width: 2 } rect { stroke: none } .axis { stroke: #9fb0b8 }
"""


def write_drift(found: Drift, path: Path, title: str, model: str) -> None:
    """Write the page: whole, or not at all."""
    page = "\n".join(_page(found, title, model)).encode()

    def write(temporary: str) -> None:
        Path(temporary).write_bytes(page)

    write_whole(path, write)


def _page(found: Drift, title: str, model: str) -> Iterator[str]:
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    yield "<!doctype html>"
    yield f'<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield f"<title>{_text(title)}</title><style>{_STYLE}</style></head><body><h1>{_text(title)}</h1>"
    yield f"<p>{found.n_rows:,} rows, {found.compared:,} of them compared with the training rows of {_text(model)}."
    yield f"{percent(found.flagged)} of the rows are flagged, {percent(found.expected)} of the training rows were.</p>"
    yield f"<p>{_LEGEND if found else 'Nothing moved beyond chance.'}</p>"
    for each in found.moved:
        yield f"<h2>{_text(each.name)}: {each.kind}</h2><p>{_text(each.words)}.</p>{_picture(each)}"
    yield "</body></html>"


def _text(given: str) -> str:
    shown = escape_controls(given[: _LONGEST + 1])
    return html.escape(shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…")


def _picture(moved: Moved) -> str:
    """Two curves, or two bars; nothing where rows as a whole moved."""
    if moved.curves is not None:
        return _svg(_curves(*moved.curves), "share of rows with at most a value, here (red) and in training (blue)")
    if moved.shares is not None:
        return _svg(_bars(moved.shares), "share of rows, here (red) and in training (blue)")
    return ""


def _svg(parts: Iterator[str], label: str) -> str:
    inner = "".join(parts)
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT + _BELOW}" width="{_WIDTH}" role="img" aria-label="{label}">{inner}</svg>'
    )


def _bars(shares: tuple[float, float]) -> Iterator[str]:
    for place, (kind, share) in enumerate(zip(("here", "training"), shares, strict=True)):
        y, width = 10 + 40 * place, max(1.0, share * (_WIDTH - _LEFT - 60))
        yield f'<text x="0" y="{y + 18}">{kind}</text>'
        yield f'<rect class="{kind}" x="{_LEFT}" y="{y}" width="{width:.1f}" height="26"/>'
        yield f'<text x="{_LEFT + width + 6:.1f}" y="{y + 18}">{percent(share)}</text>'


def _curves(here: Curve, training: Curve) -> Iterator[str]:
    values = [*here[0], *training[0]]
    low, high = min(values), max(values)
    logged = low > 0 and high > _LOGARITHMIC * low
    start, end = (math.log(low), math.log(high)) if logged else (low, high)

    def x(value: float) -> float:
        at = math.log(value) if logged else value
        return _LEFT + (_WIDTH - _LEFT - 10) * ((at / 2 - start / 2) / (end / 2 - start / 2) if end > start else 0.5)

    yield f'<line class="axis" x1="{_LEFT}" y1="{_HEIGHT}" x2="{_WIDTH - 10}" y2="{_HEIGHT}"/>'
    for kind, (places, shares) in (("training", training), ("here", here)):
        points = " ".join(f"{x(v):.1f},{_HEIGHT - (_HEIGHT - 10) * s:.1f}" for v, s in zip(places, shares, strict=True))
        yield f'<polyline class="{kind}" points="{points}"/>'
    yield f'<text x="{_LEFT}" y="{_HEIGHT + 15}">{number(low)}</text>'
    yield f'<text x="{_WIDTH - 10}" y="{_HEIGHT + 15}" text-anchor="end">{number(high)}</text>'
    yield '<text x="0" y="20">all rows</text>'
