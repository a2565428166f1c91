"""φ of the k-th and of the k nearest: scores, loss and training against the reference; scorers as detectors."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from ramodo import RAMODO, AverageNeighborREPEN, AverageNN, KthNeighborREPEN, KthNN, Sp, TripletSampler, kernels
from ramodo.data.blocks import DenseRows
from ramodo.kernels import Phi, SmallSp
from ramodo.options import OptionError
from reference import batches, initial_weights, rows_gradient, rows_loss, sp_scores, train
from support.examples import PLAIN, random_triplets, scattered, single, with_outliers

SIZE = 5
"""References in a subsample, and queries in a triplet."""

ALL_K = range(1, SIZE + 1)
PHIS = [Phi()] + [Phi(k, average) for k in (2, 3, SIZE) for average in (False, True)]

phis = pytest.mark.parametrize("phi", PHIS, ids=lambda phi: f"{'average' if phi.average else 'k'}-{phi.k}")
every_k = pytest.mark.parametrize("k", ALL_K)
scorers = pytest.mark.parametrize("make", [KthNN, AverageNN])
either = pytest.mark.parametrize("kind_of", [sp.csr_array, np.asarray], ids=["sparse", "dense"])
all_scorers = pytest.mark.parametrize("scorer", [Sp(), KthNN(3), AverageNN(3)], ids=lambda s: type(s).__name__)


# ---- scores --------------------------------------------------------------------------------------------------------


def _rows_and_references():
    X = scattered(1, (40, 30), density=0.2)
    X[:, :3] = single(X[:, :3] + 1.0)
    references = single(X[np.random.default_rng(2).integers(40, size=4 * SIZE)] * 1.5)
    references[7] = X[3]
    return X, references


@scorers
@every_k
def test_sparse_scores_equal_reference(kind, make, k):
    X, references = _rows_and_references()
    found = make(k).against(kind.rows(references), SIZE, 1)(kind.rows(X))
    np.testing.assert_allclose(found, sp_scores(X, references, SIZE, k, make is AverageNN), rtol=1e-12)


@scorers
@every_k
@pytest.mark.parametrize("n_features", [10**6, 10**12])
def test_sparse_scores_equal_reference_over_a_wide_space(make, k, n_features):
    """Features are found by bitmap and by hash table."""
    X, references = _rows_and_references()
    columns = np.sort(np.random.default_rng(3).choice(10**6, 30, replace=False))
    wide = [type(PLAIN)(np.float64, np.int64, sp.csr_array).rows(part, n_features, columns) for part in (references, X)]
    found = make(k).against(wide[0], SIZE, 1)(wide[1])
    np.testing.assert_allclose(found, sp_scores(X, references, SIZE, k, make is AverageNN), rtol=1e-12)


@scorers
@every_k
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dense_scores_equal_reference(make, k, dtype):
    X, references = _rows_and_references()
    found = make(k).against(DenseRows(references.astype(dtype)), SIZE, 1)(DenseRows(X.astype(dtype)))
    np.testing.assert_allclose(found, sp_scores(X, references, SIZE, k, make is AverageNN), rtol=1e-9)


@scorers
@pytest.mark.parametrize("width", [1, 5, 20])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 8, 13])
def test_scores_in_the_representation_equal_reference(make, size, width):
    """Subsamples of any size are padded; the padding must be nobody's neighbour."""
    rng = np.random.default_rng(size)
    rows, references = (rng.random((n, width), dtype=np.float32) * 10 for n in (30, 3 * size))
    for k in range(1, size + 1):
        found = SmallSp(references, size, make(k).phi).score(rows, 1)
        np.testing.assert_allclose(found, sp_scores(rows, references, size, k, make is AverageNN), rtol=1e-12)


def test_scores_derived_by_hand():
    """Points 0, 3 and 10 on a line and one subsample {0, 3, 10, 11}: second nearest, and mean of the two nearest."""
    X, references = np.array([[0.0], [3.0], [10.0]]), np.array([[0.0], [3.0], [10.0], [11.0]])
    for rows in (PLAIN.rows, DenseRows):
        assert KthNN(2).against(rows(references), 4, 1)(rows(X)).tolist() == [3.0, 3.0, 1.0]
        assert AverageNN(2).against(rows(references), 4, 1)(rows(X)).tolist() == [1.5, 1.5, 0.5]
        assert KthNN(4).against(rows(references), 4, 1)(rows(X)).tolist() == [11.0, 8.0, 10.0]


