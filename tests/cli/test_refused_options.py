"""Options that have no meaning for the data at hand are refused in the command's own words, before any work."""

import re

import pytest

COLUMNS = {
    "id of text": (["detect", "{log}", "--id", "foo"], "--id 'foo'", "text"),
    "label of text": (["fit", "{log}", "--label", "foo", "-m", "{out}"], "--label 'foo'", "text"),
    "ignore of svmlight": (["detect", "{mail}", "--ignore", "a", "--ignore", "b"], "--ignore 'a'", "svmlight"),
    "text of svmlight": (["detect", "{mail}", "--text", "words"], "--text 'words'", "svmlight"),
    "id where svmlight becomes a folder": (
        ["convert", "{mail}", "{out}.rows", "--id", "foo"],
        "--id 'foo'",
        "svmlight",
    ),
    "id of svmlight to score": (["score", "{mail_model}", "{mail}", "--id", "foo"], "--id 'foo'", "svmlight"),
    "id of text on a stream": (["score", "{log_model}", "-", "--id", "foo"], "--id 'foo'", "text"),
    "id of text to explain": (["explain", "{log_model}", "{log}", "--id", "foo"], "--id 'foo'", "text"),
    "label of svmlight": (["evaluate", "{mail_model}", "{mail}", "--label", "y"], "--label 'y'", "svmlight"),
    "id of an array": (["detect", "{array}", "--id", "foo"], "--id 'foo'", "numpy"),
}


@pytest.mark.parametrize(("arguments", "given", "kind"), COLUMNS.values(), ids=COLUMNS.keys())
def test_columns_of_formats_that_have_none(run, files, tmp_path, arguments, given, kind):
    names = {**vars(files), "out": tmp_path / "out", "array": tmp_path / "none.npy"}
    done = run(*[argument.format(**names) for argument in arguments])
    assert done.code == 2
    assert done.out == ""
    flag, name = given.split()
    assert f"{flag} must be a column of csv, tsv, parquet, feather" in done.err
    assert f", got {name} for " in done.err
    assert f"which is read as {kind}." in done.err
    assert list(tmp_path.iterdir()) == []


def test_columns_that_a_model_remembers_are_not_asked_of_other_formats(ok, files, tmp_path):
    how = ["--id", "visit", "--label", "truth", "--ignore", "country", "--ignore", "day"]
    ok("fit", files.visits, "-m", tmp_path / "model", *how)
    ok("convert", files.visits, tmp_path / "visits.npz", *how)
    assert ok("score", tmp_path / "model", tmp_path / "visits.npz") == ok("score", tmp_path / "model", files.visits)


def test_neither_words_nor_characters(run, files):
    done = run("detect", files.log, "--words", 0, "--characters", 0)
    assert done.code == 2
    assert "--words or --characters must be above 0, got 0 for both" in done.err


NUMBERS = {
    "components": (["detect", "{mail}", "--components", "0"], "0"),
    "models": (["detect", "{mail}", "--models", "1001"], "1001"),
    "epochs": (["fit", "{mail}", "-m", "{out}", "--epochs", "-1"], "-1"),
    "share": (["detect", "{mail}", "--share", "0.6"], "0.6"),
    "no share": (["detect", "{mail}", "--share", "nan"], "nan"),
    "fdr": (["detect", "{mail}", "--fdr", "0"], "0.0"),
    "seed": (["detect", "{mail}", "--seed", "-1"], "-1"),
    "seed of evaluate": (["evaluate", "{mail_model}", "{mail}", "--seed", "-1"], "-1"),
    "seed of a set": (["datasets", "R8", "--seed", "-1"], "-1"),
    "threads": (["detect", "{mail}", "--threads", "0"], "0"),
    "threads to score": (["score", "{mail_model}", "{mail}", "--threads", "5000"], "5000"),
}


@pytest.mark.parametrize(("arguments", "got"), NUMBERS.values(), ids=NUMBERS.keys())
def test_numbers_are_refused_by_the_name_of_their_option(run, files, tmp_path, arguments, got):
    done = run(*[argument.format(**vars(files), out=tmp_path / "out") for argument in arguments])
    assert done.code == 2
    assert re.search(rf"{arguments[-2]} must be .*, got {re.escape(got)}\.", done.err)
    assert "object" not in done.err


def test_too_few_rows(run, tmp_path):
    for n in (1, 2):
        (tmp_path / "few.csv").write_text("a,b\n" + "1,2\n" * n)
        done = run("detect", tmp_path / "few.csv")
        assert done.code == 3
        assert f"few.csv must have at least 3 rows, got {n}:" in done.err


def test_a_model_of_text_says_that_it_reads_text(run, ok, files, tmp_path):
    done = run("score", files.log_model, files.visits)
    assert done.code == 3
    assert "visits.csv must be text, a document a line, as the model was fitted to, got csv." in done.err
    others = [part for name in ("visit", "seconds", "bot", "day", "truth") for part in ("--ignore", name)]
    ok("fit", files.visits, "--text", "country", *others, "-m", tmp_path / "model", "--vocabulary")
    (tmp_path / "data.csv").write_text("country,b\n1,2\n2,4\n")
    ok("convert", tmp_path / "data.csv", tmp_path / "data.npz")
    done = run("score", tmp_path / "model", tmp_path / "data.npz")
    assert done.code == 3
    assert "data.npz must be a table with documents in the column 'country', as the model was fitted to" in done.err


def test_other_models_say_what_they_were_fitted_to(run, files):
    done = run("score", files.mail_model, files.log)
    assert done.code == 3
    assert "access.txt must be svmlight with 40, as the model was fitted to, got text, with 4,194,304" in done.err
