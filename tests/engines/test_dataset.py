"""Globs of files, each read by the worker that needs it, are the same data as one file of all their rows."""

import gzip
import shutil

import fsspec
import numpy as np
import pandas as pd
import pytest
import zstandard
from pieces import QUICK, parts
from sklearn.datasets import dump_svmlight_file

from ramodo import REPEN, Consensus, formats, load, open_dataset
from ramodo.data.validation import DataError
from ramodo.formats import FormatError, Schema, Table, TextOptions, folder
from ramodo.options import OptionError
from support.examples import with_outliers


@pytest.fixture(scope="module")
def X():  # noqa: N802
    """Values that files hold exactly."""
    X, _ = with_outliers()
    X.data = np.round(X.data, 3)
    return X


@pytest.fixture(scope="module")
def files(X, tmp_path_factory):
    """The same rows in three parts, in several formats."""
    place = tmp_path_factory.mktemp("parts")
    for number, part in enumerate(parts(X, 3)):
        name = place / f"part-{number}"
        dump_svmlight_file(part, np.zeros(part.shape[0]), f"{name}.svm", zero_based=False)
        text = (place / f"part-{number}.svm").read_bytes()
        (place / f"part-{number}.svm.zst").write_bytes(zstandard.compress(text))
        (place / f"part-{number}.svm.gz").write_bytes(gzip.compress(text))
        folder.write(f"{name}.rows", Table(part))
        pd.DataFrame(part.toarray()).rename(columns=str).to_parquet(f"{name}.parquet")
    return place


@pytest.mark.parametrize("suffix", ["svm", "svm.zst", "svm.gz", "rows"])
def test_files_of_sparse_rows(X, files, client, suffix):
    rows = open_dataset(f"{files}/part-*.{suffix}")
    here, there = REPEN(**QUICK).fit(X), REPEN(**QUICK).fit(rows)
    assert there.outlier_scores_.tobytes() == here.outlier_scores_.tobytes()
    scores = there.outlier_score(rows)
    assert scores.chunks == ((40, 40, 40),)
    assert scores.compute().tobytes() == here.outlier_scores_.tobytes()
    assert there.explain(rows, rows=[7, 100]).to_dict() == here.explain(X, rows=[7, 100]).to_dict()


def test_workers_keep_as_many_files_each(X, files, client):
    detector = REPEN(**QUICK).fit(rows := open_dataset(f"{files}/*.rows"))
    kept = [client.who_has(one) for (one,) in rows._sources]
    homes = [holders[0] for of_one in kept for holders in of_one.values()]
    assert len(homes) == len(rows.partitions)
    counts = [homes.count(one) for one in client.scheduler_info(n_workers=-1)["workers"]]
    assert max(counts) - min(counts) <= 1
    assert detector.outlier_scores_.tobytes() == REPEN(**QUICK).fit(X).outlier_scores_.tobytes()


def test_consensus_on_files(X, files, client):
    here = Consensus(random_state=0).fit(X)
    there = Consensus(random_state=0).fit(open_dataset(f"file://{files}/part-*.rows"))
    assert there.outlier_scores_.tobytes() == here.outlier_scores_.tobytes()


def test_a_model_of_files_is_saved_and_loaded(X, files, tmp_path):
    rows = open_dataset(f"{files}/part-*.rows")
    path = REPEN(**QUICK).fit(rows).save(tmp_path / "a.ramodo")
    assert load(path).outlier_score(rows).compute().tobytes() == load(path).outlier_score(X).tobytes()


def test_tables(X, files, client):
    rows = open_dataset(f"{files}/part-*.parquet")
    here, there = REPEN(**QUICK).fit(X.toarray()), REPEN(**QUICK).fit(rows)
    assert there.outlier_scores_.tobytes() == here.outlier_scores_.tobytes()
    assert list(there.feature_names_in_) == [str(i) for i in range(40)]


@pytest.fixture
def in_memory(files):
    """A file system that is not that of this machine."""
    memory = fsspec.filesystem("memory")
    memory.put(str(files), "/parts", recursive=True)
    yield "memory://parts"
    memory.rm("/parts", recursive=True)


@pytest.mark.parametrize("suffix", ["svm.zst", "rows"])
def test_files_elsewhere(X, in_memory, suffix):
    there = REPEN(**QUICK).fit(open_dataset(f"{in_memory}/part-*.{suffix}"))
    assert there.outlier_scores_.tobytes() == REPEN(**QUICK).fit(X).outlier_scores_.tobytes()
    one = open_dataset(f"{in_memory}/part-0.{suffix}")
    assert one.shape[0] == 40


def test_a_file_elsewhere_that_is_damaged_is_named(in_memory):
    fsspec.filesystem("memory").pipe("/parts/part-1.svm", b"1 1:a\n")
    with pytest.raises(FormatError, match=r"^memory:///parts/part-1\.svm, line 1, column 5: a number was expected"):
        open_dataset(f"{in_memory}/part-*.svm").facts()


