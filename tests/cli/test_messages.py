"""Mistakes that people make, and what they are told: what was given, what is allowed, what to do."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from ramodo.files.whole import write_whole

ROWS = "".join(f"{i % 7},{i % 5}\n" for i in range(30))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Files that are not what they should be."""
    folder = tmp_path_factory.mktemp("mistakes")
    texts = {
        "huge.csv": f"a,b\n{ROWS}1e300,2\n",
        "inf.csv": f"a,b\n{ROWS}2,inf\n",
        "gap.csv": f"a,b\n{ROWS},2\n",
        "empty.csv": "",
        "words.csv": "id,label\n1,bad\n2,good\n",
        "unknown.csv": "id,label\nx7,1\n",
        "other.csv": "visit,d\n" + "".join(f"v{i},{i}\n" for i in range(9)),
        "plain.csv": f"a,b\n{ROWS}",
        "fake.parquet": "hello, this is text",
        "fake.npz": "PK no archive",
        "wide.svm": "0 99:1\n",
        "huge.svm": "0 1:1\n0 2:1e300\n0 1:2\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "mails").mkdir()
    np.save(folder / "narrow.npy", np.ones((5, 3)))
    values = np.random.default_rng(0).random((40, 3))
    values[7, 1] = np.inf
    np.savez(folder / "inf.npz", X=values, names=["p", "q", "r"])
    return folder


SAID = {
    "a value beyond measure": (
        ["detect", "huge.csv"],
        "huge.csv, row 30, column 'a': the value must be finite and at most 1e+30 in absolute value, got 1e+300. "
        "Replace it if it stands for a missing value; else check where it comes from, or change the unit.",
    ),
    "its index is that of the file": (["detect", "huge.svm"], "huge.svm, row 1, column 2: the value must be finite"),
    "infinity": (["detect", "inf.csv"], "inf.csv, row 30, column 'b': the value must be finite"),
    "infinity in a matrix that is scaled": (
        ["detect", "inf.npz", "--scale", "standard"],
        "inf.npz, row 7, column 'q': the value must be finite and at most 1e+30 in absolute value, got infinity.",
    ),
    "in svmlight, too": (
        ["detect", "huge.svm", "--scale", "standard"],
        "huge.svm, row 1, column 2: the value must be finite",
    ),
    "a gap": (
        ["detect", "gap.csv"],
        "gap.csv, row 30, column 'a': the value is missing; say what to do with",
    ),
    "to score, too": (["score", "{mail_model}", "huge.svm"], "huge.svm, row 1, column 2: the value must be finite"),
    "a folder": (
        ["detect", "mails"],
        "mails must be a folder in which each file is a document, got no file of text.",
    ),
    "an empty file": (
        ["detect", "empty.csv"],
        "empty.csv must have a line of names and lines of values, got an empty file.",
    ),
    "no file": (["detect", "none.csv"], "none.csv: there is no such file; check its name"),
    "no Parquet": (["detect", "fake.parquet"], "if it is of another format, give that with --format."),
    "no archive": (["detect", "fake.npz"], "fake.npz is not a matrix that numpy or scipy saved"),
    "no model": (
        ["score", "plain.csv", "{visits_model}"],
        "plain.csv is not a ramodo model: it does not begin like one; give a file that ramodo fit, ramodo detect -m "
        "or save wrote; the model comes first: ramodo COMMAND MODEL DATA.",
    ),
    "a folder as a model": (["score", "mails", "plain.csv"], "mails: it must be a file, got a folder."),
    "a model of text": (
        ["score", "{log_model}", "plain.csv"],
        "plain.csv must be text, a document a line, as the model was fitted to, got csv. Give --format text if it has "
        "such lines.",
    ),
    "a model of other columns": (
        ["score", "{visits_model}", "other.csv"],
        "other.csv must have all 4 columns that the model was fitted with, by their names; it lacks 4, such as "
        "'country', and has 'visit', 'd'.",
    ),
    "a model of another width": (
        ["score", "{mail_model}", "narrow.npy"],
        "narrow.npy must be svmlight with 40, as the model was fitted to, got numpy, with 3 columns. Give --format",
    ),
    "an index beyond the model": (
        ["score", "{mail_model}", "wide.svm"],
        "wide.svm must have indices from 1 to 40, the features of the model, got 99. If the indices",
    ),
    "labels that are words": (
        ["detect", "plain.csv", "--labels", "words.csv"],
        "labels must be 1 (outlier), -1 (inlier) or 0 (unknown), got bad, good.",
    ),
    "labels of others": (
        ["detect", "plain.csv", "--labels", "unknown.csv"],
        "no row of the data has the id 'x7'; their ids are '0', '1', '2', ... Name their column with --id",
    ),
    "no labels": (["evaluate", "{log_model}", "{log}"], "holds no labels; name their column with --label, or give"),
    "the label of all": (
        ["evaluate", "{mail_model}", "all.svm"],
        "all.svm must have outliers and other rows, but every row has the label 1, configured as outlier. Its labels "
        "are 1 (2 rows)",
    ),
    "no folder for a file": (
        ["detect", "plain.csv", "-o", "nowhere/scores.csv"],
        "nowhere/scores.csv cannot be written: the folder",
    ),
}


@pytest.mark.parametrize(("arguments", "said"), SAID.values(), ids=SAID.keys())
def test_what_people_are_told(run, files, made, monkeypatch, arguments, said):
    monkeypatch.chdir(made)
    Path("all.svm").write_text("1 1:1\n1 2:1\n")
    done = run(*[argument.format(**vars(files)) for argument in arguments])
    assert done.code in (2, 3)
    assert done.out == ""
    assert said in done.err
    assert "Errno" not in done.err
    assert "pickle" not in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("format", ["parquet", "feather", "h5ad", "numpy"])
def test_formats_that_are_not_read_from_standard_input(run, format):
    done = run("detect", "-", "--format", format, stdin=b"hello")
    assert done.code == 3
    assert done.err == ("ramodo: this format cannot be read from standard input (-); save the data to a file first.\n")


def test_standard_input_is_called_so(run, files, tmp_path):
    done = run("score", files.visits_model, "-", stdin=b"a,b\n1\n2,3,4\n")
    assert done.code == 3
    assert (
        "standard input must name the columns of the model in its first line, among them 'country', 'seconds'"
        in done.err
    )
    done = run("transform", files.visits_model, "-", "-o", tmp_path / "z.npy", stdin=b"a,b\n1\n2,3,4\n")
    assert "standard input must have a value for each of its 2 columns in each row, got 1 in '1'" in done.err


def test_a_log_for_a_model_of_a_table_is_no_matter_of_scales(run, files, ok, tmp_path):
    """The model remembers a scale, which nobody has given."""
    done = run("score", files.visits_model, files.log)
    assert done.code == 3
    assert "access.txt must be csv with 11 columns, as the model was fitted to, got text." in done.err
    assert "--scale" not in done.err
    (tmp_path / "mails.csv").write_text("body,n\n" + "".join(f"a word or {i % 3},{i % 5}\n" for i in range(40)))
    ok("fit", tmp_path / "mails.csv", "--text", "body", "-m", tmp_path / "model", "-q")
    done = run("score", tmp_path / "model", files.log)
    assert "must be a table with documents in the column 'body', as the model was fitted to, got text." in done.err


def test_what_is_not_there_has_no_format(run, tmp_path):
    done = run("detect", tmp_path / "mails")
    assert "there is no such file" in done.err


def test_no_temporary_name_is_shown(tmp_path):
    """pyarrow names the file that it failed to write in the text of its error."""

    def fail(temporary):
        raise OSError(errno.EIO, f"Failed to write to {temporary!r}. Detail: Input/output error")

    with pytest.raises(OSError, match="Input/output") as caught:
        write_whole(tmp_path / "scores.parquet", fail)
    assert caught.value.filename == str(tmp_path / "scores.parquet")
    assert ".ramodo-" not in str(caught.value)
    assert os.listdir(tmp_path) == []


def test_what_parquet_cannot_hold_is_said_by_the_name_of_the_file(run, files, tmp_path, monkeypatch):
    import pyarrow
    from pyarrow import parquet

    def refuse(table, path):
        raise pyarrow.ArrowNotImplementedError(f"Unhandled type for {table.column_names[0]}")

    monkeypatch.setattr(parquet, "write_table", refuse)
    done = run("score", files.mail_model, files.mail, "-o", tmp_path / "s.parquet")
    assert done.code == 3
    assert "s.parquet could not be written: Unhandled type for id. Write .jsonl or .csv" in done.err
    assert ".ramodo-" not in done.err
