"""Model files that are well formed but say what no fit could have said."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from examples import with_outliers
from ramodo import RAMODO, REPEN, Cutoff, Layers, Sp, TopFraction, load
from ramodo.model.saved import ModelFileError
from ramodo.options import OptionError
from tampering import assert_refused, read, rewrite

HUGE = 10**400
"""Valid JSON, and no float."""


NO_STAGES = [
    {"stage": "os.system", "options": {}},
    {"stage": "os.system", "options": {"command": "true"}},
    {"stage": "subprocess.Popen", "options": {"args": ["true"]}},
    {"stage": "Foreign", "options": {"detector": None}},
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
    assert fitted.model_.direction is not None
    return fitted.save(tmp_path / "labeled.ramodo")


@pytest.fixture
def deep(tmp_path, data):
    """A file of two models with two upper layers each, normalised."""
    representation = Layers((6, 5, 4), "leaky_relu")
    detector = RAMODO(representation=representation, n_estimators=2, normalize="max", n_epochs=1, random_state=0)
    return detector.fit(data[0]).save(tmp_path / "deep.ramodo")


@pytest.mark.parametrize("name", ["path", "labeled", "deep"])
def test_an_untouched_rewrite_is_a_model(request, name, data):
    """Otherwise the refusals below could have other reasons."""
    path = request.getfixturevalue(name)
    before = load(path).outlier_score(data[0])
    rewrite(path, facts={}, options={}, member={}, header={}, tensors={})
    assert np.array_equal(load(path).outlier_score(data[0]), before)


def test_a_known_stage_in_the_options_is_a_model(path):
    """Otherwise those that are refused below could be so for being stages."""
    rewrite(path, options={"threshold": {"stage": "TopFraction", "options": {"fraction": 0.25}}})
    threshold = load(path).threshold
    assert type(threshold) is TopFraction
    assert threshold.fraction == 0.25


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"format": "other"}, "does not say so"),
        ({"format": None}, "does not say so"),
        ({"version": "4"}, "version 4 is not 1 to 3"),
        ({"version": "0"}, "version 0"),
        ({"version": "2.0"}, "version 2.0"),
        ({"version": "1"}, ""),
        ({"version": None}, "version None"),
        ({"class": "Popen"}, "it holds a Popen, known are REPEN"),
        ({"class": None}, "it holds a None"),
        ({"options": None}, "options"),
        ({"options": "[]"}, "options are not a table"),
        ({"options": "{}"}, "options do not fit"),
        ({"options": "{"}, ""),
        ({"options": "[" * 100_000}, ""),
        ({"facts": None}, "facts"),
        ({"facts": "{}"}, "facts are incomplete"),
        ({"facts": "null"}, "facts are incomplete"),
        ({"facts": "nonsense"}, ""),
        ({"facts": "[]"}, "facts are incomplete"),
        ({"members": None}, "members"),
        ({"members": "{}"}, "it holds no model"),
        ({"members": "[]"}, "it holds no model"),
        ({"members": "null"}, "it holds no model"),
        ({"members": "1"}, "it holds no model"),
        ({"members": '"model"'}, "it holds no model"),
        ({"members": "[null]"}, "facts are incomplete"),
        ({"members": "[[]]"}, "facts are incomplete"),
        ({"members": "[{}]"}, "facts are incomplete"),
        ({"members": "nonsense"}, ""),
        ({"members": ""}, ""),
        ({"members": "[" * 100_000}, ""),
        ({"normalize": None}, "normalize"),
        ({"normalize": '"l1"'}, "normalize='l1' was given"),
        ({"normalize": '"L2"'}, "normalize='L2' was given"),
        ({"normalize": "2"}, "normalize=2 was given"),
        ({"normalize": "true"}, "normalize=True was given"),
        ({"normalize": "{}"}, "normalize={} was given"),
        ({"normalize": "l2"}, ""),
        ({"direction": None}, "direction"),
        ({"direction": "[1.0, 1.0]"}, "direction.columns"),
        ({"direction": "{}"}, "direction has no factors"),
        ({"direction": "[]"}, "direction has no factors"),
        ({"direction": "nonsense"}, ""),
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
        {"threshold": HUGE},
        {"threshold": "TopK"},
        *({"threshold": stage} for stage in NO_STAGES),
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
    assert_refused(path)


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
    assert_refused(deep)


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
        {"options_": ""},
        {"options_": None},
        {"options_": "('Layers', 7, (7,), 0.0)"},
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
    "member",
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
        {"slope": 0.5},
        {"slope": float("nan")},
        {"slope": True},
        {"deviation": -1.0},
        {"deviation": float("nan")},
        {"deviation": float("inf")},
        {"n_alive": -1},
        {"n_alive": 7},
        {"n_alive": HUGE},
        {"n_upper": -1},
        {"n_upper": 1},
        {"n_upper": 65},
        {"n_upper": HUGE},
        {"seed": ...},
        {"deviation": ...},
        {"extra": 1},
    ],
    ids=lambda value: str(value)[:40],
)
def test_numbers_of_a_model(path, member):
    rewrite(path, member=member)
    assert_refused(path)


@pytest.mark.parametrize("members", [lambda m: m[:1], lambda m: [*m, m[0]], lambda m: [m[0], None]])
def test_more_or_fewer_models_than_arrays(deep, members):
    header, _ = read(deep)
    rewrite(deep, header={"members": json.dumps(members(json.loads(header["members"])))})
    assert_refused(deep)


@pytest.mark.parametrize(
    ("options", "shape"),
    [
        ({"n_components": 7}, "('Layers', 7, (7,), 0.0)"),
        ({"n_components": 1}, "('Layers', 1, (1,), 0.0)"),
    ],
)
def test_options_and_their_summary_that_agree_but_for_the_weights(path, options, shape):
    rewrite(path, options=options, facts={"options_": shape})
    assert_refused(path, "options do not fit")


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
    assert_refused(deep, "options do not fit")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("model.0.columns", lambda a: a[::-1]),
        ("model.0.columns", lambda a: np.r_[a[:-1], a[-2]]),
        ("model.0.columns", lambda a: a - 1),
        ("model.0.columns", lambda a: a + 1),
        ("model.0.columns", lambda a: np.r_[a[:-1], np.int64(2**62)]),
        ("model.0.columns", lambda a: a[:-1]),
        ("model.0.columns", lambda a: a.astype(np.int32)),
        ("model.0.columns", lambda a: a.astype(np.float64)),
        ("model.0.columns", lambda a: a[:, None]),
        ("model.0.columns", lambda a: None),
        ("model.0.weights", lambda a: a[:-1]),
        ("model.0.weights", lambda a: a[:, :-1]),
        ("model.0.weights", lambda a: a.T),
        ("model.0.weights", lambda a: a.ravel()),
        ("model.0.weights", lambda a: a.astype(np.float64)),
        ("model.0.weights", lambda a: a * np.float32("nan")),
        ("model.0.weights", lambda a: a + np.float32("inf")),
        ("model.0.references", lambda a: a[:-1]),
        ("model.0.references", lambda a: a[:0]),
        ("model.0.references", lambda a: a[:, :-1]),
        ("model.0.references", lambda a: a.astype(np.float64)),
        ("model.0.references", lambda a: a * np.float32("nan")),
        ("model.0.references", lambda a: None),
        ("model.0.weights", lambda a: None),
        ("model.0.sample", lambda a: None),
        ("model.0.sample", lambda a: a[:, :-1]),
        ("model.0.sample", lambda a: a.ravel()),
        ("model.0.sample", lambda a: a.astype(np.float64)),
        ("model.0.sample", lambda a: a * np.float32("nan")),
        ("model.0.upper.0", lambda a: np.ones((6, 6), dtype=np.float32)),
        ("model.1.weights", lambda a: np.ones((40, 6), dtype=np.float32)),
        ("direction.columns", lambda a: np.arange(3)),
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
        ("model.0.upper.0", lambda a: None),
        ("model.0.upper.0", lambda a: a.T),
        ("model.0.upper.0", lambda a: a[:, :-1]),
        ("model.0.upper.0", lambda a: a[:, :0]),
        ("model.0.upper.1", lambda a: a[:-1]),
        ("model.0.upper.1", lambda a: a.astype(np.float64)),
        ("model.0.upper.1", lambda a: a.ravel()),
        ("model.0.upper.1", lambda a: a * np.float32("inf")),
        ("model.0.upper.2", lambda a: np.ones((4, 4), dtype=np.float32)),
        ("model.1.upper.1", lambda a: None),
        ("model.1.columns", lambda a: a[::-1]),
        ("model.1.weights", lambda a: a * np.float32("nan")),
        ("model.1.references", lambda a: a[:-1]),
        ("model.1.sample", lambda a: a[:, :-1]),
    ],
)
def test_arrays_of_several_models_with_several_layers(deep, name, change):
    _, tensors = read(deep)
    rewrite(deep, tensors={name: change(tensors.get(name))})
    assert_refused(deep)


@pytest.mark.parametrize(
    "factors",
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
        {},
        1.0,
        "nonsense",
    ],
    ids=lambda value: str(value)[:40],
)
def test_factors_of_the_direction(labeled, factors):
    """Null too: the arrays of a direction are then of no use."""
    rewrite(labeled, header={"direction": json.dumps(factors)})
    assert_refused(labeled)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("direction.columns", lambda a: a[::-1]),
        ("direction.columns", lambda a: a[:-1]),
        ("direction.columns", lambda a: a - 1),
        ("direction.columns", lambda a: a + 1),
        ("direction.columns", lambda a: a.astype(np.int32)),
        ("direction.columns", lambda a: a[:, None]),
        ("direction.columns", lambda a: None),
        ("direction.weights", lambda a: a[:-1]),
        ("direction.weights", lambda a: a.ravel()),
        ("direction.weights", lambda a: np.hstack([a, a])),
        ("direction.weights", lambda a: a[:, :0]),
        ("direction.weights", lambda a: a.astype(np.float64)),
        ("direction.weights", lambda a: a * np.float32("nan")),
        ("direction.weights", lambda a: None),
    ],
)
def test_arrays_of_the_direction(labeled, name, change):
    _, tensors = read(labeled)
    assert tensors["direction.columns"].tolist() == list(range(40))
    rewrite(labeled, tensors={name: change(tensors.get(name))})
    assert_refused(labeled)


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
    name = data.draw(st.sampled_from(["options", "facts", "members", "normalize", "direction"]))
    values = {"": json.loads(header[name])}
    *way, last = data.draw(st.sampled_from([place for place in _places(values) if place]))
    inner = values
    for key in way:
        inner = inner[key]
    inner[last] = data.draw(_VALUES)
    path = tmp_path_factory.getbasetemp() / "any json"
    save_file(tensors, path, {**header, name: json.dumps(values[""])})
    X, _ = with_outliers()
    try:
        scores = load(path).outlier_score(X)
    except ModelFileError:
        return
    except ValueError as error:
        assert "features" in str(error)  # noqa: PT017 - a model of another width is a model
        return
    assert scores.shape == (120,)


# ---- what is not written -------------------------------------------------------------------------------------------


def test_a_model_of_a_subclass_is_not_passed_off_as_repen(tmp_path, data):
    class Mine(REPEN):
        pass

    path = tmp_path / "mine"
    with pytest.raises(ModelFileError, match="a Mine was given; files are written of: REPEN"):
        Mine(n_epochs=1, random_state=0).fit(data[0]).save(path)
    assert not path.exists()


def test_a_stage_of_one_s_own_is_not_passed_off_as_ramodo_s(tmp_path, data):
    class TopFraction(Cutoff):
        def cutoff(self, scores):
            return float(np.median(scores))

    class Sp2(Sp):
        pass

    path = tmp_path / "mine"
    for detector in (REPEN(threshold=TopFraction(), n_epochs=1), RAMODO(Sp2(), n_epochs=1)):
        fitted = detector.fit(data[0])
        with pytest.raises(OptionError, match="files are written of ramodo's stages only"):
            fitted.save(path)
        assert not path.exists()


@pytest.mark.parametrize("options", [{"n_components": 7}, {"n_components": 1}])
def test_options_that_no_longer_fit_the_model_are_not_written(tmp_path, fitted, options):
    path = tmp_path / "changed"
    with pytest.raises(ModelFileError, match=r"set after the fit.*fit again"):
        fitted.set_params(**options).save(path)
    assert not path.exists()
    with pytest.raises(OptionError, match="margin=-1 was given"):
        fitted.set_params(n_components=6, margin=-1).save(path)
    assert not path.exists()


@pytest.mark.parametrize("dtype", ["BF16", "F8_E4M3", "F8_E5M2", "F4", "U64", "BOOL", "C64"])
def test_arrays_of_types_that_numpy_may_not_know(path, dtype):
    """The header is bytes: any type can be written into it."""
    content = path.read_bytes()
    assert content.count(b'"F32"') == 3
    path.write_bytes(content.replace(b'"F32"', f'"{dtype}"'.encode()).replace(content[:8], _resized(content, dtype), 1))
    assert_refused(path)


def _resized(content, dtype):
    size = int.from_bytes(content[:8], "little") + 3 * (len(dtype) - len("F32"))
    return size.to_bytes(8, "little")
