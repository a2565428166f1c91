"""CSV as people have it: other delimiters, decimal commas, no line of names."""

import pytest

from ramodo import formats
from ramodo.formats import Schema
from ramodo.formats.dialect import delimiter_named, dialect_of
from ramodo.options import OptionError


@pytest.fixture
def csv(tmp_path):
    def read(content, suffix=".csv", **options):
        path = tmp_path / f"data{suffix}"
        path.write_text(content)
        return formats.read(str(path), schema=Schema(**options))

    return read


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_the_delimiter_is_found(csv, delimiter, suffix):
    table = csv("a,b,c\n1,2,3\n4,5,6\n".replace(",", delimiter), suffix)
    assert table.names == ["a", "b", "c"]
    assert table.X.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_delimiters_within_values_are_none(csv):
    table = csv('name;note\nx;"a; b, c"\ny;"d, e"\nz;f\n')
    assert table.names == ["name=x", "name=y", "name=z", "note=a; b, c", "note=d, e", "note=f"]


def test_one_column_needs_none(csv):
    assert csv("a\n1\n2\n").names == ["a"]


def test_decimal_commas(csv):
    table = csv("a;b\n1,5;2\n-0,25;3\n")
    assert table.X.tolist() == [[1.5, 2], [-0.25, 3]]
    assert csv("1,5;2,5\n3,5;4,75\n").X.tolist() == [[1.5, 2.5], [3.5, 4.75]]
    assert csv("a;b\n1.5;2\n2.5;3\n").X.tolist() == [[1.5, 2], [2.5, 3]]


def test_a_delimiter_that_is_given(csv):
    assert csv("a:b\n1:2\n", delimiter=":").names == ["a", "b"]
    assert csv("a,b;c\n1,x;3\n", delimiter=",").names == ["a", "b;c=x;3"]


@pytest.mark.parametrize(("word", "meant"), [("tab", "\t"), ("\\t", "\t"), ("semicolon", ";"), ("|", "|"), (" ", " ")])
def test_delimiters_by_name(word, meant):
    assert delimiter_named(word) == meant


@pytest.mark.parametrize("wrong", ["", ";;", "é", '"', "\n"])
def test_delimiters_that_are_none(wrong):
    with pytest.raises(OptionError, match="--delimiter must be one character such as"):
        delimiter_named(wrong)


@pytest.mark.parametrize("first", ["5.1,3.5,setosa", "5,3.5,", "-1e3,.5,x"])
def test_a_missing_header_is_noticed(csv, first):
    table = csv(f"{first}\n4.9,3.0,setosa\n4.7,3.2,virginica\n", missing="zero")
    assert table.X.shape[0] == 3
    assert table.names[:2] == ["column 1", "column 2"]
    assert table.schema.header is False
    assert "begins with numbers instead of names" in table.notes[0]


@pytest.mark.parametrize("first", ["a,b,c", "0,1,2", "2019,2020,2021", "x,1,2", "a1,2b,3c"])
def test_names_are_names(csv, first):
    table = csv(f"{first}\n4.9,3.0,7\n4.7,3.2,8\n")
    assert table.X.shape[0] == 2
    assert table.names == first.split(",")
    assert table.schema.header is True


def test_a_table_of_text_has_names(csv):
    assert csv("kind,place\na,b\nc,d\n").X.shape[0] == 2


def test_what_is_said_of_the_header_holds(csv):
    assert csv("1.5,2\n3,4\n", header=True).names == ["1.5", "2"]
    table = csv("a,b\n3,4\n", header=False)
    assert table.X.shape[0] == 2
    assert table.names[0] == "column 1=3"
    assert table.notes == [] or "begins with" not in table.notes[0]


def test_a_long_file_is_cut_at_a_line():
    head = b"a,b\n" + b"1,2\n" * 20_000
    assert dialect_of(head[: 1 << 16], ",").names is None
