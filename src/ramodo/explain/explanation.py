"""Explanations: rows with named reasons, the features that drive them all, and groups with a common reason."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

_SAME_REASON = 0.5
"""Rows whose reasons have at least this cosine are outliers for the same reason."""

_VIEWS = 4
"""Views that a line names; the others are one number."""

_MOST_GROUPED = 2000
"""At most this many rows, those with the highest scores, are compared pair by pair."""


@dataclass(frozen=True)
class Reason:
    """What one feature adds to a row's score, its value there, and what is typical of the reference rows."""

    column: int
    feature: str
    value: float
    contribution: float
    share: float
    """Share of the reference rows that have the feature."""
    mean: float
    """Mean of the feature over those."""


@dataclass(frozen=True)
class Seen:
    """What one view of a row adds to its score."""

    view: str
    contribution: float


@dataclass(frozen=True)
class Driver:
    """What one feature adds to the scores of several rows."""

    column: int
    feature: str
    contribution: float
    """Mean over the rows."""
    rows: int
    """Number of rows that have it among their strongest reasons."""
    lacking: float
    """Share of the contribution from rows that lack the feature: above a half, they stand out by its absence."""


@dataclass(frozen=True)
class Group:
    """Rows that are outliers for the same reason, and that reason: the features that add most to their scores."""

    rows: tuple[int, ...]
    drivers: tuple[Driver, ...]


@dataclass(frozen=True)
class RowExplanation:
    """A row's score as a sum: its strongest reasons, and `rest`, all other features together."""

    row: int
    score: float
    percentile: float
    reasons: tuple[Reason, ...]
    rest: float
    nearest: tuple[int, ...]
    """Training rows that it was compared with most often, or most closely, nearest first."""
    views: tuple[Seen, ...] = ()
    """The score once more, as the sum of what each view, or term of the score, adds: strongest first."""

    def __str__(self) -> str:
        return self.as_text(f"row {self.row}", [str(row) for row in self.nearest])

    def as_text(self, name: str, nearest: Sequence[str]) -> str:
        """Several lines of text, with names for the row and for the nearest training rows."""
        lines = [f"{name}: score {self.score:.6g}, above {above(self.percentile)} % of the training rows"]
        width = max((len(reason.feature) for reason in self.reasons), default=0)
        for reason in self.reasons:
            lines.append(
                f"  {reason.contribution:+10.4g}  {reason.feature:<{width}} = {reason.value:<8.4g} {_typical(reason)}"
            )
        lines.append(f"  {self.rest:+10.4g}  all other features")
        lines += [f"  by: {by}" for by in (self.by(),) if by]
        return "\n".join([*lines, f"  nearest training rows: {', '.join(nearest)}"])

    def by(self) -> str:
        """The views that put the row where it is, in one line; nothing where there is only one."""
        if len(self.views) < 2:
            return ""
        shown = [f"{seen.view} {seen.contribution:.3g}" for seen in self.views[:_VIEWS]]
        others = sum(seen.contribution for seen in self.views[_VIEWS:])
        return ", ".join(shown + [f"{_counted(len(self.views) - _VIEWS)} {others:.3g}"] * (len(self.views) > _VIEWS))


@dataclass(frozen=True)
class Strongest:
    """The strongest contributions to a row, more than its reasons: enough to see what rows have in common."""

    columns: npt.NDArray[np.int64]
    contributions: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]

    def without(self, columns: npt.NDArray[np.int64]) -> Strongest:
        """The others."""
        kept = np.isin(self.columns, columns, invert=True)
        return Strongest(self.columns[kept], self.contributions[kept], self.values[kept])


