"""The rows folder: the same rows from disk as from memory, whole or absent, and damage is an error."""

import json
import os
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from ramodo.formats import FormatError, How, Schema, Table, folder, read, svmlight
from support.examples import scattered, unordered


@pytest.fixture
def path(tmp_path):
    """Where a folder is to be."""
    return tmp_path / "data.rows"


@pytest.fixture
def made(path, data):
    """A folder of the rows that all tests share."""
    folder.write(path, Table(data[0], classes=data[1].astype(np.float64)))
    return path


def assert_same(found, expected):
    assert found.shape == expected.shape
    assert found.indptr.tolist() == expected.indptr.tolist()
    assert found.indices.tolist() == expected.indices.tolist()
    assert np.asarray(found.data, np.float64).tobytes() == np.asarray(expected.data, np.float64).tobytes()


# ---- round trips -----------------------------------------------------------------------------------------------------


def test_what_is_written_is_read(path, kind):
    X = kind.matrix(scattered(0, (20, 9)), n_features=10**9, columns=np.arange(9) * 10**8 + 3)
    folder.write(path, Table(X, classes=np.arange(20.0)))
    table = read(str(path))
    assert_same(table.X, X)
    assert table.X.data.dtype == kind.dtype
    assert table.X.indices.dtype == np.int32
    assert table.classes.tolist() == list(range(20))


def test_large_arrays_are_mapped_and_small_ones_read(made, monkeypatch):
    assert not isinstance(read(str(made)).X.data, np.memmap)
    monkeypatch.setattr("ramodo.data.mapped.IN_MEMORY", 0)
    table = read(str(made))
    assert isinstance(table.X.indices, np.memmap)
    assert isinstance(table.X.data, np.memmap)
    assert not table.X.data.flags.writeable


@pytest.mark.parametrize(("width", "dtype"), [(2**31 - 1, np.int32), (2**31, np.int64), (2**62, np.int64)])
def test_indices_are_as_wide_as_the_features_need(path, width, dtype):
    X = sp.csr_array((np.ones(2), np.array([0, width - 1]), np.array([0, 1, 2])), shape=(2, width))
    folder.write(path, Table(X))
    table = read(str(path))
    assert table.X.indices.dtype == dtype
    assert table.X.indices.tolist() == [0, width - 1]
    assert table.classes is None


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.uint32, np.int64, np.bool_])
def test_values_are_single_precision_only_where_that_holds_them(path, dtype):
    largest = 1 if dtype == np.bool_ else min(np.iinfo(dtype).max, 2**53)
    X = sp.csr_array(np.array([[0, 1], [largest, 0]]).astype(dtype))
    folder.write(path, Table(X))
    found = read(str(path)).X
    assert found.toarray().tolist() == [[0, 1], [float(largest), 0]]
    assert found.dtype == (np.float32 if np.dtype(dtype).itemsize < 4 else np.float64)


def test_a_dense_matrix_and_one_out_of_order(path):
    dense = scattered(1, (8, 5))
    folder.write(path, Table(dense))
    assert np.array_equal(read(str(path)).X.toarray(), dense)
    matrix, expected = unordered()
    folder.write(path, Table(matrix))
    assert np.array_equal(read(str(path)).X.toarray(), expected)


def test_rows_without_any_entry(path):
    folder.write(path, Table(sp.csr_array((3, 4))))
    assert_same(read(str(path)).X, sp.csr_array((3, 4)))


def test_fitting_and_scoring_from_it_give_the_same_bits(made, data, quick):
    X, truth = data
    from_disk, memory = read(str(made)), quick(n_jobs=2).fit(X)
    found = quick(n_jobs=1).fit(from_disk.X)
    assert from_disk.classes.tolist() == truth.tolist()
    assert np.array_equal(found.outlier_scores_, memory.outlier_scores_)
    assert np.array_equal(found.feature_weights_, memory.feature_weights_)
    assert np.array_equal(memory.outlier_score(from_disk.X), memory.outlier_scores_)
    assert np.array_equal(memory.transform(from_disk.X), memory.transform(X))
    assert found.fingerprint_ == memory.fingerprint_


# ---- block by block --------------------------------------------------------------------------------------------------

SVM = "# head\n" + "".join(
    f"{row % 3} "
    + " ".join(f"{i}:{row + i / 4}" for i in sorted({row % 11 + 1, row % 17 + 1, 40}, reverse=row % 2 == 0))
    + "\n"
    for row in range(80)
)


def stream_to_folder(source, path, zero_based=None, n_threads=1):
    pieces = svmlight.pieces(str(source), How(schema=Schema(zero_based=zero_based), n_threads=n_threads))
    return folder.write_pieces(path, str(source), pieces)


@pytest.mark.parametrize("size", [1, 50, 1 << 20])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_svmlight_file_block_by_block(tmp_path, path, monkeypatch, size, n_threads):
    source = tmp_path / "data.svm"
    source.write_text(SVM)
    whole = svmlight.read(str(source))
    monkeypatch.setattr(svmlight, "line_blocks", partial(svmlight.line_blocks, size=size))
    assert stream_to_folder(source, path, None, n_threads) == (80, 40)
    found = read(str(path))
    assert_same(found.X, whole.X)
    assert found.X.dtype == np.float32
    assert found.classes.tolist() == whole.classes.tolist()


