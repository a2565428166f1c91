"""The training kernels against the reference: the gradient, one step, hundreds of steps, and the loop around them."""

import numpy as np
import pytest

from ramodo import kernels
from ramodo.data.blocks import DenseRows
from ramodo.fitting.training import Start, scale_for, train
from ramodo.kernels import Phi
from ramodo.stages.adadelta import Adadelta
from ramodo.stages.ranking_loss import RankingHinge
from reference import batches, hinge_gradient, hinge_loss, initial_weights
from reference import train as reference_train
from support.examples import PLAIN, Kind, random_triplets, scattered
from support.side_by_side import LIMIT, MARGIN, OPTIONS, SEED, WIDTH, check_against_reference, run_kernel

N_ROWS, N_FEATURES, BATCH = 24, 30, 8
X = scattered(1, (N_ROWS, N_FEATURES))

widths = pytest.mark.parametrize("width", [1, 3, 4, 20, 33, 100])
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])
queries = pytest.mark.parametrize("n_queries", [1, 3])
margins = pytest.mark.parametrize("margin", [50.0, 0.5])
either = pytest.mark.parametrize("rows", [PLAIN.rows, DenseRows], ids=["sparse", "dense"])


# ---- the gradient --------------------------------------------------------------------------------------------------


@queries
def test_reference_gradient_equals_finite_differences(n_queries):
    """A margin that leaves some triplets satisfied, so that both sides of the hinge are met."""
    weights = initial_weights(SEED, range(N_FEATURES), 4, LIMIT)
    triplets = random_triplets(2, 12, N_ROWS, n_queries).tolist()
    losses = [hinge_loss(X, weights, [triplet], 0.4) for triplet in triplets]
    assert 0 < np.count_nonzero(losses) < len(losses)
    numeric, step = np.zeros_like(weights), 1e-6
    for place in np.ndindex(weights.shape):
        up, down = weights.copy(), weights.copy()
        up[place] += step
        down[place] -= step
        numeric[place] = (hinge_loss(X, up, triplets, 0.4) - hinge_loss(X, down, triplets, 0.4)) / (2 * step)
    assert np.abs(numeric).max() > 0.01
    np.testing.assert_allclose(hinge_gradient(X, weights, triplets, 0.4), numeric, atol=1e-8)


# ---- kernel = reference --------------------------------------------------------------------------------------------


@widths
def test_one_sparse_step_equals_reference(kind, width):
    triplets = random_triplets(3, BATCH, N_ROWS)
    assert check_against_reference(kind.rows(X), X, triplets, BATCH, width=width) > 1e-3


@dtypes
@widths
def test_one_dense_step_equals_reference(dtype, width):
    triplets = random_triplets(3, BATCH, N_ROWS)
    assert check_against_reference(DenseRows(X.astype(dtype)), X, triplets, BATCH, width=width) > 1e-3


@queries
@margins
def test_hundreds_of_sparse_steps_equal_reference(kind, n_queries, margin):
    triplets = random_triplets(4, 300 * BATCH + 3, N_ROWS, n_queries)
    moved = check_against_reference(kind.rows(X), X, triplets, BATCH, n_queries=n_queries, margin=margin)
    assert moved > 0.05


@dtypes
@queries
@margins
def test_hundreds_of_dense_steps_equal_reference(dtype, n_queries, margin):
    triplets = random_triplets(4, 300 * BATCH + 3, N_ROWS, n_queries)
    rows = DenseRows(X.astype(dtype))
    assert check_against_reference(rows, X, triplets, BATCH, n_queries=n_queries, margin=margin) > 0.05


@pytest.mark.parametrize("n_features", [10**4, 10**12])
def test_features_scattered_over_a_wide_space(kind, n_features):
    """Places of records are no longer indices: a copy over the features seen, by bitmap or hash table."""
    n_features = min(n_features, np.iinfo(kind.index).max)
    columns = np.sort(np.random.default_rng(5).choice(n_features, N_FEATURES, replace=False))
    rows = kind.rows(X, n_features=n_features, columns=columns)
    triplets = random_triplets(6, 100 * BATCH, N_ROWS)
    assert check_against_reference(rows, X, triplets, BATCH, columns=columns) > 0.02


@pytest.mark.parametrize(("n_features", "width"), [(3000, 7), (140_000, 1)])
def test_many_features(n_features, width):
    """Features are dealt into buckets, the wider the more there are; the widest come with more than 2^17 of them."""
    dense = scattered(20, (N_ROWS, n_features), density=0.1)
    dense[np.arange(n_features) % 11, np.arange(n_features)] = 1.0
    rows = Kind(np.float32, np.int64, PLAIN.container).rows(dense)
    triplets = random_triplets(21, 10 * BATCH, N_ROWS)
    assert check_against_reference(rows, dense, triplets, BATCH, width=width, margin=1e5) > 1e-3


