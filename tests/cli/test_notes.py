"""What a command says of data that it may have read otherwise than they were meant."""

import pytest


@pytest.fixture
def genes(tmp_path):
    """A table of numbers, and the same with a word among them."""
    lines = [f"S{i:03d},{i % 7 / 3:.2f},{i * i % 11}" for i in range(40)]
    (tmp_path / "genes.csv").write_text("\n".join(["sample,ENSG1,ENSG2", *lines]) + "\n")
    lines[31] = "S031,n.d.,4"
    (tmp_path / "words.csv").write_text("\n".join(["sample,ENSG1,ENSG2", *lines]) + "\n")
    return tmp_path


NOTE = "note: column 'ENSG1' is read as text, for 'n.d.' in row 'S031' is not a number: it became 8 columns"


def test_detect_fit_and_convert_tell_of_a_word_among_numbers(run, genes, tmp_path):
    read_as = ["--id", "sample"]
    for arguments in (
        ["detect", genes / "words.csv", *read_as],
        ["fit", genes / "words.csv", *read_as, "-m", tmp_path / "model"],
        ["convert", genes / "words.csv", tmp_path / "words.npz", *read_as],
    ):
        done = run(*arguments)
        assert done.code == 0
        assert NOTE in done.err
        assert run(*arguments, "-q").err == ""


def test_names_of_rows_are_told_until_they_are_ids(run, genes):
    assert "note: column 'sample' is text with 40 values in 40 rows" in run("detect", genes / "genes.csv").err
    assert "note: column 'sample'" in run("info", genes / "genes.csv").err
    assert "note: " not in run("detect", genes / "genes.csv", "--id", "sample").err
    assert "note: " not in run("detect", genes / "genes.csv", "--ignore", "sample").err


def test_a_model_of_numbers_says_where_the_text_is(run, ok, genes, tmp_path):
    ok("fit", genes / "genes.csv", "--id", "sample", "-m", tmp_path / "model")
    done = run("score", tmp_path / "model", genes / "words.csv")
    assert done.code == 3
    assert (
        "words.csv, column 'ENSG1' must hold numbers, as the model was fitted with, got text, as 'n.d.' in row 'S031'"
        in done.err
    )


def test_a_model_of_text_takes_text(run, ok, genes, tmp_path):
    ok("fit", genes / "words.csv", "--id", "sample", "-m", tmp_path / "model", "-q")
    done = run("score", tmp_path / "model", genes / "words.csv")
    assert (done.code, done.err) == (0, "")


def test_a_column_without_a_name_is_named_by_its_place(run, ok, tmp_path):
    """As R and pandas write the names of rows. The name can be typed, keeps 007 as it is, and goes into the model."""
    path = tmp_path / "frame.csv"
    lines = [f"{i:03d},{i % 7 / 3:.2f},{i * i % 11},r{i}" for i in range(40)]
    path.write_text("\n".join([",ENSG1,ENSG2,", *lines]) + "\n")
    done = run("detect", path)
    assert done.code == 0
    counts = "note: column 1 has no name and counts the rows: it is left out. To name rows by it give --id 'column 1'."
    assert counts in done.err
    assert "note: column 4 has no name: give the position instead, as in --id 'column 4' or" in done.err
    assert "If it names the rows give --id 'column 4', else leave it out with --ignore 'column 4'." in done.err
    named = ["--id", "column 1", "--ignore", "column 4"]
    assert "note: " not in run("detect", path, *named).err
    out = ok("detect", path, *named, "-o", "-", "-q", "-m", tmp_path / "model")
    assert out.splitlines()[8].startswith("007,")
    assert ok("score", tmp_path / "model", path) == out
