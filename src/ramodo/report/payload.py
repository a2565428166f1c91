"""Content as lists, texts and rounded numbers for the page's scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..explain.explanation import Driver
from ..explain.reasons import Reason, RowExplanation
from ..insight.figures import percentiles
from ..insight.timeline import Timeline
from ..terminal.escaping import escape_controls
from . import words
from .content import LISTED, Content
from .labelled import NAMES
from .marking import marked

_LOGARITHMIC = 100
"""The axis of counts is logarithmic if a bar has more rows than this."""

_DRIVERS, _IN_GROUP, _LABELLED = 15, 5, 500

_IN_FULL, _IN_SHORT = 200, 3
"""How many rows of the table have all of their reasons, and how many reasons the others have."""

_MOVED = 5
"""How many things that moved are named."""

_OVER_TIME = 6
"""How many kinds the timeline shows."""

_FIRST = 3
"""How many kinds to look at first."""


@dataclass(frozen=True)
class Lengths:
    """How many characters to keep of a document, and of an id or the name of a feature."""

    text: int
    name: int

    @classmethod
    def ever_shorter(cls) -> Iterator[Lengths]:
        """Shorter and shorter lengths, for a page that is too large; the last fits any data."""
        return (cls(text, name) for text, name in ((600, 100), (300, 100), (150, 50), (80, 24), (40, 12)))

    def of_text(self, text: str) -> str:
        """Return a document, on one line."""
        return shortened(" ".join(str(text)[: 4 * self.text].split()), self.text)

    def of_name(self, name: str) -> str:
        """Return an id or a feature."""
        return shortened(str(name), self.name)


_OF_VIEWS = Lengths(text=0, name=100)
"""Names of views are few and say what a score means."""


def shortened(text: str, most: int) -> str:
    """Shorten a text from data and escape its control characters; all such texts on a page go through here."""
    shown = escape_controls(text[: most + 1])
    return shown if len(shown) <= most else shown[: most - 1] + "…"


class _Names:
    """Each name once; reasons refer to it by position."""

    def __init__(self, lengths: Lengths) -> None:
        self._lengths, self._places = lengths, dict[str, int]()

    def place(self, name: str) -> int:
        return self._places.setdefault(self._lengths.of_name(name), len(self._places))

    def all(self) -> list[str]:
        return list(self._places)


def payload(content: Content, lengths: Lengths) -> dict[str, Any]:
    """Return the whole payload, ready for `json`."""
    names, views = _Names(lengths), _Names(_OF_VIEWS)
    diagnosis = content.detector.diagnose()
    return {
        "title": shortened(content.title, 200),
        "written": content.reproduction.written,
        "cards": _cards(content),
        "headline": words.headline(content),
        "first": [_first(content, kind, lengths) for kind in content.first_kinds(_FIRST)],
        "summary": words.summary(content, lengths.of_name),
        "warnings": [*_drift(content, lengths), *diagnosis.warnings],
        "noise": words.of_noise(content, diagnosis),
        "findings": [[f.name.replace("_", " "), _rounded(f.value), f.meaning] for f in diagnosis.findings],
        "histogram": _histogram(content),
        "map": _map(content, lengths),
        "timeline": _timeline(content, lengths),
        "table": _table(content, lengths, names, views),
        "explained": len(content.explained),
        "kinds": [[n, places] for n, places in content.kinds],
        "groups": _groups(content, names),
        "drivers": _drivers(content, names),
        "names": names.all(),
        "views": views.all(),
        "notation": words.of_notation(content, names.all()),
        "training": {"loss": _numbers(content.detector.loss_curve_), "caption": words.of_training(content)},
        "curves": _curves(content),
        "labelled": _labelled(content, lengths),
        "reproduction": _reproduction(content, lengths),
    }


def _drift(content: Content, lengths: Lengths) -> list[str]:
    """How the rows differ from the training rows."""
    return [] if not content.drift else [lengths.of_text(content.drift.in_words(_MOVED))]


def _cards(content: Content) -> list[list[str]]:
    cards = [
        ["Rows", f"{len(content.scores):,}"],
        ["Features", f"{content.detector.n_features_in_:,}"],
        ["Flagged", f"{content.n_flagged:,} ({words.percent(content.n_flagged / len(content.scores))})"],
        ["Cut-off", words.cut_off(content)],
        ["Highest score", words.number(float(content.scores.max()))],
    ]
    if content.curves is not None:
        cards.append(["AUC-ROC", f"{content.curves.auc:.4f}"])
    return cards


def _histogram(content: Content) -> dict[str, Any]:
    histogram = content.histogram
    return {
        "edges": _numbers(histogram.edges, 7),
        "counts": histogram.counts.tolist(),
        "first_flagged": int(np.searchsorted(histogram.edges, histogram.threshold)),
        "threshold": _rounded(histogram.threshold, 7),
        "logarithmic": int(histogram.counts.max()) > _LOGARITHMIC,
        "caption": words.of_histogram(content),
    }


def _map(content: Content, lengths: Lengths) -> dict[str, Any]:
    numbers = content.map_rows
    place = {int(row): i for i, row in enumerate(content.table)}
    return {
        "x": _numbers(content.map.points[:, 0], 4),
        "y": _numbers(content.map.points[:, 1], 4),
        "ids": [lengths.of_name(content.id_of(int(row))) for row in numbers],
        "scores": _numbers(content.scores[numbers], 5),
        "flagged": (content.scores[numbers] >= content.threshold).astype(int).tolist(),
        "places": [place.get(int(row), -1) for row in numbers],
        "known": None if content.truth is None else np.flatnonzero(content.truth[numbers]).tolist(),
        "axes": [[lengths.of_name(end) for end in axis] for axis in content.axes],
        "caption": words.of_map(content),
    }


def _timeline(content: Content, lengths: Lengths) -> dict[str, Any] | None:
    """Return how many lines, flagged ones and lines of the first kinds came in each step of time."""
    found = None if content.over_time is None else Timeline.of(content.over_time.times)
    if found is None or content.over_time is None:
        return None
    kinds = [content.explained[list(group.rows)] for group in content.groups[:_OVER_TIME]]
    return {
        "begin": found.begin,
        "step": found.step,
        "lines": found.counts().tolist(),
        "flagged": _steps(found.counts(content.scores >= content.threshold)),
        "kinds": [_steps(found.counts(rows)) for rows in kinds],
        "said": [shortened(one, 4 * lengths.name) for one in content.over_time.said],
        "caption": words.of_timeline(found, content.n_flagged, len(kinds)),
    }


def _steps(counts: Any) -> list[list[int]]:
    """The steps with lines, and how many."""
    return [[step, int(counts[step])] for step in np.flatnonzero(counts).tolist()]


def _first(content: Content, kind: tuple[int, list[int]], lengths: Lengths) -> list[Any]:
    """Return the place of the highest row of a kind, and a sentence about it."""
    n, places = kind
    return [places[0], words.of_kind(content, places[0], n, lengths.of_name)]


def _table(content: Content, lengths: Lengths, names: _Names, views: _Names) -> dict[str, Any]:
    numbers = content.table
    shares = percentiles(content.scores[numbers], content.detector.outlier_scores_)
    explained = [content.reasons_of(int(row)) for row in numbers]
    rows = [
        {
            "id": lengths.of_name(content.id_of(int(row))),
            "score": _rounded(content.scores[row], 6),
            "percentile": _below_all(float(share)),
            "flagged": bool(content.scores[row] >= content.threshold),
            "known": None if content.truth is None else bool(content.truth[row]),
            **_document(content, int(row), why, lengths),
            **({} if why is None else _explained(content, _cut(why, i), lengths, names, views)),
        }
        for i, (row, share, why) in enumerate(zip(numbers, shares, explained, strict=True))
    ]
    return {"rows": rows, "caption": words.of_table(content)}


def _cut(row: RowExplanation, place: int) -> RowExplanation:
    """Return the explanation with fewer reasons if the row is far down, to keep the page small."""
    if place < _IN_FULL:
        return row
    reasons = row.reasons[:_IN_SHORT]
    return replace(row, reasons=reasons, rest=row.rest + sum(r.contribution for r in row.reasons[_IN_SHORT:]))


def _document(content: Content, number: int, why: RowExplanation | None, lengths: Lengths) -> dict[str, Any]:
    """Return the document of a row, with the passages that are its reasons."""
    if content.texts is None:
        return {"text": None}
    text = str(content.texts[number])
    if why is None or not any(reason.spans for reason in why.reasons):
        return {"text": lengths.of_text(text)}
    shown, marks = marked(text, why.reasons, lengths.text)
    return {"text": shown, "marks": marks}


def _explained(content: Content, row: RowExplanation, lengths: Lengths, names: _Names, views: _Names) -> dict[str, Any]:
    return {
        "reasons": [
            [names.place(r.feature), _value(r), *map(_rounded, (r.contribution, r.share, r.mean)), *_counted(r)]
            for r in row.reasons
        ],
        "lacks": [shortened(row.lacks.in_words(), 4 * lengths.name), _rounded(row.lacks.contribution)],
        "spread": row.spread(),
        "thin": row.thin(),
        "rest": _rounded(row.rest),
        "views": [[views.place(seen.view), _rounded(seen.contribution, 3)] for seen in row.views],
        "nearest": [lengths.of_name(name) for name in content.nearest_to(row)],
    }


def _value(reason: Reason) -> float | str | None:
    """Return the value as a number or as text; None if the name of the feature says it all."""
    return None if reason.is_there() else reason.shown or _rounded(reason.value, 7)


def _counted(reason: Reason) -> list[Any]:
    """How the value compares with what is usual, and in how many rows it occurs; empty if neither is known."""
    if reason.shown:
        return [reason.usual]
    if reason.rows is None:
        return [reason.compared()] if reason.compared() else []
    return [reason.compared(), reason.rows, reason.n_rows]


def _groups(content: Content, names: _Names) -> list[dict[str, Any]]:
    """Groups of rows, largest first: their size, their places in the table, and what they have in common."""
    places = {row: place for place, row in enumerate(content.table.tolist())}
    return [
        {
            "n": len(group.rows),
            "rows": [places[row] for row in content.explained[list(group.rows)].tolist() if row in places],
            "drivers": [_driver(driver, names) for driver in group.drivers[:_IN_GROUP]],
        }
        for group in content.groups[:LISTED]
    ]


def _drivers(content: Content, names: _Names) -> list[list[Any]]:
    if content.explanation is None or any(reason.spans for row in content.explanation for reason in row.reasons):
        return []  # single tokens say little; groups show whole runs
    drivers = content.explanation.drivers
    return [_driver(driver, names) for driver in drivers[:_DRIVERS]]


def _driver(driver: Driver, names: _Names) -> list[Any]:
    return [names.place(driver.feature), _rounded(driver.contribution), driver.rows, words.lacked(driver)]


def _curves(content: Content) -> dict[str, Any] | None:
    if content.curves is None or content.truth is None:
        return None
    found = content.curves
    points = {name: _numbers(getattr(found, name), 4) for name in ("false_positives", "true_positives")}
    points |= {name: _numbers(getattr(found, name), 4) for name in ("recall", "precision")}
    share = _rounded(float(content.truth.mean()))
    numbers = {"auc": _rounded(found.auc), "average_precision": _rounded(found.average_precision), "share": share}
    return {**points, **numbers, "caption": words.of_curves(content)}


def _labelled(content: Content, lengths: Lengths) -> dict[str, Any] | None:
    """Return the labels that people gave to rows, highest first, up to what a page can list."""
    if not content.labelled:
        return None
    counts = Counter(NAMES[one.label] for one in content.labelled)
    said = ", ".join(f"{counts[name]:,} {name}" for name in NAMES.values() if counts[name])
    rows = [[lengths.of_name(one.id), NAMES[one.label], lengths.of_name(one.who)] for one in content.labelled]
    more = f" The first {_LABELLED} are listed." if len(rows) > _LABELLED else ""
    return {"said": f"{len(rows):,} rows were labelled: {said}.{more}", "rows": rows[:_LABELLED]}


def _reproduction(content: Content, lengths: Lengths) -> dict[str, Any]:
    found = content.reproduction

    def table(values: dict[str, str]) -> list[list[str]]:
        return [[name, lengths.of_text(value)] for name, value in values.items()]

    size = f"{len(content.scores):,} x {content.detector.n_features_in_:,}, {content.n_entries:,} non-zeros"
    return {
        "call": shortened(found.call, 1000),
        "command": shortened(found.command, 1000),
        "seed": found.seed,
        "options": table(found.options),
        "changed": list(found.changed),
        "versions": table(found.versions),
        "data": table({"rows x features": size, **found.data}),
        "seconds": [[name, round(value, 3)] for name, value in found.seconds.items()],
    }


def _rounded(value: float, digits: int = 4) -> float:
    return 0.0 if abs(value) < 1e-300 else float(f"{float(value):.{digits}g}")


def _below_all(percentile: float) -> float:
    """Return the percentile, rounded, but to 100 only if all training rows score lower."""
    return next((r for r in (round(percentile, d) for d in range(3, 12)) if r < 100), percentile)


def _numbers(values: Any, digits: int = 5) -> list[float]:
    return [_rounded(value, digits) for value in values]
