"""Bytes from compressed files, pipes and standard input: the same as from a plain file, or an error that names it."""

import bz2
import functools
import gzip
import io
import lzma
import os
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
import zstandard

from ramodo.formats import FormatError, byte_streams, read

pytestmark = pytest.mark.slow

PACK = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": functools.partial(lzma.compress, preset=0),
    ".zst": zstandard.compress,
}

SVM = b"".join(b"%d %d:%d %d:0.5\n" % (i, i % 7 + 1, i, i % 7 + 9) for i in range(2000))
TEXTS = {
    "svm": SVM,
    "csv": b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(500)),
    "tsv": b"a\tb\n" + b"".join(b"%d\t%d\n" % (i, i * i) for i in range(500)),
    "txt": b"".join(b"line number %d of the file\n" % i for i in range(500)),
    "mtx": b"%%MatrixMarket matrix coordinate real general\n900 3 500\n"
    + b"".join(b"%d %d %d\n" % (i + 1, i % 3 + 1, i + 1) for i in range(500)),
}


def dense(table):
    return table.X if isinstance(table.X, np.ndarray) else table.X.toarray()


@pytest.fixture
def file(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content)
        return str(path)

    return write


@pytest.fixture
def stdin(monkeypatch):
    def give(content):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))

    return give


@pytest.fixture(params=PACK)
def packing(request):
    return request.param


@pytest.fixture(params=TEXTS)
def kind(request):
    return request.param


def bits_22(kind):
    """Hashed text is too wide to be made dense: its rows are compared as they are."""
    return kind == "txt"


def assert_same(one, other, kind):
    if bits_22(kind):
        assert one.texts == other.texts
        assert (one.X != other.X).nnz == 0
    else:
        assert np.array_equal(dense(one), dense(other))
    assert one.X.shape == other.X.shape


# ---- the same from everywhere ----------------------------------------------------------------------------------------


def test_compressed_files(file, kind, packing):
    plain = read(file(f"data.{kind}", TEXTS[kind]))
    assert_same(read(file(f"data.{kind}{packing}", PACK[packing](TEXTS[kind]))), plain, kind)


def test_several_compressed_streams_behind_each_other_are_one(file, packing):
    """As pzstd, pbzip2 and `cat *.gz` make them."""
    half = SVM.index(b"\n", len(SVM) // 2) + 1
    pack = PACK[packing]
    both = pack(SVM[:half]) + pack(b"") + pack(SVM[half:])
    table = read(file(f"data.svm{packing}", both))
    assert table.classes.tolist() == list(range(2000))


def test_a_compressed_file_larger_than_all_buffers(file, packing):
    """Of digits that hardly repeat, so that the packed file spans many reads too."""
    rng = np.random.default_rng(0)
    text = b"".join(b"0 1:%d\n" % number for number in rng.integers(0, 2**52, 60_000))
    packed = PACK[packing](text)
    assert len(packed) > 5 << 16
    assert np.array_equal(byte_streams.whole(file(f"data.svm{packing}", packed)), np.frombuffer(text, dtype=np.uint8))


def test_an_upper_case_suffix(file, packing):
    name = f"DATA.SVM{packing.upper()}"
    assert read(file(name, PACK[packing](SVM))).X.shape == (2000, 15)


@pytest.mark.parametrize("kind", TEXTS)
def test_standard_input(file, stdin, kind):
    plain = read(file(f"data.{kind}", TEXTS[kind]))
    stdin(TEXTS[kind])
    name = {"svm": "svmlight", "txt": "text"}.get(kind, kind)
    assert_same(read("-", name), plain, kind)


@pytest.mark.parametrize("kind", ["svm", "txt", "csv", "mtx"])
def test_a_named_pipe(file, tmp_path, kind):
    """As a shell's <(command) is one: it has no size, and cannot be mapped."""
    plain = read(file(f"data.{kind}", TEXTS[kind]))
    pipe = tmp_path / f"pipe.{kind}"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(TEXTS[kind],))
    writer.start()
    found = read(str(pipe))
    writer.join()
    assert_same(found, plain, kind)


# ---- blocks of lines -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [SVM[:200], SVM[:199], b"\n\na\n", b"a", b"", b"\n", b"long " * 30 + b"\nshort\n"])
@pytest.mark.parametrize("size", [1, 2, 5, 50, 1000])
def test_blocks_end_with_lines_and_leave_nothing_out(file, text, size):
    blocks = [block.tobytes() for block in byte_streams.line_blocks(file("data.txt", text), size)]
    assert b"".join(blocks) == text
    assert all(block.endswith(b"\n") for block in blocks[:-1])
    assert all(blocks)


