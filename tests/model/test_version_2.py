"""Files of version 2: models and a direction where there are terms now. Nothing writes them any more."""

import json
from pathlib import Path

import numpy as np
import pytest

from examples import with_outliers
from ramodo import RAMODO, REPEN, KthNeighborREPEN, Layers, TripletSampler, load
from ramodo.model.file.saving import open_model
from ramodo.model.file.tensors import read
from tampering import assert_refused, tables, write

X, TRUTH = with_outliers()
QUICK = {"n_epochs": 2, "n_subsamples": 5, "random_state": 0}
FRAMEWORK = {"n_epochs": 2, "random_state": 0}

DETECTORS = {
    "one": REPEN(6, **QUICK),
    "neighbours": KthNeighborREPEN(2, **QUICK),
    "several": REPEN(6, n_estimators=3, **QUICK),
    "normalised": REPEN(6, normalize="l2", **QUICK),
    "several, normalised": REPEN(6, n_estimators=2, normalize="max", **QUICK),
    "layers": RAMODO(representation=Layers((6, 5, 4), "leaky_relu"), n_estimators=2, **FRAMEWORK),
}


def as_version_2(path):
    """The model in the file as version 2 would have written it, into its place."""
    header, tensors = read(path)
    tree, alive = json.loads(header.pop("terms")), json.loads(header.pop("alive"))
    detector, *direction = tree["terms"]
    flat = list(tables(detector))
    normalize = next((table["how"] for table in flat if table["kind"] == "normalized"), None)
    units = next((table["units"] for table in flat if table["kind"] == "mean"), [0.25])
    learned = [table for table in flat if table["kind"] == "learned distance"]
    place = "term.0." + "0." * (normalize is not None)
    renamed = {}
    for name, array in tensors.items():
        for i in range(len(learned)):
            own = f"{place}{i}." if len(learned) > 1 else place
            if name.startswith(own):
                renamed[f"model.{i}.{name.removeprefix(own)}"] = array
        if name.startswith("sample."):
            renamed[f"model.{name.removeprefix('sample.')}.sample"] = array
        elif name.startswith("term.1."):
            renamed[f"direction.{name.removeprefix('term.1.')}"] = array
        elif not name.startswith("term."):
            renamed[name] = array
    assert len(renamed) == len(tensors)
    members = [
        {**{name: value for name, value in table.items() if name != "kind"}, "deviation": unit, "n_alive": n}
        for table, unit, n in zip(learned, units, alive, strict=True)
    ]
    options = json.loads(header["options"])
    del options["labels_in_score"], header["checksum"]
    said = {"members": members, "normalize": normalize, "direction": tree["weights"][::-1] if direction else None}
    header |= {name: json.dumps(value) for name, value in {**said, "options": options}.items()}
    write(path, {**header, "version": "2"}, renamed)


@pytest.fixture(params=[None, TRUTH], ids=["no labels", "labels"])
def labels(request):
    return request.param


@pytest.mark.parametrize("dense", [False, True], ids=["sparse", "dense"])
@pytest.mark.parametrize("name", DETECTORS)
def test_it_is_the_model_that_it_was(tmp_path, name, labels, dense):
    rows = X.toarray() if dense else X
    detector = DETECTORS[name].fit(rows, labels=labels)
    path = detector.save(tmp_path / "model")
    as_version_2(path)
    assert "terms" not in read(path)[0]
    back = load(path)
    assert back.model_.names() == detector.model_.names()
    assert back.model_.weights == detector.model_.weights
    assert back.model_.has_labels == (labels is not None)
    assert back.get_params() == detector.get_params() or name == "layers"
    assert back.n_alive_ == detector.n_alive_
    for use in ("outlier_score", "transform", "predict"):
        assert np.array_equal(getattr(back, use)(rows), getattr(detector, use)(rows))
    assert np.array_equal(open_model(path).outlier_score(rows), detector.outlier_scores_)
    assert back.explain(rows[:9]).to_dict() == detector.explain(rows[:9]).to_dict()
    assert str(back.diagnose()) == str(detector.diagnose())
    again = back.save(tmp_path / "again")
    assert read(again)[0]["version"] == "3"
    assert np.array_equal(load(again).outlier_score(rows), detector.outlier_scores_)


def test_a_deviation_of_zero_is_a_unit_of_one(tmp_path):
    path = REPEN(6, n_estimators=2, **QUICK).fit(X).save(tmp_path / "model")
    as_version_2(path)
    header, tensors = read(path)
    members = json.loads(header["members"])
    members[1]["deviation"] = 0.0
    write(path, {**header, "members": json.dumps(members)}, tensors)
    assert load(path).model_.terms[0].units == (members[0]["deviation"], 1.0)


