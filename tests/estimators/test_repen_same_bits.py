"""What must not change a score: threads, neighbours, blocks, a second run; and what changes it by rounding alone."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from ramodo import REPEN
from ramodo.data import blocks as rows_module
from ramodo.datasets import make_ultrahigh
from reference import forward, initial_weights, sp_scores
from support.examples import either, same_bits


@pytest.fixture(scope="module")
def large():
    """Rows of 300 non-zeros: a batch has some 200,000, four times what puts a step on threads."""
    return make_ultrahigh(600, 3000, row_length=300, random_state=0)[0]


def _first(detector):
    return detector.model_.learned[0].representation.first


@either
def test_two_threads_give_the_bits_of_one(quick, large, make):
    X = make(large)
    one, two = (quick(n_jobs=n).fit(X) for n in (1, 2))
    assert same_bits(one, two)
    assert np.array_equal(one.transform(X), two.transform(X))
    assert np.array_equal(one.outlier_score(X), two.outlier_score(X))


@either
def test_fit_scores_are_the_scores_of_the_same_rows(quick, large, make):
    X = make(large)
    detector = quick().fit(X)
    assert np.array_equal(detector.outlier_scores_, detector.outlier_score(X))


@either
@pytest.mark.parametrize("n_components", [6, 20, 33])
def test_a_row_alone_scores_as_it_does_among_others(quick, data, make, n_components):
    X = make(data[0])
    detector = quick(n_components=n_components).fit(X)
    together = detector.outlier_score(X)
    alone = np.concatenate([detector.outlier_score(X[i : i + 1]) for i in range(X.shape[0])])
    assert np.array_equal(together, alone)
    order = np.random.default_rng(0).permutation(X.shape[0])
    assert np.array_equal(detector.outlier_score(X[order]), together[order])


@pytest.mark.parametrize("entries", [50, 1000])
def test_blocks_do_not_change_a_bit(quick, data, monkeypatch, entries):
    whole = quick().fit(data[0])
    monkeypatch.setattr(rows_module, "_BLOCK_ENTRIES", entries)
    assert same_bits(whole, quick().fit(data[0]))
    assert np.array_equal(whole.outlier_score(data[0]), whole.outlier_scores_)


@either
def test_the_same_seed_gives_the_same_bits(quick, data, make):
    X = make(data[0])
    assert same_bits(quick(random_state=7).fit(X), quick(random_state=7).fit(X))


def test_a_second_fit_starts_anew(quick, data):
    detector = quick().fit(data[0])
    first = detector.outlier_scores_
    assert np.array_equal(detector.fit(data[0]).outlier_scores_, first)


def test_other_seeds_give_other_references_triplets_and_weights(quick, data):
    one, two = (quick(random_state=seed).fit(data[0]) for seed in (1, 2))
    assert _first(one).seed != _first(two).seed
    for name in ("initial_scores_", "loss_curve_", "feature_weights_", "outlier_scores_"):
        assert not np.isclose(getattr(one, name), getattr(two, name), rtol=1e-9).any()


def test_no_seed_gives_other_scores_each_time(quick, data):
    one, two = (quick(random_state=None).fit(data[0]) for _ in range(2))
    assert not np.isclose(one.outlier_scores_, two.outlier_scores_, rtol=1e-9).any()


@pytest.mark.parametrize("source", [np.random.RandomState, np.random.default_rng])
def test_a_generator_gives_a_seed_and_moves_on(quick, data, source):
    rng, same = source(5), source(5)
    first, second = (quick(random_state=rng).fit(data[0]) for _ in range(2))
    assert not np.array_equal(first.outlier_scores_, second.outlier_scores_)
    assert same_bits(first, quick(random_state=same).fit(data[0]))


@pytest.mark.parametrize("options", [{}, {"n_queries": 3}, {"margin": 5.0}], ids=repr)
def test_sparse_and_dense_data_score_alike(data, options):
    """Sums in another order: the same draws, weights equal to single precision."""
    X = data[0].astype(np.float32)
    sparse, dense = (
        REPEN(n_epochs=10, batch_size=32, random_state=0, **options).fit(kind) for kind in (X, X.toarray())
    )
    np.testing.assert_allclose(sparse.initial_scores_, dense.initial_scores_, rtol=1e-7)
    assert np.array_equal(sparse.candidate_outliers_, dense.candidate_outliers_)
    np.testing.assert_allclose(sparse.outlier_scores_, dense.outlier_scores_, rtol=1e-3)
    np.testing.assert_allclose(dense.outlier_score(X), sparse.outlier_score(X.toarray()), rtol=1e-3)


def test_sparse_and_dense_data_score_alike_at_the_paper_s_settings(large):
    sparse, dense = (REPEN(random_state=0).fit(kind).outlier_scores_ for kind in (large, large.toarray()))
    assert spearmanr(sparse, dense).statistic > 0.999


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_dtype_and_index_width_do_not_change_the_draws(quick, data, dtype, index):
    X = data[0].astype(np.float32).astype(dtype)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    expected = quick().fit(data[0].astype(np.float32))
    assert np.array_equal(quick().fit(X).outlier_scores_, expected.outlier_scores_)


@pytest.mark.parametrize("n_features", [40, 10**5])
def test_unseen_features_have_weights_of_their_own(quick, data, n_features):
    """Fit on rows that lack features 30 to 39; later rows that have them score by the seed's weights, every time."""
    X, news = data[0].copy(), data[0][-6:].copy()
    X.data[X.indices >= 30] = 0.0
    X.resize(120, n_features)
    news.resize(6, n_features)
    one, two = quick().fit(X), quick().fit(X)
    assert n_features == 40 or set(one.feature_indices_) <= set(range(40))
    assert np.array_equal(one.outlier_score(news), two.outlier_score(news))
    assert not np.isclose(one.outlier_score(news), one.outlier_score(X[-6:])).any()

    first = _first(one)
    weights = initial_weights(first.seed, range(40), 6, first.limit)
    stored = one.feature_indices_ < 40
    weights[one.feature_indices_[stored]] = one.feature_weights_[stored]
    np.testing.assert_array_equal(weights[30:], initial_weights(first.seed, range(30, 40), 6, first.limit))
    expected = sp_scores(
        forward(data[0][-6:].toarray(), weights), one.references_, one.model_.learned[0].detection.size
    )
    np.testing.assert_allclose(one.outlier_score(news), expected, rtol=1e-4)
    np.testing.assert_allclose(one.outlier_score(news.toarray()), expected, rtol=1e-4)
