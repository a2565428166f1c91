"""Any bytes in any file: a matrix or an error that names the file; never a crash, and never another matrix."""

import io
import shutil
from dataclasses import replace

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from ramodo.data.validation import DataError, open_rows
from ramodo.formats import FormatError, Schema, Table, TextOptions, folder, read, svmlight
from ramodo.formats.compression import is_plain
from ramodo.formats.text import vectorize
from support import slow_svmlight
from support.examples import scattered

pytestmark = pytest.mark.slow

# ---- bytes -----------------------------------------------------------------------------------------------------------

PIECES = [
    b"0",
    b"1",
    b"7",
    b"12",
    b":",
    b" ",
    b"\n",
    b"\r\n",
    b"\t",
    b"#",
    b"qid:",
    b"e",
    b"E-",
    b"-",
    b"+",
    b".",
    b"nan",
]
PIECES += [b"inf", b"\0", b"\xff", b"9" * 18, b"1:2", b" 3:4", b"281474976710656", b"0x", b"1 ", b"5:0.5 ", b"1e308"]


def pieces(more=()):
    """Bytes of which most are nearly right."""
    return st.lists(st.sampled_from([*PIECES, *more]) | st.binary(max_size=3), max_size=25).map(b"".join)


@st.composite
def mutated(draw, seeds, inserted=(b"\0", b"9999999999", b"-", b"\n", b" ", b"(", b"'", b"\xff\xff\xff\xff")):
    """One of the seeds with some bytes changed, left out, put in, or cut off."""
    content = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 4))):
        if not content:
            break
        place = draw(st.integers(0, len(content) - 1))
        match draw(st.integers(0, 3)):
            case 0:
                content[place] = draw(st.integers(0, 255))
            case 1:
                del content[place : place + draw(st.integers(1, 8))]
            case 2:
                content[place:place] = draw(st.sampled_from(inserted))
            case 3:
                del content[place:]
    return bytes(content)


def use(path, **options):
    """Read a file and hand its matrix on; only these errors may come of it, and they say what it is about."""
    try:
        table = read(str(path), **options)
    except FormatError as error:
        assert path.name in str(error)  # noqa: PT017
        return None
    try:
        rows = open_rows(table.X)
    except (DataError, MemoryError):
        return None
    assert rows.n_rows == table.X.shape[0]
    return table


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


# ---- svmlight --------------------------------------------------------------------------------------------------------


def compare_svmlight(text):
    """The native reader and the slow one agree."""
    array = np.frombuffer(text, dtype=np.uint8)
    try:
        expected = slow_svmlight.read(text)
    except slow_svmlight.Refused:
        with pytest.raises(FormatError, match=r"^fuzz, line \d+, column \d+: .*; found '.*'\.$|found \".*\"\.$"):
            svmlight.parse("fuzz", array, 0, zero_based=True)
        return
    table = svmlight.parse("fuzz", array, 0, zero_based=True, n_threads=2)
    assert [repr(label) for label, _ in expected] == [repr(label) for label in table.classes.tolist()]
    found = zip(table.X.indices.tolist(), table.X.data.tolist(), strict=True)
    assert [repr(pair) for _, pairs in expected for pair in pairs] == [repr(pair) for pair in found]
    assert np.diff(table.X.indptr).tolist() == [len(pairs) for _, pairs in expected]


@settings(max_examples=500)
@given(text=pieces())
def test_svmlight_from_pieces(text):
    compare_svmlight(text)


@settings(max_examples=300)
@given(text=st.binary(max_size=60))
def test_svmlight_from_any_bytes(text):
    compare_svmlight(text)


@settings(max_examples=500)
@given(text=mutated([b"1 1:2.5 7:-3e-2 # c\n-1 qid:4 2:1 9:0.125\r\n\n0\n+1 3:1 1:2\n"], inserted=PIECES))
def test_svmlight_with_changes(text):
    compare_svmlight(text)


# ---- text ------------------------------------------------------------------------------------------------------------


