"""Scorers with as few rows as there can be: as many neighbours as there are references."""

import numpy as np
import pytest

from ramodo import AverageNN, KthNN, Sp

pytestmark = pytest.mark.filterwarnings("ignore:subsample_size")


@pytest.mark.parametrize("scorer", [Sp(), KthNN(k=3), AverageNN(k=3)], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("n_rows", range(2, 8))
def test_a_few_rows_can_be_fitted_and_scored(scorer, n_rows):
    X = np.random.default_rng(n_rows).random((n_rows, 3))
    detector = scorer.set_params(random_state=0).fit(X)
    assert np.isfinite(detector.outlier_scores_).all()
    assert np.array_equal(detector.outlier_score(X), detector.outlier_scores_)
    assert set(detector.predict(X)) <= {-1, 1}