@scorers
@pytest.mark.parametrize("rows", [PLAIN.rows, DenseRows], ids=["sparse", "dense"])
def test_k_of_one_has_the_bits_of_sp(make, rows):
    X, references = _rows_and_references()
    nearest = Sp().against(rows(references), SIZE, 1)(rows(X))
    assert np.array_equal(make(1).against(rows(references), SIZE, 1)(rows(X)), nearest)
    small = references.astype(np.float32)
    expected = SmallSp(small, SIZE, Sp().phi).score(X.astype(np.float32), 1)
    assert np.array_equal(SmallSp(small, SIZE, make(1).phi).score(X.astype(np.float32), 1), expected)


# ---- the ranking loss ----------------------------------------------------------------------------------------------


def _hidden(seed=4, shape=(18, 4)):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def _some_satisfied(hidden, triplets, phi):
    """A margin in the middle of what the triplets need, so that both sides of the hinge are met."""
    needed = [rows_loss(hidden, [triplet], 1e3, *phi) - 1e3 for triplet in triplets]
    return -float(np.mean([np.median(needed), np.max(needed)]))


@phis
def test_reference_gradient_equals_finite_differences(phi):
    hidden = _hidden().astype(np.float64)
    triplets = random_triplets(5, 20, 18, SIZE).tolist()
    margin = _some_satisfied(hidden, triplets, phi)
    active = np.count_nonzero([rows_loss(hidden, [triplet], margin, *phi) for triplet in triplets])
    assert 0 < active < len(triplets)
    numeric, step = np.zeros_like(hidden), 1e-6
    for place in np.ndindex(hidden.shape):
        up, down = hidden.copy(), hidden.copy()
        up[place] += step
        down[place] -= step
        numeric[place] = (rows_loss(up, triplets, margin, *phi) - rows_loss(down, triplets, margin, *phi)) / (2 * step)
    assert np.abs(numeric).max() > 0.01
    np.testing.assert_allclose(rows_gradient(hidden, triplets, margin, *phi), numeric, atol=1e-7)


@phis
@pytest.mark.parametrize("width", [1, 4, 21])
def test_hinge_equals_reference(phi, width):
    hidden = _hidden(6, (18, width))
    triplets = random_triplets(7, 40, 18, SIZE)
    margin = _some_satisfied(hidden.astype(np.float64), triplets.tolist(), phi)
    loss, gradient = kernels.hinge(hidden, triplets.astype(np.int32), phi, margin)
    doubles = hidden.astype(np.float64)
    assert loss == pytest.approx(rows_loss(doubles, triplets.tolist(), margin, *phi), rel=1e-12)
    assert loss > 0
    np.testing.assert_allclose(gradient, rows_gradient(doubles, triplets.tolist(), margin, *phi), atol=1e-6)


@phis
def test_hinge_counts_queries_that_recur(phi):
    """Queries are drawn with replacement: one that comes twice is two neighbours at the same distance."""
    hidden, triplets = _hidden(), random_triplets(8, 30, 18, SIZE)
    triplets[:, 1] = triplets[:, 0]
    loss, gradient = kernels.hinge(hidden, triplets.astype(np.int32), phi, 5.0)
    doubles = hidden.astype(np.float64)
    assert loss == pytest.approx(rows_loss(doubles, triplets.tolist(), 5.0, *phi), rel=1e-12)
    np.testing.assert_allclose(gradient, rows_gradient(doubles, triplets.tolist(), 5.0, *phi), atol=1e-6)


# ---- whole training steps ------------------------------------------------------------------------------------------

SEED, LIMIT, WIDTH, BATCH = 11, 0.3, 7, 8
X = scattered(1, (24, 30))


def _check_training(rows, triplets, phi, slope, margin):
    """Assert weights and losses of the reference; returns the largest change of a weight."""
    trainer = kernels.Trainer(
        rows,
        np.arange(rows.n_rows),
        width=WIDTH,
        n_queries=triplets.shape[1] - 2,
        k=phi.k,
        average=phi.average,
        margin=margin,
        slope=slope,
        scale=1.0,
        seed=SEED,
        limit=LIMIT,
        learning_rate=1.0,
        rho=0.95,
        epsilon=1e-7,
        n_threads=1,
    )
    losses = trainer.run(triplets, BATCH)
    columns, weights = trainer.finish()
    start = initial_weights(SEED, range(30), WIDTH, LIMIT)
    expected, expected_losses = train(
        X, batches(triplets, BATCH), start, margin, k=phi.k, average=phi.average, slope=slope
    )
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(weights, expected[columns], atol=2e-5)
    still = np.setdiff1d(np.arange(30), columns)
    assert np.array_equal(expected[still], start[still])
    return np.abs(expected - start).max()


