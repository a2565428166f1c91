"""The theory of section 5: Cantelli's bound, the chance to meet every cluster, and the bound on wrong rankings."""

import itertools
import math

import numpy as np
import pytest

from ramodo import Cantelli, bounds

# ---- Cantelli ------------------------------------------------------------------------------------------------------


def test_cantelli_by_hand():
    assert bounds.cantelli_bound(math.sqrt(3)) == pytest.approx(0.25, rel=1e-12)
    assert bounds.cantelli_bound(0.0) == 1.0
    assert bounds.cantelli_bound(3.0) == pytest.approx(0.1, rel=1e-12)
    assert bounds.cantelli_alpha(0.25) == pytest.approx(math.sqrt(3), rel=1e-12)
    assert bounds.cantelli_alpha(1.0) == 0.0


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0, math.sqrt(3), 20.0])
def test_alpha_and_bound_are_inverses(alpha):
    assert bounds.cantelli_alpha(bounds.cantelli_bound(alpha)) == pytest.approx(alpha, rel=1e-9, abs=1e-7)


def test_the_stage_has_the_bound_of_the_theory():
    assert Cantelli(2.0).bound() == bounds.cantelli_bound(2.0)
    assert Cantelli(false_positives=0.05).bound() == pytest.approx(0.05, rel=1e-12)


@pytest.mark.parametrize("alpha", [-1e-9, -1.0, math.nan])
def test_a_negative_alpha_is_refused(alpha):
    with pytest.raises(ValueError, match=r"alpha must be .*, got "):
        bounds.cantelli_bound(alpha)


@pytest.mark.parametrize("bound", [0.0, -0.1, 1.01, math.nan])
def test_a_bound_that_is_no_share_is_refused(bound):
    with pytest.raises(ValueError, match=r"bound must be .*, got "):
        bounds.cantelli_alpha(bound)


# ---- the chance to meet every cluster ------------------------------------------------------------------------------

SHARES = [[1.0], [0.5, 0.5], [0.9, 0.1], [0.2, 0.3, 0.5], [0.25] * 4]


def _sum_over_counts(n, shares):
    """The formula of the paper: a multinomial probability for every way to leave no cluster empty."""
    total = 0.0
    for counts in itertools.product(range(1, n + 1), repeat=len(shares)):
        if sum(counts) == n:
            ways = math.factorial(n) // math.prod(math.factorial(c) for c in counts)
            total += ways * math.prod(p**c for p, c in zip(shares, counts, strict=True))
    return total


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("shares", SHARES, ids=str)
def test_eta_equals_the_sum_over_all_counts(n, shares):
    assert bounds.eta(n, shares) == pytest.approx(_sum_over_counts(n, shares), rel=1e-12, abs=1e-15)


def test_eta_equals_the_share_of_all_sequences():
    """Three fair draws of two clusters: six of eight sequences have both."""
    assert bounds.eta(3, [0.5, 0.5]) == pytest.approx(0.75, rel=1e-12)
    assert bounds.eta(3, [1 / 3] * 3) == pytest.approx(6 / 27, rel=1e-12)


def test_eta_equals_a_simulation():
    """Within four standard errors of 40,000 draws."""
    shares, n, repeats = np.array([0.05, 0.15, 0.2, 0.6]), 12, 40_000
    drawn = np.random.default_rng(0).choice(4, p=shares, size=(repeats, n))
    frequency = np.all([(drawn == cluster).any(axis=1) for cluster in range(4)], axis=0).mean()
    expected = bounds.eta(n, shares)
    assert 0.2 < expected < 0.8
    assert frequency == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / repeats))


def test_eta_by_number_of_draws():
    """Fewer draws than clusters meet not all of them; more draws meet more, and in the end all."""
    assert bounds.eta(2, [0.2, 0.3, 0.5]) == 0.0
    values = [bounds.eta(n, [0.2, 0.3, 0.5]) for n in (3, 4, 10, 50, 300)]
    assert values == sorted(values)
    assert values[-1] == pytest.approx(1.0, abs=1e-9)


