"""Why this row: a score as named contributions of features that sum to it.

A representation is piecewise linear without constants and a score is a mean of distances, so nothing has to be
estimated. With u = (f(x) - f(s)) / ‖f(x) - f(s)‖ the distance of x to a reference s is u·f(x) - u·f(s), and each f is a
sum over features: feature j adds x_j (W_j·p) for the row, p = u carried back through the units that respond to x, and
takes away s_j (W_j·q) for the reference, q the same through the units that respond to s. So what a row lacks and its
nearest references have counts too, as a contribution of a feature whose value is 0. Labelled outliers add w_j x_j/|x|.

The cost is the non-zeros of the row and of its nearest references; the number of features does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..data.rows import DenseRows, Rows, SparseRows, normalized, plain, squared_norms
from ..fitting.direction import LabelDirection
from ..model.model import Member, Model, References
from ..options import OptionError
from .explanation import Explanation, Reason, RowExplanation, Strongest
from .in_order import in_order

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_AT_ONCE = 64
"""Rows whose distances are looked at together."""

_FEWEST_DRIVERS = 20

_STRONGEST = 100
"""Contributions of a row that tell which others are like it."""


def explain(
    model: Model, rows: Rows, scores: Doubles, known: Doubles, name_of: Callable[[int], str], top: int, n_threads: int
) -> Explanation:
    """Reasons of each row. `scores` are those of the rows, `known` those of the training rows."""
    members = [_MemberParts(member, how_much, model.normalize) for member, how_much in _weighted(model)]
    typical = _Typical([member.as_given for member in members])
    parts: list[_MemberParts | _DirectionPart] = [*members]
    if model.direction is not None:
        parts.append(_DirectionPart(model.direction))
    explainer = kernels.Explainer(typical.columns, rows.n_features)
    for number, part in enumerate(parts):
        explainer.add_part(part.projection, part.origin, typical.slots(number))
    percentiles = 100 * np.searchsorted(np.sort(known), scores) / max(1, len(known))

    def of_block(start: int) -> _Block:
        given = _slice(rows, start, min(start + _AT_ONCE, rows.n_rows))
        views, block = [part.view(given, normalized(given, model.normalize, 1)) for part in parts], _as_sparse(given)
        found = explainer.explain(block, views, max(top, _STRONGEST))
        strongest = _cut(found)
        reasons = typical.reasons([_first(row, top) for row in strongest], name_of)
        explained = [
            RowExplanation(
                start + i,
                float(scores[start + i]),
                float(percentiles[start + i]),
                reasons[i],
                float(scores[start + i] - strongest[i].contributions[:top].sum()),
                members[0].nearest(views[0], i),
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
    together = explainer.explain(_nothing(rows.n_features), [each.view() for each in references], rows.n_features)
    sums.add(together.columns, together.sums)
    columns, totals = sums.top(max(top, _FEWEST_DRIVERS))
    most = list(zip(columns.tolist(), totals.tolist(), strict=True))
    return Explanation(explained, most, strongest, name_of)


def _cut(found: kernels.Strongest) -> list[Strongest]:
    """Row by row."""
    ends = found.ends.tolist()
    return [Strongest(found.columns[a:b], found.sums[a:b], found.values[a:b]) for a, b in pairwise(ends)]


def _first(row: Strongest, n: int) -> Strongest:
    return Strongest(row.columns[:n], row.contributions[:n], row.values[:n])


@dataclass(frozen=True)
class _View:
    """What the scores of a block make of one part: p and factor of each row, and its references with their q."""

    p: Doubles
    factors: Doubles
    near: Integers
    q: Doubles
    distances: Doubles


class _Block(NamedTuple):
    """What is known of a block of rows: what the result keeps, and what goes into sums and is then let go."""

    explained: list[RowExplanation]
    strongest: list[Strongest]
    views: list[_View]
    columns: Any
    own: Doubles


class _ReferenceSums:
    """The references of one part over all blocks as those of one row, each once, with the sum of its vectors."""

    def __init__(self, part: _MemberParts | _DirectionPart) -> None:
        self._total = np.zeros((part.origin.n_rows, part.projection.width))

    def add(self, view: _View) -> None:
        """Those of one block."""
        np.add.at(self._total, view.near.ravel(), view.q.reshape(-1, self._total.shape[1]))

    def view(self) -> _View:
        nothing, near = np.zeros((1, self._total.shape[1])), np.arange(len(self._total))[None]
        return _View(nothing, np.ones(1), near, self._total.reshape(1, -1), nothing)


def _weighted(model: Model) -> list[tuple[Member, float]]:
    """Each member, and what its score is multiplied by in the final one."""
    share = 1.0 if model.direction is None else model.direction.detector_factor
    if len(model.members) == 1:
        return [(model.members[0], share)]
    return [(member, share / len(model.members) / (member.deviation or 1.0)) for member in model.members]


class _MemberParts:
    """A member, ready to be taken apart."""

    def __init__(self, member: Member, weight: float, normalize: str | None) -> None:
        detection, representation = member.detection, member.representation
        if not isinstance(detection, References) or representation.head is not None:
            raise OptionError("scorers and heads of your own cannot be explained: only distances in layers add up.")
        if member.origin is None:
            raise OptionError("this model was saved without its reference rows and cannot be explained; fit it again.")
        self._representation, self._detection, self._weight = representation, detection, weight
        self.as_given, self._numbers = member.origin.rows, member.origin.numbers
        seen = normalized(self.as_given, normalize, 1)
        self.origin = plain(seen)
        self.projection = representation.first.projection
        self._references = detection.rows.astype(np.float64)
        self._gates = self._layers_of(seen)[1]

    def _layers_of(self, rows: Rows) -> tuple[Doubles, list[Doubles]]:
        """The representation of rows, and the slopes of the units of each layer."""
        layers = self._representation
        hidden, gates = layers.first.transform(rows, 1), []
        for layer in (None, *layers.upper):
            hidden = hidden if layer is None else layer.transform(hidden, 1)
            gates.append(np.where(hidden > 0, 1.0, layers.first.slope))
        return hidden.astype(np.float64), gates

    def _back(self, u: Doubles, gates: list[Doubles]) -> Doubles:
        """A gradient with respect to the representation, carried back to the sums of the first layer."""
        for layer, gate in zip(reversed(self._representation.upper), reversed(gates[1:]), strict=True):
            u = (u * gate) @ layer.weights.T.astype(np.float64)
        return u * gates[0]

    def view(self, block: Rows, seen: Rows) -> _View:
        """Of the rows of a block, `seen` as the representation takes them."""
        mapped, gates = self._layers_of(seen)
        near = self._near(mapped)
        difference = mapped[:, None, :] - self._references[near]
        distances = np.sqrt((difference**2).sum(axis=2))
        u = difference * (self._weight / near.shape[1] / np.where(distances > 0, distances, 1.0))[:, :, None]
        p = self._back(u.sum(axis=1), gates)
        flat = near.ravel()
        q = -self._back(u.reshape(len(flat), -1), [gate[flat] for gate in self._gates])
        factors = np.ones(block.n_rows) if seen.factors is None else seen.factors
        return _View(p, factors, near, q.reshape(block.n_rows, -1), distances)

    def _near(self, mapped: Doubles) -> Integers:
        """The references that each row's score depends on: the nearest of each subsample, or the k nearest."""
        size, phi = self._detection.size, self._detection.phi
        squared = ((mapped[:, None, :] - self._references[None]) ** 2).sum(axis=2).reshape(len(mapped), -1, size)
        if phi.k == 1:
            order = squared.argmin(axis=2)[:, :, None]
        else:
            order = np.argsort(squared, axis=2, kind="stable")[:, :, slice(phi.k) if phi.average else [phi.k - 1]]
        return (order + size * np.arange(squared.shape[1])[None, :, None]).reshape(len(mapped), -1)

    def nearest(self, view: _View, i: int, most: int = 5) -> tuple[int, ...]:
        """Training rows behind the nearest references, nearest first."""
        order = np.argsort(view.distances[i], kind="stable")
        others = order[view.distances[i][order] > 0]  # the row itself may be a reference
        order = others if len(others) else order
        return tuple(dict.fromkeys(self._numbers[view.near[i][order]].tolist()))[:most]


