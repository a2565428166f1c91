"""Each publisher's format to rows and truth, against numbers that are worked out in another way."""

import csv
import io

import numpy as np
import pytest
import scipy.sparse as sp
import tiny_files
from sklearn.datasets import load_svmlight_file, load_svmlight_files
from sklearn.preprocessing import MinMaxScaler

from ramodo.data import mapped
from ramodo.formats import FormatError, svmlight
from ramodo.formats.byte_streams import line_blocks
from ramodo.paper.datasets import SOURCES
from ramodo.paper.datasets.downsampling import downsampled


def files(name, content):
    return {SOURCES[name].files[0].name: content}


# ---- tables --------------------------------------------------------------------------------------------------------


def test_advertisements(build):
    data = build("AD")
    rows = list(csv.reader(io.StringIO(tiny_files.advertisements().decode())))
    expected = [[0.0 if cell.strip() == "?" else float(cell) for cell in row[3:-1]] for row in rows]
    assert data.X.shape == (40, SOURCES["AD"].n_features)
    assert data.X.dtype == np.float32
    assert np.array_equal(data.X.toarray(), expected)
    assert data.y.tolist() == [1] * 6 + [0] * 34
    assert data.pool is None


def test_advertisements_keep_their_duplicates(build):
    once = tiny_files.advertisements()
    assert build("AD", **files("AD", once * 2)).X.shape[0] == 80


def test_p53(build):
    data = build("p53")
    values, is_active = tiny_files.p53_numbers()
    filled = np.where(np.isnan(values), np.nanmean(values, axis=0), values)
    np.testing.assert_allclose(data.X, MinMaxScaler().fit_transform(filled), atol=1e-5)
    assert (data.X.shape[1], data.X.dtype) == (SOURCES["p53"].n_features, np.float32)
    assert np.array_equal(data.y, is_active)


def test_p53_unpacked(build):
    packed, unpacked = build("p53"), build("p53", **{"K8.data": tiny_files.k8()})
    assert np.array_equal(packed.X, unpacked.X)


def test_a_column_without_a_value_is_0(build):
    line = ",".join(["?"] * 5408)
    data = build("p53", **{"K8.data": f"{line},active,\n{line},inactive,\n".encode()})
    assert not data.X.any()


def test_lung(build):
    data = build("LC")
    classes, values = tiny_files.lung()[1], tiny_files.lung_numbers()
    kept = (classes == 1) | (classes == 5)
    np.testing.assert_allclose(data.X, MinMaxScaler().fit_transform(values[kept]), atol=1e-6)
    assert isinstance(data.X, np.ndarray)
    assert np.array_equal(data.y, classes[kept] == 5)
    assert data.y.sum() == 4


def test_ovarian(build):
    data = build("OT")
    _, values, classes = tiny_files.ovarian()
    kept = classes != "2"  # 245 and 20 make the paper's 265
    np.testing.assert_allclose(data.X, MinMaxScaler().fit_transform(values[kept]), atol=1e-6)
    assert len(data.X) == SOURCES["OT"].n_rows
    assert np.array_equal(data.y, classes[kept] == "3")


def test_ovarian_with_its_classes_first(build):
    text, *_ = tiny_files.ovarian()
    lines = text.decode().splitlines()
    at = lines.index("@DATA")
    moved = [lines[at - 1], *lines[: at - 1], "@DATA"]
    moved += [",".join([row.rpartition(",")[2], row.rpartition(",")[0]]) for row in lines[at + 1 :]]
    first, last = build("OT", **files("OT", "\n".join(moved).encode())), build("OT")
    assert np.array_equal(first.X, last.X)
    assert np.array_equal(first.y, last.y)


def test_ovarian_with_other_classes_is_refused(build):
    text = tiny_files.ovarian()[0].rsplit(b"\n", 60)[0]
    with pytest.raises(FormatError, match=r"must have a class that makes 265 rows with the largest, got 1: \d+, "):
        build("OT", **files("OT", text))


# ---- text ----------------------------------------------------------------------------------------------------------


def test_reuters(build):
    """grain, the rarest, against earn, the largest: terms of those documents alone."""
    data = build("R8")
    documents = [line.split("\t") for line in (tiny_files.R8_TRAIN + tiny_files.R8_TEST).splitlines()]
    kept = [(label, set(words.split())) for label, words in documents if label in ("earn", "grain")]
    terms = sorted(set.union(*[words for _, words in kept]))
    assert np.array_equal(data.X.toarray(), [[term in words for term in terms] for _, words in kept])
    assert data.X.dtype == np.float32
    assert data.y.tolist() == [0, 0, 1, 0, 0, 0]
    assert data.X.has_sorted_indices


# ---- two classes, one of them downsampled --------------------------------------------------------------------------


