"""Changes made by a new model: rows that rose and fell, the top rows, and features that count more or less."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.rows import Rows
from ..model.label_direction import Axes
from ..model.terms import Model
from .opinions import OUTLIER, Labels
from .ranking import Ranking

Integers = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]

TOP = 100
_SHOWN = 8
_NAMED = 60
"""How many features are named, so that enough remain once near-duplicates are dropped."""


@dataclass(frozen=True)
class Moved:
    """A row with its place before and after; the highest row has place 1."""

    row: int
    before: int
    after: int


@dataclass(frozen=True)
class Weighed:
    """A feature, and how much more it adds to the scores of the top rows, on average."""

    feature: str
    change: float


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What changed from one ranking to the next.

    top : how many rows count as the top
    overlap : rows that are at the top in both rankings
    gained, lost : features that count more, and less
    labelled_top, outliers_in_top : how many of the new top rows are labelled, and labelled outlier
    """

    top: int
    overlap: int
    rose: tuple[Moved, ...]
    fell: tuple[Moved, ...]
    gained: tuple[Weighed, ...]
    lost: tuple[Weighed, ...]
    labelled_top: int
    outliers_in_top: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of_dict(cls, given: dict[str, Any]) -> Changes:
        moved = {name: tuple(Moved(**one) for one in given[name]) for name in ("rose", "fell")}
        weighed = {name: tuple(Weighed(**one) for one in given[name]) for name in ("gained", "lost")}
        return cls(**{**given, **moved, **weighed})


def changes(
    rows: Rows,
    before: tuple[Model, Ranking],
    after: tuple[Model, Ranking],
    labels: Labels,
    names: Callable[[Sequence[int], Sequence[int]], dict[int, str]],
) -> Changes:
    """Compare two models; `names` returns the names of features, searching for them in some rows."""
    (old, was), (new, now) = before, after
    top = min(TOP, len(now.order))
    first, earlier = now.order[:top], was.order[:top]
    known = labels[first]
    shown = np.union1d(first, earlier)
    columns, change = _weights(rows, shown, old, new)
    order = np.argsort(-np.abs(change), kind="stable")
    chosen = {sign: [i for i in order if sign * change[i] > 0][:_NAMED] for sign in (1, -1)}
    named = names([int(columns[i]) for both in chosen.values() for i in both], shown.tolist())
    gained, lost = (
        _apart([Weighed(named[int(columns[i])], float(change[i])) for i in chosen[sign]]) for sign in (1, -1)
    )
    return Changes(
        top=top,
        overlap=len(np.intersect1d(first, earlier)),
        rose=_moved(first, was, now, labels, rose=True),
        fell=_moved(earlier, was, now, labels, rose=False),
        gained=gained,
        lost=lost,
        labelled_top=int((known != 0).sum()),
        outliers_in_top=int((known == OUTLIER).sum()),
    )


def _moved(rows: Integers, was: Ranking, now: Ranking, labels: Labels, rose: bool) -> tuple[Moved, ...]:
    """Return the unlabelled rows that moved farthest."""
    rows = rows[labels[rows] == 0]
    by = (was.places[rows] - now.places[rows]) * (1 if rose else -1)
    order = np.argsort(-by, kind="stable")[:_SHOWN]
    return tuple(
        Moved(int(rows[i]), int(was.places[rows[i]]) + 1, int(now.places[rows[i]]) + 1) for i in order if by[i] > 0
    )


def _apart(weighed: Sequence[Weighed]) -> tuple[Weighed, ...]:
    """Drop tokens that nearly repeat an earlier one, and keep the first few."""
    found: list[Weighed] = []
    for one in weighed:
        if not any(_overlap(one.feature, other.feature) for other in found):
            found.append(one)
        if len(found) == _SHOWN:
            break
    return tuple(found)


def _overlap(one: str, other: str) -> bool:
    """Return whether a token contains the other, give or take a character at one end; one must be a quoted n-gram."""
    if "'" not in (one[:1], other[:1]):
        return False
    short, long = sorted((one.strip("'"), other.strip("'")), key=len)
    return short in long or short[1:] in long or short[:-1] in long


def _weights(rows: Rows, shown: Integers, old: Model, new: Model) -> tuple[Integers, Doubles]:
    """Return features whose weight in the label direction changed, and by how much on average over some rows."""
    found: dict[int, float] = {}
    for model, sign in ((new, 1.0), (old, -1.0)):
        for axis, factor in _axes(model):
            block = rows.take(shown)
            block = block.normalized("l2") if axis.unit_rows else block.without_factors()
            for i in range(block.n_rows):
                columns, values = block.row(i)
                columns = np.arange(len(values)) if columns is None else columns
                places = np.minimum(np.searchsorted(axis.columns, columns), len(axis.columns) - 1)
                known = axis.columns[places] == columns
                added = sign * factor * axis.weights[places[known], 0] * values[known] / block.n_rows
                for column, value in zip(columns[known].tolist(), added.tolist(), strict=True):
                    found[column] = found.get(column, 0.0) + value
    columns = np.array(list(found), dtype=np.int64)
    return columns, np.array(list(found.values()), dtype=np.float64)


def _axes(model: Model) -> list[tuple[Axes, float]]:
    return [
        (term.axis, weight)  # type: ignore[attr-defined]
        for term, weight in zip(model.terms, model.weights, strict=True)
        if term.kind == "label direction"
    ]