def test_a_protocol_that_nobody_knows():
    with pytest.raises(FormatError, match=r"nowhere://a\.svm cannot be opened: Protocol not known: nowhere"):
        open_dataset("nowhere://a.svm")


def test_indices_begin_alike_in_all_files(tmp_path, client):
    """An index 0 in one file says how those of all begin, as in one file of all rows."""
    for number, line in enumerate(["1:1 3:2", "0:1 2:5", "2:1 3:7"]):
        (tmp_path / f"{number}.svm").write_text(f"0 {line}\n" * 4)
    (tmp_path / "all.txt").write_text("".join((tmp_path / f"{n}.svm").read_text() for n in range(3)))
    known = formats.read(str(tmp_path / "all.txt"), "svmlight")
    rows = open_dataset(f"{tmp_path}/*.svm")
    assert rows.schema.zero_based is known.schema.zero_based is True
    assert rows.shape == known.X.shape == (12, 4)
    assert (rows[range(12)] != known.X).nnz == 0
    assert open_dataset(f"{tmp_path}/[02].svm").shape == (8, 3)
    assert open_dataset(f"{tmp_path}/[02].svm", schema=Schema(zero_based=True), n_features=9).shape == (8, 9)


def test_categories_are_those_of_all_files(tmp_path, client):
    frame = pd.DataFrame(
        {
            "country": ["NZ", "AU", "NZ", "FR", "AU", "CL", "NZ", "AU"],
            "size": [1.0, 2, 3, 4, 5, 6, 7, 8],
            "kind": pd.Categorical(["b", "b", "a", "a", "b", "c", "c", "b"]),
        }
    )
    frame.to_csv(tmp_path / "all.txt", index=False)
    for number in range(3):
        frame[3 * number : 3 * number + 3].to_csv(tmp_path / f"{number}.csv", index=False)
    known, rows = formats.read(str(tmp_path / "all.txt"), "csv"), open_dataset(f"{tmp_path}/*.csv")
    assert list(rows.names) == list(known.names)
    assert (rows[range(8)] != known.X).nnz == 0
    assert rows.facts().n_seen == 8
    assert sorted(rows.schema.categories) == ["country", "kind"]


@pytest.mark.parametrize("missing", ["zero", "indicator"])
def test_missing_values_of_some_files(tmp_path, missing):
    (tmp_path / "0.csv").write_text("a,b\n1,x\n2,y\n")
    (tmp_path / "1.csv").write_text("a,b\n,x\n4,\n")
    (tmp_path / "all.txt").write_text("a,b\n1,x\n2,y\n,x\n4,\n")
    options = Schema(missing=missing)
    known = formats.read(str(tmp_path / "all.txt"), "csv", schema=options)
    rows = open_dataset(f"{tmp_path}/*.csv", schema=options)
    assert list(rows.names) == list(known.names)
    assert (rows[range(4)] != known.X).nnz == 0


def test_ids_and_labels(tmp_path):
    (tmp_path / "0.csv").write_text("id,truth,a\np,0,1\nq,1,2\n")
    (tmp_path / "1.csv").write_text("id,truth,a\nr,0,3\n")
    rows = open_dataset(f"{tmp_path}/*.csv", schema=Schema(id="id", label="truth"))
    assert rows.ids == ("p", "q", "r")
    assert rows.classes.tolist() == [0, 1, 0]
    assert rows.names == ["a"]


def test_documents_are_counted(tmp_path, client):
    for number in range(2):
        (tmp_path / f"{number}.txt").write_text("".join(f"a line {number} {i}\n" for i in range(5)))
    options = TextOptions(bits=10, idf=False)
    rows = open_dataset(f"{tmp_path}/*.txt", schema=Schema(tokens=options))
    known = [formats.read(str(tmp_path / f"{number}.txt"), schema=Schema(tokens=options)).X for number in range(2)]
    assert rows.shape == (10, 1024)
    assert (rows[range(5, 10)] != known[1]).nnz == 0
    with pytest.raises(OptionError, match="documents alone, and hashed tokens"):
        open_dataset(f"{tmp_path}/*.txt", schema=Schema(tokens=TextOptions(vocabulary=True)))
    (tmp_path / "all").write_text("".join((tmp_path / f"{number}.txt").read_text() for number in range(2)))
    weighed = TextOptions(bits=10)
    known = formats.read(str(tmp_path / "all"), "text", schema=Schema(tokens=weighed))
    rows = open_dataset(f"{tmp_path}/*.txt", schema=Schema(tokens=weighed))
    assert (rows[range(10)] != known.X).nnz == 0
    assert rows.frequencies.documents.tobytes() == known.frequencies.documents.tobytes()


