"""Frames of any library: read as files are, by detectors themselves, with the same bits everywhere."""

import warnings

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from ramodo import REPEN, Consensus, Sp, TableReader
from ramodo.data.validation import DataError
from ramodo.formats import FormatError
from ramodo.options import OptionError
from support.mixed_frame import ODD, N, visits


def frames_of(frame):
    yield pytest.param(lambda: frame, id="pandas")
    yield pytest.param(lambda: pl.from_pandas(frame), id="polars")
    yield pytest.param(lambda: pl.from_pandas(frame).lazy(), id="polars plan")
    yield pytest.param(lambda: pa.Table.from_pandas(frame), id="pyarrow")
    yield pytest.param(lambda: pa.RecordBatch.from_pandas(frame), id="record batch")
    yield pytest.param(lambda: duckdb.from_arrow(pa.Table.from_pandas(frame)), id="DuckDB")


@pytest.fixture(scope="module")
def fitted():
    frame = visits()
    return frame, Consensus(random_state=0).fit(TableReader("note").fit_read(frame))


@pytest.mark.parametrize("make", list(frames_of(visits())))
def test_every_library_gives_the_same_bits(fitted, make):
    _, detector = fitted
    wanted = detector.outlier_scores_
    assert detector.outlier_score(make()).tobytes() == wanted.tobytes()
    again = Consensus(random_state=0).fit(TableReader("note").fit_read(make()))
    assert again.outlier_scores_.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("kind", [Consensus, REPEN, Sp])
def test_detectors_read_mixed_frames_by_themselves(kind):
    frame = visits().drop(columns="note")
    detector = kind(random_state=0).fit(frame)
    assert (
        detector.outlier_scores_.tobytes()
        == kind(random_state=0).fit(TableReader().fit_read(frame)).outlier_scores_.tobytes()
    )
    assert detector.outlier_scores_.argmax() == ODD
    assert detector.outlier_score(frame).tobytes() == detector.outlier_scores_.tobytes()
    assert detector.predict(frame)[ODD] == -1
    assert "country=NZ" in detector.feature_names_in_
    assert detector.outlier_score(frame.iloc[[ODD]])[0] == detector.outlier_scores_[ODD]
    assert detector.outlier_score(frame[frame.columns[::-1]]).tobytes() == detector.outlier_scores_.tobytes()


def test_explanations_show_values_of_the_frame_and_name_rows_by_its_index():
    frame = visits().set_index(pd.Index([f"visit {i}" for i in range(N)]))
    detector = Consensus(random_state=0).fit(frame.drop(columns="note"))
    why = detector.explain(frame, rows=[ODD])
    first = why[0].reasons[0]
    assert (first.feature, first.value) == ("volt", 30.0)
    assert str(why).startswith("row visit 7: score")
    assert "nearest training rows: visit " in str(why)
    lines = why.to_frame()
    assert set(lines["row"]) == {"visit 7"}
    assert lines["contribution"].sum() == pytest.approx(detector.outlier_scores_[ODD])
    numbers = frame[["pascal", "volt"]] / [1e4, 1]
    assert str(REPEN(random_state=0).fit(numbers).explain(numbers, rows=[3])).startswith("row visit 3: ")


def test_explanations_quote_documents(fitted):
    frame, detector = fitted
    odd = frame.iloc[[0]].assign(note="order 0 was stolen by pirates")
    assert any("pirates" in reason.feature for reason in detector.explain(odd)[0].reasons)


def test_reports_show_values_of_the_frame(fitted, tmp_path):
    frame, detector = fitted
    page = detector.report(frame, tmp_path / "visits.html", ids=[f"visit {i}" for i in range(N)]).read_text()
    assert "visit 7" in page
    assert "order 7 was fine" in page


def test_missing_values_are_marked():
    frame = visits().drop(columns="note")
    frame.loc[3, ["volt", "country"]] = None
    detector = Consensus(random_state=0).fit(frame)
    assert {"volt is missing", "country is missing"} <= set(detector.feature_names_in_)
    assert detector.outlier_score(frame.iloc[[3]])[0] == detector.outlier_scores_[3]


