"""Marks, encodings and packings are told by the first bytes, wherever the bytes come from."""

import bz2
import codecs
import gzip
import io
import lzma
import re
import sys
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import zstandard

from ramodo.formats import FormatError, Schema, compression, read
from ramodo.formats.compression import as_text

pytestmark = pytest.mark.slow

TEXTS = {
    "svmlight": "1 3:1 9:2\n0 4:1\n0 2:7\n",
    "csv": "a,b\n1,é\n2,u\n",
    "tsv": "a\tb\n1\té\n2\tu\n",
    "jsonl": '{"a": 1, "b": "é"}\n{"a": 2, "b": "u"}\n',
    "text": "first liné\nsecond line\n",
    "mtx": "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 5\n2 3 7\n",
}
SUFFIXES = {"svmlight": ".svm", "csv": ".csv", "tsv": ".tsv", "jsonl": ".jsonl", "text": ".txt", "mtx": ".mtx"}
ENCODED = {
    "UTF-8 with a mark": lambda text: codecs.BOM_UTF8 + text.encode(),
    "UTF-16, low byte first": lambda text: codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
    "UTF-16, high byte first": lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
    "UTF-32": lambda text: text.encode("utf-32"),
}
PACKED = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstandard.compress}


def dense(table):
    return table.X.toarray() if hasattr(table.X, "toarray") and table.X.shape[1] < 100 else table.X


def assert_same(one, other):
    one, other = dense(one), dense(other)
    assert one.shape == other.shape
    assert (one != other).sum() == 0


@pytest.fixture(params=TEXTS)
def kind(request):
    return request.param


@pytest.fixture
def plain(tmp_path, kind):
    path = tmp_path / f"plain{SUFFIXES[kind]}"
    path.write_text(TEXTS[kind], encoding="utf-8")
    return read(str(path))


@pytest.fixture
def given(monkeypatch, tmp_path, kind):
    """What is read of some bytes, as a file and as standard input."""

    def both(content):
        path = tmp_path / f"data{SUFFIXES[kind]}"
        path.write_bytes(content)
        yield read(str(path))
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        yield read("-", kind)

    return both


@pytest.mark.parametrize("encode", ENCODED.values(), ids=ENCODED)
def test_marks_and_encodings_change_nothing(given, plain, kind, encode):
    for found in given(encode(TEXTS[kind])):
        assert_same(found, plain)


@pytest.mark.parametrize("pack", PACKED.values(), ids=PACKED)
def test_packed_bytes_without_a_suffix(given, plain, kind, pack):
    for found in given(pack(codecs.BOM_UTF8 + TEXTS[kind].encode())):
        assert_same(found, plain)


def test_damaged_packings_on_standard_input_are_refused(monkeypatch):
    packed = gzip.compress(TEXTS["text"].encode() * 100)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(packed[:60])))
    with pytest.raises(FormatError, match=r"ends in the middle or is damaged"):
        read("-", "text")


# ---- what grows too much ---------------------------------------------------------------------------------------------


@pytest.fixture
def small(monkeypatch):
    """What is always allowed, so small that tests stay so."""
    monkeypatch.setattr(compression, "ALWAYS_ALLOWED", 1 << 20)


@pytest.mark.parametrize("pack", PACKED.values(), ids=PACKED)
@pytest.mark.parametrize("kind", ["csv", "svmlight", "text"])
def test_a_packed_file_that_grows_too_much_is_refused_early(tmp_path, small, kind, pack):
    path = tmp_path / f"data{SUFFIXES[kind]}.gz"
    path.write_bytes(pack(TEXTS[kind].encode() + b"0" * (1 << 27)))
    with pytest.raises(
        FormatError, match=r"data\..* must grow to at most [\d,]+ bytes, .*, got [\d,]+ bytes or more from [\d,]+\. "
    ) as error:
        read(str(path))
    _, grown = (int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", str(error.value))[:2])
    assert grown < 1 << 26


def test_what_grows_little_or_is_small_is_read(tmp_path, small):
    rng = np.random.default_rng(0)
    honest = b"".join(b"5,%d\n" % number for number in rng.integers(1 << 30, size=200_000).tolist())
    for text in (honest, b"5,1\n" * 100_000):
        (tmp_path / "data.csv.xz").write_bytes(lzma.compress(text))
        assert len(read(str(tmp_path / "data.csv.xz")).X) == text.count(b"\n")


def test_tables_and_archives_that_grow_too_much(tmp_path, small):
    nothing = pa.table({"a": pa.nulls(10_000_000)})
    pa.parquet.write_table(nothing, tmp_path / "data.parquet")
    pa.feather.write_feather(nothing, tmp_path / "data.feather")
    np.savez_compressed(tmp_path / "data.npz", np.zeros((1000, 5000)))
    (tmp_path / "data.mtx").write_text("%%MatrixMarket matrix coordinate real general\n1000000000 3 1\n1 1 5\n")
    for path in sorted(tmp_path.iterdir()):
        with pytest.raises(FormatError, match=rf"{path.name} must grow to at most .*, got [\d,]+ bytes or more"):
            read(str(path), schema=Schema(missing="zero"))


# ---- what only looks so ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [b"", b"\n", b"B", b"BZh", b"BZh9 is a word\n", b"\xff\n", b"\xef\xbb", b"\x1f\x8b"])
def test_what_only_begins_alike_is_text_as_it_is(text):
    assert as_text("data", io.BytesIO(text)).read() == text


def test_half_a_character_at_the_end_is_replaced():
    assert as_text("data", io.BytesIO(codecs.BOM_UTF16_LE + b"a\0b")).read() == "a\ufffd".encode()


def test_no_more_is_waited_for_than_it_takes_to_tell():
    """A stream whose first line is two bytes long, and whose next line never comes."""

    class Stream:
        def __init__(self):
            self.left = b"ab"

        def read(self, n):
            assert self.left, "waits for a line that does not come"
            found, self.left = self.left[:n], self.left[n:]
            return found

        read1 = read

    assert as_text("data", Stream()).read1(2) in (b"a", b"ab")


def test_long_text_of_another_encoding_arrives_whole():
    text = "".join(f"line {i} é 中 🎈\n" for i in range(20_000))
    found = as_text("data", io.BytesIO(text.encode("utf-16"))).read()
    assert np.array_equal(np.frombuffer(found, np.uint8), np.frombuffer(text.encode(), np.uint8))