class Explanation(Sequence[RowExplanation]):
    """One `RowExplanation` per row; prints, and converts to a table.

    drivers : the features that add most to the scores of all rows together, counted in every row exactly
    """

    def __init__(
        self,
        rows: Sequence[RowExplanation],
        totals: Sequence[tuple[int, float]],
        strongest: Sequence[Strongest],
        name_of: Callable[[int], str],
    ) -> None:
        self._rows, self._totals = list(rows), list(totals)
        self._strongest, self._name_of = list(strongest), name_of
        self.drivers = self._drivers_of(range(len(self._rows)), self._totals)

    def __getitem__(self, index: Any) -> Any:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[RowExplanation]:
        return iter(self._rows)

    def __repr__(self) -> str:
        return "\n".join(map(str, self._rows))

    def named(self, name_of: Callable[[int], str]) -> Explanation:
        """The same explanation with other names of features."""

        def renamed(reasons: tuple[Reason, ...]) -> tuple[Reason, ...]:
            return tuple(replace(reason, feature=name_of(reason.column)) for reason in reasons)

        rows = [replace(row, reasons=renamed(row.reasons)) for row in self._rows]
        return Explanation(rows, self._totals, self._strongest, name_of)

    def numbered(self, numbers: Sequence[int]) -> Explanation:
        """The same explanation of rows with other numbers."""
        rows = [replace(row, row=number) for row, number in zip(self._rows, numbers, strict=True)]
        return Explanation(rows, self._totals, self._strongest, self._name_of)

    def of_columns(self, known: Collection[int], top: int) -> Explanation:
        """The strongest reasons whose features are known, `top` for each row; all others are part of `rest`."""

        def cut(row: RowExplanation) -> RowExplanation:
            reasons = tuple([reason for reason in row.reasons if reason.column in known][:top])
            return replace(row, reasons=reasons, rest=row.score - sum(reason.contribution for reason in reasons))

        totals = [(column, total) for column, total in self._totals if column in known]
        unknown = np.array(sorted(self.columns_of_groups().difference(known)), dtype=np.int64)
        strongest = [row.without(unknown) for row in self._strongest] if len(unknown) else self._strongest
        return Explanation([cut(row) for row in self._rows], totals, strongest, self._name_of)

    def columns(self, top: int | None = None) -> set[int]:
        """Features of reasons, the first `top` of each row, and of drivers."""
        reasons = {reason.column for row in self._rows for reason in row.reasons[:top]}
        return reasons | {driver.column for driver in self.drivers}

    def columns_of_groups(self) -> set[int]:
        """Features that may drive a group."""
        return {column for row in self._strongest for column in row.columns.tolist()}

    def groups(self) -> tuple[Group, ...]:
        """Rows that are outliers for the same reason, two or more each, largest group first.

        Rows are similar if the same features raise their scores: average linkage of the cosines of their strongest
        positive contributions.
        """
        chosen = sorted(range(len(self._rows)), key=lambda i: -self._rows[i].score)[:_MOST_GROUPED]
        found: dict[int, list[int]] = {}
        for i, label in zip(chosen, _labels([self._strongest[i] for i in chosen]), strict=True):
            found.setdefault(label, []).append(i)
        together = sorted((places for places in found.values() if len(places) > 1), key=len)[::-1]
        return tuple(
            Group(tuple(self._rows[i].row for i in places), self._drivers_of(places, self._sums_of(places)))
            for places in together
        )

    def _sums_of(self, places: Sequence[int], most: int = 5) -> list[tuple[int, float]]:
        """The features that add most to the scores of some rows, and how much."""
        sums = defaultdict[int, float](float)
        for strongest in (self._strongest[i] for i in places):
            for column, contribution in zip(strongest.columns.tolist(), strongest.contributions.tolist(), strict=True):
                sums[column] += contribution
        order = sorted(sums, key=lambda column: (-sums[column], column))[:most]
        return [(column, sums[column]) for column in order if sums[column] > 0]

    def _drivers_of(self, places: Sequence[int], totals: Sequence[tuple[int, float]]) -> tuple[Driver, ...]:
        """Drivers of some rows, from their features and what these add to the scores together."""
        signs = {column: np.sign(total) for column, total in totals}
        wanted = np.array([column for column, _ in totals], dtype=np.int64)
        named, absent, sums = Counter[int](), defaultdict[int, float](float), defaultdict[int, float](float)
        for i in places:
            named.update(reason.column for reason in self._rows[i].reasons)
            strongest = self._strongest[i]
            for k in np.flatnonzero(np.isin(strongest.columns, wanted)).tolist():
                column = int(strongest.columns[k])
                size = max(0.0, float(signs[column] * strongest.contributions[k]))  # of the total's sign only
                sums[column] += size
                absent[column] += 0.0 if strongest.values[k] else size
        return tuple(
            Driver(c, self._name_of(c), total / len(places), named[c], absent[c] / sums[c] if sums[c] else 0.0)
            for c, total in totals
        )

    def to_dict(self) -> list[dict[str, Any]]:
        """Lists, dicts and numbers, ready for JSON."""
        return [
            {
                "row": row.row,
                "score": row.score,
                "percentile": row.percentile,
                "rest": row.rest,
                "nearest": list(row.nearest),
                "views": [vars(seen) for seen in row.views],
                "reasons": [vars(reason) for reason in row.reasons],
            }
            for row in self._rows
        ]

    def to_frame(self) -> Any:
        """A pandas frame with a line per reason."""
        import pandas  # type: ignore[import-untyped, unused-ignore]

        columns = ("feature", "column", "value", "contribution", "share", "mean")
        lines = [{"row": row.row, **{c: vars(r)[c] for c in columns}} for row in self._rows for r in row.reasons]
        return pandas.DataFrame(lines, columns=["row", *columns])

    def _repr_html_(self) -> str:
        """Tables with bars, for notebooks. Names are escaped: a feature called `<script>` stays text."""
        return "".join(map(_as_html, self._rows))


