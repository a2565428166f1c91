"""`ramodo convert`: the same matrix in any format, whole or not at all."""

import gzip
import os
import signal
import time

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp

from ramodo.formats import Table, TextOptions, read
from ramodo.formats import folder as rows_folder
from ramodo.formats.text import vectorize
from support.examples import scattered
from support.made_files import write_svmlight

TARGETS = ("rows", "npz", "svm", "mtx")
SOURCES = ("svm", "svm.gz", "npz", "npy", "mtx", "csv", "tsv", "parquet", "feather", "h5ad", "rows")


@pytest.fixture(scope="module")
def dense():
    """Awkward doubles, with a last column that is not empty."""
    values = scattered(0, (14, 6)) / 3
    values[0, 5], values[1, 5], values[2, 0] = 1e-300, 1e29, 0.1
    return values


@pytest.fixture(scope="module")
def sources(tmp_path_factory, dense):
    """The same matrix in each format."""
    folder = tmp_path_factory.mktemp("sources")
    X, labels = sp.csr_array(dense), np.arange(14) % 2
    write_svmlight(folder / "data.svm", X, labels)
    (folder / "data.svm.gz").write_bytes(gzip.compress((folder / "data.svm").read_bytes()))
    sp.save_npz(folder / "data.npz", X)
    np.save(folder / "data.npy", dense)
    scipy.io.mmwrite(folder / "data.mtx", X)
    frame = pd.DataFrame(dense, columns=list("abcdef"))
    frame.to_csv(folder / "data.csv", index=False)
    frame.to_csv(folder / "data.tsv", index=False, sep="\t")
    frame.to_parquet(folder / "data.parquet")
    frame.to_feather(folder / "data.feather")
    anndata.AnnData(X, obs=pd.DataFrame(index=[f"c{i}" for i in range(14)])).write_h5ad(folder / "data.h5ad")
    rows_folder.write(folder / "data.rows", Table(X, classes=labels.astype(float)))
    return folder


def as_dense(path):
    X = read(str(path)).X
    return X.toarray() if sp.issparse(X) else np.asarray(X)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("target", TARGETS)
def test_every_format_into_every_other(ok, sources, dense, tmp_path, source, target):
    assert ok("convert", sources / f"data.{source}", tmp_path / f"out.{target}") == ""
    assert np.array_equal(as_dense(tmp_path / f"out.{target}"), dense)
    assert os.listdir(tmp_path) == [f"out.{target}"]


@pytest.mark.parametrize("source", ["svm", "rows"])
@pytest.mark.parametrize("target", ["rows", "npz", "svm"])
def test_labels_come_along(ok, sources, tmp_path, source, target):
    ok("convert", sources / f"data.{source}", tmp_path / f"out.{target}")
    assert read(str(tmp_path / f"out.{target}")).classes.tolist() == [0, 1] * 7


def test_labels_that_are_not_there_are_not_made(ok, sources, tmp_path):
    for target in ("rows", "npz"):
        ok("convert", sources / "data.csv", tmp_path / f"out.{target}")
        assert read(str(tmp_path / f"out.{target}")).classes is None


def test_names_and_ids_come_along_where_the_format_has_them(ok, files, sources, tmp_path):
    ok("convert", files.visits, tmp_path / "out.npz", "--id", "visit", "--label", "truth", "--ignore", "day")
    table = read(str(tmp_path / "out.npz"))
    assert table.names == ["country=DE", "country=FR", "country=NZ", "country=XX", "seconds", "bot"]
    assert table.ids == [f"v{i:03d}" for i in range(90)]
    assert table.classes.sum() == 4
    ok("convert", sources / "data.h5ad", tmp_path / "cells.npz")
    assert read(str(tmp_path / "cells.npz")).ids == [f"c{i}" for i in range(14)]


def test_text(ok, files, tmp_path):
    expected = vectorize(files.log.read_text().splitlines(), TextOptions((1, 1), (0, 0), 16))
    for target in TARGETS:
        ok("convert", files.log, tmp_path / f"out.{target}", "--words", 1, "--characters", 0, "--bits", 16)
        found = sp.csr_array(read(str(tmp_path / f"out.{target}")).X)
        assert found.indices.tolist() == expected.indices.tolist()
        assert found.data.tolist() == expected.data.tolist()


