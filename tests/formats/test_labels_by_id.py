"""Labels in a table of their own, matched with rows by id."""

import numpy as np
import pytest

from ramodo.formats import FormatError, Table
from ramodo.formats.labels_by_id import read_known_labels, read_labels

TABLE = Table(np.eye(4), ids=["007", "7", "=a", "-b c"])


@pytest.fixture
def write(tmp_path):
    def file(text):
        (tmp_path / "known.csv").write_text(text)
        return str(tmp_path / "known.csv")

    return file


def test_labels_belong_to_the_rows_with_their_ids(write):
    assert read_known_labels(write("note,id,label\nx,7,-1\ny,007,1\nz,=a,\n"), TABLE) == {1: -1, 0: 1, 2: 0}


def test_ids_may_be_guarded_for_spreadsheets(write):
    assert read_known_labels(write("id,label\n'=a,1\n'-b c,-1\n"), TABLE) == {2: 1, 3: -1}
    found = read_labels(write("id,label\n'=a,bad\nx,good\n"), TABLE)
    assert (found.rows.tolist(), found.labels.tolist()) == ([2, -1], ["bad", "good"])


def test_one_column_is_a_label_for_each_row(write):
    assert read_known_labels(write("label\n1\n0\n0\n-1\n"), TABLE) == {0: 1, 1: 0, 2: 0, 3: -1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,label\n8,1\n", "no row of the data has the id '8'; their ids are '007', '7', '=a', ..."),
        ("id,label\n7,2\n", r"the label of '7' must be 1 \(outlier\), -1 \(inlier\) or 0 \(unknown\), got 2\."),
        ("id,label\n7,x\n007,1\n", r"labels must be 1 \(outlier\), -1 \(inlier\) or 0 \(unknown\), got 1, x\."),
        ("id,label\n7,1\n7,-1\n", "must have each id once, got '7' twice"),
        ("row,label\n7,1\n", "has no column 'id'"),
        ("id,truth\n7,1\n", "has no column 'label'; it has id, truth"),
        ("label\n1\n0\n", r"no column id, so it must have one label for each of the 4 rows, got 2\."),
    ],
)
def test_labels_that_are_wrong(write, text, message):
    with pytest.raises(FormatError, match=message):
        read_known_labels(write(text), TABLE)