@phis
@pytest.mark.parametrize("slope", [0.0, 0.01, 1.0], ids=["relu", "leaky", "linear"])
@pytest.mark.parametrize("rows", [PLAIN.rows, DenseRows], ids=["sparse", "dense"])
@pytest.mark.parametrize("margin", [50.0, 0.3])
def test_training_equals_reference(rows, phi, slope, margin):
    triplets = random_triplets(9, 15 * BATCH + 3, 24, SIZE)
    assert _check_training(rows(X), triplets, phi, slope, margin) > 2e-3


@pytest.mark.parametrize("phi", [Phi(3), Phi(3, True)], ids=["k", "average"])
def test_training_equals_reference_for_all_kinds_of_rows(kind, phi):
    triplets = random_triplets(10, 10 * BATCH, 24, SIZE)
    assert _check_training(kind.rows(X), triplets, phi, 0.01, 50.0) > 1e-3


# ---- what is refused -----------------------------------------------------------------------------------------------


@scorers
@pytest.mark.parametrize(
    ("k", "message"),
    [
        (0, "k must be .*, got 0"),
        (-1, "k must be .*, got -1"),
        (2.0, r"k must be .*, got 2\.0"),
        ("3", "k must be .*, got '3'"),
        (9, "k must be at most subsample_size=8.*, got 9"),
    ],
)
def test_unusable_k_is_refused(make, k, message, data):
    for detector in (make(k), RAMODO(scorer=make(k)), RAMODO(ranker=make(k))):
        with pytest.raises(OptionError, match=message):
            detector.fit(data[0])
        assert not [name for name in vars(detector) if name.endswith("_")]


@pytest.mark.parametrize("make", [KthNeighborREPEN, AverageNeighborREPEN])
def test_unusable_k_is_refused_by_the_detectors_of_neighbours(make, data):
    for options, message in (
        ({"k": 0}, "k must be .*, got 0"),
        ({"k": 9}, "k must be at most subsample_size=8.*, got 9"),
        ({"k": 4, "n_queries": 3}, "n_queries must be at least k=4.*, got 3"),
    ):
        with pytest.raises(OptionError, match=message):
            make(**options).fit(data[0])


@scorers
def test_more_neighbours_than_queries_are_refused(make, data):
    with pytest.raises(OptionError, match=r"n_queries must be at least k=4.*, got 3"):
        RAMODO(scorer=make(4), sampler=TripletSampler(3)).fit(data[0])


@scorers
def test_no_more_neighbours_than_a_shrunken_subsample_has_are_looked_at(make, data):
    """Five rows leave subsamples of two."""
    X = data[0][:5]
    with pytest.warns(UserWarning, match=r"of the 5 rows to draw from; subsamples of 2 are used, and k=2 in place"):
        few = make(3, random_state=0).fit(X)
    with pytest.warns(UserWarning, match=r"subsamples of 2 are used\.$"):
        two = make(2, random_state=0).fit(X)
    assert np.array_equal(few.outlier_scores_, two.outlier_scores_)


@scorers
@pytest.mark.filterwarnings("ignore:subsample_size")
def test_nor_in_the_representation(make, data):
    """Known outliers beside five rows: inliers enough for the queries, and references from the rows alone."""
    X, beside = data[0][:5], {"labeled_outliers": data[0][115:], "labeled_inliers": data[0][5:20]}
    few, two = (
        RAMODO(make(k), sampler=TripletSampler(4), loss=_no_loss, n_epochs=1, random_state=0).fit(X, **beside)
        for k in (3, 2)
    )
    assert few.model_.learned[0].detection.phi.k == 2
    assert np.array_equal(few.outlier_scores_, two.outlier_scores_)


def _no_loss(rows, triplets):
    return 0.0, np.zeros_like(rows)


# ---- detectors of their own ----------------------------------------------------------------------------------------


