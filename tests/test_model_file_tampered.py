"""Model files that are well formed but say what no fit could have said."""

import json

import numpy as np
import pytest

from ramodo import REPEN
from ramodo.model_file import ModelFileError
from tampering import assert_refused, read, rewrite

HUGE = 10**400
"""Valid JSON, and no float."""


@pytest.fixture
def path(tmp_path, fitted):
    return fitted.save(tmp_path / "model.ramodo")


def test_an_untouched_rewrite_is_a_model(path, fitted, data):
    """Otherwise the refusals below could have other reasons."""
    from ramodo import load

    rewrite(path)
    assert np.array_equal(load(path).outlier_score(data[0]), fitted.outlier_score(data[0]))


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"format": "other"}, "does not say so"),
        ({"format": None}, "does not say so"),
        ({"version": "2"}, "version 2"),
        ({"version": None}, "version None"),
        ({"class": "Popen"}, "it holds a Popen, known are REPEN"),
        ({"class": None}, "it holds a None"),
        ({"options": None}, "options"),
        ({"options": "[]"}, "options are not a table"),
        ({"options": "{}"}, "n_components"),
        ({"options": "{"}, ""),
        ({"options": "[" * 100_000}, ""),
        ({"facts": None}, "facts"),
        ({"facts": "{}"}, "facts are incomplete"),
        ({"facts": "null"}, "facts are incomplete"),
        ({"facts": "nonsense"}, ""),
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
    "facts",
    [
        {"n_features_in_": 0},
        {"n_features_in_": -40},
        {"n_features_in_": 2**63},
        {"n_features_in_": HUGE},
        {"n_features_in_": 40.0},
        {"n_features_in_": "40"},
        {"n_features_in_": 10},
        {"weight_seed_": -1},
        {"weight_seed_": 2**64},
        {"weight_seed_": None},
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
        ("feature_indices_", lambda a: np.r_[a[:-1], np.int64(2**62)]),
        ("feature_indices_", lambda a: a[:-1]),
        ("feature_indices_", lambda a: a.astype(np.int32)),
        ("feature_indices_", lambda a: a.astype(np.float64)),
        ("feature_indices_", lambda a: a[:, None]),
        ("feature_indices_", lambda a: None),
        ("feature_weights_", lambda a: a[:-1]),
        ("feature_weights_", lambda a: a[:, :-1]),
        ("feature_weights_", lambda a: a.T),
        ("feature_weights_", lambda a: a.ravel()),
        ("feature_weights_", lambda a: a.astype(np.float64)),
        ("feature_weights_", lambda a: a * np.float32("nan")),
        ("feature_weights_", lambda a: a + np.float32("inf")),
        ("references_", lambda a: a[:-1]),
        ("references_", lambda a: a[:0]),
        ("references_", lambda a: a[:, :-1]),
        ("references_", lambda a: a.astype(np.float64)),
        ("references_", lambda a: a * np.float32("nan")),
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


def test_a_model_of_a_subclass_is_not_passed_off_as_repen(tmp_path, data):
    class Mine(REPEN):
        pass

    path = tmp_path / "mine"
    with pytest.raises(ModelFileError, match="a Mine was given; files are written of: REPEN"):
        Mine(n_epochs=1, random_state=0).fit(data[0]).save(path)
    assert not path.exists()


@pytest.mark.parametrize("dtype", ["BF16", "F8_E4M3", "F8_E5M2", "F4", "U64", "BOOL", "C64"])
def test_arrays_of_types_that_numpy_may_not_know(path, dtype):
    """The header is bytes: any type can be written into it."""
    content = path.read_bytes()
    assert content.count(b'"F32"') == 2
    path.write_bytes(content.replace(b'"F32"', f'"{dtype}"'.encode()).replace(content[:8], _resized(content, dtype), 1))
    assert_refused(path)


def _resized(content, dtype):
    size = int.from_bytes(content[:8], "little") + 2 * (len(dtype) - len("F32"))
    return size.to_bytes(8, "little")
