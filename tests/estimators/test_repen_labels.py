"""Labels: in y, as extra rows, and their share of the negatives (section 4.6).

`labeled_fraction=0.5` and `labels_in_score=False` are the paper's way; what holds for any way is tested with "auto",
the default, as well.
"""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

from ramodo import REPEN
from ramodo.data.validation import DataError
from ramodo.datasets import make_ultrahigh
from ramodo.options import OptionError
from ramodo.stages.triplets import TripletSampler
from reference import batches, forward, initial_weights, sp_scores, train

PAPER = 0.5
either_way = pytest.mark.parametrize("way", [PAPER, "auto"])


@pytest.fixture
def drawn(record):
    """One array of triplets for each fit: epochs x triplets x rows."""
    return record(TripletSampler, "draw")


@pytest.fixture(scope="module")
def faint():
    """Outliers that Sp hardly sees, 40 of which are known: X, truth, known rows."""
    X, truth = make_ultrahigh(1500, 20_000, marks_per_outlier=5, outlier_fraction=0.06, random_state=1)
    known = np.flatnonzero(truth)[:40]
    return X, truth, known


def _mean_auc(X, truth, judged, y=None, **labeled):
    detectors = [REPEN(labeled_fraction=PAPER, labels_in_score=False, random_state=seed) for seed in range(3)]
    scores = [detector.fit(X, labels=y, **labeled).outlier_scores_ for detector in detectors]
    return np.mean([roc_auc_score(truth[judged], score[judged]) for score in scores])


def test_labeled_outliers_lift_the_auc(faint):
    """Judged on rows that were not labelled; the same rows, given in y or as rows that are not part of X."""
    X, truth, known = faint
    others = np.setdiff1d(np.arange(X.shape[0]), known)
    y = np.zeros(X.shape[0])
    y[known] = 1
    everyone = np.arange(len(others))
    unlabeled = _mean_auc(X[others], truth[others], everyone)
    assert _mean_auc(X[others], truth[others], everyone, labeled_outliers=X[known]) > unlabeled + 0.1
    assert _mean_auc(X, truth, others, y) > unlabeled + 0.05


@pytest.mark.parametrize("fraction", [0.0, 0.5, 1.0])
def test_share_of_negatives_from_extra_rows(quick, data, drawn, fraction):
    """Extra rows are numbered after those of X; each appears about equally often."""
    X, _ = data
    extra = sp.csr_array(np.random.default_rng(0).random((5, 40)))
    quick(labeled_fraction=fraction, n_epochs=10).fit(X, labeled_outliers=extra)
    counts = np.bincount(drawn[0][..., -1].ravel(), minlength=125)[120:]
    assert counts.sum() == 10 * round(120 * fraction)
    assert fraction == 0 or counts.min() > 0.5 * counts.mean()


@either_way
def test_labels_in_y_decide_who_is_a_negative(quick, data, drawn, way):
    """Rows 0 and 1 are like all others, 114 to 116 are far from them; the labels say the opposite."""
    X, _ = data
    y = np.zeros(120)
    y[[0, 1]], y[114:117] = 1, -1
    detector = quick(n_epochs=10, labeled_fraction=way).fit(X, labels=y)
    assert {0, 1} <= set(detector.candidate_outliers_)
    assert not set(detector.candidate_outliers_) & {114, 115, 116}
    negatives = set(drawn[0][..., -1].ravel())
    assert {0, 1} <= negatives
    assert not negatives & {114, 115, 116}


@either_way
def test_known_outliers_are_no_references(quick, way):
    """A known outlier is never nearer to a subsample than to the nearest row that is not one."""
    X = np.random.default_rng(0).random((12, 5))
    y = np.zeros(12)
    y[[3, 7]] = 1
    detector = quick(n_subsamples=50, subsample_size=9, labeled_fraction=way).fit(X, labels=y)
    distances = np.linalg.norm(X[:, None] - X[y == 0], axis=2).min(axis=1)
    assert np.all(detector.initial_scores_[y == 1] >= distances[y == 1] - 1e-7)
    assert np.all(distances[y == 1] > 0.01)


@pytest.mark.parametrize("make", [sp.csr_array, lambda X: X.toarray()], ids=["sparse", "dense"])
def test_training_on_extra_rows_equals_reference(quick, data, drawn, make):
    """Triplets name extra rows after those of X, outliers first; each must be the row that training took for it."""
    X = data[0]
    outliers, inliers = (np.random.default_rng(seed).random((4, 40)) for seed in (1, 2))
    detector = quick(n_epochs=4, batch_size=32, labeled_fraction=PAPER)
    detector.fit(make(X), labeled_outliers=outliers, labeled_inliers=inliers)
    named = np.concatenate(drawn[0])
    assert set(range(120, 124)) <= set(named[:, 2])
    assert set(range(124, 128)) <= set(named[:, 1])
    assert not set(range(124, 128)) & set(named[:, 2])
    assert not set(range(120, 124)) & set(named[:, :2].ravel())

    first = detector.model_.learned[0].representation.first
    start = initial_weights(first.seed, range(40), 6, first.limit)
    rows = np.vstack([X.toarray(), outliers, inliers])
    weights, _ = train(rows, [batch for epoch in drawn[0] for batch in batches(epoch, 32)], start, 1000.0)
    np.testing.assert_allclose(detector.transform(make(X)), forward(X.toarray(), weights), atol=1e-4)