@pytest.mark.parametrize(
    ("detector", "in_score"),
    [
        (REPEN(6, **QUICK), True),
        (REPEN(6, labeled_fraction=0.5, **QUICK), False),
        (RAMODO(**FRAMEWORK), True),
        (RAMODO(sampler=TripletSampler(), **FRAMEWORK), True),
        (RAMODO(sampler=TripletSampler(1, 0.25), **FRAMEWORK), False),
    ],
)
def test_the_share_of_labels_said_whether_they_enter_the_score(tmp_path, detector, in_score):
    """So that fitting such a model again gives what it gave."""
    path = detector.fit(X).save(tmp_path / "model")
    as_version_2(path)
    assert load(path).labels_in_score is in_score


def test_usual_models_are_opened_without_scikit_learn(python):
    program = "import sys; from ramodo.model.file.saving import open_model; open_model(sys.argv[1])"
    path = Path(__file__).parent.parent / "models" / "version_2.ramodo"
    assert python(f"{program}; print('sklearn' in sys.modules)", path) == "False\n"


# ---- refused ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path):
    path = REPEN(6, **QUICK).fit(X, labels=TRUTH).save(tmp_path / "model")
    as_version_2(path)
    load(path)
    return path


@pytest.fixture
def several(tmp_path):
    path = REPEN(6, n_estimators=2, **QUICK).fit(X).save(tmp_path / "several")
    as_version_2(path)
    load(path)
    return path


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"members": None}, "members"),
        ({"members": "{}"}, "it holds no model"),
        ({"members": "[]"}, "it holds no model"),
        ({"members": "null"}, "it holds no model"),
        ({"members": '"model"'}, "it holds no model"),
        ({"members": "[null]"}, "facts are incomplete"),
        ({"members": "[[]]"}, "facts are incomplete"),
        ({"members": "[{}]"}, "facts are incomplete"),
        ({"members": "nonsense"}, ""),
        ({"members": "[" * 100_000}, ""),
        ({"normalize": None}, "normalize"),
        ({"normalize": '"l1"'}, "how is 'l1'"),
        ({"normalize": "true"}, "how is True"),
        ({"normalize": "{}"}, "how is {}"),
        ({"direction": None}, "direction"),
        ({"direction": "{}"}, "direction has no factors"),
        ({"direction": "[1.0]"}, "direction has no factors"),
        ({"direction": "[1.0, NaN]"}, "term.weights is"),
        ({"direction": "[null, 1.0]"}, "term.weights is"),
        ({"direction": "null"}, "arrays are not those of a model"),
        ({"options": "[]"}, "options are not a table"),
        ({"options": "null"}, "options are not a table"),
        ({"options": '{"sampler": 1}'}, ""),
        ({"options": '{"sampler": {}}'}, ""),
        ({"options": '{"sampler": {"options": 1}}'}, ""),
        ({"options": '{"labeled_fraction": {}}'}, ""),
    ],
    ids=lambda value: str(value)[:40],
)
def test_headers(path, header, message):
    old, tensors = read(path)
    write(path, {**old, **header}, tensors)
    assert_refused(path, message)


@pytest.mark.parametrize(
    "facts",
    [
        {"deviation": None},
        {"deviation": ""},
        {"deviation": False},
        {"deviation": []},
        {"deviation": -1.0},
        {"deviation": float("nan")},
        {"deviation": float("inf")},
        {"deviation": 10**400},
        {"n_alive": -1},
        {"n_alive": 7},
        {"n_alive": None},
        {"seed": None},
        {"size": 7},
        {"k": 9},
        {"n_upper": 1},
        {"kind": "mean"},
        {"terms": []},
    ],
    ids=lambda value: str(value)[:40],
)
def test_numbers_of_a_model(several, facts):
    header, tensors = read(several)
    first, second = json.loads(header["members"])
    write(several, {**header, "members": json.dumps([first, {**second, **facts}])}, tensors)
    assert_refused(several)


def test_the_deviation_of_one_model_is_a_number_too(path):
    header, tensors = read(path)
    (member,) = json.loads(header["members"])
    write(path, {**header, "members": json.dumps([{**member, "deviation": "0.5"}])}, tensors)
    assert_refused(path, "a deviation is '0.5'")


@pytest.mark.parametrize(
    "name",
    [
        "model.1.weights",
        "model.00.weights",
        "model.-1.weights",
        "model.0",
        "model.",
        "model",
        "direction.0",
        "term.0.k",
    ],
)
def test_arrays_of_no_model(path, name):
    header, tensors = read(path)
    write(path, header, {**tensors, name: tensors["model.0.weights"]})
    assert_refused(path, "its arrays are not those of a model")


@pytest.mark.parametrize("name", ["term.0.weights", "term.1.weights", "sample.0"])
def test_arrays_that_have_one_place(path, name):
    """One of them would be ignored."""
    header, tensors = read(path)
    write(path, header, {**tensors, name: tensors["model.0.weights"]})
    assert_refused(path, "two of its arrays have one place")