@all_scorers
@either
def test_a_scorer_detects_planted_outliers(scorer, kind_of, data):
    X, truth = data
    X = kind_of(X.toarray())
    detector = clone(scorer).set_params(random_state=0).fit(X)
    assert np.array_equal(detector.outlier_scores_, detector.outlier_score(X))
    assert np.array_equal(detector.score_samples(X), -detector.outlier_scores_)
    assert detector.outlier_scores_[truth == 1].min() > detector.outlier_scores_[truth == 0].max()
    assert np.array_equal(detector.predict(X), np.where(detector.outlier_scores_ >= detector.threshold_, -1, 1))
    assert np.array_equal(detector.fit_predict(X), detector.predict(X))
    assert set(np.flatnonzero(detector.predict(X) == -1)) == set(np.flatnonzero(truth))
    assert np.array_equal(detector.decision_function(X) < 0, detector.predict(X) == -1)


@all_scorers
def test_a_scorer_scores_against_the_rows_it_drew(scorer, data):
    X = data[0].toarray()
    detector = clone(scorer).set_params(random_state=3).fit(X)
    drawn = scorer.draw(np.arange(120), np.random.default_rng(3))
    assert drawn.shape == (50, 8)
    expected = sp_scores(X, X[drawn.ravel()], 8, scorer.phi.k, scorer.phi.average)
    np.testing.assert_allclose(detector.outlier_scores_, expected, rtol=1e-7, atol=1e-7)


@all_scorers
def test_known_outliers_are_no_references_of_a_scorer(scorer):
    """Thirty ordinary rows and ten equal ones far away: known, those have no near reference."""
    X = np.vstack([np.random.default_rng(0).random((30, 3)), np.full((10, 3), 50.0)])
    y = np.repeat([0, 1], [30, 10])
    told, untold = (clone(scorer).set_params(random_state=0).fit(X, labels=labels) for labels in (y, None))
    assert told.outlier_scores_[30:].min() > 80
    assert untold.outlier_scores_[30:].max() < told.outlier_scores_[30:].min()


@all_scorers
def test_sparse_and_dense_data_score_alike(scorer, data):
    X = data[0].astype(np.float32)
    sparse, dense = (clone(scorer).set_params(random_state=0).fit(kind) for kind in (X, X.toarray()))
    np.testing.assert_allclose(sparse.outlier_scores_, dense.outlier_scores_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(sparse.threshold_, dense.threshold_, rtol=1e-6)


@all_scorers
@either
def test_a_row_alone_scores_as_it_does_among_others(scorer, kind_of, data):
    X = kind_of(data[0].toarray())
    detector = clone(scorer).set_params(random_state=0).fit(X)
    alone = np.concatenate([detector.outlier_score(X[i : i + 1]) for i in range(120)])
    assert np.array_equal(alone, detector.outlier_scores_)


@all_scorers
@either
def test_threads_and_repetition_do_not_change_a_bit(scorer, kind_of):
    X = kind_of(with_outliers(n_rows=600)[0].toarray())
    first, *others = (clone(scorer).set_params(random_state=5, n_jobs=n).fit(X) for n in (1, 1, 2))
    for other in others:
        assert np.array_equal(first.outlier_scores_, other.outlier_scores_)
        assert first.threshold_ == other.threshold_
    another = clone(scorer).set_params(random_state=6).fit(X)
    assert not np.isclose(first.outlier_scores_, another.outlier_scores_, rtol=1e-9).any()


@all_scorers
@either
def test_a_pickled_scorer_scores_the_same(scorer, kind_of, data):
    X = kind_of(data[0].toarray())
    detector = clone(scorer).set_params(random_state=0).fit(X)
    back = pickle.loads(pickle.dumps(detector))
    assert np.array_equal(back.outlier_score(X), detector.outlier_scores_)
    assert np.array_equal(back.predict(X), detector.predict(X))


@all_scorers
def test_a_clone_is_unfitted_and_fits_the_same(scorer, data):
    detector = clone(scorer).set_params(random_state=0, n_subsamples=7).fit(data[0])
    copy = clone(detector)
    assert copy.get_params() == detector.get_params()
    assert not [name for name in vars(copy) if name.endswith("_")]
    assert np.array_equal(copy.fit(data[0]).outlier_scores_, detector.outlier_scores_)


@scorers
def test_k_of_one_fits_as_sp(make, data):
    assert np.array_equal(
        make(1, random_state=0).fit(data[0]).outlier_scores_, Sp(random_state=0).fit(data[0]).outlier_scores_
    )
