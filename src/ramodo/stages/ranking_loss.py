"""The ranking loss of section 4.4: a hinge on the difference of two outlier scores.

For a triplet with queries Q, positive p and negative n,

    J = max(0, c + φ(f(p) | Q) - φ(f(n) | Q)),

where φ is the scorer's, on squared distances: to the nearest query, to the k-th nearest, or the mean of those to the k
nearest. The gradient reaches p, n and the queries that φ picks. The arithmetic is in native/hinge.hpp.

c is a number, or "auto": `RELATIVE` times the median squared distance between two rows in the untrained
representation, so that X and 1000 X train alike. The paper's 1000 is far above any distance between rows of length 1
and far below those between raw pixels.

A user-defined loss is a function of the rows of the representation and the triplets, as positions among them, that
returns the mean loss and its gradient with respect to the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from .. import kernels
from ..kernels import Phi
from ..options import check, option_error

RELATIVE = 300.0
"""The margin "auto" in typical squared distances: training ends once outliers are √300, about 17, times as far away as
other rows."""


class RankingHinge(BaseEstimator):
    """The hinge with margin c, a number or "auto". Its φ is the scorer's.

    Examples
    --------
    >>> from ramodo import RAMODO, RankingHinge
    >>> RAMODO(loss=RankingHinge("auto")).loss.margin
    'auto'
    """

    def __init__(self, margin: float | str = 1000.0) -> None:
        self.margin = margin

    def for_phi(self, phi: Phi, n_queries: int) -> BoundHinge:
        """Return the loss over `n_queries` queries of a scorer with this φ."""
        check(self.get_params(deep=False))
        if phi.k > n_queries:
            least = f"at least k={phi.k}, since the loss looks for the k-th nearest query"
            raise option_error("n_queries", least, str(n_queries))
        if self.margin == "auto":
            return BoundHinge(RELATIVE, phi, is_relative=True)
        return BoundHinge(float(self.margin), phi)


class BoundHinge:
    """A `RankingHinge` that knows its φ. A relative margin is a multiple of a typical squared distance in the data."""

    def __init__(self, margin: float, phi: Phi, is_relative: bool = False) -> None:
        self.margin, self.phi, self.is_relative = margin, phi, is_relative

    def in_unit(self, unit: float) -> BoundHinge:
        """Return the loss where `unit` is a typical squared distance."""
        return BoundHinge(self.margin * unit, self.phi)

    @property
    def native(self) -> BoundHinge:
        """This loss, which the kernels can compute."""
        return self

    def __call__(
        self, rows: npt.NDArray[np.float32], triplets: npt.NDArray[np.int32]
    ) -> tuple[float, npt.NDArray[Any]]:
        """Return the mean loss, and its gradient with respect to the rows."""
        return kernels.hinge(np.ascontiguousarray(rows, dtype=np.float32), triplets, self.phi, self.margin)
