"""JSON Lines: keys are columns, however deep; what is missing is missing; a wrong line is named."""

import json

import pytest
import scipy.sparse as sp

from ramodo.formats import FormatError, Schema, read, records


@pytest.fixture
def jsonl(tmp_path):
    def read_lines(*lines, suffix=".jsonl", **options):
        path = tmp_path / f"data{suffix}"
        path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n")
        return read(str(path), schema=Schema(**options))

    return read_lines


def dense(table):
    return table.X.toarray() if sp.issparse(table.X) else table.X


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson"])
def test_keys_are_columns(jsonl, suffix):
    table = jsonl({"n": 1, "kind": "a", "on": True}, {"kind": "b", "on": False, "n": 2.5}, suffix=suffix)
    assert table.names == ["n", "kind=a", "kind=b", "on"]
    assert dense(table).tolist() == [[1, 1, 0, 1], [2.5, 0, 1, 0]]


def test_keys_within_keys_are_dotted(jsonl):
    table = jsonl({"user": {"age": 3, "at": {"x": 1}}, "n": 5}, {"n": 6, "user": {"at": {"x": 2}, "age": 4}})
    assert sorted(table.names) == ["n", "user.age", "user.at.x"]
    assert sorted(dense(table)[0].tolist()) == [1, 3, 5]


def test_lists_of_numbers_are_columns(jsonl):
    table = jsonl({"v": [1, 2]}, {"v": [3, 4.5]})
    assert table.names == ["v.0", "v.1"]
    assert table.X.tolist() == [[1, 2], [3, 4.5]]
    with pytest.raises(
        FormatError, match=r"column 'v' must hold lists of one length, got .* 1 values and one of 2 in row 1"
    ):
        jsonl({"v": [1]}, {"v": [1, 2]})


def test_lists_of_texts_are_a_column_for_each_value(jsonl):
    table = jsonl({"tags": ["b", "a", "b"]}, {"tags": []}, {"tags": ["c", 7]})
    assert table.names == ["tags=7", "tags=a", "tags=b", "tags=c"]
    assert dense(table).tolist() == [[0, 1, 1, 0], [0, 0, 0, 0], [1, 0, 0, 1]]
    (column,) = table.schema.columns
    assert column.kind == "set"
    again = jsonl({"tags": [7]}, {"tags": "a"}, columns=(column,))  # as a model reads, whatever a batch has
    assert dense(again).tolist() == [[1, 0, 0, 0], [0, 1, 0, 0]]
    assert dense(jsonl({"tags": []}, {"tags": []}, columns=(column,))).tolist() == [[0] * 4] * 2
    with pytest.raises(FormatError, match=r"row 1, column 'tags': the value is missing"):
        jsonl({"tags": ["a"]}, {"tags": None})
    assert jsonl({"tags": ["a"]}, {"tags": None}, missing="indicator").names == ["tags=a", "tags is missing"]


@pytest.mark.parametrize("gap", [{"a": 1}, {"a": 1, "b": None}])
def test_missing_keys_are_missing_values(jsonl, gap):
    with pytest.raises(FormatError, match=r"row 1, column 'b': the value is missing"):
        jsonl({"a": 1, "b": 2}, gap)
    assert jsonl({"a": 1, "b": 2}, gap, missing="mean").X.tolist() == [[1, 2], [1, 2]]


def test_dates(jsonl):
    table = jsonl({"t": "1970-01-02"}, {"t": "1970-01-01T01:00:00+01:00"})
    assert table.X.tolist() == [[86400], [3600]]
    assert jsonl({"t": "2024-01-02"}, {"t": "soon"}).names == ["t=2024-01-02", "t=soon"]
    assert jsonl({"t": "20240102"}, {"t": "20240103"}).names == ["t=20240102", "t=20240103"]


def test_special_columns(jsonl):
    table = jsonl(
        {"id": 7, "y": 1, "body": "some words"}, {"id": 8, "y": 0, "body": 5}, id="id", label="y", text="body"
    )
    assert table.ids == ["7", "8"]
    assert table.classes.tolist() == [1, 0]
    assert table.texts == ["some words", "5"]


def test_numbers_among_text_are_text(jsonl):
    assert jsonl({"a": 1}, {"a": "x"}, {"a": True}).names == ["a=1", "a=true", "a=x"]


WRONG = {
    "cut": '{"a": 1',
    "a number": "5",
    "a list": "[1, 2]",
    "words": "hello",
    "too deep": "[" * 100_000,
}


@pytest.mark.parametrize("line", WRONG.values(), ids=WRONG)
def test_a_wrong_line_is_named(jsonl, line):
    with pytest.raises(FormatError, match=r"data\.jsonl, line 3: a JSON object was expected; found '"):
        jsonl({"a": 1}, "", line, {"a": 2})


def test_what_is_nested_deeply_is_no_harm(jsonl):
    table = jsonl('{"a":' * 100 + "1" + "}" * 100, '{"b": 1}', missing="zero")
    assert sorted(table.names, key=len) == ["b", ".".join("a" * 100)]


def test_names_that_grow_beyond_their_line_are_refused(jsonl):
    deep = '{"k":1,"%s":' % ("x" * 90) * 800 + "1" + "}" * 800
    with pytest.raises(FormatError, match=r"data\.jsonl, line 2: a key must have at most 1,000 .* got 'xxx"):
        jsonl({"a": 1}, deep)
    assert jsonl({"x" * 1000: 1}).names == ["x" * 1000]


def test_rows_that_have_no_keys_in_common_are_refused(jsonl, monkeypatch):
    lines = [{f"key {row} {number}": 1 for number in range(3)} for row in range(400)]
    assert jsonl(*lines, missing="zero").X.shape == (400, 1200)
    monkeypatch.setattr(records, "MOST_CELLS", 1000)
    with pytest.raises(FormatError, match=r"data\.jsonl must have .*, got 400 rows with 1,200 keys and 1,200 values"):
        jsonl(*lines, missing="zero")
    assert jsonl(*lines[:60], missing="zero").X.shape == (60, 180)
    monkeypatch.setattr(records, "MOST_COLUMNS", 179)
    with pytest.raises(FormatError, match="got 60 rows with 180 keys"):
        jsonl(*lines[:60], missing="zero")


def test_half_a_pair_of_surrogates_is_replaced(jsonl):
    lines = [r'{"\udc00a": 1, "b": "x\uD800", "c": ["\udfff"]}', r'{"\udc00a": 2, "b": "\ud83d\ude00", "c": ["y"]}']
    table = jsonl(*lines)
    assert table.names == ["\ufffda", "b=x\ufffd", "b=\U0001f600", "c=y", "c=\ufffd"]
    assert jsonl(*lines, text=["b"]).texts == ["x\ufffd", "\U0001f600"]


def test_no_lines(jsonl):
    with pytest.raises(FormatError, match="has no rows"):
        jsonl("", "")
