"""Rarity: what few training rows have, and what no other has."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from ramodo import Consensus, load
from ramodo.data.validation import open_block
from ramodo.model.rarity import PRIOR, Frequencies, Rarity, count_features
from reference.rarity import rarity
from support.examples import with_outliers

MANY = 10**12
either = pytest.mark.parametrize("unshared", [False, True])


def data(n_rows=40, n_features=60, seed=0):
    """Counts; row 7 is empty, and half of the features of the last rows are theirs alone."""
    values = np.random.default_rng(seed).poisson(0.15, (n_rows, n_features)).astype(np.float64)
    values[7] = 0
    values[:-2, -20:] = 0
    values[-2:, -20:-5] = 1
    return values


def frequencies(X, n_threads=1):
    rows = open_block(X)
    return Frequencies.of(rows.map(partial(count_features, n_threads=n_threads)), rows.n_rows, rows.n_features)


def scattered(values):
    """The same rows with features spread over 10^12 columns, so that indices are of 64 bits."""
    rows = sp.csr_array(values)
    indices = rows.indices.astype(np.int64) * (MANY // values.shape[1])
    return sp.csr_array((rows.data, indices, rows.indptr.astype(np.int64)), shape=(len(values), MANY))


CONTAINERS = {
    "dense": lambda values: values,
    "float32": lambda values: sp.csr_array(values.astype(np.float32)),
    "float64": sp.csr_array,
    "10^12 columns": scattered,
}


@either
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("n_threads", [1, 3])
def test_it_is_what_the_reference_says(container, unshared, n_threads):
    training, rows = data(), data(20, seed=1)
    rows[:, -3:] = 1  # which no training row has
    make = CONTAINERS[container]
    term = Rarity(frequencies(make(training), n_threads), unshared)
    expected = rarity(training, rows, unshared=unshared, prior=PRIOR)
    np.testing.assert_allclose(term.score(open_block(make(rows)), n_threads), expected, rtol=1e-6)


def test_stored_zeros_are_nothing_to_have():
    X = sp.csr_array(data())
    with_zeros = X.copy()
    with_zeros.data[::5] = 0
    without = with_zeros.copy()
    without.eliminate_zeros()
    pairs = [frequencies(one) for one in (with_zeros, without)]
    assert (pairs[0].columns == pairs[1].columns).all()
    assert (pairs[0].counts == pairs[1].counts).all()
    scores = [Rarity(pairs[1], False).score(open_block(one), 1) for one in (with_zeros, without)]
    assert scores[0].tobytes() == scores[1].tobytes()


def test_counts_of_blocks_add_up_and_can_be_taken_away():
    values = data()
    whole = frequencies(values)
    blocks = [count_features(open_block(values[part]), 1) for part in (slice(0, 11), slice(11, 12), slice(12, None))]
    together = Frequencies.of(blocks, len(values), values.shape[1])
    assert (together.columns == whole.columns).all()
    assert (together.counts == whole.counts).all()
    rest = whole.without(*count_features(open_block(values[-2:]), 1), 2)
    expected = frequencies(values[:-2])
    assert rest.n_rows == expected.n_rows
    assert (rest.columns == expected.columns).all()
    assert (rest.counts == expected.counts).all()


@either
def test_contributions_of_features_are_exact(unshared):
    """Each gets its weight and its share of the ordinary ones that were added, whatever its value."""
    X = sp.csr_array(data())
    term = Rarity(frequencies(X), unshared)
    (part,) = term.parts(2.0, None)
    view = part.view(open_block(X))
    weights = part.presence.sums(open_block(sp.csr_array(np.eye(X.shape[1]))), 1)
    for row in range(X.shape[0]):
        own = X.indices[X.indptr[row] : X.indptr[row + 1]]
        total = (view.p[row, 0] * weights[own] + view.p[row, 1]).sum()
        assert total == pytest.approx(2 * term.score(open_block(X[[row]]), 1)[0], rel=1e-6)


def test_rows_that_are_labelled_outliers_do_not_make_their_features_ordinary():
    values = np.random.default_rng(0).poisson(0.2, (200, 40)).astype(np.float64)
    values[:30, -5:] = 1
    values[30:, -5:] = 0
    labels = np.where(np.arange(200) < 30, 1, 0)
    found = [
        next(view for view in fitted.model_.evidence.views if isinstance(view, Rarity)).frequencies
        for fitted in (Consensus(random_state=0).fit(sp.csr_array(values), labels=known) for known in (None, labels))
    ]
    assert [one.n_rows for one in found] == [200, 170]
    assert set(range(35, 40)) <= set(found[0].columns.tolist())
    assert not set(range(35, 40)) & set(found[1].columns.tolist())


def test_a_model_file_holds_the_counts_once(tmp_path):
    fitted = Consensus(random_state=0).fit(with_outliers()[0])
    again = load(fitted.save(tmp_path / "model.ramodo"))
    views = [view for view in again.model_.terms[0].views if isinstance(view, Rarity)]
    assert [view.unshared for view in views] == [False, True]
    assert views[0].frequencies.counts is views[1].frequencies.counts
    assert again.save(tmp_path / "again.ramodo").stat().st_size == (tmp_path / "model.ramodo").stat().st_size