class _DirectionPart:
    """What labelled outliers add: linear in the row divided by its length."""

    def __init__(self, direction: LabelDirection) -> None:
        self._factor, self.projection = direction.factor, direction.axis.projection
        self.origin: Rows = _nothing(direction.axis.n_features, 0)

    def view(self, block: Rows, seen: Rows) -> _View:
        """Of the rows of a block."""
        lengths = np.sqrt(squared_norms(block, 1))
        nothing = np.empty((block.n_rows, 0))
        p = np.full((block.n_rows, 1), self._factor)
        return _View(p, 1 / np.where(lengths > 0, lengths, 1.0), nothing.astype(np.int64), nothing, nothing)


class _Typical:
    """The features of the reference rows: how many rows have each, and its mean over those."""

    def __init__(self, origins: list[Rows]) -> None:
        self._n = sum(rows.n_rows for rows in origins)
        dense = [rows.values for rows in origins if isinstance(rows, DenseRows)]
        if dense:
            self._slots: list[Any] = [None] * len(dense)
            self.columns: Integers = np.arange(origins[0].n_features)
            self._counts: Any = np.sum([np.count_nonzero(values, axis=0) for values in dense], axis=0)
            self._sums: Any = np.sum([values.sum(axis=0, dtype=np.float64) for values in dense], axis=0)
            return
        sparse = [rows for rows in origins if isinstance(rows, SparseRows)]
        data = np.concatenate([rows.data for rows in sparse])
        self.columns, slots = np.unique(np.concatenate([rows.indices for rows in sparse]), return_inverse=True)
        self._slots = np.split(slots.astype(np.int32), np.cumsum([len(rows.indices) for rows in sparse])[:-1])
        self._counts = np.bincount(slots[data != 0], minlength=len(self.columns))
        self._sums = np.bincount(slots, data, minlength=len(self.columns))

    def slots(self, part: int) -> Any:
        """The place among `columns` of each entry of a part's references; None where each has all of them."""
        return self._slots[part] if part < len(self._slots) else np.empty(0, dtype=np.int32)

    def reasons(self, rows: list[Strongest], name_of: Callable[[int], str]) -> list[tuple[Reason, ...]]:
        """Contributions in words, row by row."""
        columns = np.concatenate([row.columns for row in rows])
        counts = _looked_up(self.columns, self._counts, columns)
        means = _looked_up(self.columns, self._sums, columns) / np.maximum(counts, 1)
        values = np.concatenate([row.values for row in rows])
        sums = np.concatenate([row.contributions for row in rows])
        numbers = zip(values.tolist(), sums.tolist(), (counts / self._n).tolist(), means.tolist(), strict=True)
        found = [Reason(column, name_of(column), *of) for column, of in zip(columns.tolist(), numbers, strict=True)]
        ends = np.cumsum([0, *[len(row.columns) for row in rows]]).tolist()
        return [tuple(found[a:b]) for a, b in pairwise(ends)]


def _looked_up(keys: Any, values: Any, wanted: Integers) -> Any:
    """The value of each wanted key, 0 where it is not among the sorted keys."""
    if len(keys) == 0:
        return np.zeros(len(wanted))
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, values[places], 0)


def _slice(rows: Rows, begin: int, end: int) -> Rows:
    if isinstance(rows, DenseRows):
        return rows.part(begin, end)
    return SparseRows(rows.indptr[begin : end + 1], rows.indices, rows.data, rows.n_features)


def _as_sparse(rows: Rows) -> SparseRows:
    """The non-zeros of rows, without their factors."""
    if isinstance(rows, SparseRows):
        return rows
    numbers, columns = np.nonzero(rows.values)
    indptr = np.searchsorted(numbers, np.arange(rows.n_rows + 1)).astype(np.int64)
    return SparseRows(indptr, columns.astype(np.int64), rows.values[numbers, columns], rows.n_features)


def _nothing(n_features: int, n_rows: int = 1) -> SparseRows:
    """Rows without a non-zero."""
    return SparseRows(np.zeros(n_rows + 1, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0), n_features)


def _columns(rows: SparseRows) -> Any:
    return rows.indices[rows.indptr[0] : rows.indptr[-1]]
