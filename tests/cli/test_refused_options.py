"""Options that have no meaning for the data at hand are refused in the command's own words, before any work."""

import pytest

FAST = ("--epochs", 2)

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
    assert f"{given} was given, and " in done.err
    assert f"is read as {kind}, which has no such columns; allowed with it: csv, tsv, parquet, feather" in done.err
    assert list(tmp_path.iterdir()) == []


def test_columns_that_a_model_remembers_are_not_asked_of_other_formats(ok, files, tmp_path):
    how = ["--id", "visit", "--label", "truth", "--ignore", "country"]
    ok("fit", files.visits, "-m", tmp_path / "model", *FAST, *how)
    ok("convert", files.visits, tmp_path / "visits.npz", *how)
    assert ok("score", tmp_path / "model", tmp_path / "visits.npz") == ok("score", tmp_path / "model", files.visits)


def test_neither_words_nor_characters(run, files):
    done = run("detect", files.log, "--words", 0, "--characters", 0)
    assert done.code == 2
    assert "--words 0 and --characters 0 were given" in done.err
