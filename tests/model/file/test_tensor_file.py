"""Model files as mapped arrays: the values of safetensors' own reader; anything else is refused, and only refused."""

import json
import mmap
import os
import signal
import struct
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save_file

from ramodo import REPEN, load
from ramodo.model.file import tensors as tensor_file
from ramodo.model.saved import ModelFileError
from support.tampering import assert_refused


@pytest.fixture
def model(fitted, tmp_path):
    return fitted.save(tmp_path / "model.ramodo")


def bases(array):
    while array is not None:
        yield array
        array = getattr(array, "base", None)


def raw(path, header, values=b""):
    """A file with any header."""
    encoded = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(encoded)) + encoded + values)
    return path


# ---- the same values -------------------------------------------------------------------------------------------------


def test_arrays_are_those_of_safetensors(model):
    metadata, tensors = tensor_file.read(model)
    with safe_open(model, framework="numpy") as file:
        assert metadata == file.metadata()
        assert set(tensors) == set(file.keys())
        for name, array in tensors.items():
            expected = file.get_tensor(name)
            assert array.dtype == expected.dtype
            assert array.shape == expected.shape
            assert array.tobytes() == expected.tobytes()


def is_mapped(array):
    return any(isinstance(base, mmap.mmap) for base in bases(array))


@pytest.mark.parametrize("mapped", [False, True])
def test_files_are_read_or_mapped_by_their_size_and_cannot_be_written_to(model, monkeypatch, mapped):
    size = model.stat().st_size
    monkeypatch.setattr(tensor_file, "READ_AT_MOST", size - mapped)
    _, tensors = tensor_file.read(model)
    with_values = [array for array in tensors.values() if array.size]
    assert [is_mapped(array) for array in with_values] == [mapped] * len(with_values)
    assert not any(array.flags.writeable for array in with_values)


@settings(max_examples=60)
@given(
    shapes=st.lists(st.lists(st.integers(0, 4), max_size=3), min_size=1, max_size=5),
    dtypes=st.lists(st.sampled_from(["f4", "f8", "i8", "u1"]), min_size=5, max_size=5),
    note=st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=2),
)
def test_any_arrays_come_back(tmp_path_factory, shapes, dtypes, note):
    """Also empty ones, single numbers, and those that begin at an odd byte."""
    path = tmp_path_factory.getbasetemp() / "any.safetensors"
    rng = np.random.default_rng(0)
    given = {f"t{i}": rng.integers(0, 100, shape).astype(dtypes[i]) for i, shape in enumerate(shapes)}
    save_file(given, path, note or None)
    metadata, found = tensor_file.read(path)
    assert metadata == note
    assert set(found) == set(given)
    for name, array in given.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)
        assert found[name].shape == array.shape


def test_an_array_that_begins_at_an_odd_byte(tmp_path):
    values = np.array([1.5, -2.5])
    header = {
        "a": {"dtype": "U8", "shape": [3], "data_offsets": [0, 3]},
        "b": {"dtype": "F64", "shape": [2], "data_offsets": [3, 19]},
    }
    path = raw(tmp_path / "odd", header, b"abc" + values.tobytes())
    _, tensors = tensor_file.read(path)
    assert tensors["a"].tobytes() == b"abc"
    assert tensors["b"].tolist() == values.tolist()
    assert tensors["b"].flags.aligned


def test_a_model_stays_whole_while_its_file_is_replaced(model, data, quick):
    """The old file lives on for those who have mapped it."""
    old = load(model)
    expected = old.outlier_scores_.copy()
    quick(random_state=5).fit(data[0]).save(model)
    assert np.array_equal(old.outlier_score(data[0]), expected)
    assert not np.array_equal(load(model).outlier_scores_, expected)


def test_a_model_can_be_written_over_the_file_that_it_maps(model, data):
    detector = load(model)
    expected = detector.outlier_scores_.copy()
    detector.save(model)
    assert np.array_equal(load(model).outlier_score(data[0]), expected)


# ---- other files -----------------------------------------------------------------------------------------------------

