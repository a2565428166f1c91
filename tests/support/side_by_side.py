"""Runs a training kernel and the reference on the same triplets, and compares them."""

import numpy as np

from ramodo import kernels
from reference import batches, initial_weights, train

SEED, LIMIT, WIDTH, MARGIN = 11, 0.3, 7, 50.0
OPTIONS = {
    "width": WIDTH,
    "n_queries": 1,
    "k": 1,
    "average": False,
    "margin": MARGIN,
    "slope": 0.0,
    "scale": 1.0,
    "seed": SEED,
    "limit": LIMIT,
    "learning_rate": 1.0,
    "rho": 0.95,
    "epsilon": 1e-7,
    "n_threads": 1,
}


def run_kernel(rows, triplets, batch_size, *, selected=None, **options):
    """Features that have weights of their own after training, those weights, and the loss of each step."""
    trainer = kernels.Trainer(
        rows,
        np.arange(rows.n_rows) if selected is None else selected,
        **{**OPTIONS, **options},
    )
    losses = trainer.run(triplets, batch_size)
    return *trainer.finish(), losses


def check_against_reference(rows, dense, triplets, batch_size, *, columns=None, selected=None, **options):
    """Assert equal weights and losses, and that features which the kernel does not name did not move.

    `dense` is what `rows` hold over `columns` alone; `selected` are the rows of it that triplets refer to. Returns the
    largest change of a weight, so that a test can see that there was something to compare.
    """
    columns = np.arange(dense.shape[1]) if columns is None else np.asarray(columns)
    start = initial_weights(SEED, columns, options.get("width", WIDTH), LIMIT)
    named = dense if selected is None else dense[selected]
    expected, expected_losses = train(named, batches(triplets, batch_size), start, options.get("margin", MARGIN))
    found, weights, losses = run_kernel(rows, triplets, batch_size, selected=selected, **options)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-5, atol=1e-5)
    places = np.searchsorted(columns, found)
    assert np.array_equal(columns[places], found)
    np.testing.assert_allclose(weights, expected[places], atol=2e-5)
    still = np.setdiff1d(np.arange(len(columns)), places)
    assert np.array_equal(expected[still], start[still])
    return np.abs(expected - start).max()
