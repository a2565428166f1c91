"""The model file: what is saved comes back, whole or not at all; any other file is refused, and only refused."""

import os
import struct

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file

from examples import with_outliers
from ramodo import REPEN, load, model_file
from ramodo.model_file import ModelFileError
from tampering import assert_refused

X, _ = with_outliers()


@pytest.fixture(scope="module")
def detector():
    return REPEN(n_components=6, n_epochs=2, n_subsamples=5, random_state=0).fit(X)


@pytest.fixture
def path(tmp_path, detector):
    return detector.save(tmp_path / "model.ramodo")


# ---- there and back ------------------------------------------------------------------------------------------------


def test_a_loaded_model_scores_the_same(path, detector):
    back = load(path)
    assert type(back) is REPEN
    assert back.get_params() == detector.get_params()
    for use in ("outlier_score", "transform", "predict", "decision_function"):
        assert np.array_equal(getattr(back, use)(X), getattr(detector, use)(X))


def test_a_loaded_model_has_all_that_fit_left(path, detector):
    back = load(path)
    names = {name for name in vars(detector) if name.endswith("_")}
    assert {name for name in vars(back) if name.endswith("_")} == names
    for name in names:
        np.testing.assert_equal(getattr(back, name), getattr(detector, name))


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
        {"random_state": None, "threshold": 0.1, "n_jobs": 1},
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
    try:
        scores = load(file).outlier_score(X)
    except ModelFileError:
        return
    except ValueError as error:
        assert "features" in str(error)  # noqa: PT017 - a model of another width is a model
        return
    assert scores.shape == (120,)
