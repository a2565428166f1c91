"""f(x) = ReLU(x W) against the reference, with stored weights and weights from the seed (equation 5)."""

import numpy as np
import pytest
from scipy import stats

from ramodo import kernels
from ramodo.data.blocks import DenseRows
from ramodo.model.representation import SparseLayer, initial_limit
from reference import forward, initial_weights
from support.examples import PLAIN, Kind, scattered

SEED, LIMIT = 2**63 + 12345, 0.25
WIDE = 10**12

widths = pytest.mark.parametrize("width", [1, 3, 4, 20, 33, 100])


def _weights(columns, stored, width):
    """Weights of all `columns`: those at the places `stored` are trained ones, the others are the seed's."""
    weights = initial_weights(SEED, columns, width, LIMIT)
    trained = np.random.default_rng(1).normal(size=(len(stored), width)).astype(np.float32)
    weights[stored] = trained
    return weights, trained


def _check(rows, dense, columns, n_features, stored, width, n_threads=1):
    columns = np.asarray(columns, dtype=np.int64)
    weights, trained = _weights(columns, stored, width)
    layer = SparseLayer(columns=columns[stored], weights=trained, n_features=n_features, seed=SEED, limit=LIMIT)
    found = layer.transform(rows, n_threads)
    assert found.dtype == np.float32
    expected = forward(dense, weights)
    assert (expected > 0).any()
    assert (expected == 0).any()
    # sums in single precision of terms that cancel, in an order that differs between builds
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=max(1e-5, 1e-6 * expected.max()))


@widths
@pytest.mark.parametrize("n_features", [30, 10**6, WIDE])
@pytest.mark.parametrize("stored", ["all", "some", "none"])
def test_sparse_transform_equals_reference(kind, width, n_features, stored):
    """Features found by place, by bitmap and by hash table; known ones and others in one row."""
    n_features = min(n_features, np.iinfo(kind.index).max)
    dense = scattered(2, (20, 30))
    columns = np.sort(np.random.default_rng(3).choice(n_features, 30, replace=False)) if n_features > 30 else range(30)
    places = {"all": np.arange(30), "some": np.arange(0, 30, 3), "none": np.arange(0)}[stored]
    rows = kind.rows(dense, n_features=n_features, columns=columns)
    _check(rows, dense, columns, n_features, places, width)


@widths
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("stored", [np.arange(700), np.arange(0, 700, 3), np.arange(0)], ids=["all", "some", "none"])
def test_dense_transform_equals_reference(dtype, width, stored):
    dense = scattered(4, (11, 700))
    _check(DenseRows(dense.astype(dtype)), dense, range(700), 700, stored, width)


@pytest.mark.parametrize("n_stored", [12_000, 4_000])
def test_rows_longer_than_a_stretch_of_translation(n_stored):
    """Features are looked up for a few thousand non-zeros at a time; a row may have more."""
    dense = scattered(5, (7, 12_000), density=0.9)
    _check(PLAIN.rows(dense), dense, range(12_000), 12_000, np.arange(n_stored), 5)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("n_stored", [40, 13, 0])
@pytest.mark.parametrize("width", [3, 20])
def test_a_row_alone_has_the_bits_it_has_among_others(index, n_stored, width):
    dense = scattered(6, (800, 40), density=0.5)
    _, trained = _weights(range(40), np.arange(n_stored), width)
    layer = SparseLayer(columns=np.arange(n_stored), weights=trained, n_features=40, seed=SEED, limit=LIMIT)
    sparse = Kind(np.float64, index, PLAIN.container).rows
    for make in (sparse, DenseRows):
        together = layer.transform(make(dense), 1)
        assert np.array_equal(together, layer.transform(make(dense), 2))
        for i in range(0, 800, 37):
            assert np.array_equal(together[i : i + 1], layer.transform(make(dense[i : i + 1]), 1))


def test_blocks_that_start_in_the_middle_of_the_arrays():
    """A block of sparse rows shares the arrays of all rows; its indptr does not start at zero."""
    rows = PLAIN.rows(scattered(7, (30, 20)))
    layer = SparseLayer(
        columns=np.arange(0), weights=np.empty((0, 4), dtype=np.float32), n_features=20, seed=SEED, limit=LIMIT
    )
    middle = type(rows)(rows.indptr[10:21], rows.indices, rows.data, 20)
    assert np.array_equal(layer.transform(middle, 1), layer.transform(rows, 1)[10:20])


# ---- the weights of the seed ---------------------------------------------------------------------------------------


def _seed_weights(seed, n_features, width):
    """Read off the layer: f(e) - f(-e) is the weight."""
    project = kernels.Projection(np.arange(0), np.empty((0, width), dtype=np.float32), n_features, seed, LIMIT)
    unit = np.eye(n_features)
    return project(PLAIN.rows(unit), 1) - project(PLAIN.rows(-unit), 1)


def test_seed_weights_are_uniform():
    weights = _seed_weights(3, 400, 50)
    assert np.abs(weights).max() <= LIMIT
    assert stats.kstest(weights.ravel(), "uniform", (-LIMIT, 2 * LIMIT)).pvalue > 1e-3


def test_seed_weights_of_features_and_components_are_unrelated():
    """No correlation beyond that of independent numbers, over neighbouring features nor over components."""
    weights = _seed_weights(4, 400, 50)
    for table in (weights, weights.T):
        correlations = np.corrcoef(table)[np.triu_indices(len(table), 1)]
        np.testing.assert_allclose(correlations.std(), 1 / np.sqrt(table.shape[1]), rtol=0.1)


def test_seed_weights_follow_seed_and_index_alone():
    assert np.array_equal(_seed_weights(5, 30, 9)[:20], _seed_weights(5, 20, 9))
    assert not np.isin(_seed_weights(5, 20, 9), _seed_weights(6, 20, 9)).any()


def test_the_limit_is_glorot_s_over_the_features_that_occur():
    assert initial_limit(1000, 20) == pytest.approx(np.sqrt(6 / 1020), rel=1e-6)


# ---- instruction sets ----------------------------------------------------------------------------------------------

_FIT_AND_PRINT = """
import numpy as np
from support.examples import with_outliers
from ramodo import REPEN, kernels
X, _ = with_outliers(n_rows=200)
scores = [REPEN(n_components=m, n_epochs=2, random_state=0).fit(kind).outlier_scores_
          for m in (3, 20, 40) for kind in (X, X.toarray())]
print(kernels.instructions(), *np.concatenate(scores))
"""


def test_the_instructions_of_every_machine_give_the_same_scores(python):
    """Kernels compiled for the newest instructions and for the oldest differ by rounding alone."""
    name, *oldest = python(_FIT_AND_PRINT, RAMODO_INSTRUCTIONS="baseline").split()
    assert name == "baseline"
    _, *newest = python(_FIT_AND_PRINT, RAMODO_INSTRUCTIONS="").split()
    np.testing.assert_allclose(np.array(oldest, dtype=float), np.array(newest, dtype=float), rtol=1e-3)
