"""ADADELTA that touches only the features of a batch equals ADADELTA over all features at every step."""

import numpy as np
import pytest

from ramodo.data.blocks import DenseRows
from support.examples import PLAIN, random_triplets, scattered
from support.side_by_side import check_against_reference, run_kernel

N_COMMON, N_RARE = 20, 40
N_NEAR = 16
"""Rows that any margin leaves active; the four after them are far from all others."""

either = pytest.mark.parametrize("rows", [PLAIN.rows, DenseRows], ids=["sparse", "dense"])


def _with_rare_features():
    """Rows 0 to 19 share common features; row 20 + i has a rare feature of its own besides."""
    dense = np.zeros((20 + N_RARE, N_COMMON + N_RARE))
    dense[:, :N_COMMON] = scattered(10, (20 + N_RARE, N_COMMON), density=0.5)
    dense[20 + np.arange(N_RARE), N_COMMON + np.arange(N_RARE)] = 1.0
    return dense


def _with_far_rows():
    dense = scattered(13, (N_NEAR + 4, 30))
    dense[N_NEAR:] *= 100.0
    return dense


def _satisfied(n):
    """Triplets with a far row as negative: beyond a small margin, so without gradient."""
    triplets = random_triplets(14, n, N_NEAR)
    triplets[:, 2] = N_NEAR + np.arange(n) % 4
    return triplets


def test_rarely_touched_features_equal_dense_adadelta():
    """In 800 steps of four triplets every rare feature is touched ten times, 80 steps apart."""
    dense, triplets = _with_rare_features(), random_triplets(11, 4 * 800, 20)
    places = np.arange(0, len(triplets), 8)
    triplets[places, 2] = 20 + np.arange(len(places)) % N_RARE
    assert check_against_reference(PLAIN.rows(dense), dense, triplets, 4) > 0.05


@either
@pytest.mark.parametrize("n_between", [1, 7, 30, 2300])
def test_steps_without_gradient_still_decay(rows, n_between):
    """Steps whose triplets are all beyond the margin change no weight, but accumulators shrink all the same.

    After 2,300 of them nothing is left: rho to that power is below the smallest float.
    """
    dense, triplets = _with_far_rows(), random_triplets(15, 80, N_NEAR)
    mixed = np.concatenate([triplets[:40], _satisfied(4 * n_between), triplets[40:]])
    losses = run_kernel(rows(dense), mixed, 4, margin=0.5)[2]
    assert np.all(losses[10 : 10 + n_between] == 0.0)
    assert check_against_reference(rows(dense), dense, mixed, 4, margin=0.5) > 0.005


@either
def test_decay_matters_in_these_tests(rows):
    """The same active steps with and without a pause between them end in different weights."""
    dense, triplets = _with_far_rows(), random_triplets(15, 80, N_NEAR)
    paused = np.concatenate([triplets[:40], _satisfied(4 * 30), triplets[40:]])
    plain, pause = (run_kernel(rows(dense), t, 4, margin=0.5)[1] for t in (triplets, paused))
    assert np.abs(plain - pause).max() > 1e-3


def test_a_step_without_gradient_names_no_feature():
    columns, weights, losses = run_kernel(PLAIN.rows(_with_far_rows()), _satisfied(2), 2, margin=0.5)
    assert (len(columns), weights.shape, losses.tolist()) == (0, (0, 7), [0.0])
