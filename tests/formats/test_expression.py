"""Genes: one logarithm for all, counts per million, the most variable, batches, and files as biologists have them."""

import gzip

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from ramodo import Consensus, TableReader, load
from ramodo.formats import FormatError, Schema, expression, read
from ramodo.serving import SavedModel

pytestmark = pytest.mark.filterwarnings(
    "ignore:the values are:UserWarning", "ignore:columns? .* the same value in all rows:UserWarning"
)

SYMBOLS = [f"{'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[i % 26]}{'KLMNOPQRST'[i // 26 % 10]}X{i}" for i in range(300)]


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    means = 1 + rng.lognormal(1, 2, 300)
    return pd.DataFrame(
        rng.poisson(means * rng.uniform(0.5, 2, (40, 1))),
        columns=SYMBOLS,
        index=[f"cell {i}" for i in range(40)],
    )


@pytest.fixture
def files(tmp_path, counts):
    counts.to_csv(tmp_path / "cells.csv", index_label="cell")
    counts.reset_index(names="cell").to_parquet(tmp_path / "cells.parquet")
    obs, var = pd.DataFrame(index=counts.index), pd.DataFrame(index=SYMBOLS)
    cells = anndata.AnnData(sp.csr_matrix(counts.to_numpy(np.float32)), obs, var)
    cells.layers["raw"] = cells.X * 2
    cells.write_h5ad(tmp_path / "cells.h5ad")
    return tmp_path


def of_median_depth(X):
    totals = X.sum(axis=1, keepdims=True)
    return np.log1p(X / totals * np.median(totals))


def test_counts_of_genes_become_logarithms_of_counts_of_median_depth(files, counts):
    table = read(str(files / "cells.csv"), schema=Schema(id="cell", scale="auto"))
    np.testing.assert_allclose(table.X, of_median_depth(counts.to_numpy()), rtol=1e-12)
    assert "counts per million" in table.notes[-1]
    assert table.names == SYMBOLS


def test_the_same_matrix_is_the_same_from_every_file(files, counts):
    own = (Schema(id="cell", scale="auto", top_variable=50),) * 2 + (Schema(scale="auto", top_variable=50),)
    tables = [
        read(str(files / name), schema=schema)
        for name, schema in zip(("cells.csv", "cells.parquet", "cells.h5ad"), own, strict=True)
    ]
    tables.append(TableReader(top_variable=50).fit_read(counts))
    for other in tables[1:]:
        np.testing.assert_array_equal(other.X.toarray() if sp.issparse(other.X) else other.X, tables[0].X)
        assert other.names == tables[0].names
    scores = [Consensus(random_state=0).fit(table).outlier_scores_ for table in tables]
    for other in scores[1:]:
        np.testing.assert_array_equal(np.argsort(other), np.argsort(scores[0]))


def test_the_columns_that_vary_most_are_kept_in_their_order(counts):
    reader = TableReader(top_variable=7).fit(counts)
    variance = of_median_depth(counts.to_numpy()).var(axis=0)
    assert reader.get_feature_names_out().tolist() == [SYMBOLS[i] for i in sorted(np.argsort(-variance)[:7])]
    assert TableReader(top_variable=0).fit(counts).n_features_in_ == 300


def test_a_model_counts_the_totals_over_all_genes(files, counts, tmp_path):
    rows = TableReader(top_variable=50).fit_read(counts)
    detector = Consensus(random_state=0).fit(rows)
    detector.save(tmp_path / "m.ramodo")
    again = load(tmp_path / "m.ramodo")
    np.testing.assert_array_equal(again.outlier_score(counts), detector.outlier_scores_)
    np.testing.assert_array_equal(again.outlier_score(counts.iloc[:, ::-1].head(3)), detector.outlier_scores_[:3])
    records = counts.head(2).to_dict("records")
    np.testing.assert_array_equal(
        [row["score"] for row in SavedModel(tmp_path / "m.ramodo").score_rows(records)], detector.outlier_scores_[:2]
    )
    table = read(str(files / "cells.h5ad"), schema=again.schema_)
    np.testing.assert_allclose(again.outlier_score(table), detector.outlier_scores_, rtol=1e-9)
    absent = next(name for name in SYMBOLS if name not in rows.names)
    with pytest.raises(ValueError, match=f"lacks 1, such as '{absent}'"):
        again.outlier_score(counts.drop(columns=absent))


def test_a_layer_is_read_in_place_of_x(files):
    plain = read(str(files / "cells.h5ad"), schema=Schema(layer="raw", scale="none"))
    np.testing.assert_array_equal(plain.X.toarray(), 2 * read(str(files / "cells.h5ad")).X.toarray())
    with pytest.raises(FormatError, match="has no layer 'row'; it has 'raw'"):
        read(str(files / "cells.h5ad"), schema=Schema(layer="row"))


@pytest.mark.parametrize(
    ("values", "unit"),
    [("logarithms", 0.0), ("intensities", 1.0), ("shares", 1e-6), ("standardised", 0.0)],
)
def test_what_values_are_decides_their_logarithm(values, unit):
    rng = np.random.default_rng(0)
    X = rng.lognormal(4, 2, (30, 200))
    X = {
        "logarithms": np.log2(X + 1),
        "intensities": X - 3,
        "shares": X / X.sum(axis=1, keepdims=True),
        "standardised": rng.normal(0, 1, (30, 200)),
    }[values]
    reader = TableReader().fit(pd.DataFrame(X, columns=SYMBOLS[:200]))
    assert {column.scales[0].unit if column.scales else 0.0 for column in reader.schema_.columns} == {unit}


def test_log_is_the_plain_logarithm_of_any_table():
    frame = pd.DataFrame({"a": [0.0, 9.0, 99.0], "b": [-9.0, 1.0, 0.0]})
    found = TableReader(scale="log").fit_transform(frame)
    np.testing.assert_allclose(found, np.sign(frame) * np.log1p(np.abs(frame)))