def test_one_block_of_doubles_makes_all_doubles(tmp_path, path, monkeypatch):
    (tmp_path / "data.svm").write_text("1 1:0.5\n1 2:0.1\n1 1:0.25\n")
    monkeypatch.setattr(svmlight, "line_blocks", partial(svmlight.line_blocks, size=1))
    stream_to_folder(tmp_path / "data.svm", path)
    assert read(str(path)).X.data.tolist() == [0.5, 0.1, 0.25]


def test_an_index_0_that_comes_late_is_an_error_unless_it_was_announced(tmp_path, path, monkeypatch):
    (tmp_path / "data.svm").write_text("1 1:0.5\n1 0:0.1\n")
    monkeypatch.setattr(svmlight, "line_blocks", partial(svmlight.line_blocks, size=1))
    with pytest.raises(FormatError, match=r"data.svm has an index 0, but not in its first part; .* --zero-based\."):
        stream_to_folder(tmp_path / "data.svm", path)
    assert os.listdir(tmp_path) == ["data.svm"]
    stream_to_folder(tmp_path / "data.svm", path, True)
    assert read(str(path)).X.toarray().tolist() == [[0, 0.5], [0.1, 0]]


@pytest.mark.parametrize(
    ("text", "message"), [("1 1:2\n1 1:x\n", "line 2, column 5"), ("# none\n", "has no rows"), ("", "has no rows")]
)
def test_a_wrong_file_leaves_nothing(tmp_path, path, text, message):
    (tmp_path / "data.svm").write_text(text)
    with pytest.raises(FormatError, match=message):
        stream_to_folder(tmp_path / "data.svm", path)
    assert os.listdir(tmp_path) == ["data.svm"]


# ---- whole or absent -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError("disk full"), MemoryError])
def test_a_conversion_that_breaks_off_leaves_nothing(path, tmp_path, failure):
    with pytest.raises(failure if isinstance(failure, type) else OSError), folder.writing(path) as place:  # noqa: PT012
        (place / "indices.raw").write_bytes(b"half")
        raise failure
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError("disk full")])
def test_a_conversion_that_breaks_off_leaves_the_folder_that_was_there(made, tmp_path, data, failure):
    with pytest.raises(failure if isinstance(failure, type) else OSError), folder.writing(made):
        raise failure
    assert os.listdir(tmp_path) == ["data.rows"]
    assert_same(read(str(made)).X, data[0])


def test_a_folder_takes_the_place_of_another(made, tmp_path):
    folder.write(made, Table(sp.csr_array(np.eye(3))))
    assert os.listdir(tmp_path) == ["data.rows"]
    assert read(str(made)).X.shape == (3, 3)
    assert read(str(made)).classes is None
    assert sorted(os.listdir(made)) == ["data.npy", "indices.npy", "indptr.npy", "meta.json"]


def test_what_is_not_a_rows_folder_is_not_replaced(path, tmp_path):
    path.write_text("precious")
    with pytest.raises(FileExistsError, match=r"data.rows exists and is not a rows folder; give another path\."):
        folder.write(path, Table(np.eye(2)))
    assert path.read_text() == "precious"
    path.unlink()
    path.mkdir()
    (path / "thesis.txt").write_text("precious")
    with pytest.raises(FileExistsError, match="is not a rows folder"):
        folder.write(path, Table(np.eye(2)))
    assert os.listdir(path) == ["thesis.txt"]
    assert os.listdir(tmp_path) == ["data.rows"]


def test_others_may_read_what_the_umask_allows(path):
    before = os.umask(0o027)
    try:
        folder.write(path, Table(np.eye(2)))
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o750
    assert (path / "meta.json").stat().st_mode & 0o777 == 0o440  # not to be written over


def test_a_rows_folder_where_there_is_none(tmp_path, path):
    with pytest.raises(FileNotFoundError):
        read(str(path))
    with pytest.raises(FileNotFoundError):
        folder.write(tmp_path / "nowhere" / "data.rows", Table(np.eye(2)))
    path.write_text("a file")
    with pytest.raises(NotADirectoryError):
        read(str(path))


# ---- damage ----------------------------------------------------------------------------------------------------------

META = {
    "not json": "{",
    "a list": "[]",
    "null": "null",
    "deep": "[" * 100_000,
    "not text": b"\xff\xfe\x00",
    "other format": {"format": "other"},
    "other version": {"version": 2},
    "no version": {"version": ...},
    "no rows": {"n_rows": ...},
    "no features": {"n_features": ...},
    "rows of text": {"n_rows": "x"},
    "rows of null": {"n_rows": None},
    "fewer rows": {"n_rows": 119},
    "more rows": {"n_rows": 121},
    "endless rows": {"n_rows": 10**30},
    "infinite rows": {"n_rows": float("inf")},
    "negative rows": {"n_rows": -1},
    "0 features": {"n_features": 0},
    "negative features": {"n_features": -5},
    "endless features": {"n_features": 10**30},
}


