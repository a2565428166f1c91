"""The schema: what a column becomes, which feature is which, and what a model file may say of it."""

import json
from dataclasses import replace
from typing import get_type_hints as hints

import pyarrow as pa
import pyarrow.parquet
import pytest

from ramodo.formats import Schema, TextOptions, read, schema
from ramodo.formats.scales import Scale
from ramodo.formats.schema import Column, merged
from ramodo.model.saved import ModelFileError

SCALE = Scale(1.5, 2.0, 0.25)
COLUMNS = (
    Column(name="body", kind="text", width=1024, weight=0.5),
    Column(name="size", scales=(SCALE,), mean=3.5),
    Column(name="country", kind="category", values=("AU", "NZ"), marks_missing=True),
    Column(name="when", kind="date", first_day=19_000, scales=(SCALE,)),
    Column(name="vector", kind="list", width=2, scales=(SCALE, Scale())),
    Column(name="tags", kind="set", values=("a=b", "c")),
    Column(name="on", kind="boolean"),
)
SCHEMA = Schema(
    format="csv", suffix=".csv", id="key", label="y", text="body", ignore=["x"], missing="mean", scale="auto",
    delimiter=";", header=True, tokens=TextOptions((1, 2), (0, 0), 10), columns=COLUMNS,
)  # fmt: skip
NAMES = [
    "size",
    "country=AU",
    "country=NZ",
    "country is missing",
    "when, days since 2022-01-08",
    "when hour (sine)",
    "when hour (cosine)",
    "when weekday (sine)",
    "when weekday (cosine)",
    "vector.0",
    "vector.1",
    "tags=a=b",
    "tags=c",
    "on",
]


def test_types_of_fields_are_looked_up_once_for_all_columns(monkeypatch):
    """That takes longer than all else that a column of numbers needs."""
    looked_up = []
    monkeypatch.setattr(schema, "get_type_hints", lambda kind, **names: looked_up.append(kind) or hints(kind, **names))
    schema._field_types.cache_clear()
    kept = SCHEMA.to_json()
    assert Schema.from_json(kept) == Schema.from_json(kept) == SCHEMA
    assert sorted(kind.__name__ for kind in looked_up) == ["Column", "Schema", "TextOptions"]


def test_features_have_names_and_columns_without_parsing():
    assert SCHEMA.n_features == 1024 + len(NAMES)
    assert SCHEMA.names == NAMES
    assert SCHEMA.first_named == SCHEMA.n_tokens == 1024
    found = [SCHEMA.feature(1024 + number) for number in range(len(NAMES))]
    assert [feature.name for feature in found] == NAMES
    assert [feature.name for feature in SCHEMA.features()] == NAMES
    assert [(feature.column.name, feature.part, feature.value) for feature in found] == [
        ("size", "number", None),
        ("country", "value", "AU"),
        ("country", "value", "NZ"),
        ("country", "missing", None),
        ("when", "days", None),
        ("when", "hour", "sine"),
        ("when", "hour", "cosine"),
        ("when", "weekday", "sine"),
        ("when", "weekday", "cosine"),
        ("vector", "place", 0),
        ("vector", "place", 1),
        ("tags", "value", "a=b"),
        ("tags", "value", "c"),
        ("on", "number", None),
    ]
    assert SCHEMA.feature(7).column.name == "body"
    assert [circle.columns for circle in SCHEMA.circles] == [(1029, 1030), (1031, 1032)]
    assert SCHEMA.scales.width.tolist() == [2, 1, 1, 1, 2, 1, 1, 1, 1, 2, 1, 1, 1, 1]


def test_marks_of_a_matrix_come_last():
    genes = (Column(name="a", marks_missing=True), Column(name="b"), Column(name="c", marks_missing=True))
    schema = Schema(columns=genes, marks_last=True)
    assert schema.names == ["a", "b", "c", "a is missing", "c is missing"]
    assert [schema.feature(number).name for number in range(5)] == schema.names


@pytest.mark.parametrize(
    "schema",
    [
        SCHEMA,
        Schema(),
        Schema(plain=("a", "b=1")),
        Schema(zero_based=False, is_numbered=True, scale="log", columns=(Column(name="0", scales=(SCALE,)),)),
        Schema(tokens=TextOptions(vocabulary=True), columns=(Column(name="t", kind="text", values=("z", "'abc'")),)),
    ],
    ids=range(5),
)  # fmt: skip
def test_json_there_and_back(schema):
    assert Schema.from_json(schema.to_json()) == schema


WRONG = [
    {"format": "pickle"}, {"format": 1}, {"format": ["csv"]}, {"id": 5}, {"label": []}, {"text": {}}, {"ignore": "a"},
    {"ignore": [1]}, {"ignore": None}, {"missing": None}, {"missing": "median"}, {"missing": {}}, {"zero_based": 1},
    {"scale": "most"}, {"suffix": None}, {"header": "yes"}, {"delimiter": 1}, {"columns": {}}, {"columns": [1]},
    {"plain": "ab"}, {"plain": [1]}, {"marks_last": 1}, {"tokens": []}, {"unknown": 1},
]  # fmt: skip