ENTRY = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
OTHERS = {
    "nothing": b"",
    "seven bytes": b"1234567",
    "text": b"this is some text, and not a model at all\n",
    "a header of no bytes": struct.pack("<Q", 0),
    "a header of one byte": struct.pack("<Q", 1) + b"{",
    "a header longer than the file": struct.pack("<Q", 1000) + b"{}",
    "a header longer than all files": struct.pack("<Q", 2**63) + b"{}",
    "a header beyond the limit": struct.pack("<Q", 100_000_001) + b"{}" + b" " * 50,
    "a header that is no JSON": struct.pack("<Q", 5) + b"hello",
    "a header that is not UTF-8": struct.pack("<Q", 4) + b'"\xff\xfe"',
    "a header that is a list": struct.pack("<Q", 2) + b"[]",
    "a deep header": struct.pack("<Q", 100_000) + b"[" * 100_000,
}


@pytest.mark.parametrize("content", OTHERS.values(), ids=OTHERS.keys())
def test_foreign_files(tmp_path, content):
    path = tmp_path / "foreign"
    path.write_bytes(content)
    assert_refused(path)
    assert tensor_file.metadata_of(path) == {}


HEADERS = {
    "an array outside of the file": {"a": {**ENTRY, "data_offsets": [0, 800], "shape": [200]}},
    "an array that starts before the file": {"a": {**ENTRY, "data_offsets": [-8, 0]}},
    "an array that ends before it starts": {"a": {**ENTRY, "data_offsets": [8, 0]}},
    "arrays that overlap": {"a": ENTRY, "b": {**ENTRY, "data_offsets": [4, 12]}},
    "a gap between arrays": {"a": {**ENTRY, "data_offsets": [4, 12]}},
    "a shape that does not fit": {"a": {**ENTRY, "shape": [3]}},
    "a negative shape": {"a": {**ENTRY, "shape": [-2]}},
    "a shape without end": {"a": {**ENTRY, "shape": [2**62, 2**62]}},
    "a shape of text": {"a": {**ENTRY, "shape": "2"}},
    "an unknown type": {"a": {**ENTRY, "dtype": "X7"}},
    "no offsets": {"a": {"dtype": "F32", "shape": [2]}},
    "metadata that are no text": {"__metadata__": {"format": 5}, "a": ENTRY},
    "an entry that is a number": {"a": 7},
    "an entry with more to it": {"a": {**ENTRY, "more": 1}},
    "a shape of truths": {"a": {**ENTRY, "shape": [2, True]}},
    "a shape of fractions": {"a": {**ENTRY, "shape": [2.0]}},
    "a shape of too many dimensions": {"a": {**ENTRY, "shape": [2, *[1] * 40]}},
    "three offsets": {"a": {**ENTRY, "data_offsets": [0, 8, 8]}},
    "an empty array in the midst of another": {"a": ENTRY, "b": {**ENTRY, "shape": [0], "data_offsets": [4, 4]}},
    "fewer bytes than follow": {"a": {**ENTRY, "shape": [1], "data_offsets": [0, 4]}},
    "metadata that are a list": {"__metadata__": [], "a": ENTRY},
    "a name twice": b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},'
    b'"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}',
    "metadata twice": b'{"__metadata__":{"format":"a","format":"b"},"a":' + json.dumps(ENTRY).encode() + b"}",
    "a constant that is no JSON": b'{"a":{"dtype":"F32","shape":[NaN],"data_offsets":[0,8]}}',
    "a header behind a space": b" " + json.dumps({"a": ENTRY}).encode(),
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS.keys())
def test_headers_that_do_not_fit_the_file(tmp_path, header):
    path = raw(tmp_path / "wrong", header, np.ones(2, dtype=np.float32).tobytes())
    with pytest.raises(ValueError):  # noqa: PT011 - each for another reason
        tensor_file.read(path)
    assert_refused(path)


