"""`score_one`: a row of a stream as a dict gets the bits that it gets in a matrix."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from ramodo import REPEN, Consensus, Ensemble, KthNN, Sp, load

DETECTORS = [
    REPEN(n_epochs=2, n_estimators=2, random_state=0),
    Consensus(random_state=0),
    Sp(random_state=0),
    Ensemble([Sp(), KthNN()], random_state=0),
]
every = pytest.mark.parametrize("detector", DETECTORS, ids=lambda d: type(d).__name__)


def as_dict(X, number, names=None):
    row = sp.csr_array(X[[number]])
    return {int(c) if names is None else names[c]: float(v) for c, v in zip(row.indices, row.data, strict=True)}


@pytest.fixture(scope="module")
def named(data):
    return pd.DataFrame(data[0].toarray(), columns=[f"c{i}" for i in range(data[0].shape[1])])


@every
def test_the_same_bits_as_in_a_matrix_by_number(detector, data):
    X = sp.csr_array(data[0])
    fitted = detector.fit(X)
    scores = fitted.outlier_score(X)
    assert [fitted.score_one(as_dict(X, i)) for i in range(0, 120, 7)] == scores[::7].tolist()
    reordered = dict(reversed(as_dict(X, 7).items()))
    assert fitted.score_one(reordered) == scores[7]


@every
@pytest.mark.filterwarnings("error")
def test_the_same_bits_as_in_a_table_by_name(detector, data, named):
    fitted = detector.fit(named)
    scores = fitted.outlier_score(named)
    names = list(named.columns)
    for i in range(0, 120, 7):
        assert fitted.score_one(as_dict(data[0], i, names)) == scores[i]
        assert fitted.score_one(named.iloc[i].to_dict()) == scores[i]  # zeros said or not


def test_a_model_that_was_saved(data, tmp_path, quick, named):
    fitted = quick().fit(named)
    again = load(fitted.save(tmp_path / "model"))
    row = named.iloc[3].to_dict()
    assert again.score_one(row) == fitted.score_one(row) == fitted.outlier_scores_[3]


def test_names_that_the_training_data_did_not_have_are_left_out(quick, named):
    fitted = quick().fit(named)
    row = named.iloc[3].to_dict()
    assert fitted.score_one({**row, "new": 1e9}) == fitted.score_one(row)


def test_a_row_of_zeros_is_a_row(quick, data):
    fitted = quick().fit(data[0])
    assert fitted.score_one({}) == fitted.outlier_score(sp.csr_array((1, data[0].shape[1])))[0]


def test_values_of_numpy_and_truth_values_are_numbers(quick, data):
    fitted = quick().fit(data[0])
    assert fitted.score_one({np.int64(3): np.float32(1), 5: True}) == fitted.score_one({3: 1, 5: 1.0})


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([1.0, 2.0], r"x must be a dict .*, got \[1\.0, 2\.0\]"),
        ({"c3": 1.0}, "features must be numbers of columns, from 0 to 39, got 'c3'"),
        ({40: 1.0}, "features must be .*, got 40"),
        ({-1: 1.0}, "features must be .*, got -1"),
        ({True: 1.0}, "features must be .*, got True"),
        ({3: "1"}, "the feature 3 must be a number, got '1'"),
        ({3: None}, "the feature 3 must be a number, got None"),
        ({3: 1j}, "the feature 3 must be a number, got 1j"),
        ({3: float("nan")}, "x must be .* got NaN, first at row 0, column 3"),
        ({3: 1e40}, r"of x must be .* got 1e\+40"),
    ],
)
def test_what_is_refused(row, message, fitted):
    with pytest.raises(ValueError, match=message):
        fitted.score_one(row)


def test_a_row_of_unknown_names_alone_is_refused(quick, named):
    with pytest.raises(ValueError, match=r"such as 'c0', got only unknown ones: \['C3', 'C4'\]"):
        quick().fit(named).score_one({"C3": 1.0, "C4": 2.0})


def test_another_fit_has_other_places(quick, named, data):
    detector = quick().fit(named)
    row = named.iloc[3].to_dict()
    detector.score_one(row)
    detector.fit(named.rename(columns=str.upper))
    assert detector.score_one({name.upper(): value for name, value in row.items()}) == detector.outlier_scores_[3]
    detector.fit(data[0])
    assert detector.score_one(as_dict(data[0], 3)) == detector.outlier_scores_[3]
    narrow = data[0][:, :20]
    detector.fit(narrow)
    with pytest.raises(ValueError, match="from 0 to 19"):
        detector.score_one({20: 1.0})


def test_nothing_fitted_is_said_first(quick):
    with pytest.raises(ValueError, match="not fitted yet"):
        quick().score_one({0: 1.0})
