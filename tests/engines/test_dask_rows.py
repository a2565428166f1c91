"""A fit on Dask partitions gives the same bits as in memory, for any partitions and any workers."""

import dask
import dask.bag
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import wait
from pieces import QUICK, array, blocks, parts

from ramodo import REPEN, Conformal, Consensus, Sp
from ramodo.data.validation import DataError
from ramodo.engines.dask_collections import rows_of
from ramodo.engines.dask_rows import DaskRows
from ramodo.options import OptionError
from support.examples import with_outliers

FITTED = ("outlier_scores_", "initial_scores_", "loss_curve_", "row_norms_", "row_lengths_")


@pytest.fixture(scope="module", params=["sparse", "dense"], name="X")
def _both(request):
    X, _ = with_outliers()
    return X if request.param == "sparse" else X.toarray()


def same(there, here):
    for name in FITTED:
        assert getattr(there, name).tobytes() == getattr(here, name).tobytes(), name
    assert there.fingerprint_ == here.fingerprint_
    assert there.threshold_ == here.threshold_
    assert there.profile_.facts() == here.profile_.facts()
    for name, array_ in there.profile_.tensors().items():
        assert array_.tobytes() == here.profile_.tensors()[name].tobytes(), name


@pytest.mark.parametrize("n_parts", [1, 3, 16])
def test_the_same_bits(X, client, n_parts):
    here, data = REPEN(**QUICK).fit(X), array(X, n_parts)
    there = REPEN(**QUICK).fit(data)
    same(there, here)
    scores = there.outlier_score(data)
    assert scores.chunks[0] == data.chunks[0]
    assert scores.compute().tobytes() == here.outlier_scores_.tobytes()
    changed = 3 * X
    assert there.drift(array(changed, n_parts)) == here.drift(changed) != here.drift(X)


def test_the_same_bits_of_all_views(client):
    X, _ = with_outliers()
    here, data = Consensus(random_state=0).fit(X), array(X, 3)
    there = Consensus(random_state=0).fit(data)
    same(there, here)
    assert there.outlier_score(data).compute().tobytes() == here.outlier_scores_.tobytes()


@pytest.mark.parametrize(
    "options", [{"normalize": "l2", "n_estimators": 2, "cutoff": 0.1}, {"cutoff": Conformal(0.3)}], ids=str
)
def test_options_on_a_cluster(X, client, options):
    here, data = REPEN(**QUICK, **options).fit(X), array(X, 5)
    there = REPEN(**QUICK, **options).fit(data)
    same(there, here)
    for name in ("predict", "transform", "score_samples", "decision_function"):
        lazy, known = getattr(there, name)(data), getattr(here, name)(X)
        assert lazy.chunks[0] == data.chunks[0]
        assert (lazy.shape, lazy.dtype) == (known.shape, known.dtype)
        assert np.asarray(lazy).tobytes() == known.tobytes()
    assert there.diagnose().to_dict() == here.diagnose().to_dict()
    if len(there.calibration_scores_):
        assert np.asarray(there.p_values(data)).tobytes() == here.p_values(X).tobytes()
        assert (there.discoveries(data) == here.discoveries(X)).all()


def test_labels_on_a_cluster(X, client):
    labels = np.zeros(X.shape[0], dtype=int)
    labels[-3:], labels[:4] = 1, -1
    known = {"labels": labels, "labeled_outliers": with_outliers(1)[0][-4:]}
    here, there = REPEN(**QUICK).fit(X, **known), REPEN(**QUICK).fit(array(X, 3), **known)
    same(there, here)
    elsewhere = known | {"labeled_outliers": array(known["labeled_outliers"], 2)}
    same(REPEN(**QUICK).fit(array(X, 3), **elsewhere), here)
    with_labels = there.diagnose(array(X, 3), labels=labels).to_dict()
    assert with_labels == here.diagnose(X, labels=labels).to_dict()


