"""What `detect` and `score` write of rows: flagged ones alone, columns of the input, reasons, views."""

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from ramodo import load
from support.made_files import AS_REPEN


def records(text):
    return list(csv.DictReader(text.splitlines()))


@pytest.fixture(scope="module")
def notes(tmp_path_factory):
    """A table with an ignored column of zeros in front, one of text, gaps, and a column named as one of ours."""
    path = tmp_path_factory.mktemp("notes") / "notes.csv"
    rng = np.random.default_rng(0)
    lines = ["key,place,seconds,score,said,when"]
    for i in range(60):
        said = "=HYPERLINK(1)" if i == 59 else f"hello {i}"
        seconds = 50 if i == 59 else round(rng.random(), 3)
        lines.append(f"k{i},0{i:02d},{seconds},{i % 3},{said},{'' if i == 3 else '2024-01-02'}")
    path.write_text("\n".join(lines) + "\n")
    return path


READ = ["--id", "key", "--ignore", "place", "--ignore", "said", "--ignore", "when"]


# ---- flagged ---------------------------------------------------------------------------------------------------------


def test_flagged_rows_alone_highest_first(ok, files):
    whole = records(ok("score", files.mail_model, files.mail))
    expected = sorted((row for row in whole if row["flag"] == "1"), key=lambda row: -float(row["score"]))
    assert 0 < len(expected) < len(whole)
    assert records(ok("score", files.mail_model, files.mail, "--flagged")) == expected
    given = ok("detect", files.mail, *AS_REPEN, "--flagged", "-q", "-o", "-")
    assert records(given) == expected


def test_flagged_rows_of_a_stream_come_as_they_arrive(ok, files):
    whole = records(ok("score", files.log_model, files.log))
    found = records(ok("score", files.log_model, "-", "--flagged", stdin=files.log.read_bytes()))
    assert found == [row for row in whole if row["flag"] == "1"]
    assert len(found) > 0


def test_nothing_is_flagged(ok, run, files, tmp_path):
    first = files.mail.read_bytes().splitlines(keepends=True)[0]
    assert ok("score", files.mail_model, "-", "--flagged", stdin=first) == "id,score,percentile,flag\n"
    (tmp_path / "one.svm").write_bytes(first)
    for suffix in (".csv", ".jsonl", ".parquet", ".npz"):
        ok("score", files.mail_model, tmp_path / "one.svm", "--flagged", "--reasons", 2, "-o", tmp_path / f"s{suffix}")
    assert (tmp_path / "s.csv").read_text() == "id,score,percentile,flag,reasons\n"
    assert (tmp_path / "s.jsonl").read_text() == ""
    assert pyarrow.parquet.read_table(tmp_path / "s.parquet").num_rows == 0
    with np.load(tmp_path / "s.npz") as found:
        assert found["score"].shape == (0,)


# ---- columns of the input --------------------------------------------------------------------------------------------


def test_columns_beside_the_score(ok, notes):
    """Also those that are no features; one with the name of ours gets another."""
    found = records(
        ok("detect", notes, *READ, "-q", "-o", "-", "--with", "said,place", "--with", "score", "--with", "when")
    )
    assert list(found[0]) == ["id", "score", "percentile", "flag", "said", "place", "input score", "when"]
    assert [row["place"] for row in found] == [f"0{i:02d}" for i in range(60)]
    assert [row["said"] for row in found[:2]] == ["hello 0", "hello 1"]
    assert [row["input score"] for row in found[:4]] == ["0", "1", "2", "0"]
    assert (found[2]["when"], found[3]["when"]) == ("2024-01-02", "")
    plain = records(ok("detect", notes, *READ, "-q", "-o", "-"))
    assert [row["score"] for row in found] == [row["score"] for row in plain]


def test_scores_of_a_model_have_them_too(ok, notes, tmp_path):
    ok("fit", notes, *READ, "-q", "-m", tmp_path / "model")
    found = records(ok("score", tmp_path / "model", notes, "--flagged", "--with", "said"))
    assert found[0]["id"] == "k59"
    assert found[0]["said"] == "'=HYPERLINK(1)"


def test_the_document_of_a_row(ok, files, notes, tmp_path):
    lines = files.log.read_text().splitlines()
    found = records(ok("score", files.log_model, files.log, "--with", "text"))
    assert [row["text"] for row in found] == lines
    assert records(ok("score", files.log_model, "-", "--with", "text", stdin=files.log.read_bytes())) == found
    read_as = ["--id", "key", "--text", "said", "--ignore", "when"]
    of_column = records(ok("detect", notes, *read_as, "-q", "-o", "-", "--with", "text,place"))
    assert (of_column[5]["text"], of_column[5]["place"]) == ("hello 5", "5")


def test_numbers_of_a_matrix_with_names(ok, run, files, tmp_path):
    np.savez(tmp_path / "x.npz", X=np.random.default_rng(0).random((30, 2)), names=["width", "height"])
    found = records(ok("detect", tmp_path / "x.npz", "-q", "-o", "-", "--with", "height"))
    assert float(found[3]["height"]) == np.load(tmp_path / "x.npz")["X"][3, 1]
    done = run("detect", tmp_path / "x.npz", "-q", "-o", "-", "--with", "depth")
    assert done.code == 3
    assert "x.npz has no column 'depth', which --with names; it has width, height." in done.err
    done = run("score", files.mail_model, files.mail, "--with", "depth")
    assert "its columns have no names. Formats with columns are csv, tsv" in done.err


