"""The model file: what is saved comes back, whole or not at all; any other file is refused, and only refused."""

import dataclasses
import os
import struct

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file
from sklearn.base import clone

from ramodo import (
    RAMODO,
    REPEN,
    AverageNeighborREPEN,
    AverageNN,
    Cantelli,
    Conformal,
    Ensemble,
    GivenSet,
    KthNeighborREPEN,
    KthNN,
    Layers,
    RankingHinge,
    Sp,
    TopFraction,
    TopK,
    TripletSampler,
    load,
)
from ramodo.model.file import saving as model_file
from ramodo.model.file.facts import ARRAYS, FACTS
from ramodo.model.file.stage_options import encode
from ramodo.model.saved import ModelFileError
from support.examples import with_outliers
from support.tampering import assert_refused, is_model_or_refused

X, TRUTH = with_outliers()
QUICK = {"n_epochs": 2, "random_state": 0}

DETECTORS = {
    "plain": REPEN(6, **QUICK),
    "no seed": REPEN(6, n_epochs=1),
    "k-th neighbour": KthNeighborREPEN(2, **QUICK),
    "average of neighbours": AverageNeighborREPEN(4, n_components=3, **QUICK),
    "normalised": REPEN(6, normalize="l2", **QUICK),
    "several models": REPEN(6, n_estimators=3, normalize="max", **QUICK),
    "held-out rows": REPEN(6, cutoff=Conformal(0.2, 0.3), **QUICK),
    "a number of rows": REPEN(6, cutoff=TopK(7), **QUICK),
    "framework": RAMODO(**QUICK),
    "every stage": RAMODO(
        AverageNN(2, 5, 6),
        ranker=Ensemble([Sp(5), KthNN(2)], "score"),
        thresholder=GivenSet(np.arange(100, 120)),
        sampler=TripletSampler(3, 0.25),
        representation=Layers((8, 5, 3), "leaky_relu"),
        loss=RankingHinge(50.0),
        cutoff=TopFraction(0.1),
        n_estimators=2,
        labels_in_score=False,
        **QUICK,
    ),
    "no activation": RAMODO(representation=Layers([4], "linear"), cutoff=Cantelli(false_positives=0.1), **QUICK),
}


@pytest.fixture(scope="module")
def detector():
    return REPEN(n_components=6, n_epochs=2, n_subsamples=5, random_state=0).fit(X)


@pytest.fixture
def path(tmp_path, detector):
    return detector.save(tmp_path / "model.ramodo")


# ---- there and back ------------------------------------------------------------------------------------------------


def _assert_same(one, two):
    """Equal values, down to every array and its dtype."""
    if dataclasses.is_dataclass(one):
        assert type(one) is type(two)
        for field in dataclasses.fields(one):
            if field.compare:
                _assert_same(getattr(one, field.name), getattr(two, field.name))
    elif isinstance(one, list) or type(one) is tuple:
        for left, right in zip(one, two, strict=True):
            _assert_same(left, right)
    else:
        assert isinstance(one, np.ndarray) == isinstance(two, np.ndarray)
        assert not isinstance(one, np.ndarray) or one.dtype == two.dtype
        np.testing.assert_equal(one, two)


@pytest.fixture(scope="module", params=[None, TRUTH], ids=["no labels", "labels"])
def labels(request):
    return request.param


@pytest.fixture(scope="module", params=DETECTORS)
def any_detector(request, labels):
    """One of every kind, with the direction of labelled outliers where there are any, unless told otherwise."""
    fitted = clone(DETECTORS[request.param]).fit(X, labels=labels)
    assert fitted.model_.has_labels == (labels is not None and fitted.labels_in_score)
    return fitted


def test_a_loaded_model_scores_the_same(any_detector, tmp_path):
    back = load(any_detector.save(tmp_path / "model"))
    assert type(back) is type(any_detector)
    for use in ("outlier_score", "transform", "predict", "decision_function"):
        assert np.array_equal(getattr(back, use)(X), getattr(any_detector, use)(X))
    assert np.array_equal(back.components_.toarray(), any_detector.components_.toarray())


def test_a_loaded_model_has_the_options_of_the_saved_one(any_detector, tmp_path):
    """Stages too, by their own options; a list or array comes back as a tuple."""
    back = load(any_detector.save(tmp_path / "model"))
    assert encode(back.get_params(deep=False)) == encode(any_detector.get_params(deep=False))
    for name, value in any_detector.get_params(deep=False).items():
        assert type(getattr(back, name)) is type(value)


def test_a_loaded_model_has_all_that_fit_left(any_detector, tmp_path):
    back = load(any_detector.save(tmp_path / "model"))
    names = {name for name in vars(any_detector) if name.endswith("_")}
    assert {name for name in vars(back) if name.endswith("_")} == names
    assert len(names) >= len(ARRAYS) + len(FACTS)
    for name in names:
        _assert_same(getattr(back, name), getattr(any_detector, name))


