"""Why a row has its score: named contributions of features that sum to it.

`model/parts.py` derives what each feature adds to each term; here these are summed over terms, sorted and named. The
cost is the non-zeros of the row and of its nearest references; the number of features does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..data.blocks import Block, Shown, SparseRows
from ..in_order import in_order
from ..model.parts import Part, View
from ..model.terms import Model
from .explanation import Explanation, Strongest
from .passages import Passage, Passages, PassagesOf
from .reasons import ENOUGH, USUAL, Lacks, Reason, RowExplanation, Seen

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_AT_ONCE = 64
"""Rows that are explained together."""

_FEWEST_DRIVERS = 20

_STRONGEST = 100
"""Contributions of a row by which similar rows are found."""

_NAMED_LACKS = 5
"""Of what a row lacks and is usual, so much is named."""

_MOST = 40
"""Reasons, at most, that are given to explain enough of a score."""


def explain(
    model: Model,
    rows: Block,
    scores: Doubles,
    known: Doubles,
    name_of: Callable[[int], str],
    top: int,
    n_threads: int,
    shown: Shown | None = None,
    *,
    passages: PassagesOf | None = None,
    frequencies: Any = None,
    enough: bool = False,
    in_full: int | None = None,
    prepared: Prepared | None = None,
    together: bool = True,
) -> Explanation:
    """Reasons for the score of each row. `scores` are those of the rows, `known` those of the training rows.

    `shown` gives, for columns and values there, values that people know: the counts of tokens that are weighed.
    `frequencies` are those of the tokens in the training documents. With `enough`, rows have more reasons than `top`
    where some more explain 80 % of the score. Rows after the first `in_full` have no reasons: what is known of them is
    enough to put them into groups. `prepared` saves what does not depend on the rows, for further calls; without
    `together`, what the rows have in common is left out.
    """
    prepared = prepared or Prepared(model, rows.n_features, shown)
    parts, compared, typical, explainer = prepared.parts, prepared.compared, prepared.typical, prepared.explainer
    in_full = rows.n_rows if in_full is None else in_full
    percentiles = 100 * np.searchsorted(np.sort(known), scores) / max(1, len(known))

    def of_block(start: int) -> _Block:
        given = rows.part(start, min(start + _AT_ONCE, rows.n_rows))
        views, block = [part.view(given) for part in parts], given.as_sparse()
        found = explainer.explain(block, views, max(top, _STRONGEST))
        added = model.breakdown(given, 1) if start < in_full else {}
        explained, strongest = [], []
        for i, row in enumerate(_rows(block, found)):
            strongest.append(typical.with_sides(row.strongest()))
            score, percentile = float(scores[start + i]), float(percentiles[start + i])
            if start + i >= in_full:
                lacks = Lacks(row.lacking, row.n_lacking, ())
                explained.append(RowExplanation(start + i, score, percentile, (), score - row.lacking, (), lacks=lacks))
                continue
            lacked = typical.reasons(row.lacked.first(top), name_of)
            lacks = Lacks(row.lacking, row.n_lacking, lacked, typical.usual(row.lacked, name_of))
            runs = None if passages is None else passages(start + i, row.has.columns, row.has.contributions)
            facts = _Facts(row.has, runs)
            chosen = facts.first(facts.enough(score - lacks.contribution, top) if enough else top)
            reasons = typical.of_facts(row.has, facts, chosen, name_of, frequencies)
            explained.append(
                RowExplanation(
                    start + i,
                    score,
                    percentile,
                    reasons,
                    score - lacks.contribution - sum(reason.contribution for reason in reasons),
                    next(filter(None, (parts[number].nearest(views[number], i) for number in compared)), ()),
                    _seen({name: float(values[i]) for name, values in added.items()}),
                    lacks,
                    len(facts),
                )
            )
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
    if not together:
        return Explanation(explained, [], strongest, name_of, passages, n_features=len(typical.columns))
    nothing = SparseRows.empty(1, rows.n_features)
    common = explainer.explain(nothing, [each.view() for each in references], rows.n_features)
    sums.add(common.columns, common.sums)
    columns, totals = sums.top(max(top, _FEWEST_DRIVERS))
    most = list(zip(columns.tolist(), totals.tolist(), strict=True))
    return Explanation(explained, most, strongest, name_of, passages, n_features=len(typical.columns))


class Prepared:
    """What explanations by a model need, whatever the rows are: may be used by several threads.

    like : of a model that may have the same references, as one with other labels has; what is known of these is kept
    """

    def __init__(self, model: Model, n_features: int, shown: Shown | None, like: Prepared | None = None) -> None:
        self.parts = model.parts()
        self.compared = [number for number, part in enumerate(self.parts) if part.as_given is not None]
        origins = [part.as_given for part in self.parts if part.as_given is not None]
        known = None if like is None or not like.typical.is_of(origins) else like.typical
        self.typical: _Typical = known or _Typical(origins, shown or _as_they_are)
        self.explainer = kernels.Explainer(self.typical.columns, n_features)
        for number, part in enumerate(self.parts):
            own = number in self.compared
            slots = self.typical.slots(self.compared.index(number)) if own else np.empty(0, dtype=np.int32)
            self.explainer.add_part(part.projection, part.references, slots)


class _Row(NamedTuple):
    """All that a row has, and of what it lacks the strongest, the sum, and how many features."""

    has: Strongest
    lacked: Strongest
    lacking: float
    n_lacking: int

    def strongest(self) -> Strongest:
        """Of both."""
        both = Strongest(*(np.concatenate(pair) for pair in zip(self.has.arrays(), self.lacked.arrays(), strict=True)))
        order = np.lexsort((both.columns, -np.abs(both.contributions)))[:_STRONGEST]
        return both.take(order[both.contributions[order] != 0])


def _rows(block: SparseRows, found: kernels.Explained) -> list[_Row]:
    """The contributions of each row, apart."""
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


class _Facts:
    """What can be said of a row, each once: runs of characters of its document, and features that are no tokens."""

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
        """Those that raise the score most, and after these those that lower it least."""
        return np.argsort(-self._amounts, kind="stable")[:n].tolist()

    def enough(self, wanted: float, fewest: int) -> int:
        """How many make 80 % of what is to be explained; the fewest if too many would."""
        reached = np.cumsum(np.sort(self._amounts)[::-1][:_MOST]) >= ENOUGH * wanted
        return max(fewest, int(reached.argmax()) + 1) if reached.any() else fewest


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
        self._origins, self._n, self._shown = origins, sum(rows.n_rows for rows in origins), shown
        self.columns: Integers = np.unique(np.concatenate([rows.features() for rows in origins]))
        self._slots = [rows.slots(self.columns) for rows in origins]
        self._counts, self._sums = np.zeros(len(self.columns), dtype=np.int64), np.zeros(len(self.columns))
        for rows, slots in zip(origins, self._slots, strict=True):
            rows.tally(slots, self._counts, self._sums, shown)

    def is_of(self, origins: list[Block]) -> bool:
        """Whether it is about these very rows."""
        return len(origins) == len(self._origins) and all(a is b for a, b in zip(origins, self._origins, strict=True))

    def slots(self, part: int) -> Any:
        """The position among `columns` of each entry of a part's references; None if each has all columns."""
        return self._slots[part]

    def with_sides(self, row: Strongest) -> Strongest:
        """With the side of what is usual, absent values counted as 0, on which each value is."""
        shares, means = self._shares(row.columns)
        return replace(row, higher=self._shown(row.columns, row.values) > shares * means)

    def reasons(self, row: Strongest, name_of: Callable[[int], str]) -> tuple[Reason, ...]:
        """Contributions as named reasons."""
        shares, means = self._shares(row.columns)
        values = self._shown(row.columns, row.values)
        numbers = zip(values.tolist(), row.contributions.tolist(), shares.tolist(), means.tolist(), strict=True)
        return tuple(
            Reason(column, name_of(column), *of) for column, of in zip(row.columns.tolist(), numbers, strict=True)
        )

    def usual(self, lacked: Strongest, name_of: Callable[[int], str]) -> tuple[Reason, ...]:
        """Of what a row lacks, that which most references have and whose absence raises the score."""
        shares, _ = self._shares(lacked.columns)
        return self.reasons(lacked.take((shares >= USUAL) & (lacked.contributions > 0)).first(_NAMED_LACKS), name_of)

    def of_facts(
        self, has: Strongest, facts: _Facts, chosen: list[int], name_of: Callable[[int], str], frequencies: Any
    ) -> tuple[Reason, ...]:
        """Some of the facts of a row, as named reasons."""
        n = len(facts.passages)
        plain = self.reasons(has.take(facts.plain[[place - n for place in chosen if place >= n]]), name_of)
        others = iter(plain)
        return tuple(
            self._of_passage(has, facts.passages[place], frequencies) if place < n else next(others) for place in chosen
        )

    def _of_passage(self, has: Strongest, passage: Passage, frequencies: Any) -> Reason:
        """A run of characters; what is usual is said of its rarest token, since the run is at least as rare."""
        columns = has.columns[passage.members]
        shares, means = self._shares(columns)
        if passage.circle is not None:
            return _of_circle(passage, has.columns, has.values, means)
        rarest = int(np.lexsort((-has.contributions[passage.members], shares))[0])
        value = self._shown(columns[[rarest]], has.values[passage.members][[rarest]])
        counted: tuple[int | None, int] = (None, 0)
        if frequencies is not None:
            rows = _looked_up(frequencies.columns, frequencies.documents, columns)
            counted = (int(rows.min()), frequencies.n_documents)
        return Reason(
            int(columns[rarest]),
            passage.name,
            float(value[0]),
            passage.contribution,
            float(shares[rarest]),
            float(means[rarest]),
            passage.spans,
            len(columns),
            *counted,
        )

    def _shares(self, columns: Integers) -> tuple[Doubles, Doubles]:
        """The share of the references that have each feature, and its mean over those."""
        counts = _looked_up(self.columns, self._counts, columns)
        return counts / self._n, _looked_up(self.columns, self._sums, columns) / np.maximum(counts, 1)


def _of_circle(passage: Passage, columns: Integers, values: Doubles, means: Doubles) -> Reason:
    """An hour, or a day of the week; what is usual, where references are not spread around the whole circle."""
    circle = passage.circle
    assert circle is not None
    value, mean = (circle.value(*pair.tolist()) for pair in (values[passage.members], means))
    usual = f"usually around {circle.shown(mean)}" if np.hypot(*means) >= USUAL else "no time is usual"
    return Reason(
        int(columns[passage.members[0]]),
        passage.name,
        value,
        passage.contribution,
        1.0,
        mean,
        merged=len(passage.members),
        shown=circle.shown(value),
        usual=usual,
    )


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