def test_labels_the_paper_s_way_are_in_training_alone(quick, data):
    """The score is the distance to the references in the representation, and nothing else."""
    X, truth = data
    detector = quick(labeled_fraction=PAPER, labels_in_score=False).fit(X, labels=truth)
    assert not detector.model_.has_labels
    assert "labels" not in detector.stage_seconds_
    assert "labels" in quick(labeled_fraction="auto").fit(X, labels=truth).stage_seconds_
    expected = sp_scores(detector.transform(X), detector.references_, 8)
    np.testing.assert_allclose(detector.outlier_scores_, expected, rtol=1e-9)


def test_extra_rows_train_as_if_they_were_rows_of_x(quick, data):
    """With negatives only from labelled rows, the kind of matrix in which they come makes no difference."""
    X, _ = data
    extra = np.random.default_rng(0).random((5, 40)).astype(np.float32).astype(np.float64)
    kinds = [extra, sp.csr_array(extra), sp.csc_matrix(extra), extra.astype(np.float32), extra.tolist()]
    scores = [quick(labeled_fraction=1.0).fit(X, labeled_outliers=kind).outlier_scores_ for kind in kinds]
    assert all(np.array_equal(scores[0], score) for score in scores[1:])
    dense = quick(labeled_fraction=1.0).fit(X.toarray(), labeled_outliers=sp.csr_array(extra)).outlier_scores_
    np.testing.assert_allclose(dense, scores[0], rtol=1e-4)


@either_way
def test_no_extra_rows_are_as_none(quick, data, way):
    X, _ = data
    nothing = sp.csr_array((0, 40))
    detector = quick(labeled_fraction=way).fit(X, labeled_outliers=nothing, labeled_inliers=np.empty((0, 40)))
    assert np.array_equal(detector.outlier_scores_, quick(labeled_fraction=PAPER).fit(X).outlier_scores_)


@either_way
def test_unknown_labels_are_as_none(quick, data, way):
    X, _ = data
    detector = quick(labeled_fraction=way).fit(X, labels=np.zeros(120))
    assert np.array_equal(detector.outlier_scores_, quick(labeled_fraction=PAPER).fit(X).outlier_scores_)


@either_way
def test_fit_predict_takes_labels(quick, data, way):
    X, truth = data
    labeled = {"labeled_outliers": X[-3:], "labeled_inliers": X[:3]}
    flags = quick(labeled_fraction=way).fit_predict(X, labels=truth, **labeled)
    assert set(flags) == {-1, 1}
    assert np.array_equal(flags, quick(labeled_fraction=way).fit(X, labels=truth, **labeled).predict(X))


@pytest.mark.parametrize("make", [sp.csr_array, lambda X: X.toarray()], ids=["sparse", "dense"])
@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (np.zeros(119), OptionError, r"labels must be .*, got an array of shape \(119,\)"),
        (np.full(120, 2), OptionError, r"labels\[0\] must be .*, got .*2"),
        (np.array(["spam"] * 120), OptionError, r"labels\[0\] must be .*, got .*spam"),
        (np.ones(120), OptionError, r"inlier.* left"),
        (np.r_[0, np.ones(119)], OptionError, r"1 inlier candidates are left.* needs at least 2"),
        (-np.ones(120), OptionError, r"no outlier candidates are left.*unlabelled \(0\)"),
    ],
)
@pytest.mark.filterwarnings("ignore:subsample_size")
def test_unusable_labels_are_refused(quick, data, make, labels, error, message):
    detector = quick()
    with pytest.raises(error, match=message):
        detector.fit(make(data[0]), labels=labels)
    assert not [name for name in vars(detector) if name.endswith("_")]


@pytest.mark.parametrize("name", ["labeled_outliers", "labeled_inliers"])
@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (np.ones((2, 39)), "must have the 40 features of X, got 39"),
        (np.full((2, 40), np.nan), "got NaN, first at row 0, column 0"),
        (np.ones(40), "Expected 2D array, got 1D"),
        (np.array([["a"] * 40]), "got dtype <U1"),
    ],
)
def test_unusable_extra_rows_are_refused_by_name(quick, data, name, extra, message):
    detector = quick()
    with pytest.raises(DataError, match=rf"{name}.*{message}|{message}.*{name}"):
        detector.fit(data[0], **{name: extra})
    assert not [key for key in vars(detector) if key.endswith("_")]


def test_extra_rows_with_other_columns_are_refused(quick, data):
    frame = pd.DataFrame(data[0].toarray(), columns=[f"c{i}" for i in range(data[0].shape[1])])
    with pytest.raises(
        DataError, match=r"labeled_outliers must have the columns of X in their order: column 0 must be .*, got .c"
    ):
        quick().fit(frame, labeled_outliers=frame.iloc[:3, ::-1])
    assert quick().fit(frame, labeled_outliers=frame.iloc[:3]).n_features_in_ == frame.shape[1]


def test_names_of_extra_rows_are_looked_at_before_their_values(quick, data):
    frame = pd.DataFrame(data[0].toarray(), columns=[f"c{i}" for i in range(data[0].shape[1])])
    with pytest.raises(DataError, match="labeled_inliers must have the columns of X"):
        quick().fit(frame, labeled_inliers=frame.iloc[:3, ::-1] * np.nan)


def test_the_output_of_predict_as_labels_is_warned_of(quick, data):
    """There 1 is an inlier; labels that look otherwise are taken as they are."""
    X, _ = data
    predicted = quick().fit(X).predict(X)
    assert set(predicted) == {-1, 1}
    with pytest.warns(
        UserWarning, match=r"in labels 1 is a known outlier, -1 a known inlier .* `predict` uses the opposite signs"
    ):
        quick().fit(X, labels=predicted)
    quick().fit(X, labels=-predicted)
    predicted[0] = 0
    quick().fit(X, labels=predicted)
