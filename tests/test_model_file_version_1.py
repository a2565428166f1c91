"""Model files of version 1, which held one REPEN and nothing else: they are read as they were, or refused."""

import json

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save_file

from ramodo import load
from tampering import assert_refused, read, rewrite

HUGE = 10**400

OPTIONS = [
    "alpha",
    "batch_size",
    "labeled_fraction",
    "margin",
    "n_components",
    "n_epochs",
    "n_jobs",
    "n_queries",
    "n_subsamples",
    "random_state",
    "samples_per_epoch",
    "subsample_size",
    "threshold",
    "verbose",
]
"""All that REPEN had at the time."""


def _write(detector, path):
    """The file that version 1 would have written of a detector which uses nothing newer."""
    (member,) = detector.model_.learned
    first = member.representation.first
    tensors = {
        "feature_indices_": first.columns,
        "feature_weights_": first.weights,
        "references_": member.detection.rows,
        "outlier_scores_": detector.outlier_scores_,
        "initial_scores_": detector.initial_scores_,
        "candidate_outliers_": detector.candidate_outliers_,
        "loss_curve_": detector.loss_curve_,
    }
    if hasattr(detector, "feature_names_in_"):
        names = json.dumps(detector.feature_names_in_.tolist()).encode()
        tensors["feature_names_in_"] = np.frombuffer(names, dtype=np.uint8)
    facts = {
        "n_features_in_": detector.n_features_in_,
        "weight_seed_": first.seed,
        "weight_limit_": first.limit,
        "reference_size_": member.detection.size,
        "threshold_": detector.threshold_,
        "offset_": detector.offset_,
        "false_positive_bound_": detector.false_positive_bound_,
        "fallback_used_": detector.fallback_used_,
    }
    header = {
        "format": "ramodo",
        "version": "1",
        "class": "REPEN",
        "options": json.dumps({name: getattr(detector, name) for name in OPTIONS}),
        "facts": json.dumps(facts),
        "stage_seconds": json.dumps(detector.stage_seconds_),
    }
    save_file({name: np.ascontiguousarray(array) for name, array in tensors.items()}, path, header)
    return path


@pytest.fixture
def paper(quick):
    """Makes a detector with the options of the time; labels were used the paper's way."""
    return lambda **options: quick(labeled_fraction=0.5, labels_in_score=False, **options)


@pytest.fixture
def path(tmp_path, paper, data):
    return _write(paper().fit(data[0]), tmp_path / "old.ramodo")


# ---- read ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"threshold": 0.1}, {"random_state": None}, {"n_queries": 2}], ids=str)
@pytest.mark.parametrize("known", [False, True], ids=["no labels", "labels"])
def test_a_file_of_version_1_scores_as_it_did(tmp_path, paper, data, options, known):
    X, truth = data
    detector = paper(**options).fit(X, labels=truth if known else None)
    back = load(_write(detector, tmp_path / "old"))
    assert type(back) is type(detector)
    assert back.get_params() == detector.get_params()
    for use in ("outlier_score", "transform", "predict", "decision_function"):
        assert np.array_equal(getattr(back, use)(X), getattr(detector, use)(X))
    names = ["outlier_scores_", "initial_scores_", "candidate_outliers_", "loss_curve_", "references_", "threshold_"]
    names += ["feature_indices_", "feature_weights_", "offset_", "false_positive_bound_", "fallback_used_", "options_"]
    for name in names:
        np.testing.assert_equal(getattr(back, name), getattr(detector, name))
    assert np.array_equal(back.components_.toarray(), detector.components_.toarray())


def test_what_the_file_does_not_say_is_empty(path, data):
    back = load(path)
    assert {name for name in vars(back) if name.endswith("_")} == {
        name for name in vars(back.fit(data[0])) if name.endswith("_")
    }
    back = load(path)
    assert len(back.calibration_scores_) == len(back.row_lengths_) == len(back.row_norms_) == 0
    assert [sample.shape for sample in back.samples_] == [(0, 6)]
    assert back.get_feature_names_out().tolist() == [f"repen{i}" for i in range(6)]
    named = {finding.name for finding in back.diagnose().findings}
    assert "initial_agreement" in named
    assert not named & {"row_length", "row_norm", "subsample_spread"}


def test_feature_names_come_back(tmp_path, paper, data):
    frame = pd.DataFrame(data[0].toarray(), columns=[f"wört {j}" for j in range(40)])
    detector = paper().fit(frame)
    back = load(_write(detector, tmp_path / "named"))
    assert back.feature_names_in_.tolist() == frame.columns.tolist()
    assert np.array_equal(back.outlier_score(frame), detector.outlier_scores_)


