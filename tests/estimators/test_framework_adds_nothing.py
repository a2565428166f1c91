"""The framework wires; what it wires gives the same bits without it."""

import numpy as np
from benchmarks.framework import bare

from ramodo import RAMODO, REPEN
from ramodo.datasets import make_ultrahigh


def test_ramodo_and_repen_equal_the_kernels_called_one_after_the_other():
    X, _ = make_ultrahigh(n_rows=600, n_features=20_000, random_state=3)
    expected = bare(X)
    assert np.array_equal(RAMODO(random_state=0).fit(X).outlier_scores_, expected)
    assert np.array_equal(REPEN(random_state=0).fit(X).outlier_scores_, expected)