def test_columns_that_are_not_there(run, files, notes):
    done = run("detect", notes, *READ, "-o", "-", "--with", "nope")
    assert done.code == 3
    assert "has no column 'nope'; it has key, place, seconds" in done.err
    done = run("score", files.log_model, files.log, "--with", "path")
    assert done.code == 2
    assert "--with must be text, since " in done.err
    assert "is read as text, which has no columns, got path." in done.err


# ---- reasons and views -----------------------------------------------------------------------------------------------


def test_reasons_are_those_of_explain(ok, files, tmp_path):
    ok("score", files.log_model, files.log, "--reasons", 2, "-o", tmp_path / "s.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    (row,) = json.loads(ok("explain", files.log_model, files.log, "--row", 88, "--top", 2, "--json"))
    expected = [{name: reason[name] for name in ("feature", "value", "contribution")} for reason in row["reasons"]]
    assert lines[88]["reasons"] == expected
    assert 1 <= len(expected) <= 2
    shown = records(ok("score", files.log_model, files.log, "--reasons", 2))[88]["reasons"]
    assert all(reason["feature"] in shown for reason in expected)
    as_lines = ok("score", files.log_model, "-", "--reasons", 2, "--as", "jsonl", stdin=files.log.read_bytes())
    assert [json.loads(line)["id"] for line in as_lines.splitlines()] == [str(i) for i in range(90)]
    assert json.loads(as_lines.splitlines()[88])["reasons"][0]["feature"] == expected[0]["feature"]


def test_views_sum_to_the_score(ok, files):
    names = load(files.log_model).model_.evidence.names
    found = records(ok("score", files.log_model, files.log, "--views"))
    assert list(found[0])[4:] == [f"view: {name}" for name in names]
    for row in found:
        assert sum(float(row[f"view: {name}"]) for name in names) == pytest.approx(float(row["score"]))
    stream = records(ok("score", files.log_model, "-", "--views", stdin=files.log.read_bytes()))
    assert stream == found
    single = records(ok("score", files.mail_model, files.mail, "--views"))
    assert all(row["view: learned distance"] == row["score"] for row in single)


def test_views_of_a_model_of_folds(ok, files):
    found = records(ok("detect", files.mail, *AS_REPEN, "--fdr", 0.5, "-q", "-o", "-", "--views", "--flagged"))
    for row in found:
        assert sum(float(v) for name, v in row.items() if name.startswith("view")) == pytest.approx(float(row["score"]))


# ---- types of files --------------------------------------------------------------------------------------------------


def test_types_in_each_kind_of_file(ok, notes, tmp_path):
    how = [*READ, "-q", "--with", "said,score,when", "--reasons", 1, "--views", "--method", "repen", "--epochs", 1]
    for suffix in (".parquet", ".jsonl", ".npz"):
        ok("detect", notes, *how, "-o", tmp_path / f"s{suffix}")
    table = pyarrow.parquet.read_table(tmp_path / "s.parquet")
    kinds = dict(zip(table.column_names, table.schema.types, strict=True))
    pair = pa.struct([("feature", pa.string()), ("value", pa.float64()), ("contribution", pa.float64())])
    assert kinds == {
        "id": pa.string(),
        "score": pa.float64(),
        "percentile": pa.float64(),
        "flag": pa.int64(),
        "said": pa.string(),
        "input score": pa.int64(),
        "when": pa.string(),
        "reasons": pa.list_(pair),
        "view: learned distance": pa.float64(),
    }
    line = json.loads((tmp_path / "s.jsonl").read_text().splitlines()[3])
    assert line["when"] is None or line["when"] == ""
    assert line["input score"] == 0
    assert json.loads((tmp_path / "s.jsonl").read_text().splitlines()[59])["said"] == "=HYPERLINK(1)"
    with np.load(tmp_path / "s.npz") as found:
        assert found["input score"].dtype == np.int64
        assert found["score"].dtype == found["view: learned distance"].dtype == np.float64
        assert found["said"].dtype.kind == found["reasons"].dtype.kind == "U"


def test_ids_from_a_csv_of_scores_serve_as_labels(ok, tmp_path):
    lines = [f"=k{i},{i % 7},{i % 3}" for i in range(30)]
    (tmp_path / "data.csv").write_text("\n".join(["key,a,b", *lines, "=odd,90,80"]) + "\n")
    how = [tmp_path / "data.csv", "--id", "key", "-q", "-o", "-"]
    found = records(ok("detect", *how))
    assert found[-1]["id"] == "'=odd"
    (tmp_path / "known.csv").write_text(f"id,label\n{found[-1]['id']},1\n")
    assert "=odd" in ok("detect", *how, "--labels", tmp_path / "known.csv")


# ---- flags that do not go together -----------------------------------------------------------------------------------


@pytest.mark.parametrize("flag", [["--flagged"], ["--with", "text"], ["--reasons", 2], ["--views"]], ids=str)
def test_what_to_write_needs_a_file(run, files, flag):
    done = run("detect", files.log, *flag)
    assert done.code == 2
    assert f"{flag[0]} needs --output FILE" in done.err


def test_lines_are_of_standard_output(run, files, tmp_path):
    done = run("score", files.log_model, files.log, "--as", "xml")
    assert (done.code, "--as must be csv or jsonl, got 'xml'." in done.err) == (2, True)
    done = run("score", files.log_model, files.log, "--as", "jsonl", "-o", tmp_path / "s.csv")
    assert done.code == 2
    assert "is for standard output (-o -)" in done.err
