"""The three distributions of triplets (equations 3 and 4) and the share of labelled negatives (section 4.6).

Chi-square tests on fixed seeds. Each also refutes the distribution that a plausible mistake would give, so that the
number of draws is known to be enough to see it.
"""

import numpy as np
import pytest
from scipy import stats

from ramodo.options import OptionError
from ramodo.stages.protocols import Pools
from ramodo.stages.triplets import TripletSampler

INLIERS, INLIER_SCORES = np.array([3, 4, 6, 8, 9]), np.array([1.0, 5.0, 10.0, 0.0, 20.0])
OUTLIERS, OUTLIER_SCORES = np.array([0, 1, 2]), np.array([30.0, 40.0, 90.0])
LABELED = np.array([100, 101, 102, 103])
N = 20_000


def _pools(labeled=(), **changes):
    parts = {
        "inliers": INLIERS,
        "inlier_scores": INLIER_SCORES,
        "outliers": OUTLIERS,
        "outlier_scores": OUTLIER_SCORES,
        "labeled_outliers": np.array(labeled, dtype=np.int64),
    }
    return Pools(**{**parts, **changes})


def _draw(pools=None, n=N, batch_size=256, seed=0, **options):
    return TripletSampler(**options).draw(pools or _pools(), 1, n, batch_size, np.random.default_rng(seed))[0]


def _p_value(drawn, rows, weights):
    """How well the draws fit probabilities proportional to `weights`; none may fall outside of `rows`."""
    counts = np.array([np.sum(drawn == row) for row in rows])
    assert counts.sum() == drawn.size
    weights = np.asarray(weights, dtype=np.float64)
    return stats.chisquare(counts, weights / weights.sum() * counts.sum()).pvalue


# ---- queries and positives -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_queries", [1, 3])
def test_queries_are_likelier_the_lower_their_score(n_queries):
    drawn = _draw(n_queries=n_queries)
    assert drawn.shape == (N, n_queries + 2)
    queries = drawn[:, :n_queries]
    z = INLIER_SCORES.sum()
    assert _p_value(queries, INLIERS, z - INLIER_SCORES) > 1e-3
    assert _p_value(queries, INLIERS, np.ones(5)) < 1e-9
    assert _p_value(queries, INLIERS, 20.5 - INLIER_SCORES) < 1e-9


def test_positives_are_uniform_over_the_other_inliers():
    """The pair (query, positive): the query by its weight, the positive by one in four of those left."""
    drawn = _draw()
    pairs = [(q, p) for q in range(5) for p in range(5) if q != p]
    codes = [1000 * INLIERS[q] + INLIERS[p] for q, p in pairs]
    weights = [INLIER_SCORES.sum() - INLIER_SCORES[q] for q, _ in pairs]
    assert _p_value(1000 * drawn[:, 0] + drawn[:, 1], codes, weights) > 1e-3
    assert _p_value(1000 * drawn[:, 0] + drawn[:, 1], codes, np.ones(len(codes))) < 1e-9


@pytest.mark.parametrize("n_queries", [1, 2, 4])
def test_a_positive_is_none_of_its_queries(n_queries):
    """With four queries out of five inliers, often a single row is left."""
    drawn = _draw(n_queries=n_queries)
    assert not (drawn[:, :n_queries] == drawn[:, n_queries, None]).any()
    assert set(drawn[:, n_queries]) == set(INLIERS)


def test_queries_of_a_triplet_are_drawn_with_replacement():
    """Two draws are the same row with probability sum p²."""
    drawn = _draw(n_queries=2)
    p = INLIER_SCORES.sum() - INLIER_SCORES
    same = np.sum((p / p.sum()) ** 2)
    assert stats.binomtest(int(np.sum(drawn[:, 0] == drawn[:, 1])), N, same).pvalue > 1e-3


def test_an_inlier_with_the_whole_score_is_never_a_query():
    pools = _pools(inlier_scores=np.array([0.0, 0.0, 7.0, 0.0, 0.0]))
    drawn = _draw(pools)
    assert 6 not in drawn[:, 0]
    assert 6 in drawn[:, 1]


# ---- negatives -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1.0, 1e-300, 1e30])
def test_negatives_are_likelier_the_higher_their_score(size):
    negatives = _draw(_pools(outlier_scores=OUTLIER_SCORES * size))[:, -1]
    assert _p_value(negatives, OUTLIERS, OUTLIER_SCORES) > 1e-3
    assert _p_value(negatives, OUTLIERS, np.ones(3)) < 1e-9