@pytest.mark.parametrize(
    ("names", "are"),
    [
        ([f"{200_000 + i}_{'s_' if i % 3 else ''}at" for i in range(200)], True),
        ([f"ENSG{i:011d}.{i % 9}" for i in range(200)], True),
        ([f"gene_{i}" for i in range(200)], True),
        (SYMBOLS, True),
        ([f"V{i}" for i in range(200)], False),
        ([f"column {i}" for i in range(200)], False),
        ([a + b + "ly" for a in "abcdefghijklmnop" for b in "abcdefghijklmnop"], False),
        (SYMBOLS[:50], False),
    ],
)
def test_names_of_genes(names, are):
    assert expression.are_genes(names) is are


def test_rows_are_centred_within_their_batch(counts, tmp_path):
    frame = counts.assign(batch=["x", "y"] * 20)
    frame.loc[frame.batch == "y", SYMBOLS] *= np.random.default_rng(1).integers(1, 9, 300)
    reader = TableReader(within="batch", scale="none").fit(frame)
    found = reader.transform(frame)
    np.testing.assert_allclose(found[::2].mean(axis=0), found[1::2].mean(axis=0))
    np.testing.assert_allclose(found.mean(axis=0), frame[SYMBOLS].to_numpy().mean(axis=0))
    np.testing.assert_array_equal(reader.transform(frame.assign(batch="z")), frame[SYMBOLS].to_numpy())
    detector = Consensus(random_state=0).fit(reader.fit_read(frame))
    detector.save(tmp_path / "m.ramodo")
    np.testing.assert_array_equal(load(tmp_path / "m.ramodo").outlier_score(frame), detector.outlier_scores_)


def test_a_table_of_genes_by_samples_is_noticed_and_turned(tmp_path):
    rng = np.random.default_rng(0)
    names = [f"ENSG{i:011d}" for i in range(1_200)]
    frame = pd.DataFrame(rng.lognormal(5, 1, (1_200, 30)), index=names, columns=[f"s{i}" for i in range(30)])
    frame.to_csv(tmp_path / "turned.csv", index_label="gene")
    path = str(tmp_path / "turned.csv")
    notes = read(path, schema=Schema(id="gene", scale="auto")).notes
    assert any("1,200 rows and 30 columns with gene names as ids" in note for note in notes)
    table = read(path, schema=Schema(transpose=True, scale="auto"))
    np.testing.assert_allclose(table.X, np.log1p(frame.T.to_numpy()))
    assert list(table.ids) == list(frame.columns)
    again = read(path, schema=table.schema)
    np.testing.assert_array_equal(again.X, table.X)


def test_names_that_come_again_get_numbers(tmp_path):
    (tmp_path / "t.csv").write_text("gene,s1,s2\na,1,2\na,3,4\na.2,5,6\nsample,7,8\n")
    table = read(str(tmp_path / "t.csv"), schema=Schema(transpose=True))
    assert table.names == ["a", "a.3", "a.2", "sample.1"]
    assert table.X.tolist() == [[1, 3, 5, 7], [2, 4, 6, 8]]


SERIES = """!Series_title\t"A study, with commas"
!Series_geo_accession\t"GSE1"
!Sample_title\t"one"\t"two"
!series_matrix_table_begin
"ID_REF"\t"GSM1"\t"GSM2"
"1007_s_at"\t7.5\t8
"1053_at"\t1\t2.25
!series_matrix_table_end
"""


@pytest.mark.parametrize("name", ["GSE1_series_matrix.txt", "GSE1_series_matrix.txt.gz", "GSE1.tsv", "GSE1.csv"])
def test_a_series_matrix_is_a_table(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(SERIES.encode()) if name.endswith(".gz") else SERIES.encode())
    table = read(str(path), schema=Schema(transpose=True))
    assert (list(table.ids), table.names) == (["GSM1", "GSM2"], ["1007_s_at", "1053_at"])
    assert table.X.tolist() == [[7.5, 1], [8, 2.25]]


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_names_of_rows_that_r_writes_have_no_name(tmp_path, delimiter):
    text = "s1,s2\ng1,1,2\ng2,3,4\n".replace(",", delimiter)
    (tmp_path / "r.csv").write_text(text)
    table = read(str(tmp_path / "r.csv"), schema=Schema(id="column 1"))
    assert (table.ids, table.names, table.X.tolist()) == (["g1", "g2"], ["s1", "s2"], [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"top_variable": 5}, "column 'word' must hold numbers, as all columns with top_variable=, got .*string"),
        ({"within": "word", "scale": "robust"}, "scale= must be auto, log or none with within=, got robust"),
        ({"within": "nope"}, "has no column 'nope'"),
    ],
)
def test_what_cannot_be_is_refused(counts, options, message):
    with pytest.raises(FormatError, match=message):
        TableReader(**options).fit(counts.assign(word=["a", "b"] * 20))


def test_gaps_are_refused_or_filled(counts):
    frame = counts.astype(float)
    frame.iloc[3, 5] = np.nan
    with pytest.raises(FormatError, match=rf"row 3, column '{SYMBOLS[5]}': the value is missing"):
        TableReader(missing="error").fit(frame)
    for missing, value in (("zero", 0.0), ("mean", counts.iloc[:, 5].drop("cell 3").mean())):
        found = TableReader(missing=missing, scale="log").fit(frame).transform(frame)
        filled = counts.astype(float)
        filled.iloc[3, 5] = value
        assert found[3, 5] == pytest.approx(
            np.log1p(value) if missing == "mean" else of_median_depth(filled.to_numpy())[3, 5], rel=0.2
        )