@pytest.fixture
def visits(tmp_path):
    """A table of numbers of different sizes, some missing, dates and a category; whole, and in three files."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "id": [f"v{i}" for i in range(60)],
            "bytes": rng.pareto(1, 60) * 1e5,
            "errors": np.where(rng.random(60) < 0.8, 0, 3),
            "temperature": rng.normal(20, 5, 60),
            "day": pd.to_datetime("2026-03-01") + pd.to_timedelta(rng.integers(90, size=60), unit="D"),
            "country": np.array(["NZ", "FR"])[rng.integers(2, size=60)],
        }
    )
    frame.loc[[3, 44], "temperature"] = None
    frame.to_csv(tmp_path / "all.txt", index=False)
    for number, part in enumerate(np.split(np.arange(60), [10, 45])):
        frame.iloc[part].to_csv(tmp_path / f"{number}.csv", index=False)
    return tmp_path


@pytest.mark.parametrize(("scale", "missing"), [("auto", "mean"), ("robust", "indicator"), ("none", "mean")])
def test_scales_and_means_are_those_of_all_files(visits, client, scale, missing):
    options = Schema(id="id", scale=scale, missing=missing)
    known = formats.read(str(visits / "all.txt"), "csv", schema=options)
    rows = open_dataset(f"{visits}/*.csv", schema=options)
    assert rows.names == known.names
    assert (rows[range(60)] != known.X).nnz == 0
    assert rows.schema.columns == known.schema.columns
    again = open_dataset(f"{visits}/2.csv", schema=rows.schema)  # read as the whole was
    assert (again[range(15)] != known.X[45:]).nnz == 0


def test_many_rows_are_scaled_by_some_of_them(visits, monkeypatch):
    monkeypatch.setattr("ramodo.engines.learning.SAMPLE", 20)
    options = Schema(id="id", scale="standard", missing="zero", ignore=("day", "country"))
    rows = open_dataset(f"{visits}/*.csv", schema=options)
    frame = pd.read_csv(visits / "all.txt")[["bytes", "errors", "temperature"]].fillna(0).iloc[::3]
    for name, values in frame.items():
        assert rows.schema.column(name).scales[0][:2] == pytest.approx((values.mean(), values.std(ddof=0)))


def test_a_gap_names_its_file_before_anything_is_learned(visits, client):
    with pytest.raises(FormatError, match=r"[01]\.csv, row 'v(3|44)', column 'temperature': the value is missing"):
        open_dataset(f"{visits}/*.csv", schema=Schema(id="id", scale="auto")).facts()


def test_columns_that_are_numbers_in_one_file_and_text_in_another(tmp_path):
    (tmp_path / "0.csv").write_text("a,b\n1,2\n3,4\n")
    (tmp_path / "1.csv").write_text("a,b\n1,x\n")
    with pytest.raises(FormatError, match=r"columns of .*0\.csv and of the files after it differ"):
        open_dataset(f"{tmp_path}/*.csv", schema=Schema(scale="auto"))


# ---- what is refused -------------------------------------------------------------------------------------------------


def test_a_file_that_cannot_be_read_is_named(files, tmp_path, client):
    shutil.copy(files / "part-0.svm", tmp_path)
    (tmp_path / "part-1.svm").write_text("1 1:2 x\n")
    with pytest.raises(FormatError, match=r"part-1\.svm, line 1, column 7: an index was expected"):
        REPEN(**QUICK).fit(open_dataset(f"{tmp_path}/*.svm"))


def test_a_file_that_is_gone_is_named(files, tmp_path, client):
    for number in range(2):
        shutil.copy(files / f"part-{number}.svm", tmp_path)
    rows = open_dataset(f"{tmp_path}/*.svm")
    (tmp_path / "part-1.svm").unlink()
    with pytest.raises(FileNotFoundError, match=r"part-1\.svm"):
        rows.facts()


def test_a_file_with_other_columns_is_named(X, tmp_path, client):
    folder.write(tmp_path / "0.rows", Table(X[:50]))
    folder.write(tmp_path / "1.rows", Table(X[50:, :39]))
    with pytest.raises(DataError, match=r"1\.rows has 39 columns; allowed: the 40 that .*0\.rows has"):
        REPEN(**QUICK).fit(open_dataset(f"{tmp_path}/*.rows"))


@pytest.mark.parametrize(("columns", "said"), [("a,c", "lacks the column 'b'"), ("a,b,c", "has the column 'c'")])
def test_a_table_with_other_columns_is_named(tmp_path, columns, said):
    (tmp_path / "0.csv").write_text("a,b\n1,2\n3,4\n")
    (tmp_path / "1.csv").write_text(f"{columns}\n{','.join('1' * len(columns.split(',')))}\n")
    with pytest.raises(FormatError, match=rf"1\.csv {said}"):
        open_dataset(f"{tmp_path}/*.csv").in_memory()


def test_no_file_and_mixed_formats(files, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        open_dataset(f"{tmp_path}/*.svm")
    with pytest.raises(FormatError, match=r"part-0\.parquet is parquet; allowed: one format for all"):
        open_dataset([f"{files}/part-0.svm", f"{files}/part-0.parquet"])


@pytest.mark.parametrize("package", ["dask", "zstandard"])
def test_without_dask_an_error_says_what_to_install(python, package):
    program = f"""
import sys
sys.modules[{package!r}] = None
try:
    from ramodo import open_dataset
except ModuleNotFoundError as error:
    print(error)
"""
    assert f"need the package {package}: pip install dask distributed" in python(program)
