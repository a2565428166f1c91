"""Explanations: rows with named reasons, the features that drive them all, and groups with a common reason."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..options import option_error
from .grouping import groups_of
from .passages import Passage, PassagesOf
from .reasons import Lacks, Reason, RowExplanation, Seen

if TYPE_CHECKING:
    from ..model.fitted import FittedDetector

__all__ = ["Driver", "Explanation", "Group", "Reason", "RowExplanation", "Seen", "Strongest", "feature_namer"]


_COMMON = 5
"""Number of reasons to name for a group."""


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
    """Share of the contribution from rows without the feature; above a half, they stand out by lacking it."""


@dataclass(frozen=True)
class Group:
    """Rows that are outliers for the same reason, and that reason: the features that add most to their scores."""

    rows: tuple[int, ...]
    drivers: tuple[Driver, ...]


@dataclass(frozen=True)
class Strongest:
    """The strongest contributions to a row, more than its reasons: enough to see what rows have in common."""

    columns: npt.NDArray[np.int64]
    contributions: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    higher: npt.NDArray[np.bool_] | None = None
    """Whether each value is above what is usual: being above and being below are different reasons."""

    def arrays(self) -> tuple[Any, Any, Any]:
        """Return the columns, contributions and values."""
        return self.columns, self.contributions, self.values

    def as_reasons(self) -> tuple[Any, Any]:
        """Return a number for each pair of feature and side (above or below usual), and the contributions."""
        return 2 * self.columns + (self.values > 0 if self.higher is None else self.higher), self.contributions

    def take(self, places: Any) -> Strongest:
        """Return the contributions at these places."""
        return Strongest(*(each[places] for each in self.arrays()))

    def first(self, n: int) -> Strongest:
        """Return the first `n` contributions."""
        return self.take(slice(n))


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
        passages: PassagesOf | None = None,
        *,
        n_features: int = 0,
    ) -> None:
        self._rows, self._totals = list(rows), list(totals)
        self._strongest, self._name_of, self._passages = list(strongest), name_of, passages
        self._n_features = n_features
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
            return tuple(
                r if r.spans or r.merged > 1 or r.shown else replace(r, feature=name_of(r.column)) for r in reasons
            )

        def lacks(given: Lacks) -> Lacks:
            named = [tuple(r for r in renamed(reasons) if r.feature) for reasons in (given.strongest, given.usual)]
            return replace(given, strongest=named[0], usual=named[1])

        rows = [replace(row, reasons=renamed(row.reasons), lacks=lacks(row.lacks)) for row in self._rows]
        return self._with(rows, name_of)

    def completed(self, others: Mapping[int, RowExplanation]) -> Explanation:
        """The same explanation with some rows replaced, by place."""
        rows = [replace(others[place], row=row.row) if place in others else row for place, row in enumerate(self._rows)]
        return self._with(rows, self._name_of)

    def numbered(self, numbers: Sequence[int]) -> Explanation:
        """The same explanation with other row numbers."""
        rows = [replace(row, row=number) for row, number in zip(self._rows, numbers, strict=True)]
        return self._with(rows, self._name_of)

    def identified(self, ids: Sequence[str] | None, id_of: Callable[[int], str]) -> Explanation:
        """The same explanation with ids of rows, and of the training rows nearest to them."""
        rows = [
            replace(row, id="" if ids is None else ids[row.row], nearest_ids=tuple(map(id_of, row.nearest)))
            for row in self._rows
        ]
        return self._with(rows, self._name_of)

    def _with(self, rows: Sequence[RowExplanation], name_of: Callable[[int], str]) -> Explanation:
        """Return a copy with other wording of the same rows."""
        return Explanation(rows, self._totals, self._strongest, name_of, self._passages, n_features=self._n_features)

    def columns(self) -> set[int]:
        """Return the features of reasons and drivers."""
        of_rows = {r.column for row in self._rows for r in (*row.reasons, *row.lacks.strongest, *row.lacks.usual)}
        return of_rows | {driver.column for driver in self.drivers}

    def groups(self, lowest: float = -math.inf) -> tuple[Group, ...]:
        """Return groups of at least two rows that are outliers for the same reason, largest first; see grouping.py.

        lowest : rows with lower scores are in no group
        """
        high = [i for i, row in enumerate(self._rows) if row.score >= lowest]
        reasons = [self._strongest[i].as_reasons() for i in high]
        found = groups_of(reasons, [self._rows[i].score for i in high], 2 * self._n_features)
        together = [[high[i] for i in places] for places in found]
        return tuple(Group(tuple(self._rows[i].row for i in places), self._common(places)) for places in together)

    def _common(self, places: Sequence[int]) -> tuple[Driver, ...]:
        """Return what adds most to the scores of some rows: features, or runs of characters in the first document."""
        if self._passages is None:
            return self._drivers_of(places, self._sums_of(places))
        sums = dict(self._sums_of(places, most=None))
        columns = np.array(sorted(sums), dtype=np.int64)
        means = np.array([sums[column] for column in columns.tolist()]) / len(places)
        runs = self._passages(self._rows[places[0]].row, columns, means)
        plain = [
            (int(column), sums[int(column)])
            for column in columns[~runs.is_token][np.argsort(-means[~runs.is_token], kind="stable")]
        ]
        found = [*self._of_runs(places, columns, runs.found), *self._drivers_of(places, plain[:_COMMON])]
        return tuple(sorted(found, key=lambda driver: -driver.contribution)[:_COMMON])

    def _of_runs(self, places: Sequence[int], columns: Any, runs: Sequence[Passage]) -> list[Driver]:
        """Return runs that rows have in common; a row counts if one of the run's tokens is among its strongest."""
        found = []
        for run in runs:
            tokens = columns[run.places]
            rows = sum(bool(np.isin(tokens, self._strongest[i].columns).any()) for i in places)
            found.append(Driver(int(tokens[0]), run.name, run.contribution, rows, 0.0))
        return found

    def _sums_of(self, places: Sequence[int], most: int | None = _COMMON) -> list[tuple[int, float]]:
        """Return the features that add most to the scores of some rows, and how much."""
        sums = defaultdict[int, float](float)
        for strongest in (self._strongest[i] for i in places):
            for column, contribution in zip(strongest.columns.tolist(), strongest.contributions.tolist(), strict=True):
                sums[column] += contribution
        order = sorted(sums, key=lambda column: (-sums[column], column))[:most]
        return [(column, sums[column]) for column in order if sums[column] > 0]

    def _drivers_of(self, places: Sequence[int], totals: Sequence[tuple[int, float]]) -> tuple[Driver, ...]:
        """Return the drivers of some rows, given features and what each adds to their scores in total."""
        signs = {column: np.sign(total) for column, total in totals}
        wanted = np.array([column for column, _ in totals], dtype=np.int64)
        named, absent, sums = Counter[int](), defaultdict[int, float](float), defaultdict[int, float](float)
        for i in places:
            named.update(reason.column for reason in (*self._rows[i].reasons, *self._rows[i].lacks.strongest))
            strongest = self._strongest[i]
            for k in np.flatnonzero(np.isin(strongest.columns, wanted)).tolist():
                column = int(strongest.columns[k])
                size = max(
                    0.0, float(signs[column] * strongest.contributions[k])
                )  # only contributions with the sign of the total
                sums[column] += size
                absent[column] += 0.0 if strongest.values[k] else size
        return tuple(
            Driver(c, self._name_of(c), total / len(places), named[c], absent[c] / sums[c] if sums[c] else 0.0)
            for c, total in totals
            if self._name_of(c)
        )

    def to_dict(self) -> list[dict[str, Any]]:
        """Return lists, dicts and numbers, ready for JSON."""
        return [row.to_dict() for row in self._rows]

    def to_frame(self) -> Any:
        """Return a pandas frame with a line per reason, and lines for what a row lacks and for all other features.

        The contributions of a row sum to its score. A row has its id in the data, or its number. Lines other than
        reasons have no column, value or mean.
        """
        import pandas  # type: ignore[import-untyped, unused-ignore]

        columns = ("feature", "column", "value", "contribution", "share", "mean")
        lines: list[dict[str, Any]] = []
        for row in self._rows:
            id = row.id or row.row
            lines += [{"row": id, **{name: vars(reason)[name] for name in columns}} for reason in row.reasons]
            lines += [{"row": id, "feature": text, "contribution": amount} for text, amount in row.others()]
        return pandas.DataFrame(lines, columns=["row", *columns]).astype({"column": "Int64"})

    def _repr_html_(self) -> str:
        """Tables with bars, for notebooks. Names are escaped: a feature called `<script>` stays text."""
        return "".join(row.as_html() for row in self._rows)


def feature_namer(detector: FittedDetector, names: Any = None) -> Callable[[int], str]:
    """Return a function from a feature's number to its name: as given, else in the training data, else the number."""
    if callable(names):
        return names
    known = getattr(detector, "feature_names_in_", None) if names is None else names
    if known is None:
        return lambda column: f"feature {column}"
    if len(known) != detector.n_features_in_:
        raise option_error("names", f"one for each of {detector.n_features_in_} features", str(len(known)))
    return lambda column: str(known[column])
