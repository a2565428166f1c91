"""Model files that are well formed but say what no fit could have said."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from ramodo import RAMODO, REPEN, Consensus, Cutoff, Layers, Sp, TopFraction, load
from ramodo.model.file.saving import open_model
from ramodo.model.saved import DEEPEST, MOST_TERMS, ModelFileError
from ramodo.options import OptionError
from support.examples import with_outliers
from support.tampering import assert_not_loaded, assert_refused, is_model_or_refused, read, rewrite, tables, write

pytestmark = pytest.mark.slow

HUGE = 10**400
"""Valid JSON, and no float."""


NO_STAGES = [
    {"stage": "os.system", "options": {}},
    {"stage": "os.system", "options": {"command": "true"}},
    {"stage": "subprocess.Popen", "options": {"args": ["true"]}},
    {"stage": "DetectorAsScorer", "options": {"detector": None}},
    {"stage": "REPEN", "options": {}},
    {"stage": "__class__", "options": {}},
    {"stage": "TopK"},
    {"stage": "TopK", "options": None},
    {"stage": "TopK", "options": []},
    {"stage": "TopK", "options": {"unknown": 1}},
    {"stage": "TopK", "options": {"count": 0}},
    {"stage": "TopK", "options": {"count": HUGE}},
    {"stage": "TopK", "options": {"count": {"stage": "os.system", "options": {}}}},
    {"stage": "TopFraction", "options": {"fraction": "all"}},
    {"stage": "Conformal", "options": {"fdr": -1}},
    {"stage": "Sp", "options": {}},
    {"stage": "GivenSet", "options": {}},
    {"stage": None, "options": {}},
    {"stage": ["TopK"], "options": {}},
    {"stage": {}, "options": {}},
    {},
    [],
]
"""What is no cut-off, as the options of a file would name one."""


@pytest.fixture
def path(tmp_path, fitted):
    return fitted.save(tmp_path / "model.ramodo")


@pytest.fixture
def labeled(tmp_path, quick, data):
    """A file with the direction of labelled outliers."""
    fitted = quick().fit(data[0], labels=data[1])
    assert fitted.model_.names() == ("learned distance", "label direction")
    return fitted.save(tmp_path / "labeled.ramodo")


RARE = "term.0.2."


@pytest.fixture(scope="module")
def saved_rare(tmp_path_factory):
    X = sp.csr_array(np.random.default_rng(0).poisson(0.2, (80, 40)).astype(np.float32))
    return Consensus(random_state=0).fit(X).save(tmp_path_factory.mktemp("rare") / "model.ramodo")


@pytest.fixture
def rare(saved_rare, tmp_path):
    """A file whose third and fourth view are made of the counts of features."""
    return Path(shutil.copy(saved_rare, tmp_path / "rare.ramodo"))


@pytest.fixture
def deep(tmp_path, data):
    """A file of two models with two upper layers each, normalised."""
    representation = Layers((6, 5, 4), "leaky_relu")
    detector = RAMODO(representation=representation, n_estimators=2, normalize="max", n_epochs=1, random_state=0)
    detector.fit(data[0])
    assert [term.kind for term, _ in detector.model_.terms[0].all()] == [
        "normalized",
        "mean",
        *["learned distance"] * 2,
    ]
    return detector.save(tmp_path / "deep.ramodo")


@pytest.mark.parametrize("name", ["path", "labeled", "deep"])
def test_an_untouched_rewrite_is_a_model(request, name, data):
    """Otherwise the refusals below could have other reasons."""
    path = request.getfixturevalue(name)
    before = load(path).outlier_score(data[0])
    rewrite(path, facts={}, options={}, term={}, header={}, tensors={})
    assert np.array_equal(load(path).outlier_score(data[0]), before)


def test_a_known_stage_in_the_options_is_a_model(path):
    """Otherwise those that are refused below could be so for being stages."""
    rewrite(path, options={"cutoff": {"stage": "TopFraction", "options": {"fraction": 0.25}}})
    cutoff = load(path).cutoff
    assert type(cutoff) is TopFraction
    assert cutoff.fraction == 0.25


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"format": "other"}, "does not say so"),
        ({"format": None}, "does not say so"),
        ({"version": "4"}, "version '4'; this ramodo reads 3"),
        ({"version": "0"}, "version '0'"),
        ({"version": "2.0"}, "version '2.0'"),
        ({"version": "1"}, "version '1'"),
        ({"version": "2"}, "version '2'"),
        ({"version": None}, "version None"),
        ({"class": "Popen"}, "it holds a 'Popen', known are Consensus"),
        ({"class": None}, "it holds a None"),
        ({"options": None}, "options"),
        ({"options": "[]"}, "options are not a table"),
        ({"options": "{"}, ""),
        ({"options": "[" * 100_000}, ""),
        ({"facts": None}, "facts"),
        ({"facts": "{}"}, "facts are incomplete"),
        ({"facts": "null"}, "facts are incomplete"),
        ({"facts": "nonsense"}, ""),
        ({"facts": "[]"}, "facts are incomplete"),
        ({"terms": None}, "terms"),
        ({"terms": "{}"}, "term.weights is missing"),
        ({"terms": "[]"}, "term is not a table"),
        ({"terms": "null"}, "term is not a table"),
        ({"terms": "1"}, "term is not a table"),
        ({"terms": '"learned distance"'}, "term is not a table"),
        ({"terms": "nonsense"}, ""),
        ({"terms": ""}, ""),
        ({"terms": "[" * 100_000}, ""),
        ({"terms": '{"weights": [], "terms": []}'}, "not one weight for each of its terms"),
        ({"terms": '{"weights": [1.0]}'}, "not one weight for each of its terms"),
        ({"terms": '{"weights": [1.0], "terms": []}'}, "not one weight for each of its terms"),
        ({"terms": '{"weights": [1.0], "terms": {}}'}, "term.terms is not a list"),
        ({"terms": '{"weights": [1.0], "terms": null}'}, "term.terms is not a list"),
        ({"terms": '{"weights": [1.0], "terms": "learned distance"}'}, "term.terms is not a list"),
        ({"terms": '{"weights": [1.0], "terms": [null]}'}, "term.0 is not a table"),
        ({"terms": '{"weights": [1.0], "terms": [[]]}'}, "term.0 is not a table"),
        ({"terms": '{"weights": [1.0], "terms": [{}]}'}, "term.0 is of no kind"),
        ({"terms": '{"weights": [1.0], "terms": [{"kind": 1}]}'}, "term.0 is of no kind"),
        ({"terms": '{"weights": [1.0], "terms": [{"kind": ["mean"]}]}'}, "term.0 is of no kind"),
        ({"terms": '{"weights": [1.0], "terms": [{"kind": "os.system"}]}'}, "the term 'os.system', known are learned"),
        ({"terms": '{"weights": [1.0], "terms": [{"kind": "learned distance"}]}'}, "term.0.slope is missing"),
        ({"terms": '{"weights": [1.0], "terms": [{"kind": "original distance"}]}'}, "term.0.size is missing"),
        ({"terms": '{"weights": [1.0], "terms": [{"kind": "mean"}]}'}, "term.0.units is missing"),
        ({"terms": '{"weights": [1.0], "terms": [{"kind": "mean", "units": []}]}'}, "not one unit for each"),
        ({"terms": '{"weights": [1.0], "terms": [{"kind": "normalized", "how": "l2"}]}'}, "not one term is normalised"),
        ({"alive": None}, "alive"),
        ({"alive": "null"}, "its units do not fit"),
        ({"alive": "{}"}, "its units do not fit"),
        ({"alive": "[]"}, "its units do not fit"),
        ({"alive": "[6, 6]"}, "its units do not fit"),
        ({"alive": "[-1]"}, "its units do not fit"),
        ({"alive": "[7]"}, "its units do not fit"),
        ({"alive": "[6.0]"}, "its units do not fit"),
        ({"alive": "[true]"}, "its units do not fit"),
        ({"alive": f"[{HUGE}]"}, "its units do not fit"),
        ({"alive": "6"}, "its units do not fit"),
        ({"alive": "nonsense"}, ""),
        ({"stage_seconds": None}, "stage_seconds"),
        ({"stage_seconds": "{"}, ""),
    ],
    ids=lambda value: str(value)[:40],
)
def test_headers(path, header, message):
    rewrite(path, header=header)
    assert_refused(path, message)


@pytest.mark.parametrize(
    "options",
    [
        {"n_components": 0},
        {"n_components": 7},
        {"n_components": "6"},
        {"n_components": ...},
        {"margin": -1},
        {"margin": HUGE},
        {"alpha": HUGE},
        {"cutoff": HUGE},
        {"cutoff": "TopK"},
        *({"cutoff": stage} for stage in NO_STAGES),
        {"n_components": {"stage": "TopK", "options": {}}},
        {"random_state": {"stage": "Sp", "options": {}}},
        {"normalize": "l1"},
        {"n_estimators": 0},
        {"warm_start": 1},
        {"labeled_fraction": "half"},
        {"random_state": HUGE},
        {"random_state": [1]},
        {"n_jobs": {}},
        {"unknown": 1},
        {"__class__": "os.system"},
    ],
    ids=lambda value: str(value)[:40],
)
def test_options(path, options):
    rewrite(path, options=options)
    assert_not_loaded(path)


@pytest.mark.parametrize(
    "options",
    [
        {"scorer": {"stage": "os.system", "options": {}}},
        {"scorer": {"stage": "KthNN", "options": {"k": 9}}},
        {"scorer": {"stage": "KthNN", "options": {"k": "3"}}},
        {"scorer": {"stage": "TopK", "options": {}}},
        {"scorer": 1},
        {"ranker": {"stage": "Ensemble", "options": {}}},
        {"ranker": {"stage": "Ensemble", "options": {"detectors": [{"stage": "os.system", "options": {}}]}}},
        {"ranker": "Sp"},
        {"thresholder": {"stage": "os.system", "options": {}}},
        {"thresholder": {"stage": "Sp", "options": {}}},
        {"sampler": {"stage": "TripletSampler", "options": {"n_queries": 0}}},
        {"sampler": {"stage": "TripletSampler", "options": {"n_queries": "1"}}},
        {"sampler": {"n_queries": 1}},
        {"sampler": 1},
        {"representation": None},
        {"representation": {"stage": "Layers", "options": {"widths": [6, 5]}}},
        {"representation": {"stage": "Layers", "options": {"widths": [6, 5, 4]}}},
        {"representation": {"stage": "Layers", "options": {"widths": [6, 5, 4], "activation": "tanh"}}},
        {"representation": {"stage": "Layers", "options": {"widths": "654", "activation": "leaky_relu"}}},
        {"representation": {"stage": "Layers", "options": {"widths": [6, 5, 5], "activation": "leaky_relu"}}},
        {"representation": {"stage": "Sp", "options": {}}},
        {"loss": {"stage": "RankingHinge", "options": {"margin": "1"}}},
        {"loss": {"stage": "Sp", "options": {}}},
        {"loss": "builtins.print"},
        *({"cutoff": stage} for stage in NO_STAGES),
    ],
    ids=lambda value: str(value)[:60],
)
def test_options_of_the_framework(deep, options):
    rewrite(deep, options=options)
    assert_not_loaded(deep)


@pytest.mark.parametrize(
    "facts",
    [
        {"n_features_in_": 0},
        {"n_features_in_": -40},
        {"n_features_in_": 2**63},
        {"n_features_in_": HUGE},
        {"n_features_in_": 40.0},
        {"n_features_in_": "40"},
        {"n_features_in_": 10},
        {"threshold_": None},
        {"threshold_": HUGE},
        {"threshold_": 5.0},
        {"threshold_": float("nan"), "offset_": float("nan")},
        {"threshold_": float("inf"), "offset_": -float("inf")},
        {"offset_": [1.0]},
        {"offset_": 0.0},
        {"options_": None},
        {"weight_seed_": 1},
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
    "term",
    [
        {"seed": -1},
        {"seed": 2**64},
        {"seed": None},
        {"seed": 1.0},
        {"limit": "0.1"},
        {"limit": 0.0},
        {"limit": float("nan")},
        {"limit": float("inf")},
        {"limit": -float("inf")},
        {"limit": 1e300},
        {"limit": -1e300},
        {"limit": HUGE},
        {"size": 0},
        {"size": -8},
        {"size": 7},
        {"size": 10**18},
        {"size": HUGE},
        {"k": 0},
        {"k": -1},
        {"k": 9},
        {"k": 1.0},
        {"k": HUGE},
        {"average": 1},
        {"average": None},
        {"slope": -0.1},
        {"slope": 1.1},
        {"slope": float("nan")},
        {"slope": True},
        {"n_upper": -1},
        {"n_upper": 1},
        {"n_upper": 65},
        {"n_upper": HUGE},
        {"seed": ...},
        {"limit": ...},
        {"slope": ...},
        {"size": ...},
        {"k": ...},
        {"average": ...},
        {"n_upper": ...},
        {"kind": "original distance"},
        {"kind": "label direction"},
        {"kind": "mean"},
        {"kind": ...},
        {"terms": None},
        {"terms": {}},
        {"terms": [{"kind": "label direction"}]},
        {"extra": 1},
    ],
    ids=lambda value: str(value)[:40],
)
def test_numbers_of_a_learned_distance(path, term):
    rewrite(path, term=term)
    assert_refused(path)


@pytest.mark.parametrize(
    "units",
    [
        ...,
        None,
        [],
        [1.0],
        [1.0, 1.0, 1.0],
        [1.0, 0.0],
        [-1.0, 1.0],
        [1.0, 1e-320],
        [float("nan"), 1.0],
        [1.0, float("inf")],
        [1.0, HUGE],
        [True, 1.0],
        ["1", "1"],
        {"0": 1.0, "1": 1.0},
        1.0,
    ],
    ids=lambda value: str(value)[:40],
)
def test_units_of_a_mean(deep, units):
    rewrite(deep, term={"units": units}, kind="mean")
    assert_refused(deep)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (..., "term.0.how is missing"),
        (None, "term.0.how is None"),
        ("l1", "term.0.how is 'l1'"),
        ("L2", "term.0.how is 'L2'"),
        (2, "term.0.how is 2"),
        (True, "term.0.how is True"),
        ({}, "term.0.how is {}"),
        (["l2"], "term.0.how is"),
        ("l2" * 1000, "term.0.how is '(l2)+l?…"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_ways_to_normalise(deep, how, message):
    rewrite(deep, term={"how": how}, kind="normalized")
    assert_refused(deep, message)


@pytest.mark.parametrize(
    "change",
    [
        lambda terms: terms[:1],
        lambda terms: [*terms, terms[0]],
        lambda terms: [terms[0], None],
        lambda terms: [],
        lambda terms: None,
    ],
    ids=["fewer", "more", "null", "none", "no list"],
)
@pytest.mark.parametrize("with_units", [False, True])
def test_more_or_fewer_models_than_arrays(deep, change, with_units):
    terms = json.loads(read(deep)[0]["terms"])
    mean = next(table for table in tables(terms) if table.get("kind") == "mean")
    mean["terms"] = change(mean["terms"])
    if with_units and mean["terms"]:
        mean["units"] = [1.0] * len(mean["terms"])
    rewrite(deep, header={"terms": json.dumps(terms)})
    assert_refused(deep)


# ---- trees -----------------------------------------------------------------------------------------------------------


def _nested(tree, depth):
    """The first term, which is at depth 1, that deep within others that change nothing."""
    term = tree["terms"][0]
    for _ in range(depth - 1):
        term = {"kind": "mean", "units": [1.0], "terms": [term]}
    return json.dumps({**tree, "terms": [term]})


@pytest.mark.parametrize("depth", [1, 2, DEEPEST])
def test_terms_within_terms_are_a_model(path, data, depth):
    """Otherwise deeper ones could be refused for other reasons."""
    scores = load(path).outlier_score(data[0])
    (header, tensors), own = read(path), "term.0."
    moved = {f"term.{'0.' * depth}{name.removeprefix(own)}": tensors[name] for name in tensors if name.startswith(own)}
    write(
        path,
        {**header, "terms": _nested(json.loads(header["terms"]), depth)},
        {**{name: tensors[name] for name in tensors if not name.startswith(own)}, **moved},
    )
    assert np.array_equal(load(path).outlier_score(data[0]), scores)


@pytest.mark.parametrize("depth", [DEEPEST + 1, 100, 300, 20_000])
def test_terms_that_are_nested_too_deep(path, depth):
    header, _ = read(path)
    tree, inner = json.loads(header["terms"]), '{"kind": "mean", "units": [1.0], "terms": ['
    text = f"{inner * (depth - 1)}{json.dumps(tree['terms'][0])}{']}' * (depth - 1)}"
    rewrite(path, header={"terms": f'{{"weights": [1.0], "terms": [{text}]}}'})
    if depth <= 300:
        assert_refused(path, "deeper than 8 terms")
    for reader in (load, open_model):
        with pytest.raises(ModelFileError, match=r"deeper than|recursion"):
            reader(path)


def test_terms_that_are_too_many(path):
    tree = {"weights": [1.0] * (MOST_TERMS + 1), "terms": [{"kind": "label direction"}] * (MOST_TERMS + 1)}
    rewrite(path, header={"terms": json.dumps(tree)})
    assert_refused(path, "term.terms are 10,001, and must be at most 10,000")


def test_arrays_are_not_shared(deep):
    """The same term twice would need its arrays twice."""
    terms = json.loads(read(deep)[0]["terms"])
    rewrite(deep, header={"terms": json.dumps({"weights": [1.0, 1.0], "terms": terms["terms"] * 2})})
    assert_refused(deep, "term.1.0.0.columns is missing")


def test_a_model_without_a_representation(labeled):
    header, tensors = read(labeled)
    direction = json.loads(header["terms"])["terms"][1]
    kept = {name: array for name, array in tensors.items() if not name.startswith("term.0.")}
    kept |= {name.replace("term.1.", "term.0."): kept.pop(name) for name in list(kept) if name.startswith("term.1.")}
    write(labeled, {**header, "terms": json.dumps({"weights": [1.0], "terms": [direction]})}, kept)
    assert_refused(labeled, "it has no representation")


def test_terms_within_a_term_that_has_none(path):
    """Their arrays would be taken and never used."""
    given = {"term.0.0.columns": np.arange(2), "term.0.0.weights": np.ones((2, 1), dtype=np.float32)}
    rewrite(path, tensors=given, term={"terms": [{"kind": "label direction", "unit_rows": True}]})
    assert_refused(path, "it holds terms within a learned distance, which has none")


@pytest.mark.parametrize(
    "term", [{"slope": "x" * 10**6}, {"k": list(range(10**5))}, {"average": [[]] * 10**5}, {"x" * 10**6: 1}]
)
def test_messages_stay_short(path, term):
    rewrite(path, term=term)
    with pytest.raises(ModelFileError, match="…") as found:
        load(path)
    assert len(str(found.value)) < 300 + len(str(path))


def test_unknown_facts_are_shown_without_control_characters(path):
    rewrite(path, term={"\x1b[2J": 1})
    assert_refused(path, r"term.0 has unknown entries: '\\x1b\[2J'")


@pytest.mark.parametrize(
    "change",
    [
        {"header": {"options": "{}"}},
        {"facts": {"options_": ""}},
        {"facts": {"options_": "('Layers', 7, (7,), 0.0)"}},
        {"term": {"slope": 0.5}},
    ],
    ids=str,
)
def test_options_that_do_not_fit_the_model(path, change):
    rewrite(path, **change)
    assert_not_loaded(path, "options do not fit")


@pytest.mark.parametrize(
    ("options", "shape"),
    [
        ({"n_components": 7}, "('Layers', 7, (7,), 0.0)"),
        ({"n_components": 1}, "('Layers', 1, (1,), 0.0)"),
    ],
)
def test_options_and_their_summary_that_agree_but_for_the_weights(path, options, shape):
    rewrite(path, options=options, facts={"options_": shape})
    assert_not_loaded(path, "options do not fit")


@pytest.mark.parametrize(
    ("widths", "activation", "slope"),
    [
        ([6, 5], "leaky_relu", 0.01),
        ([6, 5, 4, 3], "leaky_relu", 0.01),
        ([6, 4, 4], "leaky_relu", 0.01),
        ([6, 5, 4], "relu", 0.0),
    ],
)
def test_layers_and_their_summary_that_agree_but_for_the_weights(deep, widths, activation, slope):
    stage = {"stage": "Layers", "options": {"widths": widths, "activation": activation}}
    summary = repr(("Layers", widths[0], tuple(widths), slope))
    rewrite(deep, options={"representation": stage}, facts={"options_": summary})
    assert_not_loaded(deep, "options do not fit")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("term.0.columns", lambda a: a[::-1]),
        ("term.0.columns", lambda a: np.r_[a[:-1], a[-2]]),
        ("term.0.columns", lambda a: a - 1),
        ("term.0.columns", lambda a: a + 1),
        ("term.0.columns", lambda a: np.r_[a[:-1], np.int64(2**62)]),
        ("term.0.columns", lambda a: a[:-1]),
        ("term.0.columns", lambda a: a.astype(np.int32)),
        ("term.0.columns", lambda a: a.astype(np.float64)),
        ("term.0.columns", lambda a: a[:, None]),
        ("term.0.columns", lambda a: None),
        ("term.0.weights", lambda a: a[:-1]),
        ("term.0.weights", lambda a: a[:, :-1]),
        ("term.0.weights", lambda a: a.T),
        ("term.0.weights", lambda a: a.ravel()),
        ("term.0.weights", lambda a: a.astype(np.float64)),
        ("term.0.weights", lambda a: a * np.float32("nan")),
        ("term.0.weights", lambda a: a + np.float32("inf")),
        ("term.0.references", lambda a: a[:-1]),
        ("term.0.references", lambda a: a[:0]),
        ("term.0.references", lambda a: a[:, :-1]),
        ("term.0.references", lambda a: a.astype(np.float64)),
        ("term.0.references", lambda a: a * np.float32("nan")),
        ("term.0.references", lambda a: None),
        ("term.0.weights", lambda a: None),
        ("sample.0", lambda a: None),
        ("sample.0", lambda a: a[:, :-1]),
        ("sample.0", lambda a: a.ravel()),
        ("sample.0", lambda a: a.astype(np.float64)),
        ("sample.0", lambda a: a * np.float32("nan")),
        ("term.0.upper.0", lambda a: np.ones((6, 6), dtype=np.float32)),
        ("term.1.weights", lambda a: np.ones((40, 6), dtype=np.float32)),
        ("sample.1", lambda a: np.ones((3, 6), dtype=np.float32)),
        ("term.1.columns", lambda a: np.arange(3)),
        ("term.0.0.columns", lambda a: np.arange(3)),
        ("feature_indices_", lambda a: np.arange(3)),
        ("calibration_scores_", lambda a: None),
        ("calibration_scores_", lambda a: a.astype(np.float32)),
        ("row_lengths_", lambda a: a.astype(np.float64)),
        ("row_lengths_", lambda a: None),
        ("row_norms_", lambda a: a[:, None]),
        ("outlier_scores_", lambda a: a.astype(np.float32)),
        ("outlier_scores_", lambda a: a[None]),
        ("candidate_outliers_", lambda a: a.astype(np.int32)),
        ("loss_curve_", lambda a: None),
        ("surprise", lambda a: np.ones(3)),
        ("feature_names_in_", lambda a: np.frombuffer(b'["a"]', dtype=np.uint8)),
        ("feature_names_in_", lambda a: np.frombuffer(b"{}", dtype=np.uint8)),
        ("feature_names_in_", lambda a: np.frombuffer(b"\xff\xfe", dtype=np.uint8)),
        ("feature_names_in_", lambda a: np.frombuffer(b"[" * 100_000, dtype=np.uint8)),
        ("feature_names_in_", lambda a: np.ones(40)),
        ("feature_names_in_", lambda a: np.frombuffer(json.dumps(list(range(40))).encode(), dtype=np.uint8)),
    ],
)
def test_arrays(path, name, change):
    _, tensors = read(path)
    rewrite(path, tensors={name: change(tensors.get(name))})
    assert_refused(path)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("term.0.0.0.upper.0", lambda a: None),
        ("term.0.0.0.upper.0", lambda a: a.T),
        ("term.0.0.0.upper.0", lambda a: a[:, :-1]),
        ("term.0.0.0.upper.0", lambda a: a[:, :0]),
        ("term.0.0.0.upper.1", lambda a: a[:-1]),
        ("term.0.0.0.upper.1", lambda a: a.astype(np.float64)),
        ("term.0.0.0.upper.1", lambda a: a.ravel()),
        ("term.0.0.0.upper.1", lambda a: a * np.float32("inf")),
        ("term.0.0.0.upper.2", lambda a: np.ones((4, 4), dtype=np.float32)),
        ("term.0.0.1.upper.1", lambda a: None),
        ("term.0.0.1.columns", lambda a: a[::-1]),
        ("term.0.0.1.weights", lambda a: a * np.float32("nan")),
        ("term.0.0.1.references", lambda a: a[:-1]),
        ("sample.1", lambda a: a[:, :-1]),
    ],
)
def test_arrays_of_several_models_with_several_layers(deep, name, change):
    _, tensors = read(deep)
    rewrite(deep, tensors={name: change(tensors.get(name))})
    assert_refused(deep)


@pytest.mark.parametrize(
    "weights",
    [
        None,
        [],
        [1.0],
        [1.0, 1.0, 1.0],
        [1.0, None],
        ["1", "1"],
        [True, 1.0],
        [float("nan"), 1.0],
        [1.0, float("inf")],
        [1.0, HUGE],
        [1.0, -1.0],
        {},
        1.0,
        "nonsense",
    ],
    ids=lambda value: str(value)[:40],
)
def test_weights_of_the_terms(labeled, weights):
    terms = json.loads(read(labeled)[0]["terms"])
    assert len(terms["weights"]) == 2
    rewrite(labeled, header={"terms": json.dumps({**terms, "weights": weights})})
    assert_refused(labeled)


def test_a_direction_that_only_its_arrays_speak_of(labeled):
    terms = json.loads(read(labeled)[0]["terms"])
    rewrite(labeled, header={"terms": json.dumps({"weights": [1.0], "terms": terms["terms"][:1]})})
    assert_refused(labeled, "its arrays are not those of a model")


@pytest.mark.parametrize("term", [{"extra": 1}, {"kind": "mean"}, {"kind": None}, {"terms": [{}]}], ids=str)
def test_facts_of_the_direction(labeled, term):
    rewrite(labeled, term=term, kind="label direction")
    assert_refused(labeled)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("term.1.columns", lambda a: a[::-1]),
        ("term.1.columns", lambda a: a[:-1]),
        ("term.1.columns", lambda a: a - 1),
        ("term.1.columns", lambda a: a + 1),
        ("term.1.columns", lambda a: a.astype(np.int32)),
        ("term.1.columns", lambda a: a[:, None]),
        ("term.1.columns", lambda a: None),
        ("term.1.weights", lambda a: a[:-1]),
        ("term.1.weights", lambda a: a.ravel()),
        ("term.1.weights", lambda a: np.hstack([a, a])),
        ("term.1.weights", lambda a: a[:, :0]),
        ("term.1.weights", lambda a: a.astype(np.float64)),
        ("term.1.weights", lambda a: a * np.float32("nan")),
        ("term.1.weights", lambda a: None),
    ],
)
def test_arrays_of_the_direction(labeled, name, change):
    _, tensors = read(labeled)
    assert tensors["term.1.columns"].tolist() == list(range(40))
    rewrite(labeled, tensors={name: change(tensors.get(name))})
    assert_refused(labeled)


@pytest.mark.parametrize(
    "change",
    [
        {"columns": lambda a: a[::-1]},
        {"columns": lambda a: a + 40},
        {"columns": lambda a: a.astype(np.int32)},
        {"columns": lambda a: None},
        {"counts": lambda a: a[:-1]},
        {"counts": lambda a: a * 0},
        {"counts": lambda a: a + 10_000},
        {"counts": lambda a: a.astype(np.int64)},
        {"surprise": lambda a: np.ones(3)},
    ],
)
def test_arrays_of_rarity(rare, change):
    _, tensors = read(rare)
    rewrite(rare, tensors={RARE + name: new(tensors.get(RARE + name)) for name, new in change.items()})
    assert_refused(rare)


@pytest.mark.parametrize(
    ("shared", "message"),
    [
        ({"term.0.3.columns": "term.9.columns", "term.0.3.counts": RARE + "counts"}, "does not have"),
        ({"term.0.3.columns": RARE + "columns"}, "term.0.3.counts is missing"),
        ({RARE + "columns": RARE + "counts"}, "does not have"),
        ({"term.0.3.columns": 3}, "does not have"),
        (
            {"surprise": RARE + "counts", "term.0.3.columns": RARE + "columns", "term.0.3.counts": RARE + "counts"},
            "not those of a model",
        ),
        ([], "not a table"),
        (None, "not a table"),
    ],
)
def test_arrays_that_terms_share(rare, shared, message):
    terms = json.loads(read(rare)[0]["terms"])
    assert terms["shared"] == {f"term.0.3.{name}": f"term.0.2.{name}" for name in ("columns", "counts")}
    rewrite(rare, header={"terms": json.dumps({**terms, "shared": shared})})
    assert_refused(rare, message)


@pytest.mark.parametrize(
    "facts", [{"n_rows": 0}, {"n_rows": 1}, {"n_rows": 1.5}, {"unshared": 1}, {"unshared": None}], ids=str
)
def test_facts_of_rarity(rare, facts):
    terms = json.loads(read(rare)[0]["terms"])
    terms["terms"][0]["terms"][2] |= facts
    rewrite(rare, header={"terms": json.dumps(terms)})
    assert_refused(rare)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("origin.numbers", lambda a: a[:-1]),
        ("origin.numbers", lambda a: a - 120),
        ("origin.numbers", lambda a: a + 120),
        ("origin.numbers", lambda a: a.astype(np.float64)),
        ("origin.numbers", lambda a: a[:, None]),
        ("origin.numbers", lambda a: None),
        ("origin.indptr", lambda a: a[:-1]),
        ("origin.indptr", lambda a: a[::-1]),
        ("origin.indptr", lambda a: a + 1),
        ("origin.indptr", lambda a: a * 2),
        ("origin.indptr", lambda a: a.astype(np.float64)),
        ("origin.indptr", lambda a: a[:, None]),
        ("origin.indptr", lambda a: None),
        ("origin.indices", lambda a: a + 40),
        ("origin.indices", lambda a: a - 40),
        ("origin.indices", lambda a: a[:-1]),
        ("origin.indices", lambda a: a.astype(np.float64)),
        ("origin.indices", lambda a: a[:, None]),
        ("origin.indices", lambda a: None),
        ("origin.data", lambda a: a[:-1]),
        ("origin.data", lambda a: a * np.nan),
        ("origin.data", lambda a: a * 1e40),
        ("origin.data", lambda a: a.astype(np.int64)),
        ("origin.data", lambda a: a.astype(np.uint8)),
        ("origin.data", lambda a: a[:, None]),
        ("origin.data", lambda a: None),
        ("origin.values", lambda a: np.ones((80, 40))),
        ("origin.surprise", lambda a: np.ones(3)),
    ],
)
def test_arrays_of_the_references(path, name, change):
    _, tensors = read(path)
    assert len(tensors["term.0.origin.numbers"]) == 80
    rewrite(path, tensors={f"term.0.{name}": change(tensors.get(f"term.0.{name}"))})
    assert_refused(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a[:-1],
        lambda a: a[:, :-1],
        lambda a: a.ravel(),
        lambda a: a * np.nan,
        lambda a: a * 1e40,
        lambda a: a.astype(np.int64),
        lambda a: None,
    ],
)
def test_dense_references(quick, data, tmp_path, change):
    path = quick().fit(data[0].toarray()).save(tmp_path / "dense.ramodo")
    _, tensors = read(path)
    rewrite(path, tensors={"term.0.origin.values": change(tensors["term.0.origin.values"])})
    assert_refused(path)


# ---- any JSON ------------------------------------------------------------------------------------------------------

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(HUGE),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
        | st.fixed_dictionaries(
            {
                "stage": st.sampled_from(["Sp", "KthNN", "TopK", "Conformal", "Ensemble", "Layers", "Popen"]) | inner,
                "options": st.dictionaries(
                    st.sampled_from(["k", "count", "fdr", "detectors", "widths", "n_jobs"]), inner, max_size=2
                )
                | inner,
            }
        )
    ),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Header and arrays of a file that has everything."""
    X, truth = with_outliers()
    detector = RAMODO(representation=Layers((6, 5)), n_estimators=2, n_epochs=1, random_state=0).fit(X, labels=truth)
    return read(detector.save(tmp_path_factory.mktemp("parts") / "whole"))


