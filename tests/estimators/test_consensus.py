"""Consensus: what users get unless they ask for another detector."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

from ramodo import Conformal, Consensus, KthNN, Sp, load
from ramodo.data.validation import open_block
from ramodo.datasets import make_ultrahigh
from ramodo.formats import Table, folder
from ramodo.formats import read as read_file
from ramodo.model.evidence import Evidence
from ramodo.options import OptionError
from support.examples import with_outliers

pytestmark = pytest.mark.slow

DISTANCES = ("far from most rows", "far from the nearest rows")
RARITY = ("made of rare features", "made of features that no other row has")
LEARNED = ("far in a representation trained briefly", "far in a representation trained longer")
OF_BAGS = (*DISTANCES, *RARITY, *LEARNED)
OF_TABLES = ("far from most rows", "far from the nearer rows", "far from the nearest rows", *LEARNED)


@pytest.fixture(scope="module", name="X")
def planted():
    return with_outliers()[0]


@pytest.fixture(scope="module")
def fitted(X):
    return Consensus(random_state=0).fit(X)


def counts(n_rows=400, n_features=600, spread=0.8, n_subjects=1, purity=1.0):
    """Documents of very different lengths, of some subjects; the last eight are of another, as far as `purity` goes."""
    rng = np.random.default_rng(0)
    words = rng.dirichlet(np.full(n_features, 0.05), n_subjects + 1)
    words[-1] = purity * words[-1] + (1 - purity) * words[0]
    lengths = rng.lognormal(3.5, spread, n_rows).astype(int) + 5
    subjects = np.where(np.arange(n_rows) < n_rows - 8, np.arange(n_rows) % n_subjects, n_subjects)
    rows = [rng.multinomial(length, words[subject]) for length, subject in zip(lengths, subjects, strict=True)]
    return sp.csr_array(np.array(rows, dtype=np.float32)), np.arange(n_rows) >= n_rows - 8


# ---- rankings --------------------------------------------------------------------------------------------------------


def test_planted_outliers_come_first(fitted):
    y = with_outliers()[1]
    assert roc_auc_score(y, fitted.outlier_scores_) > 0.97
    assert fitted.model_.terms[0].names[:6] == OF_BAGS


def test_needles_and_clusters_are_both_found():
    """Few references see a cluster of outliers that are each other's neighbours; many see rows between the groups."""
    rng = np.random.default_rng(0)
    groups = np.vstack([rng.normal(centre, 0.3, (30, 10)) for centre in rng.normal(0, 3, (30, 10))])
    X = np.vstack([groups, rng.normal(20, 0.1, (30, 10)), rng.normal(0, 3, (6, 10))])
    cluster, needles = np.r_[:900, 900:930], np.r_[:900, 930:936]

    def aucs(detector):
        scores = detector.fit(X).outlier_scores_
        return [roc_auc_score(some >= 900, scores[some]) for some in (cluster, needles)]

    assert min(aucs(Consensus(random_state=0))) > 0.95
    assert aucs(Sp(random_state=0))[1] < 0.9
    assert aucs(KthNN(5, 1, 468, random_state=0))[0] < 0.9


def test_where_length_may_mislead_rows_are_read_twice():
    X, y = counts()
    found = Consensus(random_state=0).fit(X)
    names = found.model_.terms[0].names
    assert names == (*OF_BAGS, *[f"{name} (rows of length 1)" for name in (*DISTANCES, *LEARNED)])
    assert found.model_.terms[0].weights == (1, 1, 2, 2, 1, 1, 0.5, 0.5, 0.5, 0.5)  # rarity agrees with the first
    assert len(found.model_.learned) == 4
    assert roc_auc_score(y, found.outlier_scores_) > 0.9 > roc_auc_score(y, Sp(random_state=0).fit(X).outlier_scores_)


def test_readings_that_agree_count_alike():
    X, _ = counts(spread=0.5, n_subjects=3)
    X.data[:] = 1
    weights = Consensus(random_state=0).fit(X).model_.terms[0].weights
    assert weights[:6] == (1, 1, 2, 2, 1, 1)
    assert 0 < weights[6] == weights[-1] < 2


@pytest.mark.parametrize("change", ["unit", "dense", "negative", "chosen"])
def test_rows_are_read_once_where_there_is_no_doubt(change):
    X, _ = counts()
    options = {"normalize": "l2"} if change == "chosen" else {}
    if change == "unit":
        X = sp.csr_array(sp.diags_array(1 / np.sqrt(X.multiply(X).sum(axis=1))) @ X)
    elif change == "dense":
        X = X.toarray() + 1
    elif change == "negative":
        X.data[::7] *= -1
    assert len(Consensus(random_state=0, **options).fit(X).model_.learned) == 2


