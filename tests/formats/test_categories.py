"""Texts as numbers: what plain Python gives, for every way in which Arrow holds text."""

import numpy as np
import pyarrow as pa
import pytest

from ramodo.formats.categories import of_column, of_sets

TEXTS = ["b", None, "a", "", "b", "ß", "a b"]
SETS = [["b", "a", "b"], None, [], [None, ""], ["a"]]


def halves(values, kind):
    return pa.chunked_array([pa.array(values[:3], kind), pa.array(values[3:], kind)])


@pytest.mark.parametrize(
    "values",
    [
        pa.array(TEXTS),
        pa.array(TEXTS, pa.large_string()),
        pa.array(TEXTS).dictionary_encode(),
        pa.array(TEXTS, pa.dictionary(pa.uint8(), pa.string())),
        pa.array([*TEXTS, "unused"]).dictionary_encode()[:7],
        halves(TEXTS, pa.string()),
        halves(TEXTS, pa.dictionary(pa.int8(), pa.string())),
    ],
    ids=lambda values: f"{type(values).__name__} {values.type}",
)
def test_values_are_coded_in_order(values):
    coded = of_column(values)
    assert coded.texts == ["a", "a b", "b", "ß"]
    assert coded.gaps.tolist() == [False, True, False, True, False, False, False]
    there = [(row, text) for row, text in enumerate(TEXTS) if text]
    assert [(row, coded.texts[code]) for row, code in zip(coded.rows, coded.codes, strict=True)] == there


def test_other_things_become_their_text():
    numbers = pa.array([2.5, 1.0, None]).dictionary_encode()
    assert of_column(numbers).texts == ["1.0", "2.5"]


@pytest.mark.parametrize(
    "values",
    [pa.array(SETS), pa.array(SETS, pa.large_list(pa.string())), halves(SETS, pa.list_(pa.string()))],
    ids=lambda values: f"{type(values).__name__} {values.type}",
)
def test_rows_have_each_of_their_texts_once(values):
    coded = of_sets(values)
    pairs = [(row, coded.texts[code]) for row, code in zip(coded.rows, coded.codes, strict=True)]
    assert pairs == [(0, "a"), (0, "b"), (4, "a")]
    assert coded.gaps.tolist() == [False, True, False, False, False]


@pytest.mark.parametrize("coded", [of_column, of_sets])
@pytest.mark.parametrize("n", [0, 2])
def test_nothing_is_coded_as_nothing(coded, n):
    rows, codes, texts, gaps = coded(pa.nulls(n))
    assert (len(rows), len(codes), texts, gaps.tolist()) == (0, 0, [], [True] * n)
    assert np.issubdtype(codes.dtype, np.integer)
