"""What a careful analyst would check: findings by hand, warnings where they belong, normalisations compared."""

import json
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import spearmanr

from ramodo import RAMODO, REPEN, Consensus, KthNN, Layers, load
from ramodo.insight.diagnosis import Diagnosis, Finding
from ramodo.options import OptionError
from reference import sp_scores

pytestmark = pytest.mark.slow

OPTIONS = {"n_components": 6, "n_epochs": 5, "batch_size": 64, "n_subsamples": 20, "random_state": 0}
NAMES = [
    "row_length",
    "row_norm",
    "initial_row_length",
    "candidates",
    "candidate_share",
    "dead_units",
    "largest_column",
    "tied_rows",
    "empty_rows",
    "loss_first",
    "loss_last",
    "subsample_spread",
    "subsample_agreement",
    "initial_agreement",
]


def _topics(seed=0, n_rows=300, n_outliers=15):
    """Rows of ones: of 8 to 36 among 40 features; the last ones of 5 among another 40."""
    rng = np.random.default_rng(seed)
    dense = np.zeros((n_rows, 80))
    for row in range(n_rows - n_outliers):
        dense[row, rng.choice(40, rng.integers(8, 37), replace=False)] = 1.0
    for row in range(n_rows - n_outliers, n_rows):
        dense[row, 40 + rng.choice(40, 5, replace=False)] = 1.0
    return sp.csr_array(dense), np.repeat([0, 1], [n_rows - n_outliers, n_outliers])


def _of_any_length(seed=0, n_rows=200):
    """Ones at random features, from few to very many: what is far from all others is what is long."""
    rng = np.random.default_rng(seed)
    share = np.linspace(0.01, 0.3, n_rows)[:, None]
    return sp.csr_array((rng.random((n_rows, 2000)) < share).astype(float))


def _balanced(seed=0, n_rows=300):
    """Rows of ten equal values, all of one length and norm, in two groups and a few rows of their own."""
    rng = np.random.default_rng(seed)
    dense = np.zeros((n_rows, 60))
    for row in range(n_rows):
        first = 0 if row < n_rows // 2 else 20 if row < n_rows - 12 else 40
        dense[row, first + rng.choice(20, 10, replace=False)] = 1.0
    return sp.csr_array(dense)


@pytest.fixture(scope="module")
def fitted():
    return REPEN(**OPTIONS).fit(_topics()[0])


# ---- values by hand ------------------------------------------------------------------------------------------------


def test_findings_have_these_names(fitted):
    assert [finding.name for finding in fitted.diagnose().findings] == NAMES


@pytest.mark.parametrize("make", [sp.csr_array, lambda X: X.toarray()], ids=["sparse", "dense"])
def test_values_equal_those_by_hand(make):
    X = _topics()[0] * 1.5
    detector = REPEN(**OPTIONS).fit(make(X))
    found, dense = detector.diagnose(), X.toarray()
    lengths, norms = (dense != 0).sum(axis=1), np.sqrt((dense**2).sum(axis=1))
    expected = {
        "row_length": spearmanr(detector.outlier_scores_, lengths).statistic,
        "row_norm": spearmanr(detector.outlier_scores_, norms).statistic,
        "initial_row_length": spearmanr(detector.initial_scores_, lengths).statistic,
        "candidates": len(detector.candidate_outliers_),
        "candidate_share": len(detector.candidate_outliers_) / 300,
        "dead_units": sum((detector.transform(make(X))[:, i] == 0).all() for i in range(6)),
        "loss_first": detector.loss_curve_[0],
        "loss_last": detector.loss_curve_[-1],
        "initial_agreement": spearmanr(detector.initial_scores_, detector.outlier_scores_).statistic,
    }
    for name, value in expected.items():
        assert found[name].value == pytest.approx(value, rel=1e-9), name


