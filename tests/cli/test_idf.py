"""Tokens of text are weighed by the training documents, with a model by its own: scores, streams, reasons, files."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from ramodo import load
from ramodo.formats import TextOptions, read
from ramodo.formats.text import vectorize
from ramodo.model.file.saving import open_model
from support.tampering import assert_refused, rewrite
from support.tampering import read as parts_of

FAST = ("-q",)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """The lines of a log as a column of a table."""
    path = tmp_path_factory.mktemp("idf") / "log.csv"
    lines = [f"GET page {i % 9} from host {i % 5}" for i in range(60)] + ["POST wget wget passwd"]
    path.write_text("key,line\n" + "".join(f"k{i},{line}\n" for i, line in enumerate(lines)))
    return SimpleNamespace(path=path, lines=lines)


WAYS = {
    "hashed": [],
    "many bits": ["--bits", 40],
    "kept": ["--vocabulary"],
    "not normalized": ["--normalize", "none"],
    "counts": ["--no-idf"],
}


@pytest.mark.parametrize("how", WAYS.values(), ids=WAYS.keys())
def test_a_model_weighs_other_documents_as_its_own(ok, files, tmp_path, how):
    found = ok("detect", files.log, *FAST, *how, "-o", "-", "-m", tmp_path / "model")
    assert ok("score", tmp_path / "model", files.log) == found
    assert ok("score", tmp_path / "model", "-", stdin=files.log.read_bytes()) == found
    lines = files.log.read_text().splitlines(keepends=True)
    for row in (0, 88, 89):
        (tmp_path / "one.log").write_text(lines[row])
        alone = ok("score", tmp_path / "model", tmp_path / "one.log").splitlines()[1]
        assert alone.split(",")[1:] == found.splitlines()[row + 1].split(",")[1:]
        assert ok("score", tmp_path / "model", "-", stdin=lines[row].encode()).splitlines()[1] == alone


@pytest.mark.parametrize("how", [[], ["--vocabulary"]], ids=str)
def test_the_documents_of_a_table(ok, table, tmp_path, how):
    found = ok("detect", table.path, "--text", "line", "--id", "key", *how, *FAST, "-o", "-", "-m", tmp_path / "model")
    assert ok("score", tmp_path / "model", table.path) == found
    (tmp_path / "one.csv").write_text(f"line,key\n{table.lines[60]},k60\n")
    assert ok("score", tmp_path / "model", tmp_path / "one.csv").splitlines()[1] == found.splitlines()[61]


def test_the_model_scores_what_the_reader_gives(ok, files, tmp_path):
    ok("fit", files.log, *FAST, "-m", tmp_path / "model", "--normalize", "none")
    ok("fit", files.log, *FAST, "-m", tmp_path / "counts", "--normalize", "none", "--no-idf")
    lines, detector = files.log.read_text().splitlines(), load(tmp_path / "model")
    assert detector.outlier_score(read(str(files.log)).X).tolist() == detector.outlier_scores_.tolist()
    (tmp_path / "new.txt").write_text("\n".join(lines[80:]))
    again = read(str(tmp_path / "new.txt"), frequencies=detector.document_frequencies_).X
    assert detector.outlier_score(again).tolist() == detector.outlier_scores_[80:].tolist()
    detector = load(tmp_path / "counts")
    assert detector.document_frequencies_ is None
    assert detector.outlier_score(vectorize(lines, TextOptions())).tolist() == detector.outlier_scores_.tolist()


@pytest.mark.parametrize("how", [[], ["--normalize", "none"], ["--vocabulary"]], ids=str)
def test_reasons_sum_to_the_score_and_show_counts(ok, table, tmp_path, how):
    ok("fit", table.path, "--text", "line", "--ignore", "key", "--characters", 0, *how, *FAST, "-m", tmp_path / "model")
    row = json.loads(ok("explain", tmp_path / "model", table.path, "--row", 60, "--top", 30, "--json"))[0]
    assert row["score"] == load(tmp_path / "model").outlier_scores_[60]
    added = sum(reason["contribution"] for reason in row["reasons"])
    assert added + row["lacks"]["contribution"] + row["rest"] == pytest.approx(row["score"])
    shown = {reason["feature"]: (reason["value"], len(reason.get("spans", ()))) for reason in row["reasons"]}
    if "--vocabulary" in how:
        assert shown == {"wget": (2, 0), "passwd": (1, 0), "post": (1, 0)}
    else:  # runs of characters, as they are written; what is there twice is one reason
        assert shown["'wget'"] == (2, 2)
        assert shown["'POST'"] == (1, 1)
    common = next(reason for reason in row["lacks"]["strongest"] if reason["feature"] == "from")
    assert (common["value"], common["mean"]) == (0, 1)


def test_numbers_that_may_be_counts_are_refused(ok, run, files, tmp_path):
    """A folder of rows does not say whether its values are counts or weights."""
    ok("fit", files.log, *FAST, "-m", tmp_path / "model", "--bits", 12)
    ok("fit", files.log, *FAST, "-m", tmp_path / "counts", "--bits", 12, "--no-idf")
    for name in ("log.rows", "log.svm", "log.npz"):
        ok("convert", files.log, tmp_path / name, "--bits", 12, "-q")
        done = run("score", tmp_path / "model", tmp_path / name)
        assert done.code == 3
        assert "must be documents, since the model weights the tokens of text, got " in done.err
        assert ok("score", tmp_path / "counts", tmp_path / name) == ok("score", tmp_path / "counts", files.log)
    done = run("score", tmp_path / "model", "-", "--format", "svmlight", stdin=b"1 3:1\n")
    assert done.code == 3
    assert "standard input must be documents, " in done.err


def test_a_model_of_numbers_takes_the_counts_of_text(ok, files, tmp_path):
    ok("convert", files.log, tmp_path / "log.rows", "-q")
    found = ok("detect", tmp_path / "log.rows", *FAST, "-o", "-", "-m", tmp_path / "model")
    assert ok("score", tmp_path / "model", files.log) == found


def test_convert_has_no_such_flag(run, files, tmp_path):
    done = run("convert", files.log, tmp_path / "log.rows", "--no-idf")
    assert done.code == 2
    assert "No such option" in done.err


# ---- in the model file -----------------------------------------------------------------------------------------------

COLUMNS, DOCUMENTS = "documents.columns", "documents.with_each"


@pytest.fixture
def model(ok, files, tmp_path):
    ok("fit", files.log, *FAST, "-m", tmp_path / "model.ramodo", "--bits", 12)
    return tmp_path / "model.ramodo"


def test_frequencies_are_saved_and_loaded(model, files, tmp_path):
    counts = vectorize(files.log.read_text().splitlines(), TextOptions(bits=12))
    columns, documents = np.unique(counts.indices, return_counts=True)
    again = load(load(model).save(tmp_path / "again"))
    for found in (load(model), open_model(model), again):
        known = found.document_frequencies_
        assert known.columns.tolist() == columns.tolist()
        assert known.documents.tolist() == documents.tolist()
        assert (known.n_documents, known.n_features) == (90, 2**12)


def test_a_model_that_weighs_tokens_has_their_frequencies(model):
    rewrite(model, header={"documents": None}, tensors={COLUMNS: None, DOCUMENTS: None})
    assert_refused(model, "its schema weighs tokens otherwise")


@pytest.mark.parametrize("said", ["0", "-1", "1.5", "true", "null", "[]", '"9"', "2147483648", "1e400", "NaN"])
def test_numbers_of_documents_that_cannot_be(model, said):
    rewrite(model, header={"documents": said})
    assert_refused(model, "its number of documents is")


def test_a_number_of_documents_that_is_no_json(model):
    rewrite(model, header={"documents": "ninety"})
    assert_refused(model)


CHANGES = {
    "falling columns": (COLUMNS, lambda a: a[::-1], "are not increasing numbers from 0 to 4095"),
    "a column twice": (COLUMNS, lambda a: np.r_[a[:1], a[:-1]], "are not increasing numbers"),
    "a negative column": (COLUMNS, lambda a: a - a[0] - 1, "are not increasing numbers"),
    "a column out of range": (COLUMNS, lambda a: np.r_[a[:-1], 2**12], "are not increasing numbers"),
    "columns of another type": (COLUMNS, lambda a: a.astype(np.int32), f"{COLUMNS} is int32 with 1 dimensions"),
    "columns in a square": (COLUMNS, lambda a: a[:, None], f"{COLUMNS} is int64 with 2 dimensions"),
    "no columns": (COLUMNS, lambda a: None, f"{COLUMNS} is missing"),
    "fewer columns": (COLUMNS, lambda a: a[:-1], "values for"),
    "no document": (DOCUMENTS, lambda a: a * 0, f"{DOCUMENTS} has numbers that are not from 1 to 90"),
    "negative documents": (DOCUMENTS, lambda a: -a, "has numbers that are not from 1 to 90"),
    "too many documents": (DOCUMENTS, lambda a: a + 90, "has numbers that are not from 1 to 90"),
    "documents in halves": (DOCUMENTS, lambda a: a.astype(np.float32), f"{DOCUMENTS} is float32"),
    "no documents": (DOCUMENTS, lambda a: None, f"{DOCUMENTS} is missing"),
}


@pytest.mark.parametrize(("name", "change", "message"), CHANGES.values(), ids=CHANGES.keys())
def test_damaged_frequencies_are_refused(model, name, change, message):
    rewrite(model, tensors={name: change(parts_of(model)[1][name])})
    assert_refused(model, message)


def test_arrays_that_nobody_speaks_of_are_refused(model):
    rewrite(model, header={"documents": None})
    assert_refused(model, "its arrays are not those of a model")


def test_the_model_says_that_it_weighs_tokens(ok, model, files, tmp_path):
    assert json.loads(ok("info", model, "--json"))["tokens weighed"] == len(load(model).document_frequencies_.columns)
    ok("fit", files.log, *FAST, "-m", tmp_path / "counts", "--no-idf")
    assert json.loads(ok("info", tmp_path / "counts", "--json"))["tokens weighed"] is None
