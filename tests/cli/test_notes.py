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


NOTE = "note: column 'ENSG1' is read as text, for 'n.d.' in row 'S031' is no number: it became 8 columns"


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
    assert "words.csv, column 'ENSG1' holds text, as 'n.d.' in row 'S031'; allowed: numbers" in done.err


def test_a_model_of_text_takes_text(run, ok, genes, tmp_path):
    ok("fit", genes / "words.csv", "--id", "sample", "-m", tmp_path / "model", "-q")
    done = run("score", tmp_path / "model", genes / "words.csv")
    assert (done.code, done.err) == (0, "")
