"""Several columns of documents, and other columns beside: own tokens for each, and a say of the same size."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from ramodo.formats import FormatError, How, Schema, Table, TextOptions, read
from ramodo.formats.documents import read as read_folder
from ramodo.formats.frequencies import DocumentFrequencies
from ramodo.formats.schema import Column
from ramodo.formats.text import vectorize
from ramodo.formats.text_and_columns import names_of, units_of, with_texts

OPTIONS = TextOptions(characters=(0, 0), bits=10)
FIELDS = {"subject": ["hello world", "hello there", ""], "body": ["hello moon", "one two two", "three"]}
COLUMNS = (Column(name="a"), Column(name="b"))
OTHERS = Table(np.array([[1.0, 0], [2, 0], [3, 4]]), schema=Schema(tokens=OPTIONS, columns=COLUMNS))


@pytest.fixture
def table():
    return with_texts(FIELDS, OTHERS, How(schema=Schema(tokens=OPTIONS)))


def test_blocks_side_by_side(table):
    assert table.X.shape == (3, 2 * 1024 + 2)
    assert [column.n_features for column in table.schema.columns] == [1024, 1024, 1, 1]
    assert table.X[:, 2048:].toarray().tolist() == OTHERS.X.tolist()
    counts = sp.hstack([vectorize(texts, OPTIONS) for texts in FIELDS.values()], format="csr")
    DocumentFrequencies.of(counts).weigh(counts)
    for number, columns in enumerate((slice(0, 1024), slice(1024, 2048))):
        expected = counts[:, columns].toarray() * table.schema.columns[number].weight
        assert table.X[:, columns].toarray() == pytest.approx(expected)


def test_a_column_of_documents_that_is_none_is_refused(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    feather = pytest.importorskip("pyarrow.feather")
    dates = pyarrow.array([2**60, 3], pyarrow.timestamp("s"))
    feather.write_feather(pyarrow.table({"note": dates, "x": [1.0, 2.0]}), tmp_path / "a.feather")
    with pytest.raises(FormatError, match=r"column 'note' must hold text, got timestamp\[.*\]"):
        read(str(tmp_path / "a.feather"), schema=Schema(text=("note",)))


def test_a_typical_document_has_length_1(table):
    for columns in (slice(0, 1024), slice(1024, 2048)):
        lengths = np.sqrt((table.X[:, columns].toarray() ** 2).sum(axis=1))
        assert np.median(lengths[lengths > 0]) == pytest.approx(1)


def test_the_same_word_in_two_columns_is_two_features(table):
    names = names_of(table, range(3), range(table.X.shape[1]))
    assert {"subject: hello", "body: hello", "body: two", "a", "b"} <= set(names.values())
    subject, body = (next(c for c, name in names.items() if name == f"{field}: hello") for field in FIELDS)
    assert body == subject + 1024


def test_values_are_shown_as_they_were_given(table):
    names = names_of(table, range(3), range(table.X.shape[1]))
    row = table.X[[1], :].tocoo()
    shown = units_of(table)(row.coords[1], row.data)
    values = {names[column]: value for column, value in zip(row.coords[1].tolist(), shown.tolist(), strict=True)}
    assert values == {"subject: hello": 1, "subject: there": 1, "body: one": 1, "body: two": 2, "a": 2}


def test_the_weights_of_a_model_hold(table):
    few = {name: texts[1:2] for name, texts in FIELDS.items()}
    again = with_texts(few, replace(OTHERS, X=OTHERS.X[1:2]), How(schema=table.schema, frequencies=table.frequencies))
    assert (table.X[[1], :] != again.X).nnz == 0
    assert again.schema == table.schema


def test_a_vocabulary_names_the_column_of_each_token():
    table = with_texts(FIELDS, OTHERS, How(schema=Schema(tokens=TextOptions(characters=(0, 0), vocabulary=True))))
    assert "subject: hello" in table.names
    assert table.names[-2:] == ["a", "b"]
    assert table.schema.first_named == 0
    known = How(schema=replace(table.schema, tokens=TextOptions(characters=(0, 0), vocabulary=True)))
    assert (with_texts(FIELDS, OTHERS, replace(known, frequencies=table.frequencies)).X != table.X).nnz == 0


def test_one_column_of_documents_alone_is_as_a_file_of_lines(tmp_path):
    (tmp_path / "a.csv").write_text("body\nsome words\nother words\n")
    (tmp_path / "a.txt").write_text("some words\nother words\n")
    one, other = (
        read(str(tmp_path / name), schema=Schema(text=["body"]) if name == "a.csv" else None)
        for name in ("a.csv", "a.txt")
    )
    assert (one.X != other.X).nnz == 0
    assert one.fields is None


def test_a_folder_of_documents(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "b.txt").write_text("second\nmail")
    (tmp_path / "a.eml").write_text("first mail")
    (tmp_path / "c").write_bytes("third".encode("utf-16"))
    (tmp_path / ".hidden").write_text("no")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\0\0")
    table = read(str(tmp_path))
    assert table.ids == ["a.eml", "c", "in/b.txt"]
    assert table.texts == ["first mail", "third", "second\nmail"]
    assert table.notes == ["1 file holds no text and was left out, the first picture.png."]


def test_a_folder_without_documents(tmp_path):
    (tmp_path / "none").mkdir()
    with pytest.raises(FormatError, match=r"none must be a folder in which each file is a document"):
        read_folder(str(tmp_path / "none"))
