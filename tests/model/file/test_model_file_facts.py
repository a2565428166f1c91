"""What a model file says beside its weights: checked when it is loaded, and loaded alike by all who load it."""

import json

import numpy as np
import pytest

from ramodo import REPEN, AverageNeighborREPEN, Conformal, KthNeighborREPEN, TopK, load
from ramodo.data.validation import DataError
from ramodo.formats import Schema, TextOptions
from ramodo.formats.schema import Column
from ramodo.model.file.saving import open_model
from ramodo.model.provenance import Provenance
from ramodo.model.saved import ModelFileError
from support.tampering import assert_not_loaded, assert_refused, read, rewrite

SCHEMA = Schema(format="csv", id="name", ignore=["a"], missing="mean", header=True)
NAMES = [f"t{i:02d}" for i in range(40)]
PROVENANCE = Provenance(command="ramodo detect", reference_ids={"1": "x"}, tokens={"7": "word"})


@pytest.fixture
def path(tmp_path, fitted):
    fitted.schema_, fitted.provenance_ = SCHEMA, PROVENANCE
    return fitted.save(tmp_path / "model.ramodo")


def as_array(schema):
    text = schema if isinstance(schema, str) else schema.to_json()
    return np.frombuffer(text.encode(), dtype=np.uint8)


def test_how_data_were_read_is_kept(path):
    model = load(path)
    assert model.schema_ == SCHEMA
    assert model.provenance_ == PROVENANCE
    assert not hasattr(model, "feature_names_in_")


def test_names_are_those_of_the_schema(fitted, tmp_path):
    fitted.schema_ = Schema(plain=tuple(NAMES))
    assert load(fitted.save(tmp_path / "model.ramodo")).feature_names_in_.tolist() == NAMES


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ('{"format": "pickle"}', "its schema says format='pickle'"),
        ("[]", r"its schema says schema=\[\]"),
        ("nonsense", "Expecting value"),
        (Schema(plain=("a",)), "its schema has 1 features, and the model 40"),
        (Schema(columns=(Column(name="a"),)), "its schema has 1 features"),
        (
            Schema(tokens=TextOptions(vocabulary=True), columns=(Column(name="t", kind="text", values=tuple(NAMES)),)),
            "its schema weighs tokens otherwise",
        ),
    ],
    ids=str,
)
def test_schemas_that_are_not_the_models(path, schema, message):
    rewrite(path, tensors={"schema": as_array(schema)})
    assert_refused(path, message)


def test_a_schema_that_is_no_text(path):
    rewrite(path, tensors={"schema": np.zeros((2, 2))})
    assert_refused(path, "its schema is not text")


@pytest.mark.parametrize(
    "changes",
    [
        {"reference_ids": ["x"]},
        {"reference_ids": {"1": 2}},
        {"tokens": "t"},
        {"tokens": {"1": None}},
        {"command": None},
        {"command": {}},
        {"fitted": 5},
        {"more": "x"},
    ],
    ids=str,
)
def test_what_no_provenance_says(path, changes):
    rewrite(path, header={"provenance": json.dumps({"command": "ramodo", **changes})})
    assert_refused(path, "its provenance says ")


@pytest.mark.parametrize("provenance", ["[]", "1", '"csv"', "true"])
def test_what_is_no_provenance(path, provenance):
    rewrite(path, header={"provenance": provenance})
    assert_refused(path, "its provenance says ")


@pytest.mark.parametrize(
    "seconds",
    ["[]", "null", "1", '{"a": null}', '{"a": "1"}', '{"a": NaN}', '{"a": Infinity}', '{"a": -1}', '{"a": true}'],
)
def test_seconds_that_no_clock_shows(path, seconds):
    rewrite(path, header={"stage_seconds": seconds})
    assert_refused(path, "stage_seconds")


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"fingerprint": "\x1b[2J"}, "its fingerprint is"),
        ({"fingerprint": "x" * 101}, "its fingerprint is"),
        ({"ramodo": "1\n2"}, "its writer is"),
        ({"checksum": None}, "it has no checksum"),
    ],
)
def test_texts_that_are_printed(path, header, message):
    rewrite(path, header=header)
    assert_refused(path, message)


@pytest.mark.parametrize("bound", [-0.1, 1.5, float("inf")])
def test_bounds_that_are_no_shares(path, bound):
    rewrite(path, facts={"false_positive_bound_": bound})
    assert_refused(path, "false_positive_bound_ is")


