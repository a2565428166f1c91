"""Rows that repeat: with copies="root", as many of them count as the square root of their number."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from ramodo import Consensus


def _bags(n_rows: int, n_features: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.random((n_rows, n_features)) < 0.05).astype(np.float32)


@pytest.fixture
def with_burst() -> tuple[sp.csr_array, np.ndarray]:
    """300 ordinary rows and 100 copies of an odd one, which has features of its own."""
    ordinary = np.hstack([_bags(300, 60, 0), np.zeros((300, 4), dtype=np.float32)])
    odd = np.zeros((100, 64), dtype=np.float32)
    odd[:, 60:] = 1
    return sp.csr_array(np.vstack([ordinary, odd])), np.arange(400) >= 300


def test_a_burst_does_not_hide_itself(with_burst: tuple[sp.csr_array, np.ndarray]) -> None:
    X, is_burst = with_burst
    shares = {}
    for copies in ("all", "root"):
        scores = Consensus(copies=copies, random_state=0).fit(X).outlier_scores_
        shares[copies] = np.mean(scores[is_burst].min() > scores[~is_burst])
    assert shares["root"] > 0.95 > shares["all"]


def test_copies_are_not_references_and_get_the_score_of_their_row(with_burst: tuple[sp.csr_array, np.ndarray]) -> None:
    X, is_burst = with_burst
    detector = Consensus(copies="root", random_state=0).fit(X)
    drawn = np.unique(np.concatenate([origin.numbers for origin in detector.model_.origins()]))
    assert is_burst[drawn].sum() <= 10
    assert len(np.unique(detector.outlier_scores_[is_burst])) == 1
    np.testing.assert_array_equal(detector.outlier_score(X), detector.outlier_scores_)


def test_without_copies_nothing_changes() -> None:
    X = sp.csr_array(np.hstack([_bags(200, 60, 1), np.eye(200, dtype=np.float32)]))
    all_rows, root = (Consensus(copies=copies, random_state=0).fit(X).outlier_scores_ for copies in ("all", "root"))
    np.testing.assert_array_equal(all_rows, root)


def test_labelled_copies_are_never_left_out(with_burst: tuple[sp.csr_array, np.ndarray]) -> None:
    X, is_burst = with_burst
    detector = Consensus(copies="root", random_state=0).fit(X, labels=is_burst.astype(int))
    assert set(np.flatnonzero(is_burst)) <= set(detector.candidate_outliers_)