def test_p_values_come_back(tmp_path):
    fitted = clone(DETECTORS["held-out rows"]).fit(X)
    assert len(fitted.calibration_scores_) == 36
    back = load(fitted.save(tmp_path / "model"))
    assert np.array_equal(back.p_values(X), fitted.p_values(X))
    assert np.array_equal(back.discoveries(X), fitted.discoveries(X))


def test_a_loaded_model_can_be_saved_and_fitted_again(path, detector, tmp_path):
    back = load(path)
    assert np.array_equal(load(back.save(tmp_path / "again")).outlier_score(X), detector.outlier_scores_)
    assert np.array_equal(back.fit(X).outlier_scores_, detector.outlier_scores_)


def test_feature_names_come_back(tmp_path):
    names = [f"wört {j}" for j in range(40)]
    frame = pd.DataFrame(X.toarray(), columns=names)
    detector = REPEN(n_components=3, n_epochs=1, random_state=0).fit(frame)
    back = load(detector.save(tmp_path / "named"))
    assert back.feature_names_in_.tolist() == names
    assert np.array_equal(back.outlier_score(frame), detector.outlier_scores_)


@pytest.mark.parametrize(
    "options",
    [
        {"random_state": np.random.RandomState(0)},
        {"random_state": np.int64(3), "n_components": np.int32(4), "margin": np.float32(7)},
        {"random_state": None, "cutoff": 0.1, "n_jobs": 1},
    ],
    ids=["generator", "numpy numbers", "share"],
)
def test_options_of_any_kind_are_saved(tmp_path, options):
    detector = REPEN(**{"n_epochs": 1, **options}).fit(X)
    back = load(detector.save(tmp_path / "model"))
    assert np.array_equal(back.outlier_score(X), detector.outlier_scores_)
    assert np.array_equal(back.predict(X), detector.predict(X))


# ---- whole or not at all -------------------------------------------------------------------------------------------


def test_saving_replaces_the_old_file_and_leaves_no_other(path, tmp_path):
    other = REPEN(n_components=2, n_epochs=1, random_state=1).fit(X)
    other.save(path)
    assert load(path).n_components == 2
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("failure", [OSError("disk full"), KeyboardInterrupt()], ids=["error", "Ctrl-C"])
def test_a_failing_save_leaves_the_old_file_and_no_temporary_one(path, tmp_path, detector, monkeypatch, failure):
    before = path.read_bytes()

    def break_off(tensors, target, header):
        with open(target, "wb") as file:
            file.write(b"half of it")
        raise failure

    monkeypatch.setattr(model_file, "save_file", break_off)
    with pytest.raises(type(failure)):
        detector.save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


def test_saving_into_no_folder_says_so(detector, tmp_path):
    with pytest.raises(FileNotFoundError):
        detector.save(tmp_path / "nowhere" / "model")
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_a_saved_file_can_be_read_by_those_whom_the_umask_allows(detector, tmp_path):
    """Temporary files are private; the model should be as readable as any other file one writes."""
    old = os.umask(0o022)
    try:
        detector.save(tmp_path / "model")
    finally:
        os.umask(old)
    assert (tmp_path / "model").stat().st_mode & 0o777 == 0o644


# ---- other files ---------------------------------------------------------------------------------------------------


def test_a_missing_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"PK\x03\x04 a zip",
        b"\x80\x04\x95 a pickle",
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 10**9) + b"{}",
        struct.pack("<Q", 2) + b"{}",
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 4) + b"\xff\xfe\xfd\xfc",
        struct.pack("<Q", 200_000) + b"[" * 200_000,
    ],
)
def test_foreign_files_areassert_refused(tmp_path, content):
    (tmp_path / "foreign").write_bytes(content)
    assert_refused(tmp_path / "foreign")


def test_a_folder_isassert_refused(tmp_path):
    with pytest.raises((ModelFileError, OSError)):
        load(tmp_path)


def test_a_safetensors_file_of_another_make_isassert_refused(tmp_path):
    save_file({"weights": np.ones(3)}, tmp_path / "other")
    assert_refused(tmp_path / "other", "its header does not say so")


@given(st.binary(max_size=400))
def test_random_bytes_areassert_refused(tmp_path_factory, content):
    file = tmp_path_factory.getbasetemp() / "random"
    file.write_bytes(content)
    assert_refused(file)


@given(st.floats(0, 1, exclude_max=True))
def test_truncated_files_areassert_refused(tmp_path_factory, detector, share):
    file = detector.save(tmp_path_factory.getbasetemp() / "truncated")
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    assert_refused(file)


@given(st.data())
def test_a_changed_byte_gives_a_model_or_a_refusal(tmp_path_factory, detector, data):
    """Most bytes are weights, any of which are possible; the header is where a change matters."""
    file = detector.save(tmp_path_factory.getbasetemp() / "changed")
    content = bytearray(file.read_bytes())
    (header_size,) = struct.unpack("<Q", content[:8])
    place = data.draw(st.integers(0, header_size + 7) | st.integers(0, len(content) - 1))
    content[place] = data.draw(st.integers(0, 255))
    file.write_bytes(content)
    is_model_or_refused(file, X)
