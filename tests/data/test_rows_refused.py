"""The door for data: what is refused, and with which words."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from ramodo.data.validation import DataError, open_rows
from support.examples import unordered


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 2e30, -2e30])
@pytest.mark.parametrize("form", ["dense", "csr", "csc", "unordered", "pandas"])
def test_the_first_unusable_value_is_named(form, bad):
    dense = np.zeros((9, 4))
    dense[3, 2], dense[3, 3], dense[5, 0] = bad, bad, bad
    dense[3, 0] = 1.0
    given = {
        "dense": lambda: dense,
        "csr": lambda: sp.csr_array(dense),
        "csc": lambda: sp.csc_array(dense),
        "unordered": lambda: sp.vstack([sp.csr_array(dense), unordered()[0]], format="csr"),
        "pandas": lambda: pd.DataFrame(dense),
    }[form]()
    word = "NaN" if np.isnan(bad) else "infinity" if np.isinf(bad) else r"-?2e\+30"
    with pytest.raises(DataError, match=rf"of X must be .* 1e\+30 .*, got {word}, first at row 3, column 2"):
        open_rows(given)


def test_a_missing_value_in_a_frame_is_named():
    with pytest.raises(DataError, match=r"got NaN, first at row 1, column 0"):
        open_rows(pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": [1.0, 2.0, 3.0]}))
    with pytest.raises(DataError, match=r"got NaN, first at row 1, column 0"):
        open_rows(pl.DataFrame({"a": [1, None, 3], "b": [1.0, 2.0, 3.0]}))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.zeros((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1"),
        (sp.csr_array((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\)"),
        (np.zeros((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1"),
        (sp.csr_array((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\)"),
        (pl.DataFrame(), r"0 feature\(s\)"),
        (pd.DataFrame(), r"0 feature\(s\)"),
        (np.zeros(5), r"Expected 2D array, got 1D array .* shape \(5,\).*\.reshape\(1, -1\)"),
        (np.float64(3), r"Expected 2D array, got 0D array"),
        (np.zeros((2, 2, 2)), r"Expected 2D array, got 3D array .* shape \(2, 2, 2\)"),
        (sp.coo_array(np.ones(4)), r"Expected 2D array, got 1D array .* shape \(4,\)"),
        (np.array([["a", "b"]]), r"floats, integers or booleans, got dtype <U1"),
        (np.array([[1, None]], dtype=object), r"got dtype object"),
        (np.array([[1j, 2]]), r"Complex data not supported.*real numbers or booleans, got dtype complex128"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), r"got dtype datetime64\[D\]"),
        (np.zeros((1, 2)).view(np.matrix), r"np\.matrix is not supported.*np\.asarray"),
        (pd.DataFrame({"n": [1], "text": ["a"]}), r"numbers or booleans, got 1 other column\(s\), the first 'text'"),
        (pl.DataFrame({"n": [1], "text": ["a"]}), r"got 1 other column\(s\), the first 'text' of dtype String"),
        (pd.Series([1.0, 2.0]), r"Expected 2D array, got 1D array"),
    ],
    ids=repr,
)
def test_what_is_no_matrix_of_numbers_is_refused(given, message):
    with pytest.raises(DataError, match=message):
        open_rows(given)


@pytest.mark.parametrize("index", [-1, 4, 10**6])
def test_an_index_outside_of_the_columns_is_refused(index):
    """scipy does not check indices that are assigned, and a kernel would read outside of its tables."""
    matrix = sp.csr_array(np.eye(4))
    matrix.indices = np.array([0, 1, index, 3], dtype=np.int32)
    with pytest.raises(DataError, match=rf"from 0 to 3, since it has 4 columns, got {index} in row 2"):
        open_rows(matrix)


def test_the_message_names_the_argument():
    with pytest.raises(DataError, match=r"labeled_outliers must be .*got NaN"):
        open_rows([[np.nan]], name="labeled_outliers")
