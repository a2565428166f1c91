"""Training goes on with other rows as if it had had all of them from the start, bit for bit."""

import numpy as np
import pytest

from ramodo import kernels
from ramodo.data.blocks import DenseRows
from support.examples import random_triplets, scattered
from support.side_by_side import OPTIONS

N_ROWS, BATCH = 24, 8
EPOCHS = [random_triplets(seed, 40, N_ROWS) for seed in range(4)]


def _of_part(rows, epoch):
    """The rows that an epoch draws, and the epoch with their positions."""
    own = np.unique(epoch)
    return rows.take(own), np.searchsorted(own, epoch)


def _n_entries(rows):
    return int(rows.entries_before()[-1])


def _whole(rows, start=None):
    trainer = kernels.Trainer(rows, np.arange(N_ROWS), **OPTIONS)
    if start is not None:
        trainer.start_from(*start)
    losses = [trainer.run(epoch, BATCH) for epoch in EPOCHS]
    return losses, trainer.finish()


def _in_parts(rows, start=None):
    (first, epoch), *others = [_of_part(rows, epoch) for epoch in EPOCHS]
    trainer = kernels.Trainer(first, np.arange(first.n_rows), _n_entries(rows), **OPTIONS)
    if start is not None:
        trainer.start_from(*start)
    losses = [trainer.run(epoch, BATCH)]
    for part, epoch in others:
        trainer.go_on(part, np.arange(part.n_rows))
        if start is not None:
            trainer.start_from(*start)
        losses.append(trainer.run(epoch, BATCH))
    return losses, trainer.finish()


def _same(one, other):
    for (losses, (columns, weights)), (known, (known_columns, known_weights)) in [(one, other)]:
        assert np.array_equal(losses, known)
        assert columns.tobytes() == known_columns.tobytes()
        assert weights.tobytes() == known_weights.tobytes()


@pytest.mark.parametrize("n_features", [5, 300], ids=["in place", "over the features seen"])
def test_sparse_rows_in_parts(kind, n_features):
    rows = kind.rows(scattered(1, (N_ROWS, n_features)))
    _same(_in_parts(rows), _whole(rows))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dense_rows_in_parts(dtype):
    rows = DenseRows(scattered(1, (N_ROWS, 30)).astype(dtype))
    _same(_in_parts(rows), _whole(rows))


@pytest.mark.parametrize("is_sparse", [True, False])
def test_given_weights_wait_for_their_features(kind, is_sparse):
    X = scattered(1, (N_ROWS, 300))
    rows = kind.rows(X) if is_sparse else DenseRows(X)
    start = np.arange(0, 300, 2), np.full((150, OPTIONS["width"]), 0.25, dtype=np.float32)
    _same(_in_parts(rows, start), _whole(rows, start))


def test_normalised_rows_in_parts(kind):
    rows = kind.rows(scattered(1, (N_ROWS, 300))).normalized("l2")
    _same(_in_parts(rows), _whole(rows))


def test_rows_of_another_kind_are_refused():
    rows = DenseRows(scattered(1, (N_ROWS, 30)))
    trainer = kernels.Trainer(rows, np.arange(N_ROWS), **OPTIONS)
    with pytest.raises(ValueError, match="another kind"):
        trainer.go_on(DenseRows(rows.values.astype(np.float32)), np.arange(N_ROWS))
    with pytest.raises(ValueError, match="another width"):
        trainer.go_on(DenseRows(rows.values[:, :20].copy()), np.arange(N_ROWS))
    with pytest.raises(ValueError, match=r"out of range|rows"):
        trainer.go_on(rows, np.array([N_ROWS]))