@pytest.mark.parametrize("dtype", ["F16", "BF16", "U32", "BOOL", "U16"])
def test_types_that_no_model_has(tmp_path, dtype):
    size = {"BOOL": 1, "U32": 4}.get(dtype, 2)
    header = {"a": {"dtype": dtype, "shape": [2], "data_offsets": [0, 2 * size]}}
    path = raw(tmp_path / "typed", header, b"\1" * 2 * size)
    with pytest.raises(ValueError, match=f"a is of type {dtype}"):
        tensor_file.read(path)
    assert_refused(path, f"a is of type {dtype}")


@pytest.mark.parametrize("part", [0.0, 0.0005, 0.01, 0.1, 0.5, 0.9, 0.9999])
def test_truncated_models(model, part):
    content = model.read_bytes()
    model.write_bytes(content[: int(part * len(content))])
    assert_refused(model)


def test_a_model_with_bytes_behind_it(model):
    model.write_bytes(model.read_bytes() + b"more")
    assert_refused(model)


@settings(max_examples=150)
@given(place=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255), cut=st.booleans())
def test_a_changed_byte_of_the_header_gives_a_model_or_a_refusal(tmp_path_factory, content, data, place, byte, cut):
    path = tmp_path_factory.getbasetemp() / "changed.ramodo"
    length = 8 + int.from_bytes(content[:8], "little")
    changed = bytearray(content)
    changed[int(place * length)] = byte
    path.write_bytes(changed[:-1] if cut else changed)
    assert isinstance(tensor_file.metadata_of(path), dict)
    try:
        detector = load(path)
    except ModelFileError as error:
        assert "changed.ramodo is not a ramodo model" in str(error)  # noqa: PT017
        return
    try:
        scores = detector.outlier_score(data[0])
    except ValueError as error:
        assert "features" in str(error) or "finite" in str(error)  # noqa: PT017 - of another width, or other weights
        return
    assert scores.shape == (120,)


@pytest.fixture(scope="module")
def content(data, tmp_path_factory):
    detector = REPEN(n_components=6, n_epochs=1, n_subsamples=10, random_state=0).fit(data[0])
    return detector.save(tmp_path_factory.mktemp("content") / "model").read_bytes()


# ---- metadata --------------------------------------------------------------------------------------------------------


def test_metadata_alone(model, tmp_path):
    assert tensor_file.metadata_of(model)["format"] == "ramodo"
    save_file({"a": np.ones(2)}, tmp_path / "foreign", {"format": "other"})
    assert tensor_file.metadata_of(tmp_path / "foreign") == {"format": "other"}
    save_file({"a": np.ones(2)}, tmp_path / "bare")
    assert tensor_file.metadata_of(tmp_path / "bare") == {}
    assert tensor_file.metadata_of(raw(tmp_path / "odd", {"__metadata__": [1]})) == {}


# ---- whole or not at all ---------------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from ramodo import load
from ramodo.model.file import saving as model_file
detector = load(sys.argv[1])
save_file = model_file.save_file
def killed(tensors, path, header):
    save_file({**tensors, "loss_curve_": tensors["loss_curve_"] + 1}, path, header)
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) // 2)
    os.kill(os.getpid(), signal.SIGKILL)
model_file.save_file = killed
detector.save(sys.argv[2])
"""


def test_a_killed_save_leaves_the_old_file(model, tmp_path):
    before = model.read_bytes()
    for target in (model, tmp_path / "new.ramodo"):
        command = [sys.executable, "-c", KILLED, str(model), str(target)]
        done = subprocess.run(command, env={"PYTHONPATH": ":".join(sys.path)}, capture_output=True)
        assert done.returncode == -signal.SIGKILL, done.stderr
    assert model.read_bytes() == before
    assert not (tmp_path / "new.ramodo").exists()
    assert all(path.name.startswith(".") for path in tmp_path.iterdir() if path != model)


def test_a_device_is_not_replaced_by_a_file(fitted, tmp_path):
    """Its place would be taken: /dev/null would be a file from then on."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileExistsError, match="the path must be that of a regular file"):
        fitted.save(tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