@dtypes
def test_records_in_place_and_over_a_copy_train_alike(dtype):
    """16 D <= non-zeros trains in place; empty columns at the end tip the same rows over to a copy."""
    dense, kind = scattered(7, (60, 10), density=0.6), Kind(dtype, np.int32, PLAIN.container)
    in_place, copied = kind.rows(dense), kind.rows(dense, n_features=10**5)
    assert 16 * 10 <= len(in_place.data) < 16 * 10**5
    triplets = random_triplets(8, 50 * BATCH, 60)
    assert check_against_reference(in_place, dense, triplets, BATCH) > 0.02
    pairs = zip(run_kernel(in_place, triplets, BATCH), run_kernel(copied, triplets, BATCH), strict=True)
    assert all(np.array_equal(left, right) for left, right in pairs)


@either
def test_repeated_rows_of_a_batch_add_up(rows):
    """One triplet eight times; then rows that are query, positive and negative of one batch, one its own query."""
    same = np.tile(random_triplets(9, 1, N_ROWS), (BATCH, 1))
    check_against_reference(rows(X), X, same, BATCH)
    chain = np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 0, 2]])
    check_against_reference(rows(X), X, np.tile(chain, (50, 1)), 4)


@either
def test_triplets_name_rows_by_their_place_among_those_selected(rows):
    selected, triplets = np.array([20, 3, 7, 11]), np.array([[0, 1, 2], [3, 0, 1]])
    assert check_against_reference(rows(X), X, triplets, 2, selected=selected) > 1e-3


def test_a_finished_trainer_takes_no_more_steps():
    """Its memory has become the result."""
    trainer = kernels.Trainer(PLAIN.rows(X), np.arange(N_ROWS), **OPTIONS)
    trainer.finish()
    with pytest.raises(ValueError, match="training is over"):
        trainer.run(random_triplets(3, BATCH, N_ROWS), BATCH)
    with pytest.raises(ValueError, match="training is over"):
        trainer.finish()


# ---- threads and scale ---------------------------------------------------------------------------------------------


@either
@pytest.mark.parametrize("width", [20, 33])
def test_threads_do_not_change_a_bit(rows, width):
    """Batches above the 50,000 non-zeros from which on threads are used."""
    dense = scattered(15, (300, 2000), density=0.3)
    triplets = random_triplets(16, 6 * 128, 300)
    assert np.count_nonzero(dense[np.unique(triplets[:128])]) > 50_000
    one, *more = (run_kernel(rows(dense), triplets, 128, width=width, n_threads=n) for n in (1, 2, 3))
    for other in more:
        assert all(np.array_equal(left, right) for left, right in zip(one, other, strict=True))


@either
def test_huge_values_train_like_small_ones(rows):
    """Powers of two change no digit: X times 2^60 with the margin times 2^120, brought back by the scale."""
    triplets = random_triplets(17, 50 * BATCH, N_ROWS)
    columns, weights, losses = run_kernel(rows(X), triplets, BATCH)
    huge = run_kernel(rows(X * 2.0**60), triplets, BATCH, margin=MARGIN * 2.0**120, scale=2.0**-60)
    assert np.array_equal(columns, huge[0])
    assert np.array_equal(weights, huge[1])
    assert np.array_equal(losses, huge[2] / 2.0**120)


@pytest.mark.parametrize(
    ("largest", "expected"), [(0.0, 1.0), (1.0, 1.0), (2.0**20, 1.0), (2.0**21, 0.5), (1e30, 2.0**-80)]
)
def test_scale_brings_values_into_range(largest, expected):
    assert scale_for(largest) == expected
    assert largest * expected <= 2.0**20


# ---- the loop ------------------------------------------------------------------------------------------------------


def _train(epochs, batch_size, show=lambda *_: None):
    return train(
        PLAIN.rows(X).training_rows(epochs, []),
        len(epochs),
        batch_size,
        width=WIDTH,
        slope=0.0,
        loss=RankingHinge(MARGIN).for_phi(Phi(), 1),
        head=None,
        start=Start(SEED, LIMIT),
        scale=1.0,
        adadelta=Adadelta(),
        n_threads=1,
        show=show,
    )


def test_the_loop_equals_reference_over_epochs():
    """State is kept from epoch to epoch; an epoch's loss is the mean over its triplets, short last batch included."""
    epochs = np.stack([random_triplets(18, 19, N_ROWS), random_triplets(19, 19, N_ROWS)])
    trained = _train(epochs, BATCH)
    start = initial_weights(SEED, range(N_FEATURES), WIDTH, LIMIT)
    all_batches = [batch for epoch in epochs for batch in batches(epoch, BATCH)]
    expected, losses = reference_train(X, all_batches, start, MARGIN)
    np.testing.assert_allclose(trained.weights, expected[trained.columns], atol=1e-6)
    per_epoch = losses.reshape(2, 3) @ [8 / 19, 8 / 19, 3 / 19]
    np.testing.assert_allclose(trained.loss_curve, per_epoch, rtol=1e-6)


def test_the_loop_reports_every_epoch():
    seen = []
    _train(np.stack([random_triplets(n, 5, N_ROWS) for n in range(3)]), 4, show=lambda *share: seen.append(share))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_adadelta_has_the_paper_s_rate():
    """At today's common default of 0.001 the method hardly trains."""
    assert (Adadelta().learning_rate, Adadelta().rho) == (1.0, 0.95)