def test_zero_scores_are_drawn_uniformly():
    drawn = _draw(_pools(inlier_scores=np.zeros(5), outlier_scores=np.zeros(3)))
    assert _p_value(drawn[:, 0], INLIERS, np.ones(5)) > 1e-3
    assert _p_value(drawn[:, -1], OUTLIERS, np.ones(3)) > 1e-3


@pytest.mark.parametrize(("fraction", "labeled"), [(0.0, 0), (0.25, 64), (0.5, 128), (1.0, 256)])
def test_every_batch_has_its_share_of_labeled_negatives(fraction, labeled):
    negatives = _draw(_pools(LABELED), n=256 * 8 + 100, labeled_fraction=fraction)[:, -1]
    batches = np.split(negatives >= 100, range(256, 256 * 8 + 1, 256))
    assert [int(batch.sum()) for batch in batches[:-1]] == [labeled] * 8
    assert batches[-1].sum() == round(100 * fraction)


@pytest.mark.parametrize(("n_labeled", "labeled"), [(1, 51), (3, 110), (4, 128), (20, 128), (60, 192), (180, 230)])
def test_the_automatic_share_is_half_and_grows_with_the_labels(n_labeled, labeled):
    """n / (n + 20) of a batch of 256 where that is more than half, n / (n + 4) where that is less."""
    negatives = _draw(_pools(100 + np.arange(n_labeled)), n=256 * 4)[:, -1]
    assert [int(np.sum(batch >= 100)) for batch in np.split(negatives, 4)] == [labeled] * 4


def test_every_epoch_starts_a_batch_of_its_own():
    """Ten triplets in batches of four, three times: two labelled of four, two of four, one of two, and again."""
    epochs = TripletSampler(labeled_fraction=0.5).draw(_pools(LABELED), 3, 10, 4, np.random.default_rng(0))
    assert epochs.shape == (3, 10, 3)
    labeled = epochs[..., -1] >= 100
    assert [[int(part.sum()) for part in np.split(epoch, [4, 8])] for epoch in labeled] == [[2, 2, 1]] * 3
    assert not np.array_equal(epochs[0], epochs[1])


def test_labeled_negatives_are_uniform_and_the_others_weighted():
    negatives = _draw(_pools(LABELED), labeled_fraction=0.5)[:, -1]
    assert _p_value(negatives[negatives >= 100], LABELED, np.ones(4)) > 1e-3
    assert _p_value(negatives[negatives < 100], OUTLIERS, OUTLIER_SCORES) > 1e-3


@pytest.mark.parametrize("fraction", [0.0, 0.5, 1.0, "auto"])
def test_without_labeled_outliers_the_fraction_means_nothing(fraction):
    assert set(_draw(labeled_fraction=fraction)[:, -1]) == set(OUTLIERS)


def test_only_labeled_negatives_need_no_candidates():
    pools = _pools(LABELED, outliers=np.empty(0, dtype=np.int64), outlier_scores=np.empty(0))
    TripletSampler(labeled_fraction=1.0).check(pools)
    assert set(_draw(pools, labeled_fraction=1.0)[:, -1]) == set(LABELED)


# ---- seeds and limits ----------------------------------------------------------------------------------------------


def test_draws_follow_the_seed():
    assert np.array_equal(_draw(seed=1), _draw(seed=1))
    assert not np.array_equal(_draw(seed=1), _draw(seed=2))


@pytest.mark.parametrize(("n_queries", "n_inliers"), [(1, 1), (1, 0), (5, 5)])
def test_too_few_inliers_are_refused(n_queries, n_inliers):
    pools = _pools(inliers=INLIERS[:n_inliers], inlier_scores=INLIER_SCORES[:n_inliers])
    message = rf"{n_inliers} inlier candidates.* n_queries={n_queries} needs at least {n_queries + 1}"
    with pytest.raises(OptionError, match=message):
        TripletSampler(n_queries).check(pools)


@pytest.mark.parametrize(("labeled", "fraction"), [((), 1.0), (LABELED, 0.5), (LABELED, "auto")])
def test_no_outlier_candidates_are_refused(labeled, fraction):
    pools = _pools(labeled, outliers=np.empty(0, dtype=np.int64), outlier_scores=np.empty(0))
    with pytest.raises(OptionError, match=r"no outlier candidates .* labeled_fraction=1\.0"):
        TripletSampler(labeled_fraction=fraction).check(pools)