def test_a_line_without_end_is_refused(file, monkeypatch):
    monkeypatch.setattr(byte_streams, "LONGEST_LINE", 1000)
    path = file("data.txt", b"x" * 5000)
    with pytest.raises(FormatError, match=r"data.txt: a line is longer than 1,000 bytes\."):
        list(byte_streams.line_blocks(path, 100))
    assert len(list(byte_streams.line_blocks(file("data.txt", (b"x" * 900 + b"\n") * 5), 100))) == 5


# ---- damage ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [0.3, 0.9, 0.999])
def test_a_truncated_file_is_refused(file, kind, packing, part):
    packed = PACK[packing](TEXTS[kind])
    path = file(f"data.{kind}{packing}", packed[: int(part * len(packed))])
    with pytest.raises(FormatError, match=rf"data.{kind}{packing} ends in the middle or is damaged: .*\.$"):
        read(path)


def test_what_is_not_compressed_is_refused(file, kind, packing):
    with pytest.raises(FormatError, match=rf"data.{kind}{packing} ends in the middle or is damaged"):
        read(file(f"data.{kind}{packing}", TEXTS[kind]))


@pytest.mark.parametrize("seed", range(5))
def test_a_changed_byte_is_an_error_or_changes_nothing_else(file, kind, packing, seed):
    """bz2, gzip and xz have checksums, zstandard need not: there the text may differ, and be read or refused."""
    packed = bytearray(PACK[packing](TEXTS[kind]))
    place = int(np.random.default_rng(seed).integers(len(packed)))
    packed[place] ^= 0x55
    path = file(f"data.{kind}{packing}", bytes(packed))
    plain = read(file(f"plain.{kind}", TEXTS[kind]))
    try:
        found = read(path)
    except FormatError as error:
        assert f"data.{kind}{packing}" in str(error)  # noqa: PT017
        return
    if packing != ".zst":
        assert_same(found, plain, kind)


def test_an_empty_compressed_file(file, packing):
    with pytest.raises(FormatError, match=r"has no rows|damaged"):
        read(file(f"data.svm{packing}", b""))
    with pytest.raises(FormatError, match="has no rows"):
        read(file(f"data.svm{packing}", PACK[packing](b"")))


def test_errors_of_the_system_stay_what_they_are(tmp_path, packing):
    with pytest.raises(FileNotFoundError):
        read(str(tmp_path / f"none.svm{packing}"))

    class Broken(io.RawIOBase):
        def read(self, size=-1):
            raise OSError(5, "Input/output error")

    with pytest.raises(OSError, match="Input/output error"):
        byte_streams.read_safely("data.svm", Broken(), 10)


def test_zstandard_is_asked_for_where_it_is_absent(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(FormatError, match=r"data.svm.zst: .zst files need the package zstandard: pip install"):
        read(file("data.svm.zst", zstandard.compress(SVM)))


# ---- suffixes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "suffixes"),
    [
        ("a.svm", [".svm"]),
        ("a.svm.gz", [".svm"]),
        ("a.SVM.XZ", [".svm"]),
        ("dir.csv/a", []),
        ("a.v1.2.csv.zst", [".v1", ".2", ".csv"]),
        ("a.gz", []),
        ("-", []),
    ],
)
def test_suffixes_without_compression(path, suffixes):
    assert byte_streams.suffixes_of(path) == suffixes


# ---- how much has been read ------------------------------------------------------------------------------------------


@functools.cache
def megabytes_of(kind):
    """Numbers at random, of which a few megabytes are left when they are packed."""
    line = {"svm": "0 1:{} 2:{}\n", "csv": "{},{}\n", "txt": "{} {}\n"}[kind]
    pairs = np.random.default_rng(0).random((80_000, 2)).tolist()
    return "".join([line.format("a", "b") if kind == "csv" else "", *(line.format(*pair) for pair in pairs)]).encode()


@pytest.mark.parametrize("suffix", ["", *PACK])
@pytest.mark.parametrize("kind", ["svm", "csv", "txt"])
def test_what_has_been_read_is_told_up_to_the_end(file, monkeypatch, kind, suffix):
    """In megabytes of the file as it lies on the disk."""
    path = file(f"data.{kind}{suffix}", PACK.get(suffix, bytes)(megabytes_of(kind)))
    told = []
    monkeypatch.setattr("ramodo.formats.svmlight._WATCHED", 0)
    read(path, show=lambda done, total: told.append((done, total)))
    megabytes = os.path.getsize(path) // 1_000_000
    assert told == sorted(told)
    assert told[-1] == (megabytes, megabytes)
    assert len(told) > 1
