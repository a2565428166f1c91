"""Dense matrices that are mostly zeros: handled as sparse ones, with the same flags and ranks."""

import numpy as np
import pytest
import scipy.sparse as sp

from ramodo import REPEN, Consensus
from ramodo.data import validation
from ramodo.data.mapped import mapped_array
from ramodo.data.validation import open_rows, open_with_facts


@pytest.fixture(scope="module")
def codes():
    """A table of categories, a column for each value."""
    rng = np.random.default_rng(0)
    return np.hstack([np.eye(40)[rng.integers(0, 40, 1_000)] * rng.integers(1, 3) for _ in range(8)])


@pytest.mark.parametrize("detector", [Consensus, REPEN])
def test_flags_and_ranks_are_those_of_either(codes, detector, monkeypatch):
    found = detector(random_state=0).fit(codes)
    given = detector(random_state=0).fit(sp.csr_array(codes))
    np.testing.assert_array_equal(found.outlier_scores_, given.outlier_scores_)
    monkeypatch.setattr(validation, "_FEWEST_VALUES", codes.size + 1)
    dense = detector(random_state=0).fit(codes)
    np.testing.assert_array_equal(dense.predict(codes), found.predict(codes))
    np.testing.assert_allclose(dense.outlier_scores_, found.outlier_scores_, rtol=1e-6)


def test_a_row_scores_alike_alone_and_among_others(codes):
    detector = Consensus(random_state=0).fit(codes)
    np.testing.assert_array_equal(detector.outlier_score(codes), detector.outlier_scores_)
    np.testing.assert_array_equal(detector.outlier_score(codes[5:6]), detector.outlier_scores_[5:6])


def test_what_is_small_or_full_stays_dense(codes, tmp_path):
    assert open_with_facts(codes)[0].is_sparse
    assert not open_with_facts(codes[:100])[0].is_sparse
    assert not open_with_facts(codes + 1)[0].is_sparse
    assert not open_rows(codes).is_sparse
    np.save(tmp_path / "codes.npy", codes)
    with open(tmp_path / "codes.npy", "rb") as file:
        assert not open_with_facts(mapped_array(file, in_memory=0))[0].is_sparse


def test_a_column_that_drowns_the_others_is_named_among_zeros(codes):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(codes, columns=[f"c{i}" for i in range(320)])
    frame["pascal"] = np.random.default_rng(0).normal(1e5, 1e4, 1_000)
    with pytest.warns(UserWarning, match="column 'pascal' of X varies .* fit.ramodo.TableReader"):
        Consensus(random_state=0).fit(frame)
