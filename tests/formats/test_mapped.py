"""Files that somebody writes into while they are in use: an error, and in no case other results."""

import os
import subprocess
import sys

import numpy as np
import pytest

from ramodo.data.mapped import ChangedError, MappedArray, mapped_array, refuse_changed
from ramodo.data.validation import open_rows
from ramodo.formats import Table, folder, read
from support.own_process import run


@pytest.fixture
def made(tmp_path, data, monkeypatch):
    """A folder that is mapped, however small it is."""
    monkeypatch.setattr("ramodo.data.mapped.IN_MEMORY", 0)
    folder.write(tmp_path / "data.rows", Table(data[0]))
    return tmp_path / "data.rows"


def overwrite(file):
    """The same bytes again, in place; later than before by any clock."""
    before = os.stat(file)
    os.chmod(file, 0o644)
    with open(file, "r+b") as out:
        out.write(file.read_bytes())
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + 1_000_000))


@pytest.mark.parametrize("name", ["indices.npy", "data.npy"])
def test_a_fit_says_that_its_folder_changed(made, quick, name):
    X = read(str(made)).X
    overwrite(made / name)
    with pytest.raises(ChangedError, match=rf"data.rows/{name} changed while in use, .* write new ones and rename"):
        quick().fit(X)


def test_a_change_between_fitting_and_scoring(made, quick):
    X = read(str(made)).X
    detector = quick().fit(X)
    overwrite(made / "indices.npy")
    with pytest.raises(ChangedError, match="changed while in use"):
        detector.outlier_score(X)


def test_a_change_during_a_fit(made, quick):
    """It is noticed at the latest when the next pass begins."""
    X = read(str(made)).X
    rows = open_rows(X)
    blocks = rows.blocks()
    next(blocks)
    overwrite(made / "data.npy")
    with pytest.raises(ChangedError):
        next(blocks, None)
    with pytest.raises(ChangedError):
        rows.take(np.arange(3))


def test_what_is_sliced_knows_its_file(made):
    X = read(str(made)).X
    parts = [X.indices[5:50], X.indices[5:50][::2], np.ascontiguousarray(X.indices), X.indices.view(np.uint32)]
    refuse_changed(*parts)
    overwrite(made / "indices.npy")
    for part in parts:
        with pytest.raises(ChangedError):
            refuse_changed(part)
    refuse_changed(np.array(X.indices), X.data)


def test_replacing_a_folder_is_no_change(made, data, quick):
    X, expected = read(str(made)).X, quick().fit(data[0]).outlier_scores_
    folder.write(made, Table(np.eye(3)))
    assert np.array_equal(quick().fit(X).outlier_scores_, expected)


def test_a_dense_file(tmp_path, quick, monkeypatch):
    monkeypatch.setattr("ramodo.data.mapped.IN_MEMORY", 0)
    path = tmp_path / "dense.npy"
    np.save(path, np.random.default_rng(0).random((30, 4)))
    X = read(str(path)).X
    assert isinstance(X, MappedArray)
    quick().fit(X)
    overwrite(path)
    with pytest.raises(ChangedError, match=r"dense.npy changed while in use"):
        quick().fit(X)


def test_no_descriptor_is_left_open(made):
    before = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0
    for _ in range(5):
        X = read(str(made)).X
        del X
    after = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0
    assert after == before


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
@pytest.mark.parametrize("shape", [(0,), (7,), (3, 4), ()])
@pytest.mark.parametrize("in_memory", [0, 1000])
def test_arrays_are_what_numpy_reads(tmp_path, version, shape, in_memory):
    path, values = tmp_path / "a.npy", np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    for order in "CF":
        with open(path, "wb") as file:
            np.lib.format.write_array(file, np.asarray(values, order=order), version)
        with open(path, "rb") as file:
            found = mapped_array(file, in_memory)
        assert found.shape == shape
        assert np.array_equal(found, values)
        assert isinstance(found, MappedArray) == (found.nbytes > in_memory or in_memory == 0 < found.nbytes)


SPOIL = """
import sys, threading
import numpy as np
from ramodo import REPEN
from ramodo.formats import read
X = read(sys.argv[1]).X

def spoil():
    with open(sys.argv[1] + "/indices.npy", "r+b") as file:
        size = file.seek(0, 2)
        file.seek(128)
        file.write(b"\\x7f" * (size - 128))
        file.truncate(4096)

watcher = threading.Thread(target=spoil)
detector = REPEN(n_epochs=3, random_state=0)
watcher.start()
scores = detector.fit(X).outlier_scores_
watcher.join()
again = detector.fit(X).outlier_scores_
print(bool((scores == again).all()))
"""


def test_a_small_folder_cannot_be_spoilt_by_who_writes_into_it(tmp_path, data):
    """Its arrays are read: wild indices and an end that comes early would crash the process."""
    folder.write(tmp_path / "data.rows", Table(data[0]))
    os.chmod(tmp_path / "data.rows/indices.npy", 0o644)
    command = [sys.executable, "-W", "ignore", "-c", SPOIL, str(tmp_path / "data.rows")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "True"), done.stderr


SPOIL_MAPPED = """
import os, sys
import numpy as np
from ramodo import kernels
from ramodo.data import mapped
from ramodo.data.validation import open_rows
from ramodo.formats import read

mapped.IN_MEMORY = 0
rows = open_rows(read(sys.argv[1]).X)
print(type(rows).__name__)
width = rows.n_features
projection = kernels.Projection(np.arange(width), np.ones((width, 4), dtype=np.float32), width, 0, 0.1)

def spoil(restore):
    path = sys.argv[1] + "/indices.npy"
    before = os.stat(path)
    with open(path, "r+b") as file:
        size = file.seek(0, 2)
        file.seek(128)
        file.write(b"\\x7f" * (size - 128))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + (0 if restore else 1_000_000)))

def spoil_and_project(block):
    spoil(sys.argv[2] == "unnoticed")
    return projection(block, 1)

try:
    rows.map(spoil_and_project)
except ValueError as error:
    print(type(error).__name__, str(error).replace(sys.argv[1], "data.rows"))
"""


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("unnoticed", "ValueError the data changed while in use: its feature indices are not those that were checked."),
        ("noticed", "ChangedError data.rows/indices.npy changed while in use"),
    ],
)
def test_a_mapped_folder_that_is_overwritten_during_work_crashes_nothing(tmp_path, data, how, said):
    """Even where the file's time does not tell; where it does, the error names the file."""
    folder.write(tmp_path / "data.rows", Table(data[0]))
    os.chmod(tmp_path / "data.rows/indices.npy", 0o644)
    rows, error = run(SPOIL_MAPPED, tmp_path / "data.rows", how).splitlines()
    assert rows == "MappedRows"
    assert error.startswith(said)