@settings(max_examples=200)
@given(content=st.binary(max_size=80) | pieces([b"\xc3", b"\xa9", b"\xe2\x82", b"word "]))
def test_text(place, content):
    path = place / "any.txt"
    path.write_bytes(content)
    if not content:
        with pytest.raises(FormatError, match="has no lines"):
            read(str(path))
        return
    options = TextOptions(words=(1, 2), characters=(1, 3), bits=20, idf=False)
    table = use(path, schema=Schema(tokens=options))
    if not is_plain(content):  # packed, or marked: what its first bytes say it is
        return
    assert table.X.shape[0] == content.count(b"\n") + (not content.endswith(b"\n"))
    expected = vectorize(
        [line.decode("utf-8", "replace") for line in content.removesuffix(b"\n").split(b"\n")], options
    )
    assert table.X.indices.tolist() == expected.indices.tolist()
    assert table.X.data.tolist() == expected.data.tolist()
    assert use(path, schema=Schema(tokens=replace(options, idf=True))).X.indices.tolist() == expected.indices.tolist()


# ---- tables ----------------------------------------------------------------------------------------------------------

CSV = [
    b"a,b,c\n1,x,2024-01-01\n2.5,y,\n-3,x,2024-02-01 10:00:00\n",
    b'id,t\n1,"quoted, ""so"""\n2,"two\nlines"\n',
    "n,é\n1,ü\n2,ß\n".encode(),
]


@settings(max_examples=150)
@given(
    content=mutated(CSV, inserted=[b",", b'"', b"\n", b"\r", b"\0", b"\xff", b"nan", b"1e999", b"true"])
    | st.binary(max_size=40)
)
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_tables(place, suffix, content):
    path = place / f"any.{suffix}"
    path.write_bytes(content)
    table = use(path, schema=Schema(missing="indicator"))
    if table is not None:
        assert len(table.names) == table.X.shape[1]
        assert len(set(table.names)) > 0


# ---- arrays ----------------------------------------------------------------------------------------------------------


def saved(save, *arguments, **named):
    buffer = io.BytesIO()
    save(buffer, *arguments, **named)
    return buffer.getvalue()


DENSE = scattered(0, (6, 5))
SPARSE = sp.csr_array(DENSE)
NAMED = {"y": np.ones(6), "names": np.array(list("abcde")), "ids": np.array(list("uvwxyz"))}
NPZ = [
    saved(sp.save_npz, SPARSE),
    saved(sp.save_npz, sp.csc_array(DENSE), compressed=False),
    saved(np.savez, data=SPARSE.data, indices=SPARSE.indices, indptr=SPARSE.indptr, shape=SPARSE.shape, **NAMED),
    saved(np.savez_compressed, DENSE, **NAMED),
]
NPY = [
    saved(np.save, DENSE),
    saved(np.save, np.asfortranarray(DENSE.astype(np.float32))),
    saved(np.save, DENSE.astype(int)),
]


@settings(max_examples=300)
@given(content=mutated(NPZ) | mutated(NPY))
@pytest.mark.filterwarnings("ignore:Reading `.npy` or `.npz` file required additional header parsing")
def test_arrays(place, content):
    path = place / "any.npz"
    path.write_bytes(content)
    use(path)


MTX = [
    saved(scipy.io.mmwrite, SPARSE),
    saved(scipy.io.mmwrite, DENSE),
    saved(scipy.io.mmwrite, (DENSE[:5] + DENSE[:5].T).round(2), symmetry="symmetric"),
    b"%%MatrixMarket matrix coordinate pattern general\n% c\n3 4 2\n1 1\n3 4\n",
    b"%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 1\n3 2 7\n",
]


@settings(max_examples=300)
@given(content=mutated(MTX) | st.binary(max_size=40).map(lambda b: b"%%MatrixMarket matrix " + b))
def test_matrix_market(place, content):
    path = place / "any.mtx"
    path.write_bytes(content)
    use(path)


# ---- rows folder -----------------------------------------------------------------------------------------------------


@settings(max_examples=200)
@given(data=st.data(), name=st.sampled_from(["meta.json", "indptr.npy", "indices.npy", "data.npy", "classes.npy"]))
@pytest.mark.filterwarnings("ignore:Reading `.npy` or `.npz` file required additional header parsing")
def test_rows_folders(place, data, name):
    path = place / "any.rows"
    if not path.exists():
        folder.write(path, Table(SPARSE, classes=np.arange(6.0)))
    changed = place / "changed.rows"
    shutil.copytree(path, changed, dirs_exist_ok=True)
    (changed / name).write_bytes(data.draw(mutated([(path / name).read_bytes()])))
    table = use(changed)
    if table is not None:
        assert np.isfinite(table.X @ np.ones(table.X.shape[1])).all() if table.X.shape[1] < 100 else True