def changed(place, value):
    def change(array):
        array = array.copy()
        array[place] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("outlier_scores_", lambda a: a[:0], "no scores of training rows"),
        ("outlier_scores_", lambda a: a[:-1], "initial_scores_ has 120 values for 119 training rows"),
        ("outlier_scores_", changed(3, np.nan), "outlier_scores_ is not finite"),
        ("initial_scores_", lambda a: a[:-1], "initial_scores_ has 119 values"),
        ("initial_scores_", changed(0, np.inf), "initial_scores_ is not finite"),
        ("row_lengths_", lambda a: a[:-1], "row_lengths_ has 119 values"),
        ("row_lengths_", lambda a: a[:0], "row_lengths_ has 0 values"),
        ("row_lengths_", changed(7, -1), "row_lengths_ has numbers that are not from 0 to 40"),
        ("row_lengths_", changed(7, 41), "row_lengths_ has numbers"),
        ("row_norms_", lambda a: a[1:], "row_norms_ has 119 values"),
        ("row_norms_", changed(7, np.nan), "row_norms_ is not finite"),
        ("row_norms_", changed(7, -1.0), "row_norms_ are negative"),
        ("loss_curve_", lambda a: a[:0], "loss_curve_ is empty"),
        ("loss_curve_", changed(1, np.nan), "loss_curve_ is not finite"),
        ("calibration_scores_", lambda a: np.zeros(121), "more held-out rows than training rows"),
        ("calibration_scores_", lambda a: np.full(3, np.nan), "calibration_scores_ is not finite"),
        ("candidate_outliers_", changed(0, -1), "candidate_outliers_ has numbers"),
        ("candidate_outliers_", changed(0, 120), "candidate_outliers_ has numbers"),
        ("term.0.origin.numbers", changed(0, 120), "origin.numbers has numbers"),
        ("term.0.origin.numbers", changed(0, -1), "origin.numbers has numbers"),
    ],
)
def test_vectors_that_no_fit_leaves(path, name, change, message):
    _, tensors = read(path)
    rewrite(path, tensors={name: change(tensors[name])})
    assert_refused(path, message)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("threshold_", 0.0),
        ("outlier_scores_", np.full(120, np.nan)),
        ("row_norms_", np.zeros(3)),
        ("stage_seconds_", {"a": None}),
        ("schema_", Schema(plain=("a",))),
    ],
)
def test_what_would_not_load_is_not_saved(fitted, tmp_path, name, value):
    setattr(fitted, name, value)
    with pytest.raises(ModelFileError, match="was changed after its fit"):
        fitted.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


# ---- open_model ----------------------------------------------------------------------------------------------------


def test_usual_models_are_opened_without_scikit_learn(data, tmp_path, python):
    detectors = [
        REPEN(cutoff=0.2),
        REPEN(cutoff=TopK(5)),
        REPEN(cutoff=Conformal(), n_estimators=2),
        KthNeighborREPEN(),
        AverageNeighborREPEN(2),
    ]
    for number, detector in enumerate(detectors):
        detector.set_params(n_epochs=1, random_state=0).fit(data[0]).save(tmp_path / str(number))
    program = "import sys; from ramodo.model.file.saving import open_model\n"
    program += "for path in sys.argv[1:]:\n    open_model(path)\n    print('sklearn' in sys.modules)"
    paths = [tmp_path / str(number) for number in range(len(detectors))]
    assert python(program, *paths).split() == ["False"] * len(detectors)


@pytest.mark.parametrize("k", [1, 3, 8, 9])
def test_neighbours_that_the_queries_or_references_do_not_have(data, tmp_path, k):
    path = KthNeighborREPEN(n_epochs=1, random_state=0).fit(data[0]).save(tmp_path / "model")
    rewrite(path, options={"k": k})
    if k <= 8:
        assert load(path).k == k
    else:
        assert_not_loaded(path, "got 9")


def test_scoring_needs_no_options(path, fitted, data):
    rewrite(path, options={"margin": -1})
    assert_not_loaded(path, "margin must be")
    assert np.array_equal(open_model(path).outlier_score(data[0]), fitted.outlier_score(data[0]))


def test_scores_that_are_not_finite_are_the_same_error_everywhere(fitted, path, data):
    _, tensors = read(path)
    huge = np.full_like(tensors["term.0.weights"], 3e38)
    rewrite(path, tensors={"term.0.weights": huge})
    for call in (load(path).outlier_score, open_model(path).outlier_score, load(path).explain):
        with pytest.raises(DataError, match="scores are not finite"):
            call(data[0])