def test_eta_of_thousands_of_draws():
    """Where numbers of ways no longer fit a double: 1 - (1 - p)ⁿ - pⁿ for two clusters."""
    for n, p in ((1500, 0.001), (3000, 0.0005)):
        assert bounds.eta(n, [p, 1 - p]) == pytest.approx(1 - (1 - p) ** n - p**n, rel=1e-9)


@pytest.mark.parametrize(
    ("n", "shares"),
    [
        (0, [1.0]),
        (-1, [1.0]),
        (3, []),
        (3, [0.5, 0.4]),
        (3, [1.2, -0.2]),
        (3, [1.0, 0.0]),
        (3, [math.nan, 1.0]),
    ],
)
def test_unusable_shares_are_refused(n, shares):
    with pytest.raises(ValueError, match=r"n must be at least 1 and shares above 0 .*, got "):
        bounds.eta(n, shares)
    with pytest.raises(ValueError, match="n must be at least 1"):
        bounds.error_bound(n, 0.5, shares)


@pytest.mark.parametrize("gamma", [-0.1, 1.1, math.nan])
def test_a_gamma_that_is_no_share_is_refused(gamma):
    with pytest.raises(ValueError, match=r"gamma must be .*, got "):
        bounds.error_bound(3, gamma, [1.0])


def test_error_bound_by_hand():
    assert bounds.error_bound(1, 1.0, [1.0]) == 0.0
    assert bounds.error_bound(2, 0.9, [1.0]) == pytest.approx(1 - 0.81)
    assert bounds.error_bound(3, 0.8, [0.5, 0.5]) == pytest.approx(1 - 0.8**3 * 0.75)
    assert bounds.error_bound(1, 0.8, [0.5, 0.5]) == 1.0
    assert bounds.error_bound(5, 0.0, [1.0]) == 1.0


# ---- partitions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [0.05, 0.3, 1.0])
def test_a_partition_covers_the_safe_inliers_by_small_clusters(delta):
    rng = np.random.default_rng(1)
    points = np.vstack([rng.normal(size=(60, 2)), rng.normal(2.0, 1.5, size=(8, 2))])
    outliers = np.arange(60, 68)
    found = bounds.partition(points, outliers, delta)
    safe = [i for i in range(60) if all(math.dist(points[i], points[o]) > delta for o in outliers)]
    assert found.rows.tolist() == safe
    assert len(safe) < 60 or delta < 0.5
    assert found.gamma == len(safe) / 68
    assert len(found.clusters) == len(safe)
    assert set(found.clusters) == set(range(found.clusters.max() + 1))
    for cluster in range(found.clusters.max() + 1):
        rows = found.rows[found.clusters == cluster]
        assert all(math.dist(points[a], points[b]) < delta for a, b in itertools.combinations(rows, 2))
    np.testing.assert_allclose(found.shares, [np.mean(found.clusters == c) for c in range(len(found.shares))])
    assert found.error_bound(9) == bounds.error_bound(9, found.gamma, found.shares)


def test_a_partition_merges_what_is_near():
    """Two heaps far apart: two clusters, as soon as δ is wider than a heap."""
    points = np.array([[0.0, 0], [0.1, 0], [0, 0.1], [5, 5], [5.1, 5], [20, 20]])
    found = bounds.partition(points, np.array([5]), 1.0)
    assert found.clusters.tolist() == [0, 0, 0, 1, 1]
    assert bounds.partition(points, np.array([5]), 0.01).clusters.tolist() == [0, 1, 2, 3, 4]


def test_a_partition_without_safe_inliers_says_nothing():
    points = np.random.default_rng(0).random((10, 2))
    found = bounds.partition(points, np.array([9]), 100.0)
    assert (len(found.rows), found.gamma, found.error_bound(3)) == (0, 0.0, 1.0)


def test_a_partition_without_outliers_takes_all_rows():
    found = bounds.partition(np.zeros((4, 2)), np.array([], dtype=np.int64), 1.0)
    assert (found.rows.tolist(), found.clusters.tolist(), found.gamma) == ([0, 1, 2, 3], [0] * 4, 1.0)