def test_stored_zeros_have_no_length():
    X = _topics()[0]
    with_zeros = sp.csr_array(np.where(X.toarray() == 0, 9.0, X.toarray()))
    with_zeros.data[with_zeros.data == 9.0] = 0.0
    found, expected = (REPEN(**OPTIONS).fit(kind).diagnose()["row_length"].value for kind in (with_zeros, X))
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("scorer", [None, KthNN(2, 21)], ids=["Sp", "KthNN"])
def test_spread_and_agreement_of_subsamples_by_hand(scorer):
    """Each subsample's scores alone; an odd number of subsamples has halves of unlike size."""
    X = _topics()[0]
    detector = RAMODO(scorer, n_epochs=3, random_state=0).fit(X)
    found, n, k = detector.diagnose(), 50 if scorer is None else 21, 1 if scorer is None else 2
    mapped, references = detector.transform(X), detector.references_
    each = np.array([sp_scores(mapped, references[8 * s : 8 * s + 8], 8, k) for s in range(n)])
    np.testing.assert_allclose(each.mean(axis=0), detector.outlier_scores_, rtol=1e-6)
    spreads = [row.std() / row.mean() for row in each.T if row.mean() > 0]
    assert found["subsample_spread"].value == pytest.approx(np.mean(spreads), rel=1e-6)
    halves = each[: n // 2].mean(axis=0), each[n // 2 :].mean(axis=0)
    assert found["subsample_agreement"].value == pytest.approx(spearmanr(*halves).statistic, rel=1e-6)


def test_a_single_subsample_has_no_agreement():
    found = REPEN(**{**OPTIONS, "n_subsamples": 1}).fit(_topics()[0]).diagnose()
    assert found["subsample_spread"].value == 0.0
    assert "subsample_agreement" not in [finding.name for finding in found.findings]


def test_more_rows_than_are_kept_are_sampled():
    X = _topics(n_rows=1500, n_outliers=50)[0]
    detector = REPEN(**OPTIONS).fit(X)
    assert detector.samples_[0].shape == (1000, 6)
    mapped = detector.transform(X)
    assert {row.tobytes() for row in detector.samples_[0]} <= {row.tobytes() for row in mapped}
    assert 0 < detector.diagnose()["subsample_spread"].value < 1


@pytest.mark.parametrize(
    ("options", "labelled", "n", "words"),
    [
        ({}, False, 1, "learned distance"),
        ({}, True, 2, "learned distance; label direction"),
        ({"labels_in_score": False}, True, 1, "learned distance"),
        (
            {"n_estimators": 3, "normalize": "l2"},
            True,
            2,
            "mean of 3 learned distances, of rows whose length is 1; label direction",
        ),
    ],
)
def test_the_terms_of_the_score_are_named(options, labelled, n, words):
    X, truth = _topics()
    found = REPEN(**{**OPTIONS, **options}).fit(X, labels=truth if labelled else None).diagnose()
    assert len(found.to_dict()["terms"]) == len(found.terms) == n
    assert f"\na score is the sum of: {words}\n" in f"{found}\n"


def test_several_models_have_units_of_all():
    detector = REPEN(n_estimators=3, **OPTIONS).fit(_topics()[0])
    found, mapped = detector.diagnose()["dead_units"], detector.transform(_topics()[0])
    assert found.value == (mapped == 0).all(axis=0).sum()
    assert found.meaning.startswith("how many of 18 units")


def test_scores_that_do_not_vary_correlate_with_nothing():
    with pytest.warns(UserWarning, match="same initial score"):
        found = REPEN(**OPTIONS).fit(np.ones((30, 4))).diagnose()
    for name in ("row_length", "row_norm", "initial_agreement", "subsample_agreement"):
        assert found[name].value == 0.0


# ---- warnings ------------------------------------------------------------------------------------------------------


def _warning(found, name):
    return found[name].warning


def test_a_ranking_by_length_is_called_so():
    found = REPEN(**{**OPTIONS, "n_components": 200, "n_epochs": 1}).fit(_of_any_length()).diagnose()
    assert found["initial_row_length"].value > 0.9
    assert _warning(found, "initial_row_length").startswith(
        "this initial ranking mostly follows row length: rank correlation"
    )
    assert found["row_length"].value > 0.9
    assert _warning(found, "row_length").startswith("this ranking mostly follows row length: rank correlation 0.9")
    assert "normalize='l2'" in _warning(found, "row_length")
    assert _warning(found, "row_norm").startswith("this ranking mostly follows row norm")
    assert set(found.warnings) >= {_warning(found, name) for name in ("row_length", "row_norm")}


def test_far_from_the_middle_is_no_matter_of_length():
    """Of measurements around 0 the norm is the distance from the middle, which is what makes an outlier."""
    X = np.random.default_rng(0).normal(size=(300, 6))
    X[42] += 6
    found = Consensus(random_state=0).fit(X).diagnose()
    assert found["row_norm"].value > 0.8
    assert not _warning(found, "row_norm")
    assert _warning(Consensus(random_state=0).fit(np.abs(X) ** 3).diagnose(), "row_norm")


def test_a_ranking_by_length_upside_down_is_called_so():
    """Long rows in the middle, short ones far from it."""
    rng = np.random.default_rng(0)
    dense = np.zeros((200, 400))
    for row, length in enumerate(np.linspace(1, 100, 200).astype(int)):
        dense[row, :length] = 10 / np.sqrt(length)
        dense[row, 100 + rng.choice(300, 1)] = 8 / length
    found = REPEN(normalize="l2", **OPTIONS).fit(sp.csr_array(dense)).diagnose()
    assert found["initial_row_length"].value < -0.9
    assert "row length, upside down: rank correlation -0.9" in _warning(found, "initial_row_length")


def test_balanced_data_need_no_warning():
    detector = REPEN(**{**OPTIONS, "n_epochs": 20, "n_subsamples": 300}).fit(_balanced())
    found = detector.diagnose()
    assert found["row_length"].value == found["row_norm"].value == 0.0
    assert found.warnings == ()
    assert "!" not in str(found)


def test_dead_units_are_called_so():
    """Where they are more than half."""
    detector = REPEN(**OPTIONS).fit(_topics()[0])
    detector.n_alive_ = [2]
    found = detector.diagnose()
    assert found["dead_units"].value == 4
    assert _warning(found, "dead_units").startswith("4 of 6 units of the representation respond to no row")
    detector.n_alive_ = [3]
    assert _warning(detector.diagnose(), "dead_units") == ""


def test_rows_at_one_point_are_called_so(fitted):
    fitted = copy(fitted)
    fitted.outlier_scores_ = np.where(np.arange(len(fitted.outlier_scores_)) % 4 == 0, 0.5, fitted.outlier_scores_)
    found = fitted.diagnose()
    assert found["tied_rows"].value == pytest.approx(np.mean(fitted.outlier_scores_ == 0.5))
    assert "rows have the same score, 0.5: the representation maps them to one point" in " ".join(found.warnings)


def test_rows_without_a_feature_are_called_so():
    X = _balanced().tolil()
    X[7] = 0
    X[9] = 0
    found = REPEN(**OPTIONS).fit(X.tocsr()).diagnose()
    assert found["empty_rows"].value == 2
    assert _warning(found, "empty_rows").startswith("2 rows have no features at all")
    assert _warning(REPEN(**OPTIONS).fit(_balanced()).diagnose(), "empty_rows") == ""


def test_units_that_a_fit_leaves_dead_are_counted():
    """One positive feature: a unit whose weight is negative responds to no row."""
    X = np.random.default_rng(0).random((100, 1)) + 0.1
    detector = REPEN(**{**OPTIONS, "random_state": 1}).fit(X)
    found = detector.diagnose()
    assert found["dead_units"].value == (detector.feature_weights_ < 0).sum() == 5
    assert _warning(found, "dead_units").startswith("5 of 6 units")


def test_the_fallback_is_called_so():
    """Rows at one distance from each other but for noise: no score lies seven deviations above the mean."""
    X = np.eye(100) + 1e-3 * np.random.default_rng(0).random((100, 100))
    detector = REPEN(alpha=7.0, **OPTIONS).fit(X)
    assert detector.fallback_used_
    found = detector.diagnose()
    assert _warning(found, "candidate_share").startswith("hardly any row stood out before training")
    assert found["candidates"].value == 10
    assert found["candidate_share"].value == 0.1


def test_training_that_does_not_help_is_called_so():
    X = _topics()[0]
    assert _warning(REPEN(margin=1e6, **OPTIONS).fit(X).diagnose(), "loss_last").startswith("training did not lower")
    assert _warning(REPEN(**{**OPTIONS, "n_epochs": 1}).fit(X).diagnose(), "loss_last") == ""
    assert _warning(REPEN(margin=10.0, **{**OPTIONS, "n_epochs": 20}).fit(X).diagnose(), "loss_last") == ""


def test_subsamples_that_disagree_are_called_so():
    X = np.random.default_rng(0).normal(size=(300, 50))
    found = REPEN(**{**OPTIONS, "n_subsamples": 2, "n_epochs": 1}).fit(X).diagnose()
    assert found["subsample_agreement"].value < 0.8
    assert "raise n_subsamples or n_estimators" in _warning(found, "subsample_agreement")


# ---- normalisations ------------------------------------------------------------------------------------------------


def test_normalisations_are_compared_on_known_outliers():
    """Rows of ones differ by their number: dividing by the largest value changes nothing, by the length all."""
    X, truth = _topics()
    detector = REPEN(**OPTIONS).fit(X)
    found = detector.diagnose(X, labels=truth)
    assert list(found.normalizations) == ["None", "l2", "max"]
    assert all(0 <= value <= 1 for value in found.normalizations.values())
    assert found.normalizations["None"] == found.normalizations["max"]
    assert found.normalizations["l2"] > found.normalizations["None"] + 0.2
    for how in (None, "l2"):
        scores = REPEN(normalize=how, **OPTIONS).fit(X).outlier_scores_
        expected = np.mean([np.mean(scores[truth == 0] < score) for score in scores[truth == 1]])
        assert found.normalizations[str(how)] == pytest.approx(expected, rel=1e-12)
    assert [f.value for f in found.findings] == [f.value for f in detector.diagnose().findings]


def test_rows_beside_x_are_compared_too():
    X, _ = _topics()
    detector = REPEN(**OPTIONS).fit(X[:285])
    found = detector.diagnose(X[:285], labeled_outliers=X[285:])
    assert found.normalizations["l2"] > found.normalizations["None"] + 0.2
    told_nothing = REPEN(normalize="l2", **OPTIONS).fit(X[:285])
    others, known = told_nothing.outlier_scores_, told_nothing.outlier_score(X[285:])
    assert found.normalizations["l2"] == pytest.approx(np.mean([(others < score).mean() for score in known]))


def test_comparing_leaves_the_detector_as_it_was():
    X, truth = _topics()
    detector = REPEN(warm_start=True, **OPTIONS).fit(X)
    before = dict(vars(detector))
    detector.diagnose(X, labels=truth)
    assert all(vars(detector)[name] is value for name, value in before.items())


@pytest.mark.parametrize("labels", [None, np.zeros(300), -np.ones(300)], ids=["none", "unknown", "inliers"])
def test_known_outliers_are_needed_to_compare(fitted, labels):
    with pytest.raises(OptionError, match="labels must contain a 1, or labeled_outliers"):
        fitted.diagnose(_topics()[0], labels=labels)


def test_other_rows_are_needed_to_compare(fitted):
    with pytest.raises(OptionError, match="got 1 for every row"):
        fitted.diagnose(_topics()[0], labels=np.ones(300))


def test_an_unfitted_detector_has_nothing_to_tell():
    with pytest.raises(ValueError, match="not fitted yet"):
        REPEN().diagnose()


# ---- how it is said ------------------------------------------------------------------------------------------------


def test_printing_gives_a_table_with_the_warnings_below():
    X, truth = _topics()
    found = REPEN(margin=1e6, **OPTIONS).fit(X).diagnose(X, labels=truth)
    lines = str(found).splitlines()
    assert [line.split()[0] for line in lines[: len(NAMES)]] == NAMES
    assert "rank correlation of score and row length" in lines[0]
    assert "! training did not lower the loss" in str(found)
    assert "normalize=l2" in str(found)
    best = next(line for line in lines if "<- highest" in line)
    assert "l2" in best
    assert repr(found) == str(found)


def test_a_table_by_hand():
    found = Diagnosis(
        (Finding("a", 0.5, "half"), Finding("b", 2, "two", "look here")), ("c", "d"), {"None": 0.25, "l2": 0.75}
    )
    assert found["b"].value == 2
    assert found.warnings == ("look here",)
    assert str(found).splitlines()[0].split() == ["a", "0.5", "half"]
    assert str(found).splitlines()[2] == "a score is the sum of: c; d"
    assert str(found).endswith("\n\n! look here")
    assert "normalize=l2        0.750  <- highest" in str(found)
    assert found.to_dict() == {
        "a": 0.5,
        "b": 2,
        "terms": ["c", "d"],
        "views": {},
        "warnings": ["look here"],
        "normalizations": {"None": 0.25, "l2": 0.75},
    }


def test_it_can_be_written_as_json(fitted):
    X, truth = _topics()
    found = fitted.diagnose(X, labels=truth)
    back = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert set(back) == {*NAMES, "terms", "views", "warnings", "normalizations"}
    assert back["row_length"] == found["row_length"].value
    assert back["warnings"] == list(found.warnings)


@pytest.mark.parametrize(
    "detector",
    [
        REPEN(**OPTIONS),
        REPEN(n_estimators=2, **OPTIONS),
        RAMODO(representation=Layers((5, 3)), n_epochs=2, random_state=0),
    ],
    ids=["one", "several", "layers"],
)
def test_a_loaded_model_says_the_same(tmp_path, detector):
    detector.fit(_topics()[0])
    back = load(detector.save(tmp_path / "model"))
    assert back.diagnose().to_dict() == detector.diagnose().to_dict()


def test_a_scorer_of_another_library_has_no_subsamples():
    from sklearn.neighbors import LocalOutlierFactor

    found = RAMODO(LocalOutlierFactor(novelty=True), n_epochs=2, random_state=0).fit(_topics()[0]).diagnose()
    without = ("subsample_spread", "subsample_agreement", "largest_column")  # which need rows to compare with
    assert [f.name for f in found.findings] == [name for name in NAMES if name not in without]


# ---- several views ---------------------------------------------------------------------------------------------------


def with_agreement(values):
    """A detector whose views agree with all of them together as told."""
    detector = Consensus(random_state=0).fit(np.random.default_rng(0).normal(size=(300, 60)))
    evidence = detector.model_.evidence
    told = tuple(values) + evidence.agreement[len(values) :]
    detector.model_ = replace(detector.model_, terms=(replace(evidence, agreement=told),))
    return detector, evidence.names


def test_views_are_named_with_their_agreement():
    detector, names = with_agreement([0.9, 0.45, 0.9, 0.9])
    found = detector.diagnose()
    assert list(found.views) == list(names)
    assert found["view_agreement"].value == min(found.views.values()) == 0.45
    assert found["view_agreement"].meaning.endswith(names[1])
    assert found["view_agreement"].warning == ""
    assert f"   0.450  {names[1]}" in str(found)
    assert found.to_dict()["views"][names[0]] == 0.9


def test_a_view_that_disagrees_is_a_warning_that_says_what_to_do():
    detector, _ = with_agreement([0.29, 0.31, -0.2, 0.9])
    warning = detector.diagnose()["view_agreement"].warning
    assert "--labels" in warning
    assert warning in detector.diagnose().warnings


def test_a_view_that_tells_most_rows_nothing_may_rank_them_otherwise():
    X = sp.random_array((300, 500), density=0.02, format="csr", random_state=np.random.default_rng(0))
    X.data[:] = 1
    detector = Consensus(random_state=0).fit(X)
    evidence = detector.model_.evidence
    place = evidence.names.index("made of features that no other row has")
    for odd, warns in ((place, False), (0, True)):
        told = tuple(-0.5 if i == odd else 0.9 for i in range(len(evidence.names)))
        detector.model_ = replace(detector.model_, terms=(replace(evidence, agreement=told),))
        assert bool(detector.diagnose()["view_agreement"].warning) == warns


def test_one_distance_has_no_views(fitted):
    assert fitted.diagnose().views == {}
    assert "view_agreement" not in {finding.name for finding in fitted.diagnose().findings}


def test_nothing_is_advised_that_the_detector_has_no_option_for():
    X = np.vstack([np.ones((60, 60)), np.eye(60)[:4]])
    said = " ".join(Consensus(random_state=0).fit(X).diagnose().warnings)
    assert "same score" in said
    assert "n_estimators" not in said
    assert "epochs" not in said


@pytest.mark.parametrize(
    ("n_features", "zeros", "agreement", "warns"),
    [(9, 0.0, 0.5, True), (9, 0.0, 0.95, False), (60, 0.0, 0.5, False), (9, 0.8, 0.5, False)],
)
def test_with_few_features_the_plain_distance_is_the_one_to_trust(n_features, zeros, agreement, warns):
    rng = np.random.default_rng(0)
    X = rng.random((200, n_features)) * (rng.random((200, n_features)) >= zeros)
    detector = REPEN(**OPTIONS).fit(X)
    ranks = np.arange(200.0)
    noise = rng.permutation(200) * (0.1 if agreement > 0.9 else 1.0)
    detector.outlier_scores_, detector.initial_scores_ = ranks, ranks + noise
    warning = detector.diagnose()["initial_agreement"].warning
    assert bool(warning) == warns
    if warns:
        assert f"X has only {n_features} features, most of them non-zero" in warning
        assert "--method sp" in warning


# ---- one column, and advice that fits --------------------------------------------------------------------------------


def test_one_column_that_makes_the_ranking_is_told():
    X = np.random.default_rng(0).normal(size=(300, 6))
    assert REPEN(**OPTIONS).fit(X).diagnose()["largest_column"].warning == ""
    X[:, 2] *= 1e4
    found = REPEN(**OPTIONS).fit(X).diagnose()["largest_column"]
    assert found.value > 0.5
    assert found.warning.startswith("one column, feature 2, makes ")
    assert "--scale auto" in found.warning


def test_no_logarithms_are_advised_where_they_do_not_fit():
    from ramodo.data.scaling_advice import scaling_advice
    from ramodo.data.validation import open_block

    heavy = np.random.default_rng(0).lognormal(0, 3, (100, 5))
    assert "take logarithms" in scaling_advice(open_block(heavy))
    for values in (np.log1p(heavy), np.log(heavy), -heavy):
        assert scaling_advice(open_block(values)) == "scale them (--scale standard)"
