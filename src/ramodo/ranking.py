"""The ranking loss of section 4.4: a hinge on the difference of two outlier scores.

For a triplet with queries Q, positive p and negative n, and φ the squared distance to the nearest query,

    J = max(0, c + φ(f(p) | Q) - φ(f(n) | Q)).

The gradient reaches p, n and the query nearest to each. The arithmetic is in native/hinge.hpp.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NearestQueryHinge:
    """The hinge with margin c over `n_queries` queries."""

    margin: float = 1000.0
    n_queries: int = 1