def test_the_plain_distance_on_a_cluster(X, client):
    here, there = Sp(random_state=0).fit(X), Sp(random_state=0).fit(array(X, 3))
    assert there.outlier_scores_.tobytes() == here.outlier_scores_.tobytes()
    assert np.asarray(there.outlier_score(array(X, 3))).tobytes() == here.outlier_scores_.tobytes()


@pytest.mark.parametrize("n_queries", [1, 3])
def test_training_with_little_memory_gives_the_same_bits(X, n_queries):
    """Rows are taken for one epoch at a time; training continues from one to the next."""
    labels = np.where(np.arange(X.shape[0]) > 116, 1, 0)
    options = {**QUICK, "n_queries": n_queries, "n_epochs": 5, "samples_per_epoch": 20}
    here = REPEN(**options).fit(X, labels=labels)
    data = rows_of(blocks(X, 4))
    with dask.config.set({"ramodo.training-memory": "1 kB"}):
        assert data.epochs_at_once(np.arange(60).reshape(5, 4, 3)) == 1
        there = REPEN(**options).fit(data, labels=labels)
        same(there, here)
        assert there.feature_indices_.tobytes() == here.feature_indices_.tobytes()
        assert there.feature_weights_.tobytes() == here.feature_weights_.tobytes()
        again = REPEN(**options, warm_start=True).fit(data)
        again.fit(data, labels=labels)
    known = REPEN(**options, warm_start=True).fit(X)
    same(again, known.fit(X, labels=labels))


def test_memory_for_some_epochs():
    data = rows_of(blocks(np.ones((1000, 10)), 4))  # 80 bytes a row
    epochs = np.arange(600).reshape(10, 20, 3)
    for memory, n in (("1 GB", 10), ("48 kB", 10), ("24 kB", 5), ("1 B", 1)):
        with dask.config.set({"ramodo.training-memory": memory}):
            assert data.epochs_at_once(epochs) == n


def test_explaining_fetches_only_the_rows_asked_for(X, client):
    here, data = REPEN(**QUICK).fit(X), array(X, 6)
    there = REPEN(**QUICK).fit(data)
    numbers = [119, 3, 60]
    assert there.explain(data, rows=numbers).to_dict() == here.explain(X, rows=numbers).to_dict()
    assert [row.row for row in here.explain(X, rows=numbers)] == numbers
    everything = {row.row: row.score for row in here.explain(X)}
    assert [row.score for row in here.explain(X, rows=numbers)] == [everything[number] for number in numbers]
    rows = rows_of(data, there)
    assert rows.take(np.array(numbers)).n_rows == 3
    assert "_survey" not in rows.__dict__  # no look at other partitions
    assert rows.moved.rows < rows.moved.total < 20_000


@pytest.mark.parametrize("rows", [[], [-1], [120], [0.5], [[1]], "x"], ids=str)
def test_wrong_row_numbers_are_refused(fitted, data, rows):
    with pytest.raises(OptionError, match="rows must be row numbers of X, from 0 to 119"):
        fitted.explain(data[0], rows=rows)


def test_lists_of_delayed_blocks(X, client):
    here, there = REPEN(**QUICK).fit(X), REPEN(**QUICK).fit(blocks(X, 3))
    same(there, here)
    found = there.predict(blocks(X, 3))
    assert len(found) == 3
    assert np.concatenate(dask.compute(*found)).tobytes() == here.predict(X).tobytes()
    futures = client.compute(blocks(X, 3))
    same(REPEN(**QUICK).fit(futures), here)


def test_without_a_cluster(X):
    here, there = REPEN(**QUICK).fit(X), REPEN(**QUICK).fit(array(X, 3))
    same(there, here)
    assert there.fit(array(X, 3)).outlier_score(array(X, 3)).compute().tobytes() == here.outlier_scores_.tobytes()
    rows = rows_of(array(X, 3))
    rows.squared_norms()
    assert rows.moved.total == 0  # nothing leaves this process


