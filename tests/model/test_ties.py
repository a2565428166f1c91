"""Rows that differ by rounding alone: the same flags and ranks, however they are stored."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import rankdata

from ramodo import REPEN, Conformal, Consensus, TopK
from ramodo.fitting.curves import curve_by_law
from ramodo.model.evidence import Curve
from ramodo.model.ties import ROUNDING, Tied, settled
from ramodo.paper.datasets import data_folder, load_prepared
from support.own_process import run

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:subsample_size")]

N_PATTERNS = 12


def multiples(seed, n_features=60, per_pattern=5, dtype=np.float64):
    """Amounts of a few baskets: at length 1, rows of a pattern are equal up to the last bits."""
    rng = np.random.default_rng(seed)
    patterns = np.zeros((N_PATTERNS, n_features))
    for pattern in patterns:
        pattern[rng.choice(n_features, per_pattern, replace=False)] = rng.integers(1, 4, per_pattern)
    which = rng.integers(0, N_PATTERNS, 300)
    return sp.csr_array((patterns[which] * rng.uniform(1, 8, 300)[:, None]).astype(dtype)), which


def with_stored_zeros(X, seed=0):
    """The same rows with some zeros among their entries."""
    rows = X.toarray().astype(X.dtype)
    marked = np.where((rows == 0) & (np.random.default_rng(seed).random(X.shape) < 0.1), np.nan, rows)
    stored = sp.csr_array(marked)
    stored.data = np.nan_to_num(stored.data)
    assert stored.nnz > X.nnz
    assert (stored.toarray() == rows).all()
    return stored


def noisy(scores, size, n=50, seed=0):
    """Each score several times, as rounding may move it."""
    rng = np.random.default_rng(seed)
    many = np.repeat(scores, n)
    return np.maximum(many + 0.4 * ROUNDING * (many + size) * rng.uniform(-1, 1, len(many)), 0)


# ---- curves ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [Curve.of, curve_by_law], ids=["counted", "by law"])
@pytest.mark.parametrize("levels", [[0.0], [3.0], [0.0, 0.5, 1.0], [1.0, 1.001, 2.0, 40.0]], ids=str)
def test_scores_a_rounding_apart_have_the_same_evidence(make, levels):
    scores = noisy(np.array(levels), 1.0)
    curve = make(Tied.of(scores, 1.0))
    found = curve(scores).reshape(len(levels), -1)
    assert np.ptp(found, axis=1).max() == 0
    again = curve(noisy(np.array(levels), 1.0, seed=1)).reshape(len(levels), -1)
    assert np.abs(again - found[:, :1]).max() == 0


@pytest.mark.parametrize("make", [Curve.of, curve_by_law], ids=["counted", "by law"])
def test_a_rounding_is_worth_next_to_nothing_anywhere(make):
    scores = np.random.default_rng(0).gamma(2.0, size=5000)
    curve = make(Tied.of(scores, 1.0))
    assert np.abs(curve(scores * (1 + ROUNDING / 8)) - curve(scores)).max() < 1e-4


@pytest.mark.parametrize("make", [Curve.of, curve_by_law], ids=["counted", "by law"])
def test_scores_of_many_rows_are_not_tied_to_one(make):
    """So many that each is a rounding from the next."""
    scores = 1 + np.linspace(0, 1e-3, 100_000)
    curve = make(Tied.of(scores, 1.0))
    some = np.quantile(scores, [0.25, 0.5, 0.75])
    np.testing.assert_allclose(curve(some), -np.log([0.75, 0.5, 0.25]), rtol=0.05)


def test_a_row_beyond_rows_that_are_all_alike_has_evidence_in_a_unit_of_theirs():
    curve = Curve.of(Tied.of(noisy(np.zeros(1), 1.0), 1.0))
    assert curve(np.array([0.5]))[0] == pytest.approx(0.5, rel=1e-5)


# ---- thresholds ------------------------------------------------------------------------------------------------------


def test_a_threshold_at_a_score_lies_below_it_by_more_than_rounding():
    scores = np.array([1.0, 2.0, 3.0, 3.0 + 1e-9, 4.0])
    for threshold in (3.0, 3.0 + 1e-9, 3.0 + 2e-9):
        found = settled(threshold, scores)
        assert 2.99 < found < 3 - 1e-6
    assert settled(2.5, scores) == 2.5


def test_a_threshold_never_reaches_a_lower_score():
    scores = np.array([1.0, 3.0 - 1e-8, 3.0])
    assert 1 < settled(3.0, scores) < 3 - 1e-8
    close = np.array([1.0, 1 + 3e-6, 1 + 6e-6])
    assert close[0] < settled(close[1], close) < close[1]


def test_where_no_row_is_found_none_is_by_rounding():
    scores = np.array([1.0, 2.0])
    nothing = float(np.nextafter(2.0, np.inf))
    assert settled(nothing, scores) > 2 + 1e-6


# ---- fits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("per_pattern", [1, 5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_multiples_of_a_pattern_tie_where_length_does_not_count(per_pattern, dtype):
    X, which = multiples(0, per_pattern=per_pattern, dtype=dtype)
    detector = Consensus(random_state=0).fit(X)
    found = detector.model_.breakdown(detector.rows_of(X).in_memory(), 1)
    for name, evidence in found.items():
        if "length 1" in name:
            assert max(np.ptp(evidence[which == pattern]) for pattern in range(N_PATTERNS)) < 1e-4, name


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_share_no_rounding(dtype):
    """A distance that is rounding alone has a direction by chance: nothing is divided by it."""
    X, _ = multiples(0, dtype=dtype)
    detector = Consensus(random_state=0).fit(X)
    explained = detector.explain(X, top=60)
    assert max(abs(reason.contribution) for row in explained for reason in row.reasons) < 50
    assert max(abs(row.rest) for row in explained) < 1e-4


DATA = {
    "random": lambda: sp.csr_array(sp.random(300, 1000, 0.02, format="csr", random_state=0)),
    "counts": lambda: sp.csr_array(np.random.default_rng(1).poisson(0.1, (300, 100)).astype(np.float32)),
    "few rows": lambda: sp.csr_array(sp.random(5, 40, 0.3, format="csr", random_state=540)),
    "multiples": lambda: multiples(1)[0],
}


@pytest.mark.parametrize("Detector", [Consensus, REPEN])
@pytest.mark.parametrize("name", DATA)
def test_stored_zeros_change_no_bit(name, Detector):
    X = DATA[name]()
    stored = with_stored_zeros(X)
    one, other = Detector(random_state=0).fit(X), Detector(random_state=0).fit(stored)
    assert (one.outlier_score(stored) == one.outlier_scores_).all()
    assert (other.outlier_scores_ == one.outlier_scores_).all()
    some = range(min(9, X.shape[0]))
    assert other.explain(X, rows=some).to_dict() == one.explain(stored, rows=some).to_dict()


@pytest.mark.parametrize("options", [{}, {"normalize": "l2"}], ids=["as given", "l2"])
@pytest.mark.parametrize("Detector", [Consensus, REPEN])
@pytest.mark.parametrize("name", DATA)
def test_rows_score_the_same_bits_sparse_and_dense(name, Detector, options):
    X = DATA[name]()
    for fitted, scored in ((X, X.toarray()), (X.toarray(), X)):
        detector = Detector(random_state=0, **options).fit(fitted)
        assert (detector.outlier_score(scored) == detector.outlier_scores_).all()
        some = range(min(9, X.shape[0]))
        assert detector.explain(scored, rows=some).to_dict() == detector.explain(fitted, rows=some).to_dict()


CUTOFFS = {"default": None, "top": TopK(20), "conformal": Conformal(0.3)}


@pytest.mark.parametrize("cutoff", CUTOFFS)
@pytest.mark.parametrize("Detector", [Consensus, REPEN])
@pytest.mark.parametrize("name", ["random", "counts", "multiples"])
def test_single_precision_changes_no_flag(name, Detector, cutoff):
    X = DATA[name]().astype(np.float64)
    options = {} if CUTOFFS[cutoff] is None else {"cutoff": CUTOFFS[cutoff]}
    detector = Detector(random_state=0, **options).fit(X)
    flags = detector.outlier_scores_ >= detector.threshold_
    scores = detector.outlier_score(X.astype(np.float32))
    np.testing.assert_allclose(scores, detector.outlier_scores_, atol=1e-3)
    assert ((scores >= detector.threshold_) == flags).all()


def test_a_copy_in_dense_rows_is_fitted_alike():
    X, _ = multiples(2)
    one, other = Consensus(random_state=0).fit(X), Consensus(random_state=0).fit(X.toarray())
    np.testing.assert_allclose(other.outlier_scores_, one.outlier_scores_, atol=1e-2)
    assert (one.predict(X) == other.predict(X)).all()


@pytest.mark.skipif(data_folder() is None, reason="no folder of prepared sets; name one in RAMODO_DATA")
@pytest.mark.parametrize("Detector", [Consensus, REPEN])
@pytest.mark.parametrize("name", ["AD_dedup", "LC", "adb_musk"])
def test_real_rows_rank_alike_sparse_and_dense(name, Detector):
    """Each is trained by a kernel of its own, and rounding grows with every step."""
    X = sp.csr_array(load_prepared(name).X)
    one, other = (Detector(random_state=0).fit(rows) for rows in (X, X.toarray()))
    assert (rankdata(other.outlier_scores_) == rankdata(one.outlier_scores_)).all()
    assert (other.predict(X) == one.predict(X)).all()


_SCORED = """
import sys
import numpy as np
import ramodo
rows, models, out = sys.argv[1], sys.argv[2].split(","), sys.argv[3]
np.save(out, [ramodo.load(model).outlier_score(np.load(rows)) for model in models])
print(ramodo.kernels.instructions())
"""

TABLES = {
    "duplicates": lambda rng: np.repeat(rng.random((40, 30)) * (rng.random((40, 30)) < 0.3), 10, axis=0),
    "grid": lambda rng: np.round(rng.normal(size=(300, 3)), 1) * 0.1,
    "prices": lambda rng: np.round(rng.gamma(2, 20, (400, 4)), 2),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_processor_without_avx2_flags_the_same_rows(tmp_path, name):
    X = TABLES[name](np.random.default_rng(1))
    fitted = [Detector(cutoff=TopK(40), random_state=0).fit(X) for Detector in (Consensus, REPEN)]
    models = [str(detector.save(tmp_path / f"{number}.ramodo")) for number, detector in enumerate(fitted)]
    np.save(tmp_path / "rows.npy", X)
    run(_SCORED, tmp_path / "rows.npy", ",".join(models), tmp_path / "scores.npy", RAMODO_INSTRUCTIONS="baseline")
    for detector, scores in zip(fitted, np.load(tmp_path / "scores.npy"), strict=True):
        np.testing.assert_allclose(scores, detector.outlier_scores_, atol=1e-4)
        assert ((scores >= detector.threshold_) == (detector.outlier_scores_ >= detector.threshold_)).all()
