"""Scales: what each way does to a column, that it can be undone, and that zeros stay where data are sparse."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.sparse as sp

from ramodo.formats import FormatError, Schema, folder, read
from ramodo.formats.scales import Scale, Scales, of_matrix
from ramodo.formats.table import Table

RNG = np.random.default_rng(0)
COLUMNS = {
    "normal": RNG.normal(300, 5, 500),
    "heavy": RNG.lognormal(6, 1.5, 500),
    "share": RNG.random(500),
    "flag": (RNG.random(500) < 0.1).astype(float),
    "counts": np.where(RNG.random(500) < 0.8, 0.0, RNG.poisson(9, 500) + 1.0),
    "constant": np.full(500, 7.0),
    "huge": RNG.normal(0, 1e200, 500),
    "logarithms": np.log(RNG.lognormal(0, 2, 500)),
    "zeros": np.zeros(500),
}


@pytest.mark.parametrize("how", ["auto", "standard", "robust", "log"])
@pytest.mark.parametrize("name", COLUMNS)
def test_what_is_done_can_be_undone(name, how):
    values = COLUMNS[name]
    scale = Scale.learned(values, how)
    scaled = scale.apply(values)
    assert np.isfinite(scaled).all()
    again = Scales([scale]).undo(np.zeros(len(values), dtype=int), scaled)
    assert again == pytest.approx(values, rel=1e-5, abs=1e-5 * float(np.abs(values).max()))


def test_auto_by_column():
    scales = {name: Scale.learned(values, "auto") for name, values in COLUMNS.items()}
    assert scales["share"] == scales["flag"] == scales["zeros"] == Scale()
    for name in ("normal", "heavy", "logarithms", "huge"):
        scaled = scales[name].apply(COLUMNS[name])
        assert scaled.mean() == pytest.approx(0, abs=1e-9)
        assert scaled.std() == pytest.approx(1)
    assert scales["heavy"].unit > 0
    assert scales["normal"].unit == scales["logarithms"].unit == 0
    assert (scales["constant"].apply(COLUMNS["constant"]) == 0).all()
    counts = scales["counts"].apply(COLUMNS["counts"])
    assert ((counts == 0) == (COLUMNS["counts"] == 0)).all()
    assert np.mean(counts[counts > 0] ** 2) == pytest.approx(1)


def test_a_few_outliers_do_not_make_a_tail():
    values = RNG.normal(20, 1, 500)
    values[:5] = 1e6
    assert Scale.learned(values, "auto").unit == 0


def test_robust_is_not_moved_by_outliers():
    values = RNG.normal(20, 1, 500)
    before = Scale.learned(values, "robust")
    values[:5] = 1e6
    assert Scale.learned(values, "robust") == pytest.approx(before, rel=0.1)
    assert Scale.learned(np.array([1.0] * 9 + [5.0]), "robust").width == pytest.approx(1.2)  # no quartiles: standard


def test_scales_do_not_depend_on_units():
    values = COLUMNS["heavy"]
    one, other = (Scale.learned(values * factor, "auto").apply(values * factor) for factor in (1, 1e-9))
    assert one == pytest.approx(other)


@pytest.mark.parametrize("how", ["auto", "standard", "robust", "log"])
@pytest.mark.parametrize("others", [0.0, 5e-324, -1e-320, 1e-310, 2e-200, 1.0, 1e30])
def test_numbers_too_small_to_divide_by_count_as_zero(how, others):
    values = np.where(np.arange(12) % 4, 5e-324, others)
    scales = [Scale.learned(values, how), *of_matrix(sp.csr_array(values[:, None]), how)]
    for scale in scales:
        scaled = scale.apply(values)
        assert np.isfinite(scaled).all()
        back = Scales([scale]).undo(np.zeros(12, dtype=int), scaled)
        assert np.allclose(back, values, rtol=1e-6, atol=1e-6)


def test_sparse_columns_keep_their_zeros():
    X = sp.random_array((200, 6), density=0.2, random_state=np.random.default_rng(0), format="csr") * 100
    for how in ("auto", "standard", "robust", "log"):
        scaled = Scales(of_matrix(X, how)).apply(X)
        assert scaled.nnz == X.nnz
        assert (scaled.indices == X.indices).all()


def test_centred_columns_of_a_sparse_matrix_are_centred_everywhere():
    dense = RNG.normal(3, 1, (50, 3)) * (RNG.random((50, 3)) < 0.5)
    scales = Scales([Scale(2.0, 3.0), Scale(0.0, 2.0, 1.5), Scale(1.0, 1.0)])
    assert scales.apply(sp.csr_array(dense)).toarray() == pytest.approx(scales.apply(dense))


def test_a_matrix_is_scaled_as_it_was(tmp_path):
    np.save(tmp_path / "data.npy", np.stack([COLUMNS["normal"], COLUMNS["heavy"]], axis=1))
    path = str(tmp_path / "data.npy")
    assert (np.load(path) == read(path).X).all()
    table = read(path, schema=Schema(scale="auto"))
    assert table.X.std(axis=0) == pytest.approx(1)
    np.save(path, np.load(path)[:3])
    again = read(path, schema=table.schema)
    assert (table.X[:3] == again.X).all()


def test_rows_on_disk_are_not_scaled(tmp_path, monkeypatch):
    monkeypatch.setattr("ramodo.data.mapped.IN_MEMORY", 0)
    folder.write(tmp_path / "data.rows", Table(sp.random_array((20, 9), density=0.9, format="csr")))
    with pytest.raises(FormatError, match=r"--scale must be none, since .*data.rows stays on disk, got auto"):
        read(str(tmp_path / "data.rows"), schema=Schema(scale="auto"))


# ---- dates and lists -------------------------------------------------------------------------------------------------


@pytest.fixture
def arrow(tmp_path):
    def read_columns(options, **columns):
        pa.parquet.write_table(pa.table(columns), tmp_path / "data.parquet")
        return read(str(tmp_path / "data.parquet"), schema=options)

    return read_columns


def test_dates_are_what_people_mean(arrow):
    times = [dt.datetime(2024, 1, 1, 6) + dt.timedelta(hours=12 * i) for i in range(28)]  # from a Monday on
    table = arrow(Schema(scale="auto"), time=pa.array(times, pa.timestamp("s")))
    assert table.names == [
        "time, days since 2024-01-01",
        "time hour (sine)",
        "time hour (cosine)",
        "time weekday (sine)",
        "time weekday (cosine)",
    ]
    days, hour_sine, hour_cosine, week_sine, week_cosine = table.X.T
    assert days.std() == pytest.approx(1)
    assert hour_sine == pytest.approx([1, -1] * 14)
    assert hour_cosine == pytest.approx([0] * 28, abs=1e-4)
    assert week_sine[0] ** 2 + week_cosine[0] ** 2 == pytest.approx(1)
    assert week_sine[14:] == pytest.approx(week_sine[:14])
    assert week_cosine[14:] == pytest.approx(week_cosine[:14])
    shown = table.schema.scales.undo(np.zeros(2, dtype=int), days[:2])
    assert shown == pytest.approx([0.25, 0.75])


def test_midnight_and_monday_are_there_and_far_from_missing(arrow):
    """A sine of 0 would be a feature that the row lacks."""
    times = pa.array([dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 7, 23, 59), None], pa.timestamp("s"))
    table = arrow(Schema(scale="auto", missing="zero"), time=times)
    assert np.count_nonzero(table.X[:, 1:], axis=1).tolist() == [4, 4, 0]
    circles = table.schema.circles
    values = [[circle.value(*row[list(circle.columns)]) for circle in circles] for row in table.X[:2]]
    assert [[circle.shown(v) for circle, v in zip(circles, row, strict=True)] for row in values] == [
        ["00:00", "Mon"],
        ["23:59", "Sun"],
    ]
    assert [circle.name for circle in circles] == ["time, hour of the day", "time, day of the week"]
    assert np.linalg.norm(table.X[0, 1:3] - table.X[1, 1:3]) < 0.01  # a minute


def test_dates_that_are_missing(arrow):
    times = [dt.datetime(2024, 1, 1), None, dt.datetime(2024, 1, 3)]
    table = arrow(Schema(scale="auto", missing="indicator"), time=pa.array(times, pa.timestamp("s")))
    assert table.names[-1] == "time is missing"
    assert table.X[1].tolist() == [0, 0, 0, 0, 0, 1]
    with pytest.raises(FormatError, match=r"row 1, column 'time': the value is missing"):
        arrow(Schema(scale="auto"), time=pa.array(times, pa.timestamp("s")))


@pytest.mark.parametrize("kind", [pa.list_(pa.float32()), pa.list_(pa.float32(), 2), pa.large_list(pa.int64())])
def test_lists_of_numbers_are_columns(arrow, kind):
    table = arrow(None, vector=pa.array([[1, 2], [3, 4], [5, 7]], kind), n=[1, 2, 3])
    assert table.names == ["vector.0", "vector.1", "n"]
    assert table.X.tolist() == [[1, 2, 1], [3, 4, 2], [5, 7, 3]]


def test_an_embedding_is_scaled_as_one_thing(arrow):
    matrix = RNG.normal(2, 1, (300, 8)) * np.arange(1, 9)
    table = arrow(Schema(scale="auto"), vector=list(matrix))
    assert table.X.var(axis=0).sum() == pytest.approx(1)
    assert np.corrcoef(table.X.std(axis=0), matrix.std(axis=0))[0, 1] == pytest.approx(1)


def test_lists_that_do_not_fit_are_refused(arrow):
    with pytest.raises(
        FormatError, match=r"'vector' must hold lists of one length, got lists of 2 values and one of 3 in row 1"
    ):
        arrow(None, vector=[[1, 2], [3, 4, 5]])
    with pytest.raises(FormatError, match=r"row 1, column 'vector': the value is missing"):
        arrow(None, vector=[[1, 2], None])
    with pytest.raises(FormatError, match="column 'vector'"):
        arrow(None, vector=[[b"a"], [b"b"]])


def test_lists_of_texts_are_a_column_for_each_value(arrow):
    table = arrow(None, tags=[["new", "sale"], ["new"]], n=[1, 2])
    assert table.names == ["tags=new", "tags=sale", "n"]
    assert table.X.toarray().tolist() == [[1, 1, 1], [1, 0, 2]]


def test_columns_within_columns(arrow):
    table = arrow(None, user=[{"age": 3, "at": {"x": 1}}, {"age": 4, "at": {"x": 2}}])
    assert table.names == ["user.age", "user.at.x"]
    assert table.X.tolist() == [[3, 1], [4, 2]]
