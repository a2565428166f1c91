"""npz, npy, Matrix Market and h5ad: what numpy, scipy and anndata wrote comes back; all else is refused, not run."""

import io
import pickle
import zipfile
from dataclasses import replace

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp

from ramodo.formats import FormatError, Schema, read
from support.examples import PLAIN, scattered


@pytest.fixture
def dense():
    return scattered(0, (12, 7))


@pytest.fixture
def X(dense):  # noqa: N802
    return PLAIN.matrix(dense)


@pytest.fixture
def file(tmp_path):
    def write(content, name):
        path = tmp_path / name
        path.write_bytes(content)
        return str(path)

    return write


@pytest.fixture
def npz(tmp_path):
    """An archive of arrays."""

    def write(**arrays):
        np.savez(tmp_path / "data.npz", **arrays)
        return str(tmp_path / "data.npz")

    return write


def parts(X, **others):
    """A CSR matrix as the arrays of an archive."""
    return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape), **others}


# ---- what is read ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix])
@pytest.mark.parametrize("compressed", [True, False])
def test_files_of_scipy(tmp_path, dense, container, compressed):
    sp.save_npz(tmp_path / "data.npz", container(dense), compressed=compressed)
    table = read(str(tmp_path / "data.npz"))
    assert table.X.format == container(dense).format
    assert np.array_equal(table.X.toarray(), dense)
    assert table.classes is table.names is table.ids is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int64, np.uint16, np.bool_])
def test_plain_arrays_of_any_number(tmp_path, dense, dtype):
    values = dense.astype(dtype)
    np.save(tmp_path / "data.npy", values)
    np.savez(tmp_path / "data.npz", values)
    for name in ("data.npy", "data.npz"):
        table = read(str(tmp_path / name))
        assert table.X.dtype == dtype
        assert np.array_equal(table.X, values)


def test_a_large_npy_file_is_mapped(tmp_path, dense, monkeypatch):
    np.save(tmp_path / "data.npy", dense)
    assert not isinstance(read(str(tmp_path / "data.npy")).X, np.memmap)
    monkeypatch.setattr("ramodo.data.mapped.IN_MEMORY", 0)
    assert isinstance(read(str(tmp_path / "data.npy")).X, np.memmap)


def test_the_kind_of_file_is_seen_in_it_whatever_its_name(tmp_path, dense):
    np.save(tmp_path / "one.npy", dense)
    np.savez(tmp_path / "two.npz", dense)
    (tmp_path / "one.npy").rename(tmp_path / "one")
    (tmp_path / "two.npz").rename(tmp_path / "two.npy")
    assert np.array_equal(read(str(tmp_path / "one"), "numpy").X, dense)
    assert np.array_equal(read(str(tmp_path / "two.npy")).X, dense)


def test_labels_names_and_ids_of_an_archive(npz, X, dense):
    names, ids = np.array([f"f{i}" for i in range(7)]), np.array([f"r{i}" for i in range(12)])
    for arrays in (parts(X), {"anything": dense}):
        table = read(npz(**arrays, y=np.arange(12), names=names, ids=ids, pool_of_others=np.ones((3, 3))))
        assert table.X.shape == (12, 7)
        assert table.classes.tolist() == list(range(12))
        assert table.names == names.tolist()
        assert table.ids == ids.tolist()
        assert table.id_of(3) == "r3"


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
def test_matrix_market(tmp_path, symmetry):
    square = scattered(1, (9, 9))
    square = square + square.T if symmetry == "symmetric" else square
    for name, matrix in (("sparse.mtx", sp.coo_array(square)), ("dense.mtx", square)):
        scipy.io.mmwrite(tmp_path / name, matrix, symmetry=symmetry)
        table = read(str(tmp_path / name))
        assert sp.issparse(table.X) == (name == "sparse.mtx")
        assert np.array_equal(table.X.toarray() if sp.issparse(table.X) else table.X, square)


@pytest.mark.parametrize("end", [b"", b"\n", b" \n", b"\n\n"])
def test_the_last_line_of_a_matrix_market_file_need_not_end(file, end):
    path = file(b"%%MatrixMarket matrix coordinate integer general\n2 3 2\n1 1 5\n2 3 7" + end, "data.mtx")
    assert read(path).X.toarray().tolist() == [[5, 0, 0], [0, 0, 7]]


def test_h5ad(tmp_path, X, dense):
    genes, cells = pd.DataFrame(index=[f"g{i}" for i in range(7)]), pd.DataFrame(index=[f"c{i}" for i in range(12)])
    for matrix in (X, dense):
        anndata.AnnData(matrix, obs=cells, var=genes).write_h5ad(tmp_path / "data.h5ad")
        table = read(str(tmp_path / "data.h5ad"))
        assert np.array_equal(table.X.toarray() if sp.issparse(table.X) else table.X, dense)
        assert table.names == genes.index.tolist()
        assert table.ids == cells.index.tolist()
        assert table.classes is None


