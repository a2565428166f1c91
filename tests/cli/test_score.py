"""`ramodo score` and `ramodo transform`: a model's own answers, for files and for standard input."""

import csv
import os

import numpy as np
import pyarrow.parquet
import pytest
from safetensors.numpy import save_file

from ramodo import REPEN, load
from support.made_files import AS_REPEN

READ = {"mail": AS_REPEN, "visits": [*AS_REPEN, "--id", "visit", "--label", "truth", "--normalize", "max"], "log": []}


@pytest.fixture(params=READ)
def kind(request):
    return request.param


@pytest.fixture
def pair(files, kind):
    """A model and the data that it was fitted to."""
    return getattr(files, f"{kind}_model"), getattr(files, kind)


# ---- files -----------------------------------------------------------------------------------------------------------


def test_a_file_has_the_scores_that_detect_gave_it(ok, files, kind, pair):
    assert ok("score", *pair) == ok("detect", getattr(files, kind), *READ[kind], "-o", "-", "-q")


def test_scores_do_not_depend_on_threads(ok, pair):
    assert ok("score", *pair, "--threads", 1) == ok("score", *pair, "--threads", 3)


def test_a_row_has_its_score_in_any_company(ok, files, tmp_path):
    lines = files.mail.read_text().splitlines(keepends=True)
    (tmp_path / "some.svm").write_text("".join(lines[100:110]))
    whole, some = (ok("score", files.mail_model, path).splitlines() for path in (files.mail, tmp_path / "some.svm"))
    assert [line.split(",", 1)[1] for line in some[1:]] == [line.split(",", 1)[1] for line in whole[101:111]]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet", ".npz"])
def test_scores_in_a_file(run, pair, tmp_path, suffix):
    done = run("score", *pair, "-o", tmp_path / f"scores{suffix}")
    assert done.code == 0
    assert done.out == ""
    assert "rows, " in done.err
    expected = run("score", *pair).out
    if suffix == ".csv":
        assert (tmp_path / "scores.csv").read_text() == expected
    if suffix == ".parquet":
        found = pyarrow.parquet.read_table(tmp_path / "scores.parquet")
        assert found["score"].to_pylist() == [float(row["score"]) for row in csv.DictReader(expected.splitlines())]
    assert run("score", *pair, "-o", tmp_path / f"scores{suffix}", "-q").err == ""


def test_results_are_all_that_is_printed(run, pair):
    done = run("score", *pair)
    assert done.err == ""
    assert done.out.startswith("id,score,percentile,flag\n")


def test_percentiles_and_flags_are_those_of_the_training_rows(ok, files, tmp_path):
    (tmp_path / "far.svm").write_text("0 1:0\n0 36:50 37:50 38:50 39:50 40:50\n")
    _, near, far = csv.reader(ok("score", files.mail_model, tmp_path / "far.svm").splitlines())
    detector = load(files.mail_model)
    assert float(far[2]) == 100
    assert far[3] == "1"
    assert float(near[2]) == round(100 * np.mean(detector.outlier_scores_ < float(near[1])), 3)


def test_features_that_the_model_does_not_have(run, files, tmp_path):
    (tmp_path / "wide.svm").write_text("0 41:1\n")
    done = run("score", files.mail_model, tmp_path / "wide.svm", "-o", tmp_path / "s.csv")
    assert done.code == 3
    assert "must have indices from 1 to 40, the features of the model, got 41" in done.err
    assert os.listdir(tmp_path) == ["wide.svm"]
    np.save(tmp_path / "other.npy", np.ones((3, 39)))
    done = run("score", files.mail_model, tmp_path / "other.npy")
    assert done.code == 3
    assert "other.npy must be svmlight with 40, as the model was fitted to, got numpy, with 39 columns." in done.err


def test_other_formats_of_the_same_width(ok, files, data, tmp_path):
    np.save(tmp_path / "data.npy", data[0].toarray())
    found = [line.split(",")[1] for line in ok("score", files.mail_model, tmp_path / "data.npy").splitlines()[1:]]
    assert np.allclose([float(score) for score in found], load(files.mail_model).outlier_scores_, rtol=1e-5)


def test_a_model_of_the_library_scores_files(ok, run, data, files, tmp_path):
    """It does not say how its data were read."""
    detector = REPEN(n_epochs=2, random_state=0).fit(data[0])
    detector.save(tmp_path / "model")
    assert ok("score", tmp_path / "model", files.mail) == ok("score", files.mail_model, files.mail)
    done = run("score", tmp_path / "model", "-", stdin=files.mail.read_bytes())
    assert done.code == 3
    assert "the model does not know the format of its data; give --format" in done.err
    found = ok("score", tmp_path / "model", "-", "--format", "svmlight", stdin=files.mail.read_bytes())
    assert found == ok("score", files.mail_model, files.mail)


# ---- what is not a model, or cannot be written -----------------------------------------------------------------------