def test_objects_of_several_types_are_text():
    frame = visits()[["volt"]].assign(code=pd.Series([1, "a"] * (N // 2), dtype=object))
    assert list(Consensus(random_state=0).fit(frame).feature_names_in_) == ["volt", "code=1", "code=a"]


def test_labelled_rows_are_read_as_the_others():
    frame = visits().drop(columns="note")
    detector = Consensus(random_state=0).fit(frame, labeled_outliers=frame.iloc[[ODD]])
    assert detector.model_.has_labels


def test_frames_of_numbers_stay_matrices():
    frame = pd.DataFrame(np.random.default_rng(0).random((40, 3)), columns=["a", "b", "c"])
    wanted = REPEN(random_state=0).fit(frame)
    assert wanted.schema_ is None
    for make in (pl.from_pandas, pa.Table.from_pandas, lambda f: duckdb.from_arrow(pa.Table.from_pandas(f))):
        found = REPEN(random_state=0).fit(make(frame))
        assert found.outlier_scores_.tobytes() == wanted.outlier_scores_.tobytes()
        assert list(found.feature_names_in_) == ["a", "b", "c"]
        assert wanted.outlier_score(make(frame)).tobytes() == wanted.outlier_scores_.tobytes()
    with pytest.raises(
        DataError, match="X must have the 3 features that REPEN was fitted to, in their order, got 3 others"
    ):
        wanted.outlier_score(pa.Table.from_pandas(frame[["c", "b", "a"]]))


def test_very_different_scales_are_warned_of_once():
    frame = visits()[["pascal", "volt"]].assign(ohm=np.random.default_rng(1).random(N))
    with pytest.warns(
        UserWarning, match=r"column 'pascal' of X varies [\d,]+ times as much as most others.*TableReader"
    ) as told:
        Consensus(random_state=0).fit(frame)
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Consensus(random_state=0).fit(TableReader().fit_read(frame)).outlier_scores_.argmax() == ODD


def test_absent_columns_are_named_as_the_frame_has_them(fitted):
    frame, detector = fitted
    with pytest.raises(FormatError, match=r"X must have all 7 columns .* it lacks 1, such as 'device'"):
        detector.outlier_score(frame.drop(columns="device"))


# ---- the reader ------------------------------------------------------------------------------------------------------


def test_the_reader_is_a_transformer():
    frame = visits()
    reader = TableReader("note", ignore="place", bits=10)
    X = clone(reader).fit_transform(frame)
    assert X.shape == (N, len(clone(reader).fit(frame).get_feature_names_out()))
    scores = make_pipeline(reader, REPEN(random_state=0)).fit(frame).score_samples(frame)
    assert scores.tobytes() == REPEN(random_state=0).fit(X).score_samples(X).tobytes()


def test_the_reader_names_rows_by_a_column(fitted):
    frame, _ = fitted
    rows = TableReader(id="note").fit_read(frame)
    assert rows.ids[2] == "order 2 was lost"
    assert "note" not in {column.name for column in rows.schema.columns}


def test_output_can_be_a_frame():
    frame = visits()[["pascal", "volt"]]
    found = TableReader(scale="standard").set_output(transform="pandas").fit_transform(frame)
    assert list(found) == ["pascal", "volt"]
    np.testing.assert_allclose(found.std(ddof=0), 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": "wide"}, "scale must be .*'robust' or 'log', got 'wide'"),
        ({"missing": "drop"}, "missing must be .*'indicator', got 'drop'"),
        ({"words": (2, 1)}, "words, characters and bits must be ranges"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(OptionError, match=message):
        TableReader(**options).fit(visits())


def test_refused():
    with pytest.raises(DataError, match="X must be a data frame, whose columns have names, got ndarray"):
        TableReader().fit(np.ones((3, 3)))
    with pytest.raises(FormatError, match="X has no column 'id'; it has volt"):
        TableReader(id="id").fit(visits()[["volt"]])
    with pytest.raises(
        FormatError, match=r"X, row 1, column 'volt': the value is missing; say what to do with missing=zero"
    ):
        TableReader(missing="error").fit(pd.DataFrame({"volt": [1.0, None]}))
    with pytest.raises(
        FormatError, match=r"'span' must hold numbers, .*, got duration.*Leave it out with ignore='span'"
    ):
        TableReader().fit(pd.DataFrame({"span": pd.to_timedelta([1, 2])}))
    with pytest.raises(FormatError, match=r"X has 0 sample\(s\)"):
        TableReader().fit(pd.DataFrame({"a": []}, dtype=str))
