"""The theory of section 5: how often the ranking of a triplet can be wrong, and how many candidates can be false.

Cantelli (section 5.2): at most 1/(1+α²) of any scores lie α standard deviations or more above their mean.

Ranking (section 5.1, after Sugiyama and Borgwardt 2013). Let I_s be the inliers farther than δ from every outlier, γ
their share of all rows, and C_1 .. C_h a partition of I_s into clusters of diameter below δ. If all n queries fall into
I_s, every outlier is farther than δ from its nearest query; if they also meet every cluster, every row of I_s is nearer
than δ to one. So an outlier is ranked at or below such an inlier with probability less than

    1 - γⁿ η(n),    η(n) = P(n draws meet every cluster),

a sum of multinomial probabilities over all counts that leave no cluster empty. Any partition gives a valid bound, the
best one the tightest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, xlog1py, xlogy

Matrix = npt.NDArray[np.floating]
Integers = npt.NDArray[np.int64]


def cantelli_bound(alpha: float) -> float:
    """Return the largest share of scores that can lie `alpha` standard deviations above their mean.

    Examples
    --------
    >>> from ramodo.bounds import cantelli_bound
    >>> cantelli_bound(3)
    0.1
    """
    if not alpha >= 0:
        raise ValueError(f"alpha must be a number of at least 0, got {alpha!r}.")
    return 1 / (1 + alpha**2)


def cantelli_alpha(bound: float) -> float:
    """Return the α whose bound is `bound`: 0.25 gives √3.

    Examples
    --------
    >>> from ramodo.bounds import cantelli_alpha
    >>> cantelli_alpha(0.1)
    3.0
    """
    if not 0 < bound <= 1:
        raise ValueError(f"bound must be a number above 0 and at most 1, got {bound!r}.")
    return math.sqrt(1 / bound - 1)


def cantelli_cutoff(scores: npt.NDArray[np.float64], alpha: float = math.sqrt(3)) -> float:
    """Return the mean plus `alpha` standard deviations, or a number above all scores if these are equal.

    Examples
    --------
    >>> from ramodo.bounds import cantelli_cutoff
    >>> cantelli_cutoff([1.0, 3.0], alpha=2)
    4.0
    """
    mean, deviation = float(np.mean(scores)), float(np.std(scores))
    if deviation <= 1e-12 * abs(mean) or len(scores) == 0:
        return float(np.nextafter(np.max(scores, initial=0.0), np.inf))
    return mean + alpha * deviation


def eta(n: int, shares: Sequence[float] | npt.NDArray[np.float64]) -> float:
    """Return P(n independent draws meet every cluster), for clusters drawn with probabilities `shares`.

    Computed cluster by cluster: of k draws that fall into the first clusters, a binomial number falls into the last of
    them. This takes h·n² steps, while the sum over all counts would have exponentially many terms.

    Examples
    --------
    >>> from ramodo.bounds import eta
    >>> round(eta(2, [0.5, 0.5]), 12)
    0.5
    """
    p = np.asarray(shares, dtype=np.float64)
    if n < 1 or len(p) < 1 or (p <= 0).any() or not math.isclose(float(p.sum()), 1.0, rel_tol=1e-9):
        raise ValueError(f"n must be at least 1 and shares above 0 with the sum 1, got {n} and {p.tolist()}.")
    if len(p) > n:
        return 0.0
    met = np.zeros(n + 1)  # met[k]: P(k draws, all within the clusters so far, meet each of them)
    met[0], so_far = 1.0, 0.0
    for share in p:
        so_far += share
        own = min(1.0, share / so_far)
        met = np.array([0.0, *[_binomial(k, own)[1:] @ met[k - 1 :: -1] for k in range(1, n + 1)]])
    return float(min(met[n], 1.0))


def error_bound(n: int, gamma: float, shares: Sequence[float] | npt.NDArray[np.float64]) -> float:
    """Return the largest probability that n queries rank an outlier at or below an inlier of I_s.

    Examples
    --------
    >>> from ramodo.bounds import error_bound
    >>> round(error_bound(1, 0.9, [1.0]), 12)
    0.1
    """
    if not 0 <= gamma <= 1:
        raise ValueError(f"gamma must be a number from 0 to 1, got {gamma!r}.")
    return 1.0 if gamma == 0 else 1 - gamma**n * eta(n, shares)


@dataclass(frozen=True)
class Partition:
    """A δ-radius partition of the inliers that lie farther than δ from every outlier.

    Attributes
    ----------
    delta, gamma : the radius, and the share of all rows that are in the partition
    rows : numbers of the rows in the partition
    clusters : the cluster of each of these rows

    Examples
    --------
    >>> from ramodo.bounds import partition
    >>> import numpy as np
    >>> points = np.array([[0.0], [0.1], [5.0], [5.1], [9.0]])
    >>> found = partition(points, np.array([4]), delta=1.0)
    >>> found.shares
    array([0.5, 0.5])
    """

    delta: float
    gamma: float
    rows: Integers
    clusters: Integers
    """Cluster number of each of `rows`."""

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """The share of `rows` in each cluster."""
        return np.bincount(self.clusters) / max(1, len(self.clusters))

    def error_bound(self, n: int) -> float:
        """Return the bound for n queries."""
        return 1.0 if len(self.rows) == 0 else error_bound(n, self.gamma, self.shares)


def partition(points: Matrix, outliers: Integers, delta: float) -> Partition:
    """Return a δ-radius partition of `points`, given which of them are outliers.

    Clusters grow greedily: a row joins the first cluster whose rows are all nearer than δ.

    Examples
    --------
    >>> from ramodo.bounds import partition
    >>> import numpy as np
    >>> points = np.array([[0.0], [0.1], [5.0], [5.1], [9.0]])
    >>> found = partition(points, np.array([4]), delta=1.0)
    >>> found.clusters
    array([0, 0, 1, 1])
    """
    inliers = np.setdiff1d(np.arange(len(points)), outliers)
    safe = inliers[(_distances(points[inliers], points[outliers]) > delta).all(axis=1)] if len(outliers) else inliers
    clusters, rows_of = np.zeros(len(safe), dtype=np.int64), list[list[int]]()
    for place, row in enumerate(safe):
        near = (i for i, cluster in enumerate(rows_of) if (_distances(points[[row]], points[cluster]) < delta).all())
        clusters[place] = number = next(near, len(rows_of))
        rows_of[number:] = rows_of[number:] or [[]]
        rows_of[number].append(int(row))
    return Partition(delta, len(safe) / len(points), safe, clusters)


def best_partition(points: Matrix, outliers: Integers, n: int, n_radii: int = 25) -> Partition:
    """Return the partition with the lowest bound over a grid of δ, within the range of distances.

    It compares all pairs, so give it a few hundred to a few thousand rows, of the representation or of a sample.

    Examples
    --------
    >>> from ramodo.bounds import best_partition
    >>> import numpy as np
    >>> points = np.array([[0.0], [0.1], [5.0], [5.1], [9.0]])
    >>> found = best_partition(points, np.array([4]), n=3)
    >>> bool(found.error_bound(3) < 1)
    True
    """
    inliers = np.setdiff1d(np.arange(len(points)), outliers)
    if len(inliers) == 0 or len(outliers) == 0:
        raise ValueError(
            f"points must hold at least one inlier and one outlier, got {len(inliers)} inliers and {len(outliers)} "
            "outliers."
        )
    highest = float(_distances(points[inliers], points[outliers]).max())
    radii = np.linspace(0, highest, n_radii + 1)[1:]
    return min((partition(points, outliers, float(delta)) for delta in radii), key=lambda p: p.error_bound(n))


def _binomial(n: int, p: float) -> npt.NDArray[np.float64]:
    """Return the probabilities of 0 .. n successes in n trials."""
    i = np.arange(n + 1)
    ways = gammaln(n + 1) - gammaln(i + 1) - gammaln(n - i + 1)
    return np.exp(ways + xlogy(i, p) + xlog1py(n - i, -p))


def _distances(a: Matrix, b: Matrix) -> npt.NDArray[np.float64]:
    return np.sqrt(((a[:, None, :].astype(np.float64) - b[None, :, :]) ** 2).sum(axis=2))
