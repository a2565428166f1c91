"""Why this row: a score as named contributions of features that sum to it.

A representation is piecewise linear without constants and a score is a mean of distances, so nothing has to be
estimated. With u = (f(x) - f(s)) / ‖f(x) - f(s)‖ the distance of x to a reference s is u·f(x) - u·f(s), and each f is a
sum over features: feature j adds x_j (W_j·p) for the row, p = u carried back through the units that respond to x, and
takes away s_j (W_j·q) for the reference, q the same through the units that respond to s. So what a row lacks and its
nearest references have counts too, as a contribution of a feature whose value is 0. Labelled outliers add w_j x_j/|x|.

The cost is the non-zeros of the row and of its nearest references; the number of features does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from . import kernels
from .model import Member, Model, References
from .options import OptionError
from .rows import DenseRows, Rows, SparseRows, normalized

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_AT_ONCE = 64
"""Rows whose distances are looked at together."""


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
class RowExplanation:
    """A row's score as a sum: its strongest reasons, and `rest`, all other features together."""

    row: int
    score: float
    percentile: float
    reasons: tuple[Reason, ...]
    rest: float
    nearest: tuple[int, ...]
    """Training rows that it was compared with most often or most closely, nearest first."""

    def __str__(self) -> str:
        lines = [f"row {self.row}: score {self.score:.6g}, above {self.percentile:.1f} % of the training rows"]
        width = max((len(reason.feature) for reason in self.reasons), default=0)
        for reason in self.reasons:
            typical = (
                f"in {reason.share:.0%} of references, mean {reason.mean:.3g}" if reason.share else "in no reference"
            )
            lines.append(f"  {reason.contribution:+10.4g}  {reason.feature:<{width}} = {reason.value:<8.4g} {typical}")
        return "\n".join([*lines, f"  {self.rest:+10.4g}  all other features"])