def test_ids_and_labels_of_h5ad_are_columns_of_obs(tmp_path, dense):
    cells = pd.DataFrame(
        {
            "barcode": [f"b{i}" for i in range(12)],
            "truth": [0, 1] * 6,
            "status": pd.Categorical(["normal", "tumour", None] * 4),
            "dead": [True, False] * 6,
            "plate": ["p"] * 12,
        },
        index=[f"c{i}" for i in range(12)],
    )
    path = str(tmp_path / "data.h5ad")
    anndata.AnnData(dense, obs=cells).write_h5ad(path)
    table = read(path, schema=Schema(id="barcode", label="truth"))
    assert table.ids == cells["barcode"].tolist()
    assert table.classes.tolist() == [0, 1] * 6
    assert np.array_equal(table.X, dense)
    assert read(path, schema=Schema(label="status")).classes.tolist() == ["normal", "tumour", ""] * 4
    assert read(path, schema=Schema(label="dead")).classes.tolist() == [1, 0] * 6
    assert read(path, schema=replace(table.schema, label="nope")).classes is None
    with pytest.raises(FormatError, match=r"data.h5ad has no column 'nope' in obs; it has barcode, truth, status"):
        read(path, schema=Schema(label="nope"))
    with pytest.raises(FormatError, match=r"data.h5ad, obs\['plate'\] must have each id once, got 'p' twice"):
        read(path, schema=Schema(id="plate"))


# ---- what is not -----------------------------------------------------------------------------------------------------


class Bomb:
    def __reduce__(self):
        return pytest.fail, ("it ran",)


def test_nothing_in_a_file_runs(tmp_path, file):
    for name in ("objects.npy", "objects.npz"):
        (np.save if name.endswith("npy") else np.savez)(tmp_path / name, np.array([[Bomb()]], dtype=object))
        with pytest.raises(FormatError, match="allow_pickle|Python objects"):  # noqa: RUF043
            read(str(tmp_path / name))
    for name in ("pickle.npy", "pickle.npz"):
        with pytest.raises(FormatError, match=f"{name} is not a matrix that numpy or scipy saved"):
            read(file(pickle.dumps(Bomb()), name))


def test_files_of_other_kinds(file):
    for content in (b"", b"P", b"PK", b"1 1:2\n", b"\x93NUMPY", b"\x93NUMPY\x01\x00v\x00{", b"\0" * 200):
        for name in ("data.npy", "data.npz"):
            with pytest.raises(FormatError, match=f"{name} is not a matrix that numpy or scipy saved: ."):
                read(file(content, name))
        for name in ("data.mtx", "data.h5ad"):
            with pytest.raises(FormatError, match=f"{name} is not an? "):
                read(file(content, name))


def test_an_archive_with_other_files_in_it(file):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(FormatError, match=r"data.npz is not a matrix"):
        read(file(buffer.getvalue(), "data.npz"))


def test_a_missing_file(tmp_path):
    for name in ("none.npz", "none.npy", "none.mtx", "none.h5ad"):
        with pytest.raises(FileNotFoundError):
            read(str(tmp_path / name))


@pytest.mark.parametrize(
    "array", [np.ones(5), np.ones((2, 2, 2)), np.array(1.0), np.array([["a"]]), np.ones((2, 2), complex)], ids=str
)
def test_arrays_that_are_no_matrix_of_numbers(tmp_path, array):
    np.save(tmp_path / "data.npy", array)
    with pytest.raises(FormatError, match=r"data.npy must hold a matrix of numbers, got an array of shape"):
        read(str(tmp_path / "data.npy"))


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble])
def test_sparse_numbers_that_scipy_or_our_kernels_lack(npz, X, dense, dtype):
    found = read(npz(**parts(X) | {"data": X.data.astype(dtype)})).X
    assert found.dtype == np.float64
    assert np.allclose(found.toarray(), dense, rtol=1e-3)


@pytest.mark.parametrize(
    "y", [np.ones(12, complex), np.full(12, np.datetime64("2024-01-01"))], ids=["complex", "dates"]
)
def test_labels_that_are_neither_numbers_nor_text(npz, X, y):
    with pytest.raises(FormatError, match=r"data.npz must hold labels that are numbers or text, got dtype"):
        read(npz(**parts(X), y=y))


def test_archives_without_one_matrix(npz):
    with pytest.raises(FormatError, match=r"must hold one matrix, got 2 \(a, b\)\."):
        read(npz(a=np.ones((2, 2)), b=np.ones((2, 2))))
    with pytest.raises(FormatError, match=r"must hold one matrix, got 0 \(a\)\."):
        read(npz(a=np.ones(2)))


@pytest.mark.parametrize(
    ("name", "value"),
    [("y", np.ones(11)), ("y", np.ones((12, 1))), ("ids", np.array(["a"])), ("names", np.array(["a", "b"]))],
)
def test_labels_names_and_ids_of_another_length(npz, X, name, value):
    with pytest.raises(FormatError, match=rf"data.npz: {name} must have (12|7) values"):
        read(npz(**parts(X), **{name: value}))


