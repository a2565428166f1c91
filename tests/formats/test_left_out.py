"""Row numbers and columns of one value are left out, with a sentence; what only looks like them stays."""

import numpy as np
import pandas as pd
import pytest

from ramodo import TableReader

N = 40


def frame(**more):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"x": rng.normal(size=N), "kind": rng.choice(["a", "b"], N)} | more)


def read(data, **options):
    with pytest.warns(UserWarning, match="column|no name") as said:
        names = TableReader(**options).fit(data).get_feature_names_out().tolist()
    return names, [str(each.message) for each in said]


@pytest.mark.parametrize(
    ("values", "is_left_out"),
    [
        (np.arange(N), True),
        (np.arange(N) + 7, True),
        (np.delete(np.arange(N + 10), np.arange(3, 33, 3)), True),
        (np.arange(N)[::-1].copy(), False),
        (np.arange(N) * 3, False),
        (np.arange(N) * 1.0, False),
        (np.maximum(np.arange(N), 1), False),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_row_numbers(values, is_left_out):
    names = TableReader().fit(frame(n=values)).get_feature_names_out().tolist()
    assert ("n" in names) != is_left_out


def test_what_is_left_out_is_said():
    data = frame(
        n=np.arange(N), country="NZ", zero=0, when=pd.Timestamp("2026-01-01"), level=pd.Categorical(["low"] * N)
    )
    names, said = read(data)
    assert names == ["x", "kind=a", "kind=b"]
    assert said == [
        "column 'n' counts the rows: it is left out. To name rows by it give id='n'.",
        "columns 'country', 'zero', 'when', 'level' have the same value in all rows: they are left out.",
    ]
    assert read(data, id="n")[1] == said[1:]
    assert read(data.rename(columns={"n": "Unnamed: 0"}))[1][0].startswith(
        "Unnamed: 0 has no name and counts the rows:"
    )


def test_a_model_needs_none_of_them():
    reader = TableReader()
    with pytest.warns(UserWarning, match="left out"):
        reader.fit(frame(n=np.arange(N), zero=0))
    assert (reader.transform(frame()) != reader.transform(frame(n=5, zero=1))).nnz == 0


@pytest.mark.filterwarnings("error")
def test_what_is_kept():
    few = frame(n=np.arange(N), zero=0)[:19]
    assert TableReader().fit(few).get_feature_names_out().tolist() == ["x", "kind=a", "kind=b", "n", "zero"]
    gaps = frame(some=[None, *["a"] * (N - 1)])
    assert "some is missing" in TableReader().fit(gaps).get_feature_names_out()
    nothing_else = frame(zero=0)[["zero"]]
    assert TableReader().fit(nothing_else).get_feature_names_out().tolist() == ["zero"]


def test_sentences_are_told_from_categories():
    names, said = read(frame(note=[f"order {i} was late" for i in range(N)]))
    assert said == ["column 'note' has sentences: its words are compared, as with text='note'."]
    assert names[0] == "token 0"
    few = TableReader().fit(frame(note=[f"order {i % 9} was late" for i in range(N)]))
    assert "note=order 3 was late" in few.get_feature_names_out()
    _, said = read(frame(note=[f"order {i}" for i in range(N)]))
    assert said == [
        "column 'note' is text with 40 values in 40 rows: it became 40 columns, one for each value. "
        "To compare its words give text='note'."
    ]
    _, said = read(frame(who=[f"user{i}" for i in range(N)]))
    assert "If it names the rows give id='who'" in said[0]
