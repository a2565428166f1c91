"""Dask data frames: numbers as they are, categories as files of them are read, scores with the index of the rows."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from pieces import QUICK

from ramodo import REPEN, Consensus, formats
from ramodo.formats import FormatError
from support.examples import with_outliers


@pytest.fixture(scope="module")
def visits():
    """A table with text, a category and numbers; some values occur in one partition alone."""
    rng = np.random.default_rng(0)
    n = 90
    country = np.array(["NZ", "FR", "DE"])[rng.integers(3, size=n)].astype(object)
    country[-3:] = "XX"
    day = pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(30, size=n), unit="D")
    frame = pd.DataFrame({"country": country, "seconds": rng.random(n), "bot": rng.random(n) < 0.5, "day": day})
    frame["browser"] = pd.Categorical(np.array(["a", "b"])[rng.integers(2, size=n)])
    frame.loc[0, "country"] = "AA"
    return frame.set_index(pd.Index(np.arange(n) * 10))


def test_numbers(client):
    frame = pd.DataFrame(with_outliers()[0].toarray()).rename(columns=lambda i: f"f{i}")
    here = REPEN(**QUICK).fit(frame)
    data = dd.from_pandas(frame, npartitions=3)
    there = REPEN(**QUICK).fit(data)
    assert there.outlier_scores_.tobytes() == here.outlier_scores_.tobytes()
    assert list(there.feature_names_in_) == list(frame.columns)
    for name in ("outlier_score", "predict", "decision_function"):
        lazy = getattr(there, name)(data)
        assert isinstance(lazy, dd.Series)
        assert lazy.divisions == data.divisions
        assert lazy.compute().to_numpy().tobytes() == getattr(here, name)(frame).tobytes()
    mapped = there.transform(data)
    assert isinstance(mapped, dd.DataFrame)
    assert mapped.compute().to_numpy().tobytes() == here.transform(frame).tobytes()


@pytest.mark.parametrize("kind", [REPEN, Consensus])
def test_categories_are_encoded_as_files_are(client, visits, tmp_path, kind):
    visits.to_parquet(tmp_path / "a.parquet", index=False)
    table = formats.read(str(tmp_path / "a.parquet"))
    options = QUICK if kind is REPEN else {"random_state": 0}
    here = kind(**options).fit(table.X)
    data = dd.from_pandas(visits, npartitions=4)
    there = kind(**options).fit(data)
    assert list(there.feature_names_in_) == list(table.names)
    assert there.outlier_scores_.tobytes() == here.outlier_scores_.tobytes()
    scores = there.outlier_score(data).compute()
    assert scores.to_numpy().tobytes() == here.outlier_scores_.tobytes()
    assert (scores.index == visits.index).all()
    names = {reason.feature for row in there.explain(data, rows=[88]) for reason in row.reasons}
    assert "country=XX" in names


def test_new_values_of_a_category_are_nothing_the_model_knows(visits):
    there = REPEN(**QUICK).fit(dd.from_pandas(visits, npartitions=2))
    new = visits.assign(country="YY")
    without = visits.assign(country="AA")
    scores = [there.outlier_score(dd.from_pandas(frame, npartitions=1)).compute() for frame in (new, without)]
    assert (scores[0] != scores[1]).any()


def test_other_columns_are_refused(visits):
    there = REPEN(**QUICK).fit(dd.from_pandas(visits, npartitions=2))
    with pytest.raises(FormatError, match="partition 0 of X lacks the column 'seconds'"):
        there.outlier_score(dd.from_pandas(visits.drop(columns="seconds"), npartitions=1)).compute()


def test_missing_values_name_their_partition(visits):
    gap = visits.copy()
    gap.loc[gap.index[50], "country"] = None
    with pytest.raises(FormatError, match=r"partition 1 of X, row 5, column 'country': the value is missing"):
        REPEN(**QUICK).fit(dd.from_pandas(gap, npartitions=2))
