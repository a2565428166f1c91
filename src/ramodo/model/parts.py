"""The parts of a term, which say what each feature adds to it.

A representation is piecewise linear without constants and a score is a mean of distances, so nothing has to be
estimated. With u = (f(x) - f(s)) / ‖f(x) - f(s)‖ the distance of x to a reference s is u·f(x) - u·f(s), and each f is a
sum over features. Feature j adds x_j (W_j·p) for the row, where p is u propagated back through the units that respond
to x. It subtracts s_j (W_j·q) for the reference, where q is u propagated back through the units that respond to s. So a
feature that the nearest references have and the row lacks counts too, as a contribution with value 0. Labelled outliers
add w_j x_j/|x|.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..data.blocks import Block, SparseRows

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class View:
    """One part as seen from the rows of a block: p and factor of each row, and its references with their q."""

    p: Doubles
    factors: Doubles
    near: Integers
    q: Doubles
    distances: Doubles


class Part(ABC):
    """A part of a score that is linear in the row and in its references."""

    projection: kernels.Projection | None
    """None if rows are compared in the original features, where contributions are squared differences."""
    presence: kernels.FeatureWeights | None = None
    """Weights of features that occur, for parts where neither values nor references matter; p then has two numbers."""
    references: Block
    """The references, normalised, as input to the projection."""
    as_given: Block | None
    """The references before normalisation; None if rows are not compared with any."""
    numbers: Integers
    """The row numbers of the references among the training rows."""

    @property
    def width(self) -> int:
        """Length of p, and of q for each reference."""
        if self.presence is not None:
            return 2
        return 1 if self.projection is None else self.projection.width

    @abstractmethod
    def view(self, block: Block) -> View:
        """Return this part as seen from the rows of a block."""

    def nearest(self, view: View, i: int, most: int = 5) -> tuple[int, ...]:
        """Return the numbers of the training rows that are the nearest references, nearest first."""
        order = np.argsort(view.distances[i], kind="stable")
        others = order[view.distances[i][order] > 0]  # the row itself may be a reference
        order = others if len(others) else order
        return tuple(dict.fromkeys(self.numbers[view.near[i][order]].tolist()))[:most]


class LinearPart(Part):
    """A direction in the original features, for rows of length 1 or as they are; it has no references."""

    def __init__(self, projection: kernels.Projection, n_features: int, weight: float, unit_rows: bool) -> None:
        self._weight, self.projection, self._unit_rows = weight, projection, unit_rows
        self.references, self.as_given = SparseRows.empty(0, n_features), None
        self.numbers = np.empty(0, dtype=np.int64)

    def view(self, block: Block) -> View:
        lengths = np.sqrt(block.squared_norms(1)) if self._unit_rows else np.ones(block.n_rows)
        nothing = np.empty((block.n_rows, 0))
        p = np.full((block.n_rows, 1), self._weight)
        return View(p, 1 / np.where(lengths > 0, lengths, 1.0), nothing.astype(np.int64), nothing, nothing)