def _labels(rows: Sequence[Strongest]) -> list[int]:
    """The number of each row's group."""
    if len(rows) < 2:
        return list(range(len(rows)))
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    raising = [row.contributions > 0 for row in rows]
    columns = [row.columns[up] for row, up in zip(rows, raising, strict=True)]
    values = np.concatenate([row.contributions[up] for row, up in zip(rows, raising, strict=True)])
    names, places = np.unique(np.concatenate(columns), return_inverse=True)
    indptr = np.cumsum([0, *map(len, columns)])
    matrix = sp.csr_array((values, places, indptr), shape=(len(rows), max(1, len(names))))
    lengths = np.sqrt(np.asarray((matrix**2).sum(axis=1)).ravel())
    scaled = sp.diags_array(1 / np.where(lengths > 0, lengths, 1.0)) @ matrix
    distances = np.clip(1 - (scaled @ scaled.T).toarray(), 0, 1)
    np.fill_diagonal(distances, 0)
    groups: list[int] = fcluster(
        linkage(squareform(distances, checks=False), "average"), 1 - _SAME_REASON, "distance"
    ).tolist()
    return groups


def above(percentile: float) -> str:
    """A share of rows in percent; rounds to 100 only if it is all of them."""
    return "100" if percentile == 100 else f"{min(percentile, 99.99):.4g}"


def _counted(n: int) -> str:
    return f"{n} other view{'s' * (n > 1)}"


def _typical(reason: Reason) -> str:
    return f"in {reason.share:.0%} of references, mean {reason.mean:.3g}" if reason.share else "in no reference"


def _as_html(row: RowExplanation) -> str:
    largest = max((abs(reason.contribution) for reason in row.reasons), default=1.0) or 1.0
    lines = [
        f"<tr><td>{escape(r.feature)}</td><td>{r.value:.4g}</td><td>{r.contribution:+.4g}</td><td>"
        f"<div style='width:{100 * abs(r.contribution) / largest:.0f}px;height:0.8em;"
        f"background:{'#c0392b' if r.contribution > 0 else '#2980b9'}'></div></td><td>{_typical(r)}</td></tr>"
        for r in row.reasons
    ]
    return (
        f"<p><b>row {row.row}</b>: score {row.score:.6g}, above {above(row.percentile)} % of the training rows</p>"
        "<table><tr><th>feature</th><th>value</th><th>contribution</th><th></th><th>typical</th></tr>"
        f"{''.join(lines)}<tr><td>all other features</td><td></td><td>{row.rest:+.4g}</td></tr></table>"
        f"{f'<p>by: {escape(row.by())}</p>' if row.by() else ''}"
    )