def test_the_best_partition_has_the_lowest_bound_of_its_radii():
    rng = np.random.default_rng(2)
    points, outliers = np.vstack([rng.normal(size=(50, 2)), rng.normal(9.0, 1.0, size=(3, 2))]), np.arange(50, 53)
    best = bounds.best_partition(points, outliers, 8, n_radii=10)
    highest = max(math.dist(points[i], points[o]) for i in range(50) for o in outliers)
    each = [bounds.partition(points, outliers, highest * i / 10).error_bound(8) for i in range(1, 11)]
    assert best.error_bound(8) == pytest.approx(min(each), rel=1e-9)
    assert min(each) < max(each)


@pytest.mark.parametrize("outliers", [np.array([], dtype=np.int64), np.arange(5)])
def test_a_best_partition_needs_both_kinds(outliers):
    with pytest.raises(ValueError, match=r"at least one inlier and one outlier, got "):
        bounds.best_partition(np.random.default_rng(0).random((5, 2)), outliers, 3)


# ---- the bound in simulation ---------------------------------------------------------------------------------------


def _three_heaps(n_outliers):
    """Thirty inliers at each corner of a triangle, and outliers in its middle.

    They are nearer to the corners than the corners are to each other: one without a query is ranked wrongly.
    """
    rng = np.random.default_rng(3)
    angles = np.repeat(np.arange(3), 30) * 2 * np.pi / 3
    inliers = 10 * np.column_stack([np.cos(angles), np.sin(angles)]) + rng.uniform(-0.5, 0.5, (90, 2))
    return np.vstack([inliers, rng.uniform(-0.5, 0.5, (n_outliers, 2))]), 90 + np.arange(n_outliers)


def _scattered():
    rng = np.random.default_rng(4)
    return np.vstack([rng.normal(size=(90, 2)), rng.normal(12.0, 1.0, (4, 2))]), 90 + np.arange(4)


def _frequency_of_errors(points, outliers, rows, n, repeats=3000):
    """How often n random queries rank any outlier at or below any row of I_s."""
    rng = np.random.default_rng(5)
    squared = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    wrong = 0
    for _ in range(repeats):
        nearest = squared[:, rng.integers(len(points), size=n)].min(axis=1)
        wrong += nearest[outliers].min() <= nearest[rows].max()
    return wrong / repeats


def _slack(bound, repeats=3000):
    return 4 * math.sqrt(bound * (1 - bound) / repeats)


@pytest.mark.parametrize("n", [3, 5, 8, 16])
@pytest.mark.parametrize("n_outliers", [1, 6])
def test_the_bound_holds_for_a_given_partition_and_is_nearly_met(n, n_outliers):
    points, outliers = _three_heaps(n_outliers)
    bound = bounds.error_bound(n, 90 / len(points), [1 / 3] * 3)
    frequency = _frequency_of_errors(points, outliers, np.arange(90), n)
    assert frequency <= bound + _slack(bound)
    assert frequency >= bound - _slack(bound)


@pytest.mark.parametrize("n", [2, 8, 24])
@pytest.mark.parametrize("make", [lambda: _three_heaps(2), _scattered], ids=["heaps", "scattered"])
def test_the_bound_holds_for_an_estimated_partition(make, n):
    points, outliers = make()
    found = bounds.best_partition(points, outliers, n)
    bound = found.error_bound(n)
    rows = found.rows if len(found.rows) else np.arange(90)
    assert _frequency_of_errors(points, outliers, rows, n) <= bound + _slack(bound)


def test_the_bound_says_something_where_outliers_stand_apart():
    """One heap and one outlier far away: eight queries are wrong where one of them is the outlier, in 8 of 100."""
    rng = np.random.default_rng(6)
    points = np.vstack([rng.normal(size=(99, 2)), [[50.0, 50.0]]])
    found = bounds.best_partition(points, np.array([99]), 8)
    assert found.error_bound(8) < 0.1
    assert found.gamma == 0.99
