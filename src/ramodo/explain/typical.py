"""Turn facts about a row into named reasons, compared with what is usual among the reference rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.blocks import Block, Shown
from ..data.distinct_numbers import distinct_numbers
from .explanation import Strongest
from .passages import Passage, Passages
from .reasons import ENOUGH, USUAL, Reason

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_NAMED_LACKS = 5
"""Maximum number of usual features to name when a row lacks them."""

_MOST = 40
"""Maximum number of reasons to give in order to explain enough of a score."""


class Facts:
    """Facts about a row: runs of characters of its document, and features that are not tokens."""

    def __init__(self, has: Strongest, runs: Passages | None) -> None:
        self.passages = [] if runs is None else runs.found
        self.plain = np.arange(len(has.columns)) if runs is None else np.flatnonzero(~runs.is_token)
        self.plain = self.plain[has.contributions[self.plain] != 0]
        self._amounts = np.concatenate(
            [[passage.contribution for passage in self.passages], has.contributions[self.plain]]
        )

    def __len__(self) -> int:
        return len(self._amounts)

    def first(self, n: int) -> list[int]:
        """Return the places of the `n` facts that raise the score most, strongest first."""
        return np.argsort(-self._amounts, kind="stable")[:n].tolist()

    def enough(self, wanted: float, fewest: int) -> int:
        """Return the number of facts that make up 80 % of `wanted`, or `fewest` if those are too many."""
        reached = np.cumsum(np.sort(self._amounts)[::-1][:_MOST]) >= ENOUGH * wanted
        return max(fewest, int(reached.argmax()) + 1) if reached.any() else fewest


class Typical:
    """The features of the reference rows: how many rows have each, and its typical value in those.

    The typical value is the mean on the scale on which rows are compared, so that a few huge values do not inflate it.
    """

    def __init__(self, origins: list[Block], shown: Shown) -> None:
        self._origins, self._n, self._shown = origins, sum(rows.n_rows for rows in origins), shown
        self.columns: Integers = distinct_numbers(np.concatenate([rows.features() for rows in origins]))
        self._slots = [rows.slots(self.columns) for rows in origins]
        self._counts, self._sums = np.zeros(len(self.columns), dtype=np.int64), np.zeros(len(self.columns))
        for rows, slots in zip(origins, self._slots, strict=True):
            rows.tally(slots, self._counts, self._sums, shown)

    def is_of(self, origins: list[Block]) -> bool:
        """Return whether it was computed from these blocks."""
        return len(origins) == len(self._origins) and all(a is b for a, b in zip(origins, self._origins, strict=True))

    def slots(self, part: int) -> Any:
        """Return the position among `columns` of each entry of a part's references; None if each has all columns."""
        return self._slots[part]

    def with_sides(self, row: Strongest) -> Strongest:
        """Return the row with the side of each value: above or below what is usual, absent values counting as 0."""
        shares, means = self._shares(row.columns)
        return replace(row, higher=self._shown(row.columns, row.values) > shares * means)

    def reasons(self, row: Strongest, name_of: Callable[[int], str]) -> tuple[Reason, ...]:
        """Contributions as named reasons."""
        shares, means = self._shares(row.columns)
        arrays = row.columns, _as_written(self._shown(row.columns, row.values)), row.contributions, shares, means
        return tuple(
            Reason(
                column=column,
                feature=name_of(column),
                value=value,
                contribution=contribution,
                share=share,
                mean=mean,
            )
            for column, value, contribution, share, mean in zip(*(each.tolist() for each in arrays), strict=True)
        )

    def usual(self, lacked: Strongest, name_of: Callable[[int], str]) -> tuple[Reason, ...]:
        """Return the features that most references have and whose absence raises the score of the row."""
        shares, _ = self._shares(lacked.columns)
        return self.reasons(lacked.take((shares >= USUAL) & (lacked.contributions > 0)).first(_NAMED_LACKS), name_of)

    def of_facts(
        self, has: Strongest, facts: Facts, chosen: list[int], name_of: Callable[[int], str], frequencies: Any
    ) -> tuple[Reason, ...]:
        """Return some of the facts of a row, as named reasons."""
        n = len(facts.passages)
        plain = self.reasons(has.take(facts.plain[[place - n for place in chosen if place >= n]]), name_of)
        others = iter(plain)
        return tuple(
            self._of_passage(has, facts.passages[place], frequencies) if place < n else next(others) for place in chosen
        )

    def _of_passage(self, has: Strongest, passage: Passage, frequencies: Any) -> Reason:
        """Return a run of characters, described by its rarest token, since the run is at least as rare."""
        columns = has.columns[passage.places]
        shares, means = self._shares(columns)
        if passage.circle is not None:
            return _of_circle(passage, has.columns, has.values, means)
        rarest = int(np.lexsort((-has.contributions[passage.places], shares))[0])
        value = self._shown(columns[[rarest]], has.values[passage.places][[rarest]])
        rows, n_rows = None, 0
        if frequencies is not None:
            rows = int(_looked_up(frequencies.columns, frequencies.documents, columns).min())
            n_rows = frequencies.n_documents
        return Reason(
            column=int(columns[rarest]),
            feature=passage.name,
            value=float(value[0]),
            contribution=passage.contribution,
            share=float(shares[rarest]),
            mean=float(means[rarest]),
            spans=passage.spans,
            merged=len(columns),
            rows=rows,
            n_rows=n_rows,
        )

    def _shares(self, columns: Integers) -> tuple[Doubles, Doubles]:
        """Return the share of the references that have each feature, and its typical value in those."""
        counts = _looked_up(self.columns, self._counts, columns)
        means = _looked_up(self.columns, self._sums, columns) / np.maximum(counts, 1)
        return counts / self._n, np.where(counts > 0, self._shown(columns, means), 0.0)


def _of_circle(passage: Passage, columns: Integers, values: Doubles, means: Doubles) -> Reason:
    """Return an hour or a weekday as a reason, with the usual one unless references spread around the whole circle."""
    circle = passage.circle
    assert circle is not None
    value, mean = (circle.value(*pair.tolist()) for pair in (values[passage.places], means))
    usual = f"usually around {circle.shown(mean)}" if np.hypot(*means) >= USUAL else "no time is usual"
    return Reason(
        column=int(columns[passage.places[0]]),
        feature=passage.name,
        value=value,
        contribution=passage.contribution,
        share=1.0,
        mean=mean,
        merged=len(passage.places),
        shown=circle.shown(value),
        usual=usual,
    )


def as_they_are(_: npt.NDArray[Any], values: npt.NDArray[Any]) -> Doubles:
    """Return the values, unchanged."""
    return values


_DIGITS = (7, 8, 9)
"""Of numbers in single precision: nine always tell one from the next."""


def _as_written(values: Doubles) -> Doubles:
    """Values with the fewest digits that single precision tells apart, where that is what they are kept in: 7.2."""
    single = values.astype(np.float32)
    found, kept = values.copy(), np.flatnonzero((single == values) & (values != 0))
    for digits in _DIGITS:
        found[kept] = [float(f"{value:.{digits}g}") for value in values[kept].tolist()]
        kept = kept[found[kept].astype(np.float32) != single[kept]]
    return found


def _looked_up(keys: Any, values: Any, wanted: Integers) -> Any:
    """Return the value of each wanted key, or 0 if it is not among the sorted keys."""
    if len(keys) == 0:
        return np.zeros(len(wanted))
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, values[places], 0)