DAMAGES = {
    "data too short": {"data": lambda a: a[:-1]},
    "data of text": {"data": lambda a: a.astype(str)},
    "data complex": {"data": lambda a: a * 1j},
    "data of two dimensions": {"data": lambda a: a[:, None]},
    "indices too short": {"indices": lambda a: a[:-1]},
    "indices too large": {"indices": lambda a: np.where(a == a.max(), 10**9, a)},
    "indices negative": {"indices": lambda a: -1 - a},
    "indices of floats": {"indices": lambda a: a + 0.5},
    "indptr too short": {"indptr": lambda a: a[:-1]},
    "indptr too long": {"indptr": lambda a: np.append(a, a[-1])},
    "indptr empty": {"indptr": lambda a: a[:0]},
    "indptr decreasing": {"indptr": lambda a: a[::-1]},
    "indptr far out": {"indptr": lambda a: a * 10**6},
    "indptr of floats": {"indptr": lambda a: a + 0.5},
    "shape too small": {"shape": lambda a: a - 1},
    "shape negative": {"shape": lambda a: -a},
    "shape of three": {"shape": lambda a: np.append(a, 1)},
    "shape of none": {"shape": lambda a: a[:0]},
    "shape of text": {"shape": lambda a: np.array(["a", "b"])},
    "shape without end": {"shape": lambda a: np.array([2**62, 2**62])},
    "format unknown": {"format": lambda a: np.array(b"bsr")},
    "format of many": {"format": lambda a: np.array([b"csr", b"csr"])},
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_damaged_sparse_matrices_are_refused(npz, dense, kind, damage):
    """scipy would trust them, and leave its arrays at the next conversion."""
    arrays = parts(sp.csr_array(dense) if kind == "csr" else sp.csc_array(dense), format=np.array(kind.encode()))
    for name, change in damage.items():
        arrays[name] = change(arrays[name])
    with pytest.raises(FormatError, match=r"data.npz "):
        read(npz(**arrays))


HEAD = b"%%MatrixMarket matrix "
MTX = {
    "index too large": HEAD + b"coordinate real general\n3 4 1\n4 1 2\n",
    "index 0": HEAD + b"coordinate real general\n3 4 1\n0 1 2\n",
    "too few": HEAD + b"coordinate real general\n3 4 2\n1 1 2\n",
    "too many": HEAD + b"coordinate real general\n3 4 1\n1 1 2\n1 2 2\n",
    "no number": HEAD + b"coordinate real general\n3 4 1\n1 1 x\n",
    "no sizes": HEAD + b"coordinate real general\n",
    "negative sizes": HEAD + b"coordinate real general\n-3 4 1\n1 1 2\n",
    "no rows": HEAD + b"array real general\n0 9\n1\n2\n",
    "more than the file can hold": HEAD + b"coordinate real general\n3 4 100000000000000\n1 1 2\n",
    "wider than memory": HEAD + b"array real general\n1000000 1000000000\n1\n",
    "longer than memory": HEAD + b"coordinate real general\n100000000000000000 3 1\n1 1 1\n",
    "symmetric and not square": HEAD + b"array real symmetric\n2 7\n1\n2\n3\n",
    "a byte 0": HEAD + b"coordinate integer general\n3 3 1\n3 2 99\x0099\n",
    "a vector": b"%%MatrixMarket vector coordinate real general\n5 1\n1 1\n",
    "rest on the last line": HEAD + b"array real general\n2 2\n1\n2\n3\n4 5 6 7%",
    "complex": HEAD + b"coordinate complex general\n3 3 1\n3 2 1 2\n",
    "other text": b"hello\nworld\n",
}


def test_matrix_market_files_that_are_wrong(python, tmp_path):
    """In a Python of their own: scipy's reader leaves its arrays for some, or ends the process."""
    program = """
import sys
from ramodo.formats import FormatError, Schema, read
for path in sys.argv[1:]:
    try:
        print("read", read(path).X.shape, flush=True)
    except FormatError as error:
        print(error, flush=True)
"""
    paths = [tmp_path / f"{name}.mtx" for name in MTX]
    for path, text in zip(paths, MTX.values(), strict=True):
        path.write_bytes(text)
    found = python(program, *paths).splitlines()
    assert len(found) == len(MTX)
    for path, line in zip(paths, found, strict=True):
        if path.stem == "rest on the last line":
            assert line == "read (2, 2)"
        elif path.stem == "longer than memory":
            assert line.startswith(f"{path} must grow to at most ")
        else:
            assert line.startswith(f"{path} is not a Matrix Market file: ")


def test_an_anndata_file_without_a_matrix(tmp_path):
    anndata.AnnData(obs=pd.DataFrame(index=["a", "b"]), var=pd.DataFrame(index=["g"])).write_h5ad(
        tmp_path / "data.h5ad"
    )
    with pytest.raises(FormatError, match=r"data.h5ad holds no matrix X\."):
        read(str(tmp_path / "data.h5ad"))
