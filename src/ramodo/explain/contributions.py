"""Why a row has its score: named contributions of features that sum to it.

`model/parts.py` derives what each feature adds to each term; here these are summed over terms, sorted and named. The
cost depends on the non-zeros of the row and of its nearest references, not on the number of features.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..data.blocks import Block, Shown, SparseRows
from ..model.parts import Part, View
from ..model.terms import Model
from ..thread_map import thread_map
from .explanation import Explanation, Strongest
from .passages import PassagesOf
from .reasons import Lacks, Reason, RowExplanation, Seen
from .typical import Facts, Typical, as_they_are

Doubles = npt.NDArray[np.float64]

_AT_ONCE = 64
"""Number of rows to explain together."""

_FEWEST_DRIVERS = 20

_STRONGEST = 100
"""Number of contributions per row to keep for finding similar rows."""


UnseenOf = Callable[[int], Sequence[tuple[str, str, range]]]
"""Categories of a row that no training row had: their column, how they are written, and the features of the column."""


class _Asked(NamedTuple):
    """Options for explaining each row."""

    top: int
    name_of: Callable[[int], str]
    passages: PassagesOf | None
    unseen: UnseenOf | None
    frequencies: Any
    enough: bool
    in_full: int


class Explainer:
    """Explains rows by a model; what does not depend on the rows is computed once. Several threads may use it.

    known : the scores of the training rows
    shown : turns values of columns into values that people know, such as weights of tokens into counts
    like : an explainer of a model with the same references, such as one with other labels, to reuse its work
    """

    def __init__(
        self,
        model: Model,
        known: Doubles,
        n_features: int,
        shown: Shown | None = None,
        like: Explainer | None = None,
    ) -> None:
        self._model, self._known, self._parts = model, np.sort(known), model.parts()
        self._compared = [number for number, part in enumerate(self._parts) if part.as_given is not None]
        origins = [part.as_given for part in self._parts if part.as_given is not None]
        same = None if like is None or not like._typical.is_of(origins) else like._typical
        self._typical: Typical = same or Typical(origins, shown or as_they_are)
        self._native = kernels.Explainer(self._typical.columns, n_features)
        for number, part in enumerate(self._parts):
            if part.presence is not None:
                self._native.add_presence(part.presence)
                continue
            own = number in self._compared
            slots = self._typical.slots(self._compared.index(number)) if own else np.empty(0, dtype=np.int32)
            self._native.add_part(part.projection, part.references, slots)

    def explain(
        self,
        rows: Block,
        scores: Doubles,
        name_of: Callable[[int], str],
        top: int,
        n_threads: int,
        *,
        passages: PassagesOf | None = None,
        unseen: UnseenOf | None = None,
        frequencies: Any = None,
        enough: bool = False,
        in_full: int | None = None,
        together: bool = True,
    ) -> Explanation:
        """Return reasons for the score of each row.

        `unseen` gives the categories of a row that no training row had. `frequencies` are those of the tokens in the
        training documents. With `enough`, rows have more reasons than
        `top` where a few more explain 80 % of the score. Rows after the first `in_full` get no reasons, only
        what grouping needs. Without `together`, what they have in common is left out.
        """
        asked = _Asked(top, name_of, passages, unseen, frequencies, enough, rows.n_rows if in_full is None else in_full)
        percentiles = 100 * np.searchsorted(self._known, scores) / max(1, len(self._known))

        def of_block(start: int) -> _Block:
            return self._of_block(rows, start, scores, percentiles, asked)

        explained: list[RowExplanation] = []
        strongest: list[Strongest] = []
        sums, references = kernels.FeatureSums(), [_ReferenceSums(part) for part in self._parts]
        for block in thread_map(of_block, range(0, rows.n_rows, _AT_ONCE), n_threads):
            explained += block.explained
            strongest += block.strongest
            sums.add(block.columns, block.own)
            for of_part, view in zip(references, block.views, strict=True):
                of_part.add(view)
        most: list[tuple[int, float]] = []
        if together:
            nothing = SparseRows.empty(1, rows.n_features)
            common = self._native.explain(nothing, [each.view() for each in references], rows.n_features)
            sums.add(common.columns, common.sums)
            columns, totals = sums.top(max(top, _FEWEST_DRIVERS))
            most = list(zip(columns.tolist(), totals.tolist(), strict=True))
        return Explanation(explained, most, strongest, name_of, passages, n_features=len(self._typical.columns))

    def _of_block(self, rows: Block, start: int, scores: Doubles, percentiles: Doubles, asked: _Asked) -> _Block:
        given = self._model.as_fitted(rows.part(start, min(start + _AT_ONCE, rows.n_rows)))
        views, block = [part.view(given) for part in self._parts], given.as_sparse()
        found = self._native.explain(block, views, max(asked.top, _STRONGEST))
        added = self._model.breakdown(given, 1) if start < asked.in_full else {}
        explained, strongest = [], []
        for i, row in enumerate(_rows(block, found)):
            strongest.append(self._typical.with_sides(row.strongest()))
            place = (start + i, float(scores[start + i]), float(percentiles[start + i]))
            if start + i >= asked.in_full:
                explained.append(_in_short(*place, Lacks(row.lacking, row.n_lacking, ())))
            else:
                nearest = (self._parts[number].nearest(views[number], i) for number in self._compared)
                seen = _seen({name: float(values[i]) for name, values in added.items()})
                explained.append(self._of_row(*place, row, next(filter(None, nearest), ()), seen, asked))
        return _Block(explained, strongest, views, _columns(block), found.own)

    def _of_row(
        self, number: int, score: float, percentile: float, row: _Row, nearest: Any, seen: Any, asked: _Asked
    ) -> RowExplanation:
        typical, name_of = self._typical, asked.name_of
        row, unseen = row.with_unseen(() if asked.unseen is None else asked.unseen(number))
        lacked = typical.reasons(row.lacked.first(asked.top), name_of)
        lacks = Lacks(row.lacking, row.n_lacking, lacked, typical.usual(row.lacked, name_of))
        runs = None if asked.passages is None else asked.passages(number, row.has.columns, row.has.contributions)
        facts, rest = Facts(row.has, runs), score - lacks.contribution
        rest -= sum(reason.contribution for reason in unseen)
        most = max(0, asked.top - len(unseen))
        chosen = facts.first(facts.enough(rest, most) if asked.enough else most)
        reasons = typical.of_facts(row.has, facts, chosen, name_of, asked.frequencies)
        rest -= sum(reason.contribution for reason in reasons)
        return RowExplanation(
            row=number,
            score=score,
            percentile=percentile,
            reasons=(*unseen, *reasons),
            rest=rest,
            nearest=nearest,
            views=seen,
            lacks=lacks,
            n_reasons=len(unseen) + len(facts),
        )


def _in_short(number: int, score: float, percentile: float, lacks: Lacks) -> RowExplanation:
    """Return an explanation without reasons, which is enough to group the row."""
    rest = score - lacks.contribution
    return RowExplanation(
        row=number, score=score, percentile=percentile, reasons=(), rest=rest, nearest=(), lacks=lacks
    )


class _Row(NamedTuple):
    """The features that a row has and those that it lacks: the strongest, their sum and their number."""

    has: Strongest
    lacked: Strongest
    lacking: float
    n_lacking: int

    def with_unseen(self, unseen: Sequence[tuple[str, str, range]]) -> tuple[_Row, tuple[Reason, ...]]:
        """Reasons for categories that no training row had, and the row without what they explain.

        Such a row lacks the categories that its references have: that is what the new one adds to its score.
        """
        row, reasons = self, []
        for name, value, features in unseen:
            columns, contributions = row.lacked.columns, row.lacked.contributions
            own = (columns >= features.start) & (columns < features.stop)
            added = float(contributions[own].sum())
            reasons.append(Reason.unseen(features.start, name, value, added))
            n = row.n_lacking - int(np.count_nonzero(own))
            row = _Row(row.has, row.lacked.take(~own), row.lacking - added, n)
        return row, tuple(sorted(reasons, key=lambda reason: -reason.contribution))

    def strongest(self) -> Strongest:
        """Return the strongest contributions of both."""
        both = Strongest(*(np.concatenate(pair) for pair in zip(self.has.arrays(), self.lacked.arrays(), strict=True)))
        order = np.lexsort((both.columns, -np.abs(both.contributions)))[:_STRONGEST]
        return both.take(order[both.contributions[order] != 0])


def _rows(block: SparseRows, found: kernels.Explained) -> list[_Row]:
    """Return the contributions of each row."""
    rows, begin = [], int(block.indptr[0])
    for i in range(block.n_rows):
        at, end = int(block.indptr[i]), int(block.indptr[i + 1])
        there = np.flatnonzero(block.data[at:end])
        has = Strongest(
            block.indices[at:end][there].astype(np.int64),
            found.totals[at - begin : end - begin][there],
            block.data[at:end][there].astype(np.float64),
        )
        a, b = int(found.ends[i]), int(found.ends[i + 1])
        lacked = Strongest(found.columns[a:b], found.sums[a:b], np.zeros(b - a))
        rows.append(_Row(has, lacked, float(found.lacking[i]), int(found.n_lacking[i])))
    return rows


def _seen(added: dict[str, float]) -> tuple[Seen, ...]:
    """Return what views add to the score of a row, strongest first."""
    return tuple(sorted((Seen(*one) for one in added.items()), key=lambda seen: -seen.contribution))


class _Block(NamedTuple):
    """Results for a block of rows; some are kept, others only summed."""

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


def _columns(rows: SparseRows) -> Any:
    return rows.indices[rows.indptr[0] : rows.indptr[-1]]
