"""How far a row lies towards the labelled outliers: w·x/|x| or w·x, with w learnt in fitting/label_direction.py."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..data.blocks import Block
from ..data.rows import Rows
from .parts import LinearPart, Part
from .saved import Saved, require
from .terms import Scores, Tensors, Term


@dataclass(frozen=True)
class Axes:
    """Directions. `weights` has a row for each of the features `columns` and a column for each direction."""

    columns: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float32]
    n_features: int
    unit_rows: bool = True
    """Whether rows are scaled to length 1 first."""

    @cached_property
    def projection(self) -> kernels.Projection:
        """The kernel, created on first use."""
        return kernels.Projection(self.columns, self.weights, self.n_features, seed=0, limit=0.0, slope=1.0)

    def __reduce__(self) -> Any:
        return Axes, (self.columns, self.weights, self.n_features, self.unit_rows)

    def along(self, rows: Rows, n_threads: int) -> Scores:
        """Return w·x/|x| or w·x of each row and axis."""
        return rows.gather(partial(self.along_block, n_threads=n_threads))

    def along_block(self, block: Block, n_threads: int) -> Scores:
        """Do the same for rows in memory."""
        seen = block.normalized("l2", n_threads) if self.unit_rows else block.without_factors()
        return self.projection(seen, n_threads).astype(np.float64)


@dataclass(frozen=True)
class LabelDirection(Term):
    """The direction as a term."""

    axis: Axes
    kind: ClassVar[str] = "label direction"

    def score(self, block: Block, n_threads: int, normalize: str | None = None) -> Scores:
        return self.axis.along_block(block, n_threads)[:, 0]

    def parts(self, weight: float, normalize: str | None) -> list[Part]:
        return [LinearPart(self.axis.projection, self.axis.n_features, weight, self.axis.unit_rows)]

    def facts(self) -> dict[str, Any]:
        return {"unit_rows": self.axis.unit_rows}

    def tensors(self) -> Tensors:
        return {"columns": self.axis.columns, "weights": self.axis.weights}

    @classmethod
    def read(cls, saved: Saved, inner: tuple[Term, ...]) -> LabelDirection:
        columns, weights = saved.features("columns"), saved.array("weights", "float32", 2)
        require(weights.shape == (len(columns), 1), f"the weights of a direction have shape {weights.shape}")
        return cls(Axes(columns, weights, saved.n_features, saved.flag("unit_rows")))
