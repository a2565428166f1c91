"""Missing values of AnnData files: named by cell and gene, or filled as the user says."""

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from ramodo.formats import FormatError, Schema, read
from ramodo.formats.missing_values import filled
from ramodo.formats.schema import Column

KINDS = pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.csc_matrix], ids=["dense", "csr", "csc"])
CELLS, GENES = ["c0", "c1", "c2"], ["g0", "g1", "g2"]


def matrix(value=np.nan):
    return np.array([[1.0, 2, 0], [0, value, 4], [3, 4, 0]])


def without_gaps(kind, missing, **options):
    X, schema = filled("data", kind(matrix()), CELLS, GENES, Schema(missing=missing, **options))
    return (X.toarray() if sp.issparse(X) else X).tolist(), schema.names, means_of(schema)


def means_of(schema):
    return {column.name: column.mean for column in schema.columns}


@pytest.fixture
def h5ad(tmp_path):
    def write(value):
        cells, genes = (pd.DataFrame(index=names) for names in (CELLS, GENES))
        anndata.AnnData(matrix(value), obs=cells, var=genes).write_h5ad(tmp_path / "data.h5ad")
        return str(tmp_path / "data.h5ad")

    return write


def test_a_gap_of_a_file_is_named_or_filled(h5ad):
    path = h5ad(np.nan)
    with pytest.raises(FormatError, match=r"data.h5ad, cell 'c1', gene 'g1': the value is missing; say what to do"):
        read(path)
    table = read(path, schema=Schema(missing="mean"))
    assert table.X[1].tolist() == [0, 3, 4]
    assert means_of(table.schema) == pytest.approx({"g0": 4 / 3, "g1": 3, "g2": 4 / 3})


@KINDS
def test_gaps_are_filled_as_they_are_in_tables(kind):
    with pytest.raises(FormatError, match=r"data, cell 'c1', gene 'g1': the value is missing"):
        without_gaps(kind, "error")
    assert without_gaps(kind, "zero")[0][1] == [0, 0, 4]
    rows, _, means = without_gaps(kind, "mean")
    assert rows[1] == [0, 3, 4]
    assert means == pytest.approx({"g0": 4 / 3, "g1": 3, "g2": 4 / 3})
    assert without_gaps(kind, "mean", columns=(Column(name="g1", mean=7.0),))[0][1] == [0, 7, 4]
    rows, names, _ = without_gaps(kind, "indicator")
    assert names == ["g0", "g1", "g2", "g1 is missing"]
    assert rows == [[1, 2, 0, 0], [0, 0, 4, 1], [3, 4, 0, 0]]


@KINDS
@pytest.mark.parametrize("value", [np.inf, -1e300])
def test_values_that_are_no_numbers_are_named(kind, value):
    with pytest.raises(FormatError, match=r"data, cell 'c1', gene 'g1' must hold a finite number"):
        filled("data", kind(matrix(value)), CELLS, GENES, Schema(missing="zero"))


@pytest.mark.parametrize("part", ["obs", "var"])
def test_a_file_without_names_of_cells_or_genes_is_refused(h5ad, part):
    path = h5ad(1.0)
    with h5py.File(path, "a") as file:
        del file[part]
    with pytest.raises(FormatError, match=rf"data.h5ad must be an AnnData file .*, got no {part}\."):
        read(path)