@pytest.mark.parametrize("command", ["score", "transform", "evaluate", "explain"])
def test_a_file_that_is_no_model(run, files, tmp_path, command):
    more = ["-o", tmp_path / "out.npy"] if command == "transform" else []
    (tmp_path / "text").write_text("hello")
    save_file({"a": np.ones(3)}, tmp_path / "foreign")
    for name in ("text", "foreign"):
        done = run(command, tmp_path / name, files.mail, *more)
        assert done.code == 3
        assert f"{name} is not a ramodo model" in done.err
        assert done.out == ""
    assert (
        run(command, tmp_path / "none", files.mail, *more).err
        == f"ramodo: {tmp_path / 'none'}: there is no such file; check its name, or give its full path.\n"
    )
    assert sorted(os.listdir(tmp_path)) == ["foreign", "text"]


@pytest.mark.parametrize(
    ("command", "name"),
    [("score", "s.txt"), ("score", "nowhere/s.csv"), ("transform", "t.svm"), ("transform", "nowhere/t.npy")],
)
def test_what_cannot_be_written_is_refused_before_any_work(run, tmp_path, command, name):
    done = run(command, tmp_path / "none", tmp_path / "none.svm", "-o", tmp_path / name)
    assert done.code == 2
    assert name in done.err
    assert os.listdir(tmp_path) == []


# ---- standard input --------------------------------------------------------------------------------------------------


def test_standard_input_gives_what_the_file_gives(ok, files, kind, pair):
    """Row by row for svmlight and text, at once for a table."""
    assert ok("score", pair[0], "-", stdin=pair[1].read_bytes()) == ok("score", *pair)


@pytest.mark.parametrize("kind", ["mail", "log"])
def test_lines_that_are_empty_or_do_not_end(ok, files, tmp_path, kind):
    """They keep their numbers in text, and are no rows in svmlight."""
    model, path = getattr(files, f"{kind}_model"), tmp_path / ("a.svm" if kind == "mail" else "a.log")
    lines = getattr(files, kind).read_bytes().splitlines()
    for text in (b"\n\n" + b"\r\n".join(lines[:5]), lines[0] + b"\n\n\n" + lines[1] + b"\n\n", b"\n" + lines[3]):
        path.write_bytes(text)
        found = ok("score", model, "-", stdin=text)
        assert found == ok("score", model, path)
        assert len(found.splitlines()) > 1


def test_nothing_on_standard_input(ok, files):
    assert ok("score", files.mail_model, "-", stdin=b"") == "id,score,percentile,flag\n"
    assert ok("score", files.mail_model, "-", stdin=b"# nothing\n\n") == "id,score,percentile,flag\n"
    assert ok("score", files.log_model, "-", stdin=b"") == "id,score,percentile,flag\n"


def test_standard_input_to_a_file(ok, pair, tmp_path):
    assert ok("score", pair[0], "-", "-o", tmp_path / "s.csv", stdin=pair[1].read_bytes()) == ""
    assert (tmp_path / "s.csv").read_text() == ok("score", *pair)


def test_a_wrong_line_on_standard_input(run, files):
    done = run("score", files.mail_model, "-", stdin=b"0 1:1\n# c\n\n0 1:x\n")
    assert done.code == 3
    assert "standard input, line 4, column 5: a number was expected" in done.err
    done = run("score", files.mail_model, "-", stdin=b"0 99:1\n")
    assert done.code == 3
    assert "the features of the model, got 99" in done.err


def test_bytes_that_are_not_utf_8_on_standard_input(ok, files, tmp_path):
    text = b"GET /caf\xe9\n\xff\xfe\n"
    (tmp_path / "odd.log").write_bytes(text)
    assert ok("score", files.log_model, "-", stdin=text) == ok("score", files.log_model, tmp_path / "odd.log")


# ---- transform -------------------------------------------------------------------------------------------------------


def test_the_representation_in_all_kinds_of_files(run, ok, files, data, tmp_path):
    expected = load(files.mail_model).transform(data[0])
    done = run("transform", files.mail_model, files.mail, "-o", tmp_path / "t.npy")
    assert (done.code, done.out) == (0, "")
    assert done.err == "120 rows, 20 columns\n"
    found = np.load(tmp_path / "t.npy")
    assert found.dtype == np.float32
    assert np.array_equal(found, expected)
    for suffix in (".npz", ".csv", ".parquet"):
        assert run("transform", files.mail_model, files.mail, "-o", tmp_path / f"t{suffix}", "-q").err == ""
    with np.load(tmp_path / "t.npz") as file:
        assert np.array_equal(file["arr_0"], expected)
    header, *lines = csv.reader((tmp_path / "t.csv").read_text().splitlines())
    assert header == ["id", *[f"c{i}" for i in range(20)]]
    assert [line[0] for line in lines] == [str(i) for i in range(120)]
    assert np.array_equal(np.array([line[1:] for line in lines], dtype=np.float64), expected)
    table = pyarrow.parquet.read_table(tmp_path / "t.parquet")
    assert table.column_names == header
    assert np.array_equal(np.column_stack([table[f"c{i}"].to_numpy() for i in range(20)]), expected)


def test_the_representation_has_the_ids_of_the_data(ok, files, tmp_path):
    ok("transform", files.visits_model, files.visits, "-o", tmp_path / "t.csv")
    lines = (tmp_path / "t.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["id", *[f"v{i:03d}" for i in range(90)]]
