"""Which format a path has, and that one door reads them all."""

import os
import sys
from dataclasses import replace
from types import ModuleType

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.sparse as sp

from ramodo import formats
from ramodo.formats import (
    FORMATS,
    Format,
    FormatError,
    How,
    Schema,
    Table,
    TextOptions,
    all_formats,
    format_named,
    format_of,
    read,
)

SUFFIXES = {
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".npz": "numpy",
    ".npy": "numpy",
    ".mtx": "mtx",
    ".mm": "mtx",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".h5ad": "h5ad",
    ".txt": "text",
    ".text": "text",
    ".log": "log",
    ".urls": "text",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".rows": "rows",
}

NO_SUFFIX = {"accesslog", "documents", "sessions"}
"""Logs share a suffix, and a folder of documents is told by what it holds."""


@pytest.mark.parametrize(("suffix", "format"), SUFFIXES.items())
def test_the_suffix_says_what_a_file_is(suffix, format):
    assert format_of(f"data{suffix}") == format
    assert format_of(f"some.dir/DATA.v2{suffix.upper()}") == format
    assert format in FORMATS


def test_every_format_has_a_suffix_but_these():
    assert set(SUFFIXES.values()) | NO_SUFFIX == set(FORMATS)
    assert not NO_SUFFIX & set(SUFFIXES.values())


def test_a_suffix_is_that_of_one_format():
    assert {suffix: format.name for format in all_formats() for suffix in format.suffixes} == SUFFIXES
    assert sum(len(format.suffixes) for format in all_formats()) == len(SUFFIXES)


def test_what_is_declared_is_what_is_listed():
    """Each format of each module that is listed; a module that declares one more would be found by nobody."""
    declared = {format.name for home in formats._HOMES.values() for format in getattr(formats, home).FORMATS}
    assert declared == set(FORMATS)


def test_a_module_and_a_line_are_a_format(tmp_path, monkeypatch):
    """Found by name and by suffix, told how to read, and named in messages."""
    told = []

    def read_ones(path, how):
        told.append(how)
        return Table(np.ones((2, 3)))

    module = ModuleType("ramodo.formats.ones")
    module.FORMATS = (Format("ones", (".ones", ".1"), "Ones.", read_ones),)
    monkeypatch.setitem(sys.modules, "ramodo.formats.ones", module)
    monkeypatch.setitem(formats._HOMES, "ones", "ones")
    monkeypatch.setattr(formats, "FORMATS", tuple(formats._HOMES))
    assert format_of("data.ones.gz") == format_of("data.1") == "ones"
    assert read(str(tmp_path / "data.ones"), n_threads=3, n_features=3).X.tolist() == [[1, 1, 1]] * 2
    assert read("-", "ones").X.shape == (2, 3)
    assert told == [How(n_features=3, n_threads=3), How()]
    with pytest.raises(FormatError, match=r", rows, ones\."):
        format_of("data.doc")


STREAMED = {
    "svmlight": b"1 2:5\n-1 1:4 3:1\n",
    "text": b"one two\nthree\n",
    "log": b"one two\nthree\n",
    "csv": b"n,m\n1,0.5\n3,2\n",
    "tsv": b"n\tm\n1\t0.5\n3\t2\n",
    "jsonl": b'{"n": 1, "m": 0.5}\n{"n": 3, "m": 2}\n',
    "accesslog": (
        b'1.2.3.4 - - [10/Oct/2024:13:55:36 +0000] "GET /a HTTP/1.1" 200 23\n'
        b'1.2.3.5 - - [10/Oct/2024:13:56:36 +0000] "GET /b HTTP/1.1" 200 25\n'
    ),
}


def test_the_formats_of_lines_can_be_streamed():
    assert {format.name for format in all_formats() if format.of_stream} == set(STREAMED)


def values_of(table):
    return (table.X.toarray() if sp.issparse(table.X) else table.X).tolist()


@pytest.mark.parametrize("name", STREAMED)
def test_rows_of_a_stream_are_those_of_the_file(tmp_path, name):
    """In whole lines of any number; an error counts the lines before them."""
    (tmp_path / "data").write_bytes(STREAMED[name])
    how, format = How(n_features=9, schema=Schema(tokens=TextOptions(bits=8))), format_named(name)
    table = format.read(str(tmp_path / "data"), how)
    whole, how = values_of(table), replace(how, frequencies=table.frequencies, schema=table.schema)
    *names, first, second = STREAMED[name].splitlines(keepends=True)
    assert len(names) == format.has_names
    assert values_of(format.of_stream("it", STREAMED[name], 0, how)) == whole
    found = [
        values_of(format.of_stream("it", b"".join([*names, line]), i, how)) for i, line in enumerate((first, second))
    ]
    assert found[0] + found[1] == whole
    if name == "svmlight":
        with pytest.raises(FormatError, match="it, line 8, column 3"):
            format.of_stream("it", b"1 x\n", 7, how)


@pytest.mark.parametrize("packing", [".gz", ".bz2", ".xz", ".zst", ".GZ"])
def test_a_compression_is_looked_through(packing):
    assert format_of(f"data.svm{packing}") == "svmlight"
    assert format_of(f"data.csv{packing}") == "csv"