def _places(value, path=()):
    """Where a value of JSON has values."""
    yield path
    for key in range(len(value)) if isinstance(value, list) else value if isinstance(value, dict) else ():
        yield from _places(value[key], (*path, key))


@settings(max_examples=300)
@given(data=st.data())
def test_any_json_in_a_header_gives_a_model_or_a_refusal(tmp_path_factory, parts, data):
    header, tensors = parts
    name = data.draw(st.sampled_from(["options", "facts", "terms", "alive"]))
    values = {"": json.loads(header[name])}
    *way, last = data.draw(st.sampled_from([place for place in _places(values) if place]))
    inner = values
    for key in way:
        inner = inner[key]
    inner[last] = data.draw(_VALUES)
    path = tmp_path_factory.getbasetemp() / "any json"
    save_file(tensors, path, {**header, name: json.dumps(values[""])})
    X, _ = with_outliers()
    is_model_or_refused(path, X)


# ---- what is not written -------------------------------------------------------------------------------------------


def test_a_model_of_a_subclass_is_not_passed_off_as_repen(tmp_path, data):
    class Mine(REPEN):
        pass

    path = tmp_path / "mine"
    with pytest.raises(ModelFileError, match=r"a detector to save must be one of Consensus.*got Mine"):
        Mine(n_epochs=1, random_state=0).fit(data[0]).save(path)
    assert not path.exists()