def test_a_rows_folder_gives_the_scores_of_the_file(ok, files, tmp_path):
    ok("convert", files.mail, tmp_path / "mail.rows")
    first, second = (ok("detect", p, "-o", "-", "-q") for p in (files.mail, tmp_path / "mail.rows"))
    assert first == second
    assert ok("score", files.mail_model, tmp_path / "mail.rows") == ok("score", files.mail_model, files.mail)


def test_standard_input(ok, sources, dense, tmp_path):
    ok("convert", "-", tmp_path / "out.rows", "--format", "svmlight", stdin=(sources / "data.svm").read_bytes())
    assert np.array_equal(as_dense(tmp_path / "out.rows"), dense)
    ok("convert", "-", tmp_path / "out.npz", "--format", "csv", stdin=(sources / "data.csv").read_bytes())
    assert np.array_equal(as_dense(tmp_path / "out.npz"), dense)


def test_what_is_said(run, sources, tmp_path):
    done = run("convert", sources / "data.svm", tmp_path / "out.rows")
    assert done.out == ""
    assert done.err == f"{tmp_path / 'out.rows'}: 14 rows, 6 features\n"
    assert run("convert", sources / "data.svm", tmp_path / "out.npz", "--quiet").err == ""


def test_where_indices_begin(ok, tmp_path):
    (tmp_path / "data.svm").write_text("0 1:5 2:6\n0 1:7\n0 3:1\n")
    for target in ("rows", "npz"):
        for option, width in (("--zero-based", 4), ("--one-based", 3)):
            ok("convert", tmp_path / "data.svm", tmp_path / f"out.{target}", option)
            assert as_dense(tmp_path / f"out.{target}").shape == (3, width)


# ---- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["out.csv", "out", "out.svm.gz", "out.rows.zst", "nowhere/out.rows", "nowhere/out.svm"]
)
def test_targets_that_cannot_be_written_are_refused_before_any_work(run, tmp_path, name):
    done = run("convert", tmp_path / "none.svm", tmp_path / name)
    assert done.code == 2
    assert name in done.err
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("content", ["1 1:2\n1 1:x\n", ""])
def test_wrong_data_leave_nothing(run, tmp_path, target, content):
    (tmp_path / "data.svm").write_text(content)
    done = run("convert", tmp_path / "data.svm", tmp_path / f"out.{target}")
    assert done.code == 3
    assert "data.svm" in done.err
    assert os.listdir(tmp_path) == ["data.svm"]


@pytest.mark.parametrize("target", TARGETS)
def test_values_without_meaning_are_not_passed_on(run, tmp_path, target):
    np.save(tmp_path / "data.npy", np.array([[1, np.nan], [2, 3]]))
    done = run("convert", tmp_path / "data.npy", tmp_path / f"out.{target}")
    assert done.code == 3
    assert "data.npy must be finite and at most 1e+30 in absolute value, got NaN, first at row 0, column 1" in done.err
    assert os.listdir(tmp_path) == ["data.npy"]


def test_what_is_not_a_rows_folder_is_not_replaced(run, sources, tmp_path):
    (tmp_path / "out.rows").mkdir()
    (tmp_path / "out.rows" / "thesis.txt").write_text("precious")
    for source in ("data.svm", "data.npz"):
        done = run("convert", sources / source, tmp_path / "out.rows")
        assert done.code == 3
        assert "exists and is not a rows folder" in done.err
        assert os.listdir(tmp_path / "out.rows") == ["thesis.txt"]
        assert os.listdir(tmp_path) == ["out.rows"]


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_a_conversion_that_is_killed_leaves_no_folder(start, tmp_path, end):
    """In the middle of its input. What a kill leaves is hidden, and in nobody's way."""
    process = start("convert", "-", tmp_path / "out.rows", "--format", "svmlight")
    process.stdin.write(b"0 1:1\n" * (1 << 14))
    process.stdin.flush()
    while not any(name.startswith(".out.rows.") for name in os.listdir(tmp_path)):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(end)
    process.communicate()
    assert process.returncode == (130 if end == signal.SIGINT else -9)
    assert not (tmp_path / "out.rows").exists()
    assert [name for name in os.listdir(tmp_path) if end == signal.SIGINT or not name.startswith(".")] == []
