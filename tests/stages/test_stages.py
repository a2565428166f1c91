"""What a stage of the user's may give, and the error, naming stage and class, where it gives anything else."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

from ramodo import RAMODO, REPEN, Candidates, Cantelli, GivenSet, Layers, RankingHinge, Sp, TopFraction, TopK
from ramodo.data.validation import DataError
from ramodo.options import OptionError
from ramodo.stages.result_checks import StageError

N = 120


def _refused(X, error, message, y=None, labeled=(), **stages):
    """Assert that a fit with these stages is refused, and leaves nothing behind."""
    detector = RAMODO(n_epochs=2, random_state=0, **stages)
    with pytest.raises(error, match=message):
        detector.fit(X, labels=y, **dict(labeled))
    assert not [name for name in vars(detector) if name.endswith("_")]


# ---- scores --------------------------------------------------------------------------------------------------------


class Scorer:
    """Gives what it is told to, whatever the rows."""

    def __init__(self, give):
        self.give = give

    def fit(self, X):
        return self

    def score_samples(self, X):
        return self.give(X.shape[0])


def _last(value):
    def give(n):
        return np.r_[np.zeros(n - 1), value]

    return give


bad_scores = pytest.mark.parametrize(
    ("give", "message"),
    [
        (lambda n: np.zeros(n - 1), r"scores of shape \(119,\) and dtype float64"),
        (lambda n: np.zeros(n + 1), r"scores of shape \(121,\)"),
        (lambda n: np.zeros((n, 1)), r"scores of shape \(120, 1\)"),
        (lambda n: np.float64(1.0), r"scores of shape \(\)"),
        (_last(np.nan), r"the score nan for row 119"),
        (_last(np.inf), r"the score -?inf for row 119"),
    ],
    ids=["short", "long", "2-D", "scalar", "nan", "inf"],
)


@bad_scores
@pytest.mark.parametrize("make", [sp.csr_array, lambda X: X.toarray()], ids=["sparse", "dense"])
def test_unusable_scores_of_the_ranker(data, make, give, message):
    _refused(make(data[0]), StageError, f"the ranker Scorer must return .*, got {message}", ranker=Scorer(give))


@bad_scores
def test_unusable_scores_of_the_scorer(data, give, message):
    _refused(data[0], StageError, f"the scorer Scorer must return .*, got {message}", scorer=Scorer(give), ranker=Sp())


@pytest.mark.parametrize("name", ["labeled_outliers", "labeled_inliers"])
def test_unusable_scores_of_labelled_rows_beside_x(data, name):
    """The ranker is at a loss for those rows alone."""
    ranker = Scorer(lambda n: np.arange(n) + (np.nan if n == 3 else 0))
    message = "the ranker Scorer must return .*, got the score nan for row 0"
    _refused(data[0], StageError, message, ranker=ranker, labeled={name: np.ones((3, 40))})


def test_a_scorer_with_a_ranking_of_its_own(data):
    """The full protocol: rows, eligible rows, a generator and threads, to a function of blocks."""

    class Longest:
        def ranking(self, rows, eligible, rng, n_threads):
            assert (rows.n_rows, len(eligible), n_threads) == (N, N, 1)
            return lambda block: np.diff(block.indptr).astype(float)

    class Nothing(Longest):
        def ranking(self, rows, eligible, rng, n_threads):
            return lambda block: None

    detector = RAMODO(ranker=Longest(), n_epochs=2, n_jobs=1, random_state=0).fit(data[0])
    assert np.array_equal(detector.initial_scores_, np.diff(data[0].indptr))
    _refused(data[0], StageError, "the ranker Nothing must return .*, got scores of shape", ranker=Nothing())


# ---- candidates ----------------------------------------------------------------------------------------------------


class Thresholder:
    def __init__(self, outliers, inliers):
        self.outliers, self.inliers = np.asarray(outliers), np.asarray(inliers)

    def split(self, scores, labels):
        return Candidates(self.outliers, self.inliers)


@pytest.mark.parametrize(
    ("outliers", "inliers", "message"),
    [
        ([], range(N), "an empty set of candidate outliers"),
        (range(N), [], "an empty set of candidate inliers"),
        ([0, 1], range(1, N), "row 1 as outlier and as inlier"),
        ([N], range(N), "outliers beyond the rows of X"),
        ([0], range(1, N + 1), "inliers beyond the rows of X"),
        ([-1], range(N), "outliers beyond the rows of X"),
        ([0.0], range(1, N), "outliers of dtype float64"),
        ([True], range(1, N), "outliers of dtype bool"),
        ([[0]], range(1, N), "outliers of dtype int64"),
    ],
)
def test_unusable_candidates(data, outliers, inliers, message):
    stage = Thresholder(outliers, inliers)
    _refused(data[0], StageError, f"the thresholder Thresholder must return .*, got {message}", thresholder=stage)


def test_labels_do_not_stand_in_for_inlier_candidates(data):
    message = "the thresholder Thresholder must return .*, got an empty set of candidate inliers"
    _refused(data[0], StageError, message, data[1], thresholder=Thresholder(range(N), []))


def test_candidates_of_another_type(data):
    class Pair:
        def split(self, scores, labels):
            return scores > 0, scores <= 0

    message = "the thresholder Pair must return .*, got a tuple"
    _refused(data[0], StageError, message, thresholder=Pair())


def test_candidates_may_leave_rows_out(data):
    """Sets that do not cover all rows: those in between are in no triplet."""
    stage = Thresholder([118, 119], np.arange(50))
    detector = RAMODO(thresholder=stage, n_epochs=2, random_state=0).fit(data[0])
    assert detector.candidate_outliers_.tolist() == [118, 119]


# ---- triplets ------------------------------------------------------------------------------------------------------


class Sampler:
    n_queries = 1

    def __init__(self, give):
        self.give = give

    def draw(self, pools, n_epochs, n, batch_size, rng):
        assert (n_epochs, n, batch_size) == (2, N, 256)
        return self.give((n_epochs, n, self.n_queries + 2))


@pytest.mark.parametrize(
    ("give", "message"),
    [
        (
            lambda shape: np.zeros(shape[1:], int),
            r"triplets of shape \(120, 3\) and dtype int64",
        ),
        (lambda shape: np.zeros((2, 119, 3), int), r"triplets of shape \(2, 119, 3\)"),
        (lambda shape: np.zeros((2, 120, 2), int), r"triplets of shape \(2, 120, 2\)"),
        (np.zeros, r"triplets of shape \(2, 120, 3\) and dtype float64"),
        (lambda shape: np.full(shape, N), "the row number 120"),
        (lambda shape: np.full(shape, -1), "the row number -1"),
        (lambda shape: None, r"triplets of shape \(\)"),
    ],
    ids=["no epochs", "few", "narrow", "floats", "beyond", "negative", "nothing"],
)
def test_unusable_triplets(data, give, message):
    _refused(data[0], StageError, f"the sampler Sampler must return .*, got {message}", sampler=Sampler(give))


@pytest.mark.parametrize("n_queries", [0, "1", 1.5])
def test_an_unusable_number_of_queries(data, n_queries):
    sampler = Sampler(np.zeros)
    sampler.n_queries = n_queries
    _refused(data[0], OptionError, rf"n_queries must be .*, got {n_queries!r}", sampler=sampler)


def test_more_queries_than_inliers(data):
    sampler = Sampler(np.zeros)
    sampler.n_queries = 200
    _refused(data[0], OptionError, "n_queries=200 needs at least 201", sampler=sampler)


# ---- losses --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("give", "message"),
    [
        (lambda rows: (np.nan, rows), "the loss nan and a gradient of shape .*"),
        (lambda rows: (np.inf, rows), "the loss inf"),
        (lambda rows: (1.0, rows * np.nan), "a gradient of shape"),
        (lambda rows: (1.0, rows[:-1]), r"a gradient of shape \(\d+, 20\)"),
        (lambda rows: (1.0, rows.sum()), r"a gradient of shape \(\)"),
        (lambda rows: (1.0, None), r"a gradient of shape \(\)"),
        (lambda rows: (1.0, rows.astype(str)), "a gradient of shape"),
        (lambda rows: (None, rows), "the loss None"),
        (lambda rows: (rows, rows), r"the loss \(\d+, 20\)"),
        (lambda rows: rows, "a ndarray"),
        (lambda rows: (1.0, rows, rows), "a tuple"),
        (lambda rows: 1.0, "a float"),
    ],
)
def test_unusable_losses(data, give, message):
    class Loss:
        def __call__(self, rows, triplets):
            return give(rows)

    def function(rows, triplets):
        return give(rows)

    _refused(data[0], StageError, f"the loss Loss must return .*, got .*{message}", loss=Loss())
    _refused(data[0], StageError, f"the loss function must return .*, got .*{message}", loss=function)


# ---- representations -----------------------------------------------------------------------------------------------


class Own:
    """A head from two functions."""

    def __init__(self, forward=lambda hidden: hidden, backward=lambda gradient: gradient, first_width=5):
        self.forward, self.backward, self.first_width = forward, backward, first_width

    def head(self, rng):
        return self


def test_the_plainest_head_is_a_linear_layer(data):
    own = RAMODO(representation=Own(), n_epochs=3, random_state=0).fit(data[0])
    linear = RAMODO(representation=Layers((5,), "linear"), n_epochs=3, random_state=0).fit(data[0])
    np.testing.assert_allclose(own.outlier_scores_, linear.outlier_scores_, rtol=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"forward": lambda hidden: hidden[:-1]}, r"an array of shape \(\d+, 5\), or with NaN .*"),
        ({"forward": lambda hidden: hidden[:, 0]}, r"an array of shape \(\d+,\)"),
        ({"forward": lambda hidden: hidden * np.nan}, "or with NaN or infinity"),
        ({"forward": lambda hidden: hidden / 0}, "or with NaN or infinity"),
        ({"forward": lambda hidden: None}, r"an array of shape \(\)"),
        ({"forward": lambda hidden: hidden.astype(str)}, ""),
        (
            {"backward": lambda gradient: gradient[:-1]},
            r"a gradient of shape \(\d+, 5\), .*",
        ),
        ({"backward": lambda gradient: gradient[:, :4]}, r"a gradient of shape \(\d+, 4\), .*"),
        ({"backward": lambda gradient: gradient * np.inf}, "a gradient of shape"),
        ({"backward": lambda gradient: None}, r"a gradient of shape \(\)"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_unusable_heads(data, options, message):
    _refused(
        data[0], StageError, f"the representation Own must return .*, got .*{message}", representation=Own(**options)
    )


def test_a_head_that_is_none(data):
    class Headless:
        first_width = 5

        def head(self, rng):
            return None

    message = "the representation Headless must return .*, got the head None"
    _refused(data[0], StageError, message, representation=Headless())


@pytest.mark.parametrize("width", [0, -1, "5", 2.5, 5000])
def test_an_unusable_width(data, width):
    message = rf"first_width of the representation Own must be .*, got {width!r}"
    _refused(data[0], OptionError, message, representation=Own(first_width=width))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"widths": ()}, r"widths must be .*, got \(\)"),
        ({"widths": (5, 0)}, r"widths must be .*, got \(5, 0\)"),
        ({"widths": (5, 2.0)}, r"widths must be .*, got \(5, 2\.0\)"),
        ({"widths": "20"}, "widths must be .*, got '20'"),
        ({"widths": 0}, "widths must be .*, got 0"),
        ({"widths": None}, "widths must be .*, got None"),
        ({"activation": "tanh"}, "activation must be .*, got 'tanh'"),
    ],
)
def test_unusable_layers(data, options, message):
    _refused(data[0], OptionError, message, representation=Layers(**options))


# ---- cut-offs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.nan, np.inf, None, "high", np.zeros(2)], ids=str)
def test_unusable_cutoffs(data, value):
    class Cutoff:
        def cutoff(self, scores):
            return value

    _refused(data[0], StageError, "the cutoff Cutoff must return .*, got .*", cutoff=Cutoff())
    detector = REPEN(cutoff=Cutoff(), n_epochs=1)
    with pytest.raises(StageError, match=r"the cutoff Cutoff must return .*, got "):
        detector.fit(data[0])


# ---- what is no stage ----------------------------------------------------------------------------------------------

NEEDED = {
    "scorer": "Sp, KthNN, AverageNN, Ensemble, or any object with fit and score_samples",
    "ranker": "Sp, KthNN, AverageNN, Ensemble, or any object with fit and score_samples",
    "thresholder": "an object with split",
    "sampler": "an object with n_queries and draw",
    "representation": "an object with first_width and head",
    "loss": "a function of rows and triplets",
    "cutoff": "'cantelli' or a number above 0 and at most 0.5 or an object with a method cutoff",
}


class Fits:
    """Has some of what each stage needs, and all of none."""

    n_queries, first_width = 1, 5

    def fit(self, X):
        return self

    def __repr__(self):
        return "Fits()"


@pytest.mark.parametrize("given", ["x", 3, Fits(), object], ids=["text", "number", "lacking", "class"])
@pytest.mark.parametrize("name", NEEDED)
def test_what_is_no_stage_is_refused_by_name(data, name, given):
    message = rf"{name} must be .*, got {re.escape(repr(given))}"
    _refused(data[0], OptionError, message, **{name: given})


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("scorer", Sp),
        ("ranker", Sp),
        ("thresholder", Cantelli),
        ("sampler", Sampler),
        ("representation", Layers),
        ("loss", RankingHinge),
        ("cutoff", Cantelli),
    ],
)
def test_a_class_is_no_stage(data, name, kind):
    _refused(data[0], OptionError, rf"{name} must be .*, got <class .*{kind.__name__}'>", **{name: kind})


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ({"loss": RankingHinge(0)}, "margin must be .*, got 0"),
        ({"thresholder": Cantelli(-1)}, "alpha must be .*, got -1"),
        ({"thresholder": Cantelli(false_positives=0)}, "false_positives must be .*, got 0"),
        ({"thresholder": TopK(0)}, "count must be .*, got 0"),
        ({"thresholder": TopFraction(2)}, "fraction must be .*, got 2"),
        ({"thresholder": GivenSet([N])}, "rows of GivenSet must be .*, got 120 to 120"),
        ({"thresholder": GivenSet([-1, 3])}, "rows of GivenSet must be .*, got -1 to 3"),
        ({"thresholder": GivenSet([0.5])}, r"rows of GivenSet must be .*, got \[0\.5\]"),
        ({"thresholder": GivenSet(3)}, "rows of GivenSet must be .*, got 3"),
        ({"cutoff": TopK("ten")}, "count must be .*, got 'ten'"),
        ({"scorer": Sp(0)}, "n_subsamples must be .*, got 0"),
    ],
    ids=str,
)
def test_unusable_options_of_ramodo_s_own_stages(data, stages, message):
    _refused(data[0], OptionError, message, **stages)


def test_a_failed_fit_leaves_the_older_one(data):
    detector = RAMODO(n_epochs=2, random_state=0).fit(data[0])
    before = dict(vars(detector))
    detector.set_params(ranker=Scorer(_last(np.nan)))
    with pytest.raises(StageError):
        detector.fit(data[0])
    after = {name: value for name, value in vars(detector).items() if name.endswith("_")}
    assert all(after[name] is before[name] for name in after)
    assert np.array_equal(detector.outlier_score(data[0]), before["outlier_scores_"])


# ---- labels --------------------------------------------------------------------------------------------------------

kinds = pytest.mark.parametrize("make", [sp.csr_array, lambda X: X.toarray()], ids=["sparse", "dense"])


@kinds
def test_contradictory_labels_of_two_matrices(data, make):
    X = make(data[0])
    message = "contradictory labels: row 2 of labeled_outliers is given as an outlier and row 0 of labeled_inliers"
    _refused(X, DataError, message, labeled={"labeled_outliers": X[117:], "labeled_inliers": X[119:]})


@kinds
def test_contradictory_labels_of_y_and_a_matrix(data, make):
    X = make(data[0])
    y = np.zeros(N)
    y[5], y[7] = 1, -1
    message = "row 5 of X with the label 1 is given as an outlier and row 1 of labeled_inliers, the same row, as an"
    _refused(X, DataError, message, y, {"labeled_inliers": X[4:6]})
    message = "row 1 of labeled_outliers is given as an outlier and row 7 of X with the label -1, the same row, as an"
    _refused(X, DataError, message, y, {"labeled_outliers": X[6:8]})


def test_contradictions_are_seen_across_kinds_of_matrix(data):
    """Dense beside sparse, stored zeros, another dtype: the same row is the same row."""
    X = data[0].astype(np.float32)
    stored = X[3:4].copy()
    stored.data[0] = 0.0
    labeled = {"labeled_outliers": stored, "labeled_inliers": stored.toarray().astype(np.float64)}
    _refused(X, DataError, "contradictory labels", labeled=labeled)


@kinds
def test_the_same_label_twice_is_no_contradiction(data, make):
    X = make(data[0])
    y = np.zeros(N)
    y[119], y[0] = 1, -1
    detector = REPEN(n_epochs=1, random_state=0).fit(X, labels=y, labeled_outliers=X[118:], labeled_inliers=X[:2])
    assert np.isfinite(detector.outlier_scores_).all()


def test_equal_rows_of_x_may_have_different_labels(data):
    """They are different objects."""
    X = sp.vstack([data[0], data[0][:2]], format="csr")
    y = np.zeros(N + 2)
    y[0], y[N] = 1, -1
    assert np.isfinite(REPEN(n_epochs=1, random_state=0).fit(X, labels=y).outlier_scores_).all()


@pytest.mark.parametrize(
    ("stages", "labels", "error", "message"),
    [
        ({}, np.ones(N), OptionError, "no inlier candidates are left: labels say that every row of X is a known"),
        ({}, -np.ones(N), OptionError, r"no outlier candidates are left.*unlabelled \(0\)"),
        ({}, np.r_[0, np.ones(N - 1)], OptionError, r"1 inlier candidates are left.* needs at least 2"),
        (
            {"thresholder": TopK(6)},
            np.r_[np.zeros(114), -np.ones(6)],
            StageError,
            "TopK must .*, got an empty set",
        ),
        (
            {"thresholder": GivenSet([3])},
            np.r_[0, 0, 0, -1, np.zeros(116)],
            StageError,
            "GivenSet must .*, got an empty set",
        ),
        (
            {"thresholder": GivenSet()},
            None,
            StageError,
            "GivenSet must .*, got an empty set",
        ),
        (
            {"thresholder": TopFraction(1.0)},
            None,
            StageError,
            "TopFraction must .*, got an empty set",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:subsample_size")
def test_labels_that_leave_a_candidate_set_empty(data, stages, labels, error, message):
    _refused(data[0], error, message, labels, **stages)


def test_labelled_outliers_stand_in_for_candidates(data):
    detector = RAMODO(thresholder=GivenSet(), n_epochs=1, random_state=0).fit(data[0], labels=data[1])
    assert detector.candidate_outliers_.tolist() == list(range(114, N))