def test_a_reading_that_contradicts_the_other_is_left_out():
    """Rows whose length says the opposite of their direction."""
    rng = np.random.default_rng(0)
    X = np.zeros((300, 60))
    for i in range(300):
        n = 2 + i % 30
        X[i, rng.choice(60, n, replace=False)] = 1
    names = Consensus(random_state=0).fit(sp.csr_array(X)).model_.terms[0].names
    assert names == OF_BAGS


# ---- the same row, the same score ------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads(X, fitted):
    again = Consensus(random_state=0, n_jobs=3).fit(X)
    assert again.outlier_scores_.tobytes() == fitted.outlier_scores_.tobytes()
    other = Consensus(random_state=1).fit(X)
    assert (other.outlier_scores_ != fitted.outlier_scores_).any()


def test_a_row_scores_alone_as_in_a_batch_and_as_it_did_in_training(X, fitted):
    assert fitted.outlier_score(X).tobytes() == fitted.outlier_scores_.tobytes()
    alone = np.concatenate([fitted.outlier_score(X[[i]]) for i in range(40)])
    assert alone.tobytes() == fitted.outlier_scores_[:40].tobytes()


def test_sparse_equals_dense():
    for X in (counts()[0].astype(np.float64), with_outliers()[0].astype(np.float64)):
        sparse, dense = Consensus(random_state=0).fit(X), Consensus(random_state=0).fit(X.toarray())
        np.testing.assert_allclose(dense.outlier_scores_, sparse.outlier_scores_, rtol=0.02)  # training rounds


def test_rows_on_disk(tmp_path):
    X, _ = counts()
    folder.write(tmp_path / "data.rows", Table(X))
    there = Consensus(random_state=0).fit(read_file(str(tmp_path / "data.rows")).X)
    assert there.outlier_scores_.tobytes() == Consensus(random_state=0).fit(X).outlier_scores_.tobytes()


def test_the_unit_of_x_does_not_matter(X):
    plain, large = (Consensus(random_state=0).fit(X * unit).outlier_scores_ for unit in (1.0, 1024.0))
    np.testing.assert_allclose(large, plain, rtol=1e-9, atol=1e-9)


def test_new_rows_beyond_all_others_do_not_tie(X, fitted):
    far = sp.csr_array(X[:1] * 0 + sp.csr_array(np.full((1, X.shape[1]), 50.0)))
    assert fitted.outlier_score(2 * far) > fitted.outlier_score(far) > fitted.outlier_scores_.max()


# ---- the whole interface ---------------------------------------------------------------------------------------------


def test_explanations_sum_to_the_score(fitted):
    X, _ = counts()
    for detector, rows in ((fitted, with_outliers()[0]), (Consensus(random_state=0).fit(X), X)):
        for row in detector.explain(rows[:8], top=rows.shape[1]):
            found = sum(reason.contribution for reason in row.reasons) + row.lacks.contribution
            assert found == pytest.approx(row.score, rel=1e-6)
            assert abs(row.rest) < 1e-6 * row.score


@pytest.mark.parametrize("options", [{}, {"normalize": "max"}, {"cutoff": 0.05}, {"n_components": 3}], ids=str)
def test_a_saved_model_scores_explains_and_diagnoses_the_same(tmp_path, options):
    X, _ = counts()
    fitted = Consensus(random_state=0, **options).fit(X)
    again = load(fitted.save(tmp_path / "model.ramodo"))
    assert type(again) is Consensus
    assert again.get_params() == fitted.get_params()
    assert again.outlier_score(X).tobytes() == fitted.outlier_scores_.tobytes()
    assert again.explain(X[:3]).to_dict() == fitted.explain(X[:3]).to_dict()
    assert again.diagnose().to_dict() == fitted.diagnose().to_dict()
    assert again.transform(X[:5]).tobytes() == fitted.transform(X[:5]).tobytes()


def test_labels_raise_what_they_say():
    X, y = counts(purity=0.2)
    labels = np.zeros(len(y), dtype=int)
    labels[-3:] = 1
    rest = np.flatnonzero(y)[:-3]
    plain, taught = (Consensus(random_state=0).fit(X, labels=known) for known in (None, labels))

    def rank(detector):
        return (detector.outlier_scores_[rest][:, None] <= detector.outlier_scores_[~y][None]).mean()

    assert taught.model_.has_labels
    assert rank(taught) < rank(plain)
    assert taught.outlier_score(X).tobytes() == taught.outlier_scores_.tobytes()


