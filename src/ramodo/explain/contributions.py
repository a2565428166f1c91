"""Why a row has its score: named contributions of features that sum to it.

`model/parts.py` derives what each feature adds to each term; here these are summed over terms, sorted and named. The
cost is the non-zeros of the row and of its nearest references; the number of features does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..data.blocks import Block, Shown, SparseRows
from ..in_order import in_order
from ..model.parts import Part, View
from ..model.terms import Model
from .explanation import Explanation, Reason, RowExplanation, Seen, Strongest

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


_AT_ONCE = 64
"""Rows that are explained together."""

_FEWEST_DRIVERS = 20

_STRONGEST = 100
"""Contributions of a row by which similar rows are found."""


def explain(
    model: Model,
    rows: Block,
    scores: Doubles,
    known: Doubles,
    name_of: Callable[[int], str],
    top: int,
    n_threads: int,
    shown: Shown | None = None,
) -> Explanation:
    """Reasons for the score of each row. `scores` are those of the rows, `known` those of the training rows.

    `shown` gives, for columns and values there, values that people know: the counts of tokens that are weighed.
    """
    parts = model.parts()
    compared = [number for number, part in enumerate(parts) if part.as_given is not None]
    typical = _Typical([part.as_given for part in parts if part.as_given is not None], shown or _as_they_are)
    explainer = kernels.Explainer(typical.columns, rows.n_features)
    for number, part in enumerate(parts):
        slots = typical.slots(compared.index(number)) if number in compared else np.empty(0, dtype=np.int32)
        explainer.add_part(part.projection, part.references, slots)
    percentiles = 100 * np.searchsorted(np.sort(known), scores) / max(1, len(known))

    def of_block(start: int) -> _Block:
        given = rows.part(start, min(start + _AT_ONCE, rows.n_rows))
        views, block = [part.view(given) for part in parts], given.as_sparse()
        found = explainer.explain(block, views, max(top, _STRONGEST))
        strongest = _cut(found)
        reasons = typical.reasons([_first(row, top) for row in strongest], name_of)
        added = model.breakdown(given, 1)
        explained = [
            RowExplanation(
                start + i,
                float(scores[start + i]),
                float(percentiles[start + i]),
                reasons[i],
                float(scores[start + i] - strongest[i].contributions[:top].sum()),
                next(filter(None, (parts[number].nearest(views[number], i) for number in compared)), ()),
                _seen({name: float(values[i]) for name, values in added.items()}),
            )
            for i in range(block.n_rows)
        ]
        return _Block(explained, strongest, views, _columns(block), found.own)

    explained: list[RowExplanation] = []
    strongest: list[Strongest] = []
    sums, references = kernels.FeatureSums(), [_ReferenceSums(part) for part in parts]
    for block in in_order(of_block, range(0, rows.n_rows, _AT_ONCE), n_threads):
        explained += block.explained
        strongest += block.strongest
        sums.add(block.columns, block.own)
        for of_part, view in zip(references, block.views, strict=True):
            of_part.add(view)
    nothing = SparseRows.empty(1, rows.n_features)
    together = explainer.explain(nothing, [each.view() for each in references], rows.n_features)
    sums.add(together.columns, together.sums)
    columns, totals = sums.top(max(top, _FEWEST_DRIVERS))
    most = list(zip(columns.tolist(), totals.tolist(), strict=True))
    return Explanation(explained, most, strongest, name_of)


def _cut(found: kernels.Strongest) -> list[Strongest]:
    """The contributions of each row."""
    ends = found.ends.tolist()
    return [Strongest(found.columns[a:b], found.sums[a:b], found.values[a:b]) for a, b in pairwise(ends)]


def _first(row: Strongest, n: int) -> Strongest:
    return Strongest(row.columns[:n], row.contributions[:n], row.values[:n])


def _seen(added: dict[str, float]) -> tuple[Seen, ...]:
    """What views add to the score of a row, strongest first."""
    return tuple(sorted((Seen(*one) for one in added.items()), key=lambda seen: -seen.contribution))


class _Block(NamedTuple):
    """Results for a block of rows: what is kept, and what is added to sums and then dropped."""

    explained: list[RowExplanation]
    strongest: list[Strongest]
    views: list[View]
    columns: Any
    own: Doubles


class _ReferenceSums:
    """The references of one part over all blocks, as if of a single row: each once, with the sum of its vectors."""

    def __init__(self, part: Part) -> None:
        self._total = np.zeros((part.references.n_rows, part.width))

    def add(self, view: View) -> None:
        """Add the references of one block."""
        np.add.at(self._total, view.near.ravel(), view.q.reshape(-1, self._total.shape[1]))

    def view(self) -> View:
        nothing, near = np.zeros((1, self._total.shape[1])), np.arange(len(self._total))[None]
        return View(nothing, np.ones(1), near, self._total.reshape(1, -1), nothing)


class _Typical:
    """The features of the reference rows: how many rows have each, and its mean over those, of values as shown."""

    def __init__(self, origins: list[Block], shown: Shown) -> None:
        self._n, self._shown = sum(rows.n_rows for rows in origins), shown
        self.columns: Integers = np.unique(np.concatenate([rows.features() for rows in origins]))
        self._slots = [rows.slots(self.columns) for rows in origins]
        self._counts, self._sums = np.zeros(len(self.columns), dtype=np.int64), np.zeros(len(self.columns))
        for rows, slots in zip(origins, self._slots, strict=True):
            rows.tally(slots, self._counts, self._sums, shown)

    def slots(self, part: int) -> Any:
        """The position among `columns` of each entry of a part's references; None if each has all columns."""
        return self._slots[part]

    def reasons(self, rows: list[Strongest], name_of: Callable[[int], str]) -> list[tuple[Reason, ...]]:
        """Contributions as named reasons, row by row."""
        columns = np.concatenate([row.columns for row in rows])
        counts = _looked_up(self.columns, self._counts, columns)
        means = _looked_up(self.columns, self._sums, columns) / np.maximum(counts, 1)
        values = self._shown(columns, np.concatenate([row.values for row in rows]))
        sums = np.concatenate([row.contributions for row in rows])
        numbers = zip(values.tolist(), sums.tolist(), (counts / self._n).tolist(), means.tolist(), strict=True)
        found = [Reason(column, name_of(column), *of) for column, of in zip(columns.tolist(), numbers, strict=True)]
        ends = np.cumsum([0, *[len(row.columns) for row in rows]]).tolist()
        return [tuple(found[a:b]) for a, b in pairwise(ends)]


def _as_they_are(_: npt.NDArray[Any], values: npt.NDArray[Any]) -> Doubles:
    return values


def _looked_up(keys: Any, values: Any, wanted: Integers) -> Any:
    """The value of each wanted key, 0 if it is not among the sorted keys."""
    if len(keys) == 0:
        return np.zeros(len(wanted))
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, values[places], 0)


def _columns(rows: SparseRows) -> Any:
    return rows.indices[rows.indptr[0] : rows.indptr[-1]]
