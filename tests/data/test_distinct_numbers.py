"""Distinct numbers in order, as np.unique gives them."""

import numpy as np
import pytest

from ramodo.data.distinct_numbers import distinct_numbers


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float64])
@pytest.mark.parametrize("shape", [(0,), (1,), (1000,), (10, 20)])
def test_it_is_what_numpy_gives(kind, shape):
    numbers = np.random.default_rng(0).integers(-20, 20, shape).astype(kind)
    given = numbers.copy()
    found = distinct_numbers(numbers)
    np.testing.assert_array_equal(found, np.unique(numbers))
    assert found.dtype == kind
    np.testing.assert_array_equal(numbers, given)