def both_classes(matrix, is_outlier, data):
    """Rows and pool are the rows of the file, each once: all inliers, and as many outliers as make 2 %."""
    n_inliers = int((~is_outlier).sum())
    n_outliers = round(n_inliers * 0.02 / 0.98)
    assert n_outliers >= 2
    assert (data.y.sum(), len(data.y)) == (n_outliers, n_inliers + n_outliers)
    assert data.pool.shape == (is_outlier.sum() - n_outliers, matrix.shape[1])
    assert data.X.dtype == data.pool.dtype == np.float32
    line = {row.tobytes(): i for i, row in enumerate(narrow(matrix))}
    assert len(line) == matrix.shape[0]
    kept = [line[row.tobytes()] for row in narrow(data.X, matrix)]
    pool = [line[row.tobytes()] for row in narrow(data.pool, matrix)]
    assert kept == sorted(kept)
    assert pool == sorted(pool)
    assert sorted(kept + pool) == list(range(matrix.shape[0]))
    assert np.array_equal(is_outlier[kept], data.y == 1)
    assert is_outlier[pool].all()
    return kept


def narrow(matrix, like=None):
    """Dense rows over the columns that are used."""
    columns = np.unique(matrix.indices if like is None else like.indices)
    indices = np.searchsorted(columns, matrix.indices)
    return sp.csr_array((matrix.data, indices, matrix.indptr), (matrix.shape[0], len(columns))).toarray().astype("f4")


def test_news20(build):
    matrix, classes = load_svmlight_file(io.BytesIO(tiny_files.news20()), n_features=1_355_191, zero_based=False)
    kept = both_classes(matrix, classes == 1, build("News20"))
    assert both_classes(matrix, classes == 1, build("News20")) == kept
    assert both_classes(matrix, classes == 1, build("News20", seed=1)) != kept
    assert build("News20").X.shape[1] == SOURCES["News20"].n_features


def test_the_papers_own_counts():
    """9,997 inliers make 10,201 rows, 87,282 make 89,063: tables 1 and 3."""
    for n_inliers, n_rows in ((9_997, SOURCES["News20"].n_rows), (87_282, SOURCES["URL"].n_rows)):
        kept, pool = downsampled(np.arange(2 * n_inliers) % 2 == 1, 0, "it")
        assert (len(kept), len(kept) + len(pool)) == (n_rows, 2 * n_inliers)


def test_the_first_week_of_url(build):
    days = tiny_files.url_days()
    streams = [io.BytesIO(days[f"Day{day}.svm"]) for day in range(7)]
    parts = load_svmlight_files(streams, n_features=3_231_961, zero_based=False)
    matrix, classes = sp.vstack(parts[::2], format="csr"), np.concatenate(parts[1::2])
    both_classes(matrix, classes == 1, build("URL"))
    assert build("URL").X.shape[1] == SOURCES["URL"].n_features


def test_a_week_without_a_day_is_refused(build):
    days = tiny_files.url_days()
    del days["Day3.svm"]
    with pytest.raises(FormatError, match=r"lacks Day3\.svm"):
        build("URL", **files("URL", tiny_files.url_tar(days)))


def test_webspam_stays_on_disk(build, monkeypatch):
    """Its smaller class is the negative one; both folders are mapped, where they are not tiny as here."""
    monkeypatch.setattr(mapped, "IN_MEMORY", 0)
    matrix, classes = load_svmlight_file(io.BytesIO(tiny_files.webspam()), n_features=16_609_143, zero_based=False)
    assert (classes == 1).mean() > 0.5
    data = build("Webspam")
    kept = both_classes(matrix, classes == -1, data)
    assert isinstance(data.X.data, np.memmap)
    assert isinstance(data.pool.data, np.memmap)
    assert data.X.shape[1] == SOURCES["Webspam"].n_features
    assert both_classes(matrix, classes == -1, build("Webspam", seed=3)) != kept


def test_webspam_is_the_same_in_many_blocks(build, monkeypatch):
    whole, lengths = build("Webspam"), []

    def small(path, show=None):
        for block in line_blocks(path, 4000, show):
            lengths.append(len(block))
            yield block

    monkeypatch.setattr(svmlight, "line_blocks", small)
    again = build("Webspam")
    assert len(lengths) > 20
    assert (whole.X != again.X).nnz == (whole.pool != again.pool).nnz == 0
    assert np.array_equal(whole.y, again.y)


def test_an_index_beyond_the_set_is_refused(build):
    text = b"1 1:1\n-1 16609144:1\n" * 60
    with pytest.raises(FormatError, match=r"must be from 0 to 16,609,142, got 16,609,143"):
        build("Webspam", **{"webspam_wc_normalized_trigram.svm": text})


def test_too_few_outliers_are_refused(build):
    with pytest.raises(FormatError, match=r"enough outliers for a share of 2 %, got 1, and 100 inliers"):
        build("News20", **{"news20.binary": b"-1 1:1\n" * 100 + b"1 2:1\n"})