def test_what_is_asked_for_wins(tmp_path):
    assert format_of("data.csv", "svmlight") == "svmlight"
    assert format_of("-", "text") == "text"
    assert format_of(str(tmp_path), "text") == "text"


def test_a_folder_is_a_rows_folder_or_one_of_documents(tmp_path):
    assert format_of(str(tmp_path)) == "documents"
    (tmp_path / "meta.json").write_text("{}")
    assert format_of(str(tmp_path)) == "rows"


@pytest.mark.parametrize("path", ["data", "data.doc", "data.gz", "-", "data.svm.doc", ".svm"])
def test_a_suffix_that_says_nothing_is_refused_with_the_formats_there_are(path):
    with pytest.raises(FormatError, match=r"says nothing about its format; give one with --format: svmlight, .*\."):
        format_of(path)
    with pytest.raises(FormatError, match="says nothing about its format"):
        read(path)


@pytest.mark.parametrize("format", ["", "svm", "SVMLIGHT", "excel"])
def test_a_format_that_is_unknown_is_refused(format):
    with pytest.raises(FormatError, match=rf"the format must be one of svmlight, .*, got '{format}'\."):
        format_of("data.svm", format)


def test_a_wrong_suffix_is_an_error_that_names_the_file(tmp_path):
    """The content of each format under the suffixes of all others: refused, or read as that other format may be."""
    np.savez(tmp_path / "made.npz", np.eye(3))
    contents = {
        "svm": b"1 1:2 2:3\n0 5:1\n",
        "npz": (tmp_path / "made.npz").read_bytes(),
        "mtx": b"%%MatrixMarket matrix array real general\n1 1\n1\n",
        "parquet": b"PAR1 nothing PAR1",
        "csv": b"a,b\n1,2\n",
    }
    refused = 0
    for kind, content in contents.items():
        for suffix in (".svm", ".npz", ".npy", ".mtx", ".parquet", ".feather", ".h5ad"):
            if suffix[1:] == kind or (kind, suffix) == ("npz", ".npy"):
                continue
            path = tmp_path / f"other{suffix}"
            path.write_bytes(content)
            with pytest.raises(FormatError, match=rf"other\{suffix}"):
                read(str(path))
            refused += 1
    assert refused == 30


def test_the_options_of_a_format_reach_it(tmp_path):
    svm, text, table = tmp_path / "a.svm", tmp_path / "a.txt", tmp_path / "a.csv"
    svm.write_text("1 1:2 3:4\n")
    text.write_text("some words\n")
    table.write_text("id,words\nx,some words\ny,\n")
    assert read(str(svm), schema=Schema(zero_based=True), n_features=9).X.shape == (1, 9)
    assert read(str(svm), schema=Schema(zero_based=True)).X.indices.tolist() == [1, 3]
    options = TextOptions(words=(1, 2), characters=(0, 0), bits=10, idf=False)
    found = read(str(text), schema=Schema(tokens=options), n_threads=2)
    assert found.X.shape == (1, 1024)
    assert found.X.sum() == 3
    found = read(str(table), schema=Schema(id="id", text="words", tokens=options))
    assert found.X.sum(axis=1).tolist() == [3, 0]
    assert found.ids == ["x", "y"]
    assert found.texts == ["some words", ""]
    assert read(str(text), schema=Schema(tokens=replace(options, idf=True))).frequencies.n_documents == 1


def test_a_row_has_its_number_where_it_has_no_id():
    table = Table(sp.csr_array((3, 2)))
    assert table.id_of(2) == "2"
    assert Table(sp.csr_array((3, 2)), ids=["a", "b", "c"]).id_of(2) == "c"


# ---- names that are no text ------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are any bytes")
def test_names_of_files_need_not_be_text(tmp_path):
    table = pa.table({"a": [1.0, 2.0]})
    writers = {"csv": pa.csv.write_csv, "parquet": pa.parquet.write_table, "feather": pa.feather.write_feather}
    for suffix, write in writers.items():
        write(table, tmp_path / f"made.{suffix}")
        path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff." + suffix.encode())
        os.rename(tmp_path / f"made.{suffix}", path)
        assert read(path).X.tolist() == [[1.0], [2.0]]


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are any bytes")
def test_documents_whose_names_are_no_text_have_ids(tmp_path):
    for name in (b"\xfe.txt", b"\xff.txt", "é.txt".encode()):
        with open(os.fsencode(tmp_path) + b"/" + name, "w") as file:
            file.write("some words")
    assert sorted(read(str(tmp_path)).ids) == ["\\xfe.txt", "\\xff.txt", "é.txt"]


def test_halves_of_surrogates_in_an_archive_are_replaced(tmp_path):
    path, odd = tmp_path / "data.npz", np.array(["\udc80", "b"])
    np.savez(path, X=np.eye(2), ids=odd, names=odd, y=odd)
    table = read(str(path))
    assert [table.ids, table.names, table.classes.tolist()] == [["\ufffd", "b"]] * 3
