"""A model remembers how its data were read: the same columns are found in other data, whatever else those have."""

import csv
import json
import re

import numpy as np
import pytest

from ramodo import load
from ramodo.formats import How, Schema, TextOptions
from ramodo.formats.text import as_table


def scores(text):
    return [(row["id"], row["score"]) for row in csv.DictReader(text.splitlines())]


@pytest.fixture
def table(tmp_path):
    """Writes a CSV file of rows that are dictionaries."""

    def write(rows, name="new.csv"):
        with open(tmp_path / name, "w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        return tmp_path / name

    return write


@pytest.fixture
def visits(files):
    """The rows of visits.csv."""
    return list(csv.DictReader(files.visits.read_text().splitlines()))


@pytest.fixture
def known(ok, files):
    """Their scores, by id."""
    return dict(scores(ok("score", files.visits_model, files.visits)))


# ---- svmlight --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [0, 1, 2])
def test_where_indices_begin(ok, run, tmp_path, first):
    """Also for rows that do not show it, and with a first index that is not used at all."""
    rng = np.random.default_rng(0)
    lines = [f"0 {first}:{rng.random():.3f} {first + 1 + i % 5}:1 9:{rng.random():.3f}\n" for i in range(40)]
    (tmp_path / "data.svm").write_text("".join(lines))
    found = ok("detect", tmp_path / "data.svm", "-o", "-", "-m", tmp_path / "model", "-q")
    assert load(tmp_path / "model").schema_.zero_based is (first == 0)
    assert ok("score", tmp_path / "model", tmp_path / "data.svm") == found
    (tmp_path / "data.svm").write_text("0 3:1 9:2\n")
    one = ok("score", tmp_path / "model", tmp_path / "data.svm")
    assert one == ok("score", tmp_path / "model", "-", stdin=b"0 3:1 9:2\n")
    assert one == "".join(
        ok("score", tmp_path / "model", "-", stdin=b"0 3:1 9:2\n0 4:1 9:2\n").splitlines(keepends=True)[:2]
    )
    if first:
        assert run("score", tmp_path / "model", "-", stdin=b"0 0:1\n").code == 3


def test_where_indices_begin_as_it_was_said(ok, tmp_path):
    (tmp_path / "data.svm").write_text("".join(f"0 {1 + i % 7}:1 9:{i}\n" for i in range(40)))
    found = ok("detect", tmp_path / "data.svm", "-o", "-", "-m", tmp_path / "model", "-q", "--zero-based")
    assert load(tmp_path / "model").n_features_in_ == 10
    assert ok("score", tmp_path / "model", tmp_path / "data.svm") == found


# ---- text ------------------------------------------------------------------------------------------------------------


def test_the_tokens_of_text(ok, files, tmp_path):
    how = ["--bits", 12, "--words", "1-2", "--characters", "0", "--normalize", "none"]
    found = ok("detect", files.log, *how, "-o", "-", "-m", tmp_path / "model", "-q")
    detector = load(tmp_path / "model")
    assert detector.n_features_in_ == 2**12
    assert ok("score", tmp_path / "model", files.log) == found
    assert ok("score", tmp_path / "model", "-", stdin=files.log.read_bytes()) == found
    X = as_table(files.log.read_text().splitlines(), How(schema=Schema(tokens=TextOptions((1, 2), (0, 0), 12)))).X
    assert [float(score) for _, score in scores(found)] == detector.outlier_score(X).tolist()


def test_the_text_column_of_a_table(ok, run, tmp_path):
    rows = [{"n": i * i, "words": f"request {i % 7} from host {i % 3}", "key": f"k{i}"} for i in range(40)]
    lines = "n,words,key\n" + "".join(f"{r['n']},{r['words']},{r['key']}\n" for r in rows)
    (tmp_path / "data.csv").write_text(lines)
    found = ok(
        "detect",
        tmp_path / "data.csv",
        "--text",
        "words",
        "--id",
        "key",
        "-o",
        "-",
        "-m",
        tmp_path / "model",
        "-q",
    )
    assert ok("score", tmp_path / "model", tmp_path / "data.csv") == found
    (tmp_path / "few.csv").write_text("key,words,new,n\nk5,request 5 from host 2,,25\n")
    assert scores(ok("score", tmp_path / "model", tmp_path / "few.csv")) == [scores(found)[5]]
    (tmp_path / "few.csv").write_text("key,words\nk5,request 5 from host 2\n")
    done = run("score", tmp_path / "model", tmp_path / "few.csv")
    assert done.code == 3
    assert (
        "few.csv must have all 1 columns that the model was fitted with, by their names; it lacks 1, such as 'n'"
        in done.err
    )


# ---- tables ----------------------------------------------------------------------------------------------------------


def test_columns_are_found_by_name(ok, files, table, visits, known):
    """In another order, among others, a few rows only, without some of the categories."""
    rows = [{"new": 7, **dict(reversed(row.items()))} for row in visits[3:30:3]]
    assert {row["country"] for row in rows} == {"NZ"}
    found = scores(ok("score", files.visits_model, table(rows)))
    assert found == [(row["visit"], known[row["visit"]]) for row in rows]


def test_unknown_categories_count_as_none(ok, files, table, visits):
    """A value that was never seen scores like no value of the model's at all."""
    new, other = ({**visits[0], "country": name} for name in ("Atlantis", "Mu"))
    assert scores(ok("score", files.visits_model, table([new]))) == scores(
        ok("score", files.visits_model, table([other]))
    )
    assert scores(ok("score", files.visits_model, table([new]))) != scores(
        ok("score", files.visits_model, table([visits[0]]))
    )


@pytest.mark.parametrize("column", ["country", "seconds", "bot", "day"])
def test_a_missing_column_is_refused(run, files, table, visits, column):
    rows = [{name: value for name, value in row.items() if name != column} for row in visits]
    done = run("score", files.visits_model, table(rows))
    assert done.code == 3
    assert re.search(rf"new.csv must have all .* fitted with, by their names; it lacks .*'{column}", done.err)
    assert done.out == ""


@pytest.mark.parametrize("column", ["seconds", "bot", "day"])
def test_numbers_that_became_text_are_refused(run, files, table, visits, column):
    rows = [{**row, column: "unknown" if i == 5 else row[column]} for i, row in enumerate(visits)]
    done = run("score", files.visits_model, table(rows))
    assert done.code == 3
    wanted = "dates" if column == "day" else "numbers"
    assert (
        f"column '{column}' must hold {wanted}, as the model was fitted with, got text, as 'unknown' in row 'v005'"
        in done.err
    )


def test_text_that_looks_like_numbers_in_new_data(ok, table, tmp_path):
    rows = [{"zip": z, "x": i % 5} for i, z in enumerate(["01", "02", "A1", "03"] * 10)]
    found = ok("detect", table(rows, "data.csv"), "-o", "-", "-m", tmp_path / "model", "-q")
    assert load(tmp_path / "model").feature_names_in_.tolist() == ["zip=01", "zip=02", "zip=03", "zip=A1", "x"]
    few = ok("score", tmp_path / "model", table(rows[:2]))
    assert [score for _, score in scores(few)] == [score for _, score in scores(found)[:2]]


def test_the_truth_and_what_was_ignored_need_not_be_there(ok, files, table, visits, known, tmp_path):
    rows = [{name: value for name, value in row.items() if name != "truth"} for row in visits[:9]]
    assert scores(ok("score", files.visits_model, table(rows))) == [(row["visit"], known[row["visit"]]) for row in rows]
    ok("fit", files.visits, "-m", tmp_path / "model", "--ignore", "truth", "--ignore", "visit", "-q")
    without = [{name: value for name, value in row.items() if name != "visit"} for row in rows]
    assert scores(ok("score", tmp_path / "model", table(without))) == scores(
        ok("score", tmp_path / "model", table(visits[:9]))
    )


def test_ids_are_remembered_and_can_be_others(ok, run, files, table, visits, known):
    rows = [{**row, "name": f"n{i}"} for i, row in enumerate(visits[:4])]
    assert [id for id, _ in scores(ok("score", files.visits_model, table(rows)))] == ["v000", "v001", "v002", "v003"]
    assert [id for id, _ in scores(ok("score", files.visits_model, table(rows), "--id", "name"))] == [
        "n0",
        "n1",
        "n2",
        "n3",
    ]
    without = [{name: value for name, value in row.items() if name != "visit"} for row in rows]
    assert "has no column 'visit'" in run("score", files.visits_model, table(without)).err


@pytest.mark.parametrize("missing", ["zero", "mean", "indicator"])
def test_missing_values_become_what_they_became(ok, table, tmp_path, missing):
    """A row's score does not depend on the rows that come with it: means are those of the training rows."""
    rows = [{"a": "" if i % 6 == 0 else i, "b": i * i % 11, "c": "" if i % 5 == 0 else "xyz"[i % 3]} for i in range(40)]
    how = ["--missing", missing, "--normalize", "max"]
    found = scores(ok("detect", table(rows, "data.csv"), *how, "-o", "-", "-m", tmp_path / "model", "-q"))
    assert scores(ok("score", tmp_path / "model", tmp_path / "data.csv")) == found
    for i in (0, 1, 5, 30):
        assert [score for _, score in scores(ok("score", tmp_path / "model", table([rows[i]])))] == [found[i][1]]


def test_dates_that_were_missing_need_not_be_again(ok, table, tmp_path):
    """A feature marks where a date is missing, which rows with dates do not have."""
    rows = [{"x": i % 7, "day": "" if i == 3 else f"2024-01-{1 + i % 28:02d}"} for i in range(40)]
    out = ok("detect", table(rows, "data.csv"), "--missing", "indicator", "-o", "-", "-m", tmp_path / "model", "-q")
    assert scores(ok("score", tmp_path / "model", table(rows[10:12])))[0][1] == scores(out)[10][1]


def test_missing_values_stay_an_error_where_they_were_one(run, files, table, visits):
    done = run("score", files.visits_model, table([{**visits[0], "seconds": ""}]))
    assert done.code == 3
    assert (
        "row 'v000', column 'seconds': the value is missing, and the model was fitted with --missing error" in done.err
    )
    assert "fit again with --missing zero, mean or indicator" in done.err
    assert "say what to do" not in done.err


def test_a_model_says_how_its_data_were_read(ok, files):
    source = json.loads(ok("info", files.visits_model, "--json"))["data read as"]
    assert source["format"] == "csv"
    assert source["id"] == "visit"
    assert source["label"] == "truth"
    kinds = {column["name"]: column.get("kind", "number") for column in source["columns"]}
    assert kinds == {"country": "category", "seconds": "number", "bot": "boolean", "day": "date"}


def test_names_of_genes_are_compared_too(ok, run, tmp_path):
    """In formats that have names but no categories, every column must be there."""
    rng = np.random.default_rng(0)
    X, names = rng.random((30, 4)), np.array(["g=1", "g=2", "h", "k"])
    np.savez(tmp_path / "data.npz", X=X, names=names)
    found = scores(ok("detect", tmp_path / "data.npz", "-o", "-", "-m", tmp_path / "model", "-q"))
    np.savez(tmp_path / "turned.npz", X=X[:, ::-1], names=names[::-1])
    assert scores(ok("score", tmp_path / "model", tmp_path / "turned.npz")) == found
    np.savez(tmp_path / "fewer.npz", X=X[:, 1:], names=names[1:])
    done = run("score", tmp_path / "model", tmp_path / "fewer.npz")
    assert done.code == 3
    assert (
        "fewer.npz must have all 4 columns that the model was fitted with, by their names; it lacks 1, such as 'g=1'"
        in done.err
    )