def test_a_warm_start_keeps_the_early_weights_and_trains_the_others_further():
    X, y = counts()
    detector = Consensus(random_state=0, warm_start=True).fit(X)
    before = [term.representation.first.weights.copy() for term in detector.model_.learned]
    detector.fit(X, labels=y.astype(int))
    after = [term.representation.first.weights for term in detector.model_.learned]
    assert [a.shape == b.shape and (a == b).all() for a, b in zip(before, after, strict=True)] == [True, False] * 2
    assert len(detector.loss_curve_) == 1


def test_held_out_rows_shape_nothing():
    X = with_outliers()[0]
    detector = Consensus(random_state=0, cutoff=Conformal(0.2)).fit(X)
    assert len(detector.calibration_scores_) > 0
    assert ((detector.p_values(X) > 0) & (detector.p_values(X) <= 1)).all()


@pytest.mark.parametrize("n", [3, 4, 9])
def test_few_rows(n):
    scores = Consensus(random_state=0).fit(np.random.default_rng(0).random((n, 4))).outlier_scores_
    assert np.isfinite(scores).all()


def test_rows_that_are_all_equal():
    with pytest.warns(UserWarning, match="same initial score"):
        scores = Consensus(random_state=0).fit(np.ones((20, 4))).outlier_scores_
    assert np.ptp(scores) == 0


def test_options_are_those_of_the_table():
    with pytest.raises(OptionError, match=r"n_components must be .*, got 0"):
        Consensus(0).fit(np.eye(5))
    with pytest.raises(TypeError, match="n_epochs"):
        Consensus(n_epochs=3)


def test_few_references_where_rows_share_many_features():
    """So that a row is scored in a fraction of a millisecond, dense rows or long lines alike."""
    rng = np.random.default_rng(0)
    for n_features, expected in ((4, 1500), (1000, 262)):
        X = rng.random((3000, n_features)).astype(np.float32)
        term = Consensus(random_state=0).fit(X).model_.terms[0]
        assert isinstance(term, Evidence)
        assert len(term.views[term.names.index("far from the nearest rows")].references.numbers) == expected


def test_tables_without_zeros_have_no_rarity_and_one_distance_more():
    assert Consensus(random_state=0).fit(np.random.default_rng(0).random((60, 5))).model_.terms[0].names == OF_TABLES


def test_rarity_that_no_distance_agrees_with_counts_little():
    """A tenth of the rows have 40 features in common, which are less rare than those of other rows."""
    X, y = make_ultrahigh(400, 5000, outlier_fraction=0.1, random_state=1)
    fitted = Consensus(random_state=0).fit(X)
    evidence = fitted.model_.terms[0]
    at = evidence.names.index(RARITY[0])
    assert roc_auc_score(y, evidence.views[at].score(open_block(X), 1)) < 0.3
    assert evidence.weights[at] < 1
    assert roc_auc_score(y, fitted.outlier_scores_) > 0.8


def test_a_category_that_no_other_row_has_comes_first_in_a_table():
    rng = np.random.default_rng(0)
    numbers, categories = rng.random((2000, 6)), np.eye(6)[np.append(rng.integers(0, 5, 1999), 5)]
    fitted = Consensus(random_state=0).fit(np.hstack([numbers, categories]))
    assert (fitted.outlier_scores_ > fitted.outlier_scores_[-1]).sum() < 5
    assert set(fitted.model_.terms[0].names) == {*OF_TABLES, RARITY[1]}
    assert fitted.diagnose()["view_agreement"].warning == ""  # it ranks one row, and agrees with no ranking of all


def test_the_threshold_of_a_fit_is_that_of_the_same_rows_looked_at_again():
    for X in (with_outliers()[0], counts()[0]):
        fitted = Consensus(random_state=0).fit(X)
        assert fitted.with_labels(X, np.zeros(X.shape[0], dtype=int)).threshold_ == fitted.threshold_


def test_a_table_is_compared_with_a_twentieth_of_some_rows_and_a_bag_with_the_nearest_of_few():
    """A third of the values makes a table, however it is stored: the same values give the same scores."""
    rng = np.random.default_rng(0)
    values = rng.random((300, 12)) + 1
    table, bag = values * (rng.random((300, 12)) < 0.5), values * (rng.random((300, 12)) < 0.2)
    few = [Consensus(random_state=0).fit(X).model_.terms[0].views[0] for X in (table, sp.csr_array(table), bag)]
    assert [(len(view.references.numbers), view.size, view.phi.k) for view in few] == [
        (400, 100, 5),
        (400, 100, 5),
        (400, 8, 1),
    ]