@pytest.mark.parametrize("change", META.values(), ids=META.keys())
def test_a_changed_description_is_refused(made, change):
    meta = made / "meta.json"
    if isinstance(change, dict):
        values = {**json.loads(meta.read_text()), **change}
        change = json.dumps({key: value for key, value in values.items() if value is not ...})
    meta.write_bytes(change if isinstance(change, bytes) else change.encode())
    with pytest.raises(FormatError, match=r"data.rows is not a rows folder: ."):
        read(str(made))


@pytest.mark.parametrize("name", ["meta.json", "indptr.npy", "indices.npy", "data.npy"])
def test_a_file_that_is_gone(made, name):
    (made / name).unlink()
    with pytest.raises(FormatError, match=rf"data.rows is not a rows folder: .*{name}"):
        read(str(made))


@pytest.mark.parametrize("name", ["indptr.npy", "indices.npy", "data.npy", "classes.npy"])
@pytest.mark.parametrize("part", [0, 0.01, 0.5, 0.99])
def test_truncated_arrays(made, name, part):
    content = (made / name).read_bytes()
    (made / name).write_bytes(content[: int(part * len(content))])
    with pytest.raises(FormatError, match=r"data.rows is not a rows folder: ."):
        read(str(made))


DAMAGES = {
    "indices too large": "save('indices', np.where(get('indices') == 3, 10**9, get('indices')))",
    "indices negative": "save('indices', get('indices') - 1)",
    "indices of floats": "save('indices', get('indices') + 0.5)",
    "indices of text": "save('indices', get('indices').astype(str))",
    "indices too short": "save('indices', get('indices')[:-1])",
    "indices of two dimensions": "save('indices', get('indices')[:, None])",
    "indices an archive": "np.savez(folder + '/indices', get('indices')); os.replace(folder + '/indices.npz', folder + '/indices.npy')",  # noqa: E501
    "data nan": "save('data', get('data') * np.nan)",
    "data infinite": "save('data', get('data') * np.inf)",
    "data complex": "save('data', get('data') * 1j)",
    "data too short": "save('data', get('data')[:-1])",
    "data of objects": "np.save(folder + '/data.npy', np.array([None] * 9), allow_pickle=True)",
    "indptr decreasing": "save('indptr', get('indptr')[::-1])",
    "indptr starts late": "save('indptr', get('indptr') + 3)",
    "indptr negative": "save('indptr', get('indptr') - 3)",
    "indptr jumps": "save('indptr', np.where(np.arange(121) == 60, 10**12, get('indptr')))",
    "indptr ends too late": "save('indptr', np.append(get('indptr')[:-1], 10**15))",
    "indptr of floats": "save('indptr', get('indptr') + 0.0)",
    "indptr too short": "save('indptr', get('indptr')[:-1])",
    "classes too short": "save('classes', get('classes')[:-1])",
    "classes of text": "save('classes', get('classes').astype(str))",
    "features too few": "Path(folder + '/meta.json').write_text(Path(folder + '/meta.json').read_text().replace('\"n_features\": 40', '\"n_features\": 20'))",  # noqa: E501
}


@pytest.mark.parametrize("change", [lambda a: a[::-1], lambda a: a + 3, lambda a: a - 3, lambda a: a * 10**6])
def test_row_ends_that_lead_astray_are_refused_at_once(made, change):
    """Before anything looks at the rows: what counts entries trusts them."""
    np.save(made / "indptr.npy", change(np.load(made / "indptr.npy")))
    with pytest.raises(FormatError, match=r"data.rows is not a rows folder: it is a damaged csr matrix"):
        read(str(made))


PROGRAM = """
import os, shutil, sys
from pathlib import Path
import numpy as np
from ramodo import REPEN
from ramodo.formats import FormatError, folder as folders, read
from ramodo.data.validation import DataError
from ramodo.cli.convert import _checked
X = read(sys.argv[1]).X
detector = REPEN(n_epochs=1, n_components=3, random_state=0).fit(X)
folder = sys.argv[1] + ".copy"
get = lambda name: np.load(folder + "/" + name + ".npy")
save = lambda name, array: np.save(folder + "/" + name + ".npy", array)
def convert(table):
    _checked("data", table, 1)
for name, damage in eval(sys.argv[2]).items():
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sys.argv[1], folder)
    exec(damage)
    for use in (lambda t: REPEN(n_epochs=1).fit(t.X), lambda t: detector.outlier_score(t.X), convert):
        try:
            use(read(folder))
        except (FormatError, DataError) as error:
            print(name, "refused", sep=": ", flush=True)
"""


def test_damaged_arrays_are_refused_and_nothing_crashes(python, made):
    found = python(PROGRAM, made, repr(DAMAGES))
    assert found.splitlines() == [f"{name}: refused" for name in DAMAGES for _ in range(3)]