WRONG_TOKENS = [
    {"bits": "22"}, {"bits": 0}, {"bits": 49}, {"bits": True}, {"words": 1}, {"words": [1]}, {"words": [2, 1]},
    {"words": [0, 3]}, {"characters": [3, 17]}, {"characters": ["3", 5]}, {"vocabulary": 1}, {"idf": None}, {"more": 1},
]  # fmt: skip

WRONG_COLUMNS = [
    {"name": 1}, {"kind": "pickle"}, {"kind": []}, {"values": "ab"}, {"values": [None]}, {"scales": [[0, 0, 0]]},
    {"scales": [[0, 1]]}, {"scales": [[0, 1, -1]]}, {"scales": {}}, {"mean": "1"}, {"mean": float("nan")},
    {"mean": 10**400}, {"first_day": 1.5}, {"first_day": 10**7}, {"width": -1}, {"width": 2**50}, {"weight": 0},
    {"weight": "1"}, {"marks_missing": 1}, {"more": 1},
]  # fmt: skip

UNSOUND = [
    {"name": "n", "values": ["a"]},
    {"name": "n", "kind": "category", "values": ["b", "a"]},
    {"name": "n", "kind": "category", "values": ["a", "a"]},
    {"name": "n", "first_day": 3},
    {"name": "n", "width": 2},
    {"name": "n", "scales": [[0, 1, 0]] * 2},
    {"name": "n", "kind": "category", "scales": [[0, 1, 0]]},
    {"name": "n", "kind": "date", "first_day": 3},
    {"name": "n", "kind": "text", "width": 4194304, "marks_missing": True},
    {"kind": "number"},
]


def refused(given, message):
    with pytest.raises(ModelFileError, match=message):
        Schema.from_json(json.dumps(given))


@pytest.mark.parametrize("changes", WRONG, ids=str)
def test_what_no_schema_says(changes):
    refused(json.loads(SCHEMA.to_json()) | changes, f"its schema says {next(iter(changes))}=")


@pytest.mark.parametrize("changes", WRONG_TOKENS, ids=str)
def test_what_no_options_of_text_say(changes):
    refused({"tokens": changes}, f"its schema says ({next(iter(changes))}|tokens)=")


@pytest.mark.parametrize("changes", WRONG_COLUMNS, ids=str)
def test_what_no_column_says(changes):
    refused({"columns": [{"name": "n"} | changes]}, f"its schema says {next(iter(changes))}=|is not sound")


@pytest.mark.parametrize("column", UNSOUND, ids=str)
def test_columns_that_reading_never_learns(column):
    refused({"columns": [column]}, "is not sound|has no name")


@pytest.mark.parametrize(
    "given",
    ["[]", "1", "", "{", "null", "[" * 100_000, '{"columns": [{"name": "a"}, {"name": "a"}]}',
     '{"columns": [{"name": "a"}, {"name": "t", "kind": "text", "width": 4194304}]}',
     '{"columns": [{"name": "t", "kind": "text", "width": 5}]}', '{"columns": [{"name": "a"}], "plain": ["a"]}',
     '{"columns": [{"name": "t", "kind": "text", "values": ["a"]}]}',
     '{"columns": [{"name": "l", "kind": "list", "width": 1099511627776}]}', b"\xff"],
)  # fmt: skip
def test_what_is_no_schema_at_all(given):
    with pytest.raises(ModelFileError):
        Schema.from_json(given)


def test_a_schema_reads_other_data_alike(tmp_path):
    columns = {
        "n": [1.0, 2.0, 4.0],
        "kind": ["a", None, "b"],
        "tags": [["x"], [], ["y", "x"]],
        "v": [[1, 2], [3, 4], [5, 7]],
    }
    pa.parquet.write_table(pa.table(columns), tmp_path / "all.parquet")
    table = read(str(tmp_path / "all.parquet"), schema=Schema(missing="indicator", scale="auto"))
    known = Schema.from_json(table.schema.to_json())
    for row in range(3):
        few = {name: values[row : row + 1] for name, values in reversed(columns.items())}
        pa.parquet.write_table(pa.table(few | {"more": [1]}), tmp_path / "one.parquet")
        again = read(str(tmp_path / "one.parquet"), schema=known)
        assert again.schema == known
        assert (table.X[[row], :] != again.X).nnz == 0


def test_pieces_are_merged_as_one_table():
    first = Schema(columns=(Column(name="k", kind="category", values=("b",)), Column(name="n", marks_missing=True)))
    other = Schema(columns=(Column(name="k", kind="category", values=("a", "b")), Column(name="n")))
    both = merged([first, other])
    assert both.names == ["k=a", "k=b", "n", "n is missing"]
    assert first.places_in(both) == [1, 2, 3]
    assert both.places_in(other) == [0, 1, 2, -1]
    plain = Schema(plain=("n", "m"))
    assert merged([plain, replace(plain, plain=("m", "n"))]) == plain
    assert plain.places_in(Schema(plain=("m", "n"))) == [1, 0]