def test_it_is_saved_as_version_3_and_can_be_fitted_again(path, tmp_path, paper, data):
    X, _ = data
    back = load(path)
    again = back.save(tmp_path / "again")
    assert read(again)[0]["version"] == "3"
    assert np.array_equal(load(again).outlier_score(X), back.outlier_score(X))
    assert np.array_equal(load(again).fit(X).outlier_scores_, paper().fit(X).outlier_scores_)


# ---- refused -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    [
        {"version": "2"},
        {"class": "RAMODO"},
        {"class": None},
        {"options": None},
        {"options": "{}"},
        {"options": "[]"},
        {"options": "null"},
        {"options": "nonsense"},
        {"facts": None},
        {"facts": "{}"},
        {"facts": "[]"},
        {"facts": "null"},
        {"facts": "1"},
        {"facts": '"facts"'},
        {"facts": "nonsense"},
        {"facts": "[" * 100_000},
        {"stage_seconds": None},
    ],
    ids=lambda value: str(value)[:40],
)
def test_headers(path, header):
    rewrite(path, header=header)
    assert_refused(path)


def test_a_class_that_version_1_did_not_have(path):
    """With options that its class allows."""
    rewrite(path, header={"class": "KthNeighborREPEN"}, options={"n_queries": 8})
    assert_refused(path, "version 1 held the facts of a REPEN")


@pytest.mark.parametrize(
    "options",
    [
        {"n_components": 7},
        {"n_components": "6"},
        {"n_components": [6]},
        {"n_components": ...},
        {"margin": HUGE},
        {"unknown": 1},
        {"threshold": {"stage": "os.system", "options": {}}},
    ],
    ids=lambda value: str(value)[:40],
)
def test_options(path, options):
    rewrite(path, options=options)
    assert_refused(path)


@pytest.mark.parametrize(
    "facts",
    [
        {"n_features_in_": 0},
        {"n_features_in_": 2**63},
        {"n_features_in_": "40"},
        {"n_features_in_": 10},
        {"weight_seed_": -1},
        {"weight_seed_": 2**64},
        {"weight_seed_": None},
        {"weight_seed_": ...},
        {"weight_limit_": "0.1"},
        {"weight_limit_": float("nan")},
        {"weight_limit_": float("inf")},
        {"weight_limit_": -float("inf")},
        {"weight_limit_": 1e300},
        {"weight_limit_": -1e300},
        {"weight_limit_": HUGE},
        {"reference_size_": 0},
        {"reference_size_": -8},
        {"reference_size_": 7},
        {"reference_size_": 10**18},
        {"reference_size_": HUGE},
        {"reference_size_": ...},
        {"threshold_": None},
        {"threshold_": HUGE},
        {"offset_": [1.0]},
        {"fallback_used_": 1},
        {"fallback_used_": ...},
        {"extra_": 1},
    ],
    ids=lambda value: str(value)[:40],
)
def test_facts(path, facts):
    rewrite(path, facts=facts)
    assert_refused(path)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("feature_indices_", lambda a: a[::-1]),
        ("feature_indices_", lambda a: np.r_[a[:-1], a[-2]]),
        ("feature_indices_", lambda a: a - 1),
        ("feature_indices_", lambda a: a + 1),
        ("feature_indices_", lambda a: a[:-1]),
        ("feature_indices_", lambda a: a.astype(np.int32)),
        ("feature_indices_", lambda a: a[:, None]),
        ("feature_indices_", lambda a: None),
        ("feature_weights_", lambda a: a[:-1]),
        ("feature_weights_", lambda a: a[:, :-1]),
        ("feature_weights_", lambda a: a.ravel()),
        ("feature_weights_", lambda a: a.astype(np.float64)),
        ("feature_weights_", lambda a: a * np.float32("nan")),
        ("feature_weights_", lambda a: None),
        ("references_", lambda a: a[:-1]),
        ("references_", lambda a: a[:0]),
        ("references_", lambda a: a[:, :-1]),
        ("references_", lambda a: a.astype(np.float64)),
        ("references_", lambda a: a * np.float32("nan")),
        ("references_", lambda a: None),
        ("outlier_scores_", lambda a: a.astype(np.float32)),
        ("outlier_scores_", lambda a: a[None]),
        ("candidate_outliers_", lambda a: a.astype(np.int32)),
        ("loss_curve_", lambda a: None),
        ("surprise", lambda a: np.ones(3)),
        ("feature_names_in_", lambda a: np.frombuffer(b'["a"]', dtype=np.uint8)),
    ],
)
def test_arrays(path, name, change):
    _, tensors = read(path)
    rewrite(path, tensors={name: change(tensors.get(name))})
    assert_refused(path)


@pytest.mark.parametrize("name", ["model.0.weights", "calibration_scores_", "row_norms_", "direction.weights"])
def test_arrays_that_version_1_did_not_have(path, name):
    rewrite(path, tensors={name: np.ones(3)})
    assert_refused(path)