def test_a_stage_of_one_s_own_is_not_passed_off_as_ramodo_s(tmp_path, data):
    class TopFraction(Cutoff):
        def cutoff(self, scores):
            return float(np.median(scores))

    class Sp2(Sp):
        pass

    path = tmp_path / "mine"
    for detector in (REPEN(cutoff=TopFraction(), n_epochs=1), RAMODO(Sp2(), n_epochs=1)):
        fitted = detector.fit(data[0])
        with pytest.raises(OptionError, match="a stage to save must be one of ramodo's"):
            fitted.save(path)
        assert not path.exists()


@pytest.mark.parametrize("options", [{"n_components": 7}, {"n_components": 1}])
def test_options_that_no_longer_fit_the_model_are_not_written(tmp_path, fitted, options):
    path = tmp_path / "changed"
    with pytest.raises(ModelFileError, match=r"changed after the fit.*fit again"):
        fitted.set_params(**options).save(path)
    assert not path.exists()
    with pytest.raises(OptionError, match=r"margin must be .*, got -1"):
        fitted.set_params(n_components=6, margin=-1).save(path)
    assert not path.exists()


@pytest.mark.parametrize("dtype", ["BF16", "F8_E4M3", "F8_E5M2", "F4", "U64", "BOOL", "C64"])
def test_arrays_of_types_that_numpy_may_not_know(path, dtype):
    """The header is bytes: any type can be written into it."""
    content = path.read_bytes()
    assert content.count(b'"F32"') == 4
    path.write_bytes(content.replace(b'"F32"', f'"{dtype}"'.encode()).replace(content[:8], _resized(content, dtype), 1))
    assert_refused(path)


def _resized(content, dtype):
    size = int.from_bytes(content[:8], "little") + 3 * (len(dtype) - len("F32"))
    return size.to_bytes(8, "little")