def test_partitions_without_rows(X, client):
    there = REPEN(**QUICK).fit([*blocks(X, 2), dask.delayed(X[:0])])
    same(there, REPEN(**QUICK).fit(X))


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_persisted_data_stays_while_it_is_used(client, kind):
    X = with_outliers()[0].toarray()
    detector = REPEN(**QUICK).fit(X)
    data = array(X, 3) if kind == "array" else dd.from_pandas(pd.DataFrame(X), npartitions=3)
    held = client.persist(data)
    wait(held)
    rows, scores = rows_of(held), detector.outlier_score(held)
    del held
    assert rows.facts().n_seen == 40
    assert np.asarray(scores).tobytes() == detector.outlier_scores_.tobytes()


def test_several_column_chunks(client):
    X = with_outliers()[0].toarray()
    there = REPEN(**QUICK).fit(array(X, 3).rechunk((30, 7)))
    same(there, REPEN(**QUICK).fit(X))


def test_blocks_of_different_precision():
    """Partitions of different types give the same as one matrix."""
    X = with_outliers()[0]
    X.data = np.round(X.data)
    single = [dask.delayed(part.astype(kind)) for part, kind in ((X[:60], np.float32), (X[60:], np.float64))]
    same(REPEN(**QUICK).fit(single), REPEN(**QUICK).fit(X))


def test_what_travels_is_counted_and_reported(client, capsys):
    X, _ = with_outliers()
    REPEN(**QUICK, verbose=1).fit(array(X, 3))
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("moved")]
    assert "sent to workers" in line
    assert "% of the" in line
    rows = rows_of(array(X, 3))
    scores = rows.gather(_lengths)
    assert len(scores) == 120
    before = rows.moved.values
    rows.gather(_lengths)
    assert 0 < rows.moved.values - before < 3 * 120 * 8
    assert rows.n_bytes == sum(part.data.nbytes + part.indices.nbytes + 8 * (part.shape[0] + 1) for part in parts(X, 3))


def _lengths(block):
    return block.lengths()


def test_blocks_stay_where_they_are_if_there_is_room(client, monkeypatch):
    X, _ = with_outliers()
    rows = rows_of(blocks(X, 3))
    rows.gather(_lengths)
    assert all(len(source) == 1 for source in rows._sources)
    monkeypatch.setattr("ramodo.engines.dask_runner._KEPT", 0.0)
    again = rows_of(blocks(X, 3))
    assert (again.gather(_lengths) == rows.gather(_lengths)).all()
    assert all(len(source) == 3 for source in again._sources)


# ---- what is refused -------------------------------------------------------------------------------------------------


def test_an_unusable_value_names_its_partition(client):
    X = with_outliers()[0].toarray()
    X[70, 3] = np.nan
    with pytest.raises(DataError, match=r"partition 1 of X must be .* got NaN, first at row 10, column 3"):
        REPEN(**QUICK).fit(array(X, 2))


def test_another_number_of_columns_names_its_partition(client):
    X, _ = with_outliers()
    with pytest.raises(DataError, match="block 1 of X must have the 40 columns of block 0 of X, got 39"):
        REPEN(**QUICK).fit([dask.delayed(X[:50]), dask.delayed(X[50:, :39])])
    detector = REPEN(**QUICK).fit(X)
    with pytest.raises(DataError, match=r"block 0 of X must have the 40 features .* got 39"):
        dask.compute(*detector.outlier_score([dask.delayed(X[:, :39])]))


def test_sparse_among_dense_is_refused():
    X, _ = with_outliers()
    with pytest.raises(DataError, match="all sparse or all dense: block 1 of X is dense, block 0 of X is not"):
        REPEN(**QUICK).fit([dask.delayed(X[:50]), dask.delayed(X[50:].toarray())])


def test_other_collections_are_refused():
    with pytest.raises(DataError, match="Expected 2D array, got 1D array"):
        REPEN().fit(array(np.ones((6, 2)), 2)[0])
    with pytest.raises(DataError, match=r"must be a two-dimensional Dask array.*got a dask\.bag"):
        REPEN().fit(dask.bag.from_sequence([1]))
    with pytest.raises(DataError, match="at least one partition"):
        DaskRows([])