class Explanation(Sequence[RowExplanation]):
    """One `RowExplanation` per row; prints, and converts to a table."""

    def __init__(self, rows: list[RowExplanation]) -> None:
        self._rows = rows

    def __getitem__(self, index: Any) -> Any:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[RowExplanation]:
        return iter(self._rows)

    def __repr__(self) -> str:
        return "\n".join(map(str, self._rows))

    def to_dict(self) -> list[dict[str, Any]]:
        """Plain lists and numbers, for JSON."""
        return [
            {
                "row": row.row,
                "score": row.score,
                "percentile": row.percentile,
                "rest": row.rest,
                "nearest": list(row.nearest),
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


def _as_html(row: RowExplanation) -> str:
    largest = max((abs(reason.contribution) for reason in row.reasons), default=1.0) or 1.0
    lines = [
        f"<tr><td>{escape(r.feature)}</td><td>{r.value:.4g}</td><td>{r.contribution:+.4g}</td><td>"
        f"<div style='width:{100 * abs(r.contribution) / largest:.0f}px;height:0.8em;"
        f"background:{'#c0392b' if r.contribution > 0 else '#2980b9'}'></div></td>"
        f"<td>{r.share:.0%}, mean {r.mean:.3g}</td></tr>"
        for r in row.reasons
    ]
    return (
        f"<p><b>row {row.row}</b>: score {row.score:.6g}, above {row.percentile:.1f} % of the training rows</p>"
        "<table><tr><th>feature</th><th>value</th><th>contribution</th><th></th><th>references</th></tr>"
        f"{''.join(lines)}<tr><td>all other features</td><td></td><td>{row.rest:+.4g}</td></tr></table>"
    )


def explain(
    model: Model, rows: Rows, scores: Doubles, known: Doubles, name_of: Callable[[int], str], top: int, n_threads: int
) -> Explanation:
    """Reasons of each row. `scores` are those of the rows, `known` those of the training rows."""
    parts = [_MemberParts(member, weight) for member, weight in zip(model.members, _weights(model), strict=True)]
    typical = _Typical([part.origin for part in parts])
    ordered = np.sort(known)

    def of_rows(start: int) -> list[RowExplanation]:
        block = _slice(rows, start, min(start + _AT_ONCE, rows.n_rows))
        seen = normalized(block, model.normalize, 1)
        pairs = [part.pairs(seen) for part in parts]
        table, found = kernels.Contributions(), []
        for i in range(block.n_rows):
            columns, values = _row(block, i)
            table.clear()
            for part, (p, q, near, _) in zip(parts, pairs, strict=True):
                factor = 1.0 if seen.factors is None else float(seen.factors[i])
                table.add_row(part.projection, columns, values, factor, p[i])
                table.add_rows(part.projection, part.origin, near[i], q[i])
            _add_direction(table, model, columns, values)
            chosen, sums = table.top(top)
            found.append(
                RowExplanation(
                    start + i,
                    float(scores[start + i]),
                    float(100 * np.searchsorted(ordered, scores[start + i]) / max(1, len(ordered))),
                    tuple(
                        _reason(int(c), float(s), columns, values, typical, name_of)
                        for c, s in zip(chosen, sums, strict=True)
                    ),
                    float(scores[start + i] - sums.sum()),
                    parts[0].nearest(pairs[0], i),
                )
            )
        return found

    with ThreadPoolExecutor(max(1, n_threads)) as pool:
        done = list(pool.map(of_rows, range(0, rows.n_rows, _AT_ONCE)))
    return Explanation([row for part in done for row in part])


def _weights(model: Model) -> list[float]:
    """What each member's score is multiplied by in the final one."""
    share = 1.0 if model.direction is None else model.direction.detector_factor
    if len(model.members) == 1:
        return [share]
    return [share / len(model.members) / (member.deviation or 1.0) for member in model.members]


class _MemberParts:
    """A member, ready to be taken apart."""

    def __init__(self, member: Member, weight: float) -> None:
        detection, representation = member.detection, member.representation
        if not isinstance(detection, References) or representation.head is not None:
            raise OptionError("scorers and heads of your own cannot be explained: only distances in layers add up.")
        if member.origin is None:
            raise OptionError("this model was saved without its reference rows and cannot be explained; fit it again.")
        self._member, self._weight, self.origin = member, weight, member.origin.rows
        self.numbers = member.origin.numbers
        self.projection = representation.first.projection
        self._references = detection.rows.astype(np.float64)
        self._gates = self._gates_of(self.origin)

    def _gates_of(self, rows: Rows) -> list[Doubles]:
        """Slopes of the units of each layer, for each row."""
        layers = self._member.representation
        hidden, gates = layers.first.transform(rows, 1), []
        for layer in (None, *layers.upper):
            hidden = hidden if layer is None else layer.transform(hidden, 1)
            gates.append(np.where(hidden > 0, 1.0, layers.first.slope))
        return gates

    def _back(self, u: Doubles, gates: list[Doubles]) -> Doubles:
        """A gradient with respect to the representation, carried back to the sums of the first layer."""
        for layer, gate in zip(reversed(self._member.representation.upper), reversed(gates[1:]), strict=True):
            u = (u * gate) @ layer.weights.T.astype(np.float64)
        return u * gates[0]

    def pairs(self, block: Rows) -> tuple[Doubles, Doubles, Integers, Doubles]:
        """p of each row; q, number and distance of each reference that its score depends on."""
        detection = self._member.detection
        assert isinstance(detection, References)
        mapped = self._member.representation.transform(block, 1).astype(np.float64)
        n, size, phi = len(mapped), detection.size, detection.phi
        squared = ((mapped[:, None, :] - self._references[None]) ** 2).sum(axis=2).reshape(n, -1, size)
        order = np.argsort(squared, axis=2, kind="stable")[:, :, : phi.k]
        order = order if phi.average or phi.k == 1 else order[:, :, -1:]
        near = (order + size * np.arange(squared.shape[1])[None, :, None]).reshape(n, -1)
        difference = mapped[:, None, :] - self._references[near]
        distances = np.sqrt((difference**2).sum(axis=2))
        with np.errstate(invalid="ignore", divide="ignore"):
            u = np.where(distances[:, :, None] > 0, difference / distances[:, :, None], 0.0)
        u *= self._weight / near.shape[1]
        p = self._back(u.sum(axis=1), self._gates_of(block))
        flat = near.reshape(-1)
        q = -self._back(u.reshape(len(flat), -1), [gate[flat] for gate in self._gates])
        return p, q.reshape(n, near.shape[1], -1), near, distances

    def nearest(self, pairs: tuple[Doubles, Doubles, Integers, Doubles], i: int, most: int = 5) -> tuple[int, ...]:
        """Training rows behind the nearest references, nearest first."""
        order = np.argsort(pairs[3][i], kind="stable")
        numbers = dict.fromkeys(int(self.numbers[r]) for r in pairs[2][i][order])
        return tuple(numbers)[:most]


def _add_direction(table: kernels.Contributions, model: Model, columns: Any, values: Any) -> None:
    if model.direction is None:
        return
    length = float(np.sqrt((values.astype(np.float64) ** 2).sum())) or 1.0
    factor = np.array([model.direction.factor])
    table.add_row(model.direction.axis.projection, columns, values, 1 / length, factor)


class _Typical:
    """How many reference rows have a feature, and its mean over those."""

    def __init__(self, origins: list[Rows]) -> None:
        parts = [self._of(rows) for rows in origins]
        columns, places = np.unique(np.concatenate([p[0] for p in parts]), return_inverse=True)
        self._columns, self._n = columns, sum(rows.n_rows for rows in origins)
        self._counts = np.bincount(places, minlength=len(columns))
        self._sums = np.bincount(places, np.concatenate([p[1] for p in parts]), minlength=len(columns))

    @staticmethod
    def _of(rows: Rows) -> tuple[Integers, Doubles]:
        if isinstance(rows, DenseRows):
            _, columns = np.nonzero(rows.values)
            return columns.astype(np.int64), rows.values[rows.values != 0].astype(np.float64)
        return rows.indices[rows.data != 0].astype(np.int64), rows.data[rows.data != 0].astype(np.float64)

    def of(self, column: int) -> tuple[float, float]:
        """Share and mean."""
        place = int(np.searchsorted(self._columns, column))
        if place == len(self._columns) or self._columns[place] != column:
            return 0.0, 0.0
        return float(self._counts[place] / self._n), float(self._sums[place] / self._counts[place])


def _reason(
    column: int, contribution: float, columns: Any, values: Any, typical: _Typical, name_of: Callable[[int], str]
) -> Reason:
    place = int(np.searchsorted(columns, column))
    there = place < len(columns) and columns[place] == column
    share, mean = typical.of(column)
    return Reason(column, name_of(column), float(values[place]) if there else 0.0, contribution, share, mean)


def _slice(rows: Rows, begin: int, end: int) -> Rows:
    if isinstance(rows, DenseRows):
        return rows.part(begin, end)
    return SparseRows(rows.indptr[begin : end + 1], rows.indices, rows.data, rows.n_features)


def _row(block: Rows, i: int) -> tuple[Any, Any]:
    """Columns and values of the non-zeros, without the row's factor."""
    if isinstance(block, DenseRows):
        columns = np.flatnonzero(block.values[i])
        return columns, np.ascontiguousarray(block.values[i][columns])
    entries = slice(block.indptr[i], block.indptr[i + 1])
    return block.indices[entries], block.data[entries]
