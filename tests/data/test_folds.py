"""The fold of a row depends on its content alone."""

import numpy as np
import process_rows
import pytest
import scipy.sparse as sp

from ramodo.data.validation import open_rows
from support.examples import scattered, with_outliers

X = scattered(1, (400, 30), density=0.3).astype(np.float32)


EXPECTED = "00110010011001001100"
"""Of 20 rows; a file that was written by another version must find its folds."""


def _folds(given, n=2):
    return open_rows(given).folds(n)


def test_containers_and_types_agree():
    expected = _folds(X)
    for given in (sp.csr_array(X), sp.csc_array(X), X.astype(np.float64), sp.csr_array(X.astype(np.float64))):
        assert np.array_equal(_folds(given), expected)
    integers = np.random.default_rng(0).integers(-5, 5, (50, 8))
    assert np.array_equal(_folds(integers), _folds(integers.astype(np.float32)))


@pytest.mark.parametrize("at_once", [1, 7, 100])
def test_entries_hashed_a_few_at_a_time_give_the_same(monkeypatch, at_once):
    expected = _folds(X, 1 << 32)
    monkeypatch.setattr("ramodo.data.folds._AT_ONCE", at_once)
    assert np.array_equal(_folds(X, 1 << 32), expected)


def test_rounding_to_single_precision_changes_no_fold():
    doubles = scattered(2, (200, 10), density=0.5)
    assert np.array_equal(_folds(doubles), _folds(doubles.astype(np.float32)))


def test_stored_zeros_do_not_count():
    stored = sp.csr_array(X)
    stored.data[::3] = 0.0
    assert np.array_equal(_folds(stored), _folds(stored.toarray()))


def test_order_neighbours_and_normalisation_do_not_matter():
    order = np.random.default_rng(0).permutation(400)
    assert np.array_equal(_folds(X[order]), _folds(X)[order])
    assert np.array_equal(_folds(X[17:18]), _folds(X)[17:18])
    rows = open_rows(sp.csr_array(X))
    assert np.array_equal(rows.normalized("l2").folds(2), rows.folds(2))
    assert np.array_equal(rows.part(100, 200).folds(2), rows.folds(2)[100:200])


def test_equal_rows_share_a_fold_and_others_are_spread():
    assert len(set(_folds(np.tile(X[:1], (50, 1))))) == 1
    for n in (2, 3, 7):
        counts = np.bincount(_folds(np.random.default_rng(0).normal(size=(7000, 5)), n), minlength=n)
        assert abs(counts - 7000 / n).max() < 4 * np.sqrt(7000 / n)


@pytest.mark.parametrize("change", [lambda x: 2 * x, lambda x: -x, lambda x: np.roll(x, 1, axis=1)])
def test_other_content_is_in_another_fold_half_of_the_time(change):
    same = (_folds(change(X)) == _folds(X)).mean()
    assert abs(same - 0.5) < 0.1


def test_every_process_and_version_gives_the_same(python):
    program = (
        "import numpy as np; from ramodo.data.validation import open_rows; "
        "print(*open_rows(np.arange(1, 61).reshape(20, 3) % 7).folds(2))"
    )
    assert python(program).split() == python(program, PYTHONHASHSEED="5").split() == list(EXPECTED)


def test_rows_that_live_elsewhere():
    given, _ = with_outliers()
    elsewhere = process_rows.ProcessRows([given[:50], given[50:]])
    try:
        assert np.array_equal(elsewhere.folds(2), _folds(given))
        assert np.array_equal(elsewhere.normalized("l2").folds(2), _folds(given))
    finally:
        elsewhere.close()
