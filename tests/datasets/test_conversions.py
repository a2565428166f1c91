"""Each publisher's format to rows and truth, against numbers that are worked out in another way."""

import csv
import io
import tarfile
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
import tiny_files
from sklearn.datasets import load_svmlight_file, load_svmlight_files
from sklearn.preprocessing import MinMaxScaler

from ramodo.datasets import SOURCES, load_dataset
from ramodo.datasets import archives as archives_module
from ramodo.datasets.downsampling import downsampled
from ramodo.formats import FormatError, svmlight
from ramodo.formats.opening import line_blocks


@pytest.fixture
def build(tmp_path):
    """A set from files that are given by name."""

    def convert(name, seed=0, **files):
        folder = Path(tempfile.mkdtemp(prefix="mine", dir=tmp_path))
        for file, content in (files or tiny_files.all_files()).items():
            (folder / file).write_bytes(content)
        return load_dataset(name, source=folder, random_state=seed)

    return convert


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
    with pytest.raises(FormatError, match=r"has the classes 1: \d+, .*; allowed: one that makes 265 rows"):
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
    return sp.csc_array(matrix)[:, columns].toarray().astype(np.float32)


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


def test_webspam_stays_on_disk(build):
    """Its smaller class is the negative one; both folders are mapped."""
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
    with pytest.raises(FormatError, match=r"has the feature 16,609,143; allowed: 0 to 16,609,142"):
        build("Webspam", **{"webspam_wc_normalized_trigram.svm": text})


def test_too_few_outliers_are_refused(build):
    with pytest.raises(FormatError, match=r"has 100 inliers and 1 outliers; allowed: as many as make 2 % outliers"):
        build("News20", **{"news20.binary": b"-1 1:1\n" * 100 + b"1 2:1\n"})


# ---- what is not what it should be ---------------------------------------------------------------------------------

DAMAGED = [
    ("AD", {"ad.data": b""}, "has no rows"),
    ("AD", {"ad.data": b"1,2,ad.\n"}, "row 1: 2 numbers were found beside the class; allowed: 1,558"),
    ("AD", {"ad.data": tiny_files.advertisements().replace(b"nonad.", b"maybe")}, "has the class 'maybe'"),
    ("AD", {"ad.data": b"1,2,x" + b",0" * 1555 + b",ad.\n"}, "rows 1 to 1: .* allowed: numbers and"),
    ("p53", {"p53_old_2010.zip": b"PK\3\4 not a zip file"}, "is damaged"),
    ("p53", {"p53_old_2010.zip": tiny_files.p53_zip()[:9000]}, "is damaged"),
    ("p53", {"K8.data": tiny_files.k8().replace(b",active", b",lively")}, "has the class 'lively'"),
    ("LC", {"lung.mat": b"no MATLAB file"}, "is not a MATLAB file with X and Y"),
    ("R8", {"r8-train-stemmed.txt": b"earn a b\n", "r8-test-stemmed.txt": b""}, "line 1: class, tab and words"),
    ("R8", {"r8-train-stemmed.txt": b"earn\ta b\n", "r8-test-stemmed.txt": b""}, "has 1 classes"),
    ("OT", {"ovarianTumour.arff": b"@RELATION x\n"}, "is not an ARFF file"),
    ("OT", {"ovarianTumour.arff": b"@ATTRIBUTE a REAL\n@DATA\n1\n"}, "has 0 attributes named Decision"),
    ("News20", {"news20.binary": b"3 1:1\n"}, "has the class 3; allowed: 1 and -1"),
    ("News20", {"news20.binary.bz2": b"BZh9 damaged"}, "is damaged"),
    ("News20", {"news20.binary": b"1 1355192:1\n"}, "1355191"),
    ("URL", {"url_svmlight.tar.gz": b"\x1f\x8b damaged"}, "is damaged"),
    ("URL", {"url_svmlight.tar.gz": tiny_files.url_tar()[:3000]}, "is damaged"),
    ("Webspam", {"webspam_wc_normalized_trigram.svm": b""}, "has no rows"),
    ("Webspam", {"webspam_wc_normalized_trigram.svm": b"2 1:1\n"}, "has the class 2"),
]


@pytest.mark.parametrize(("name", "content", "message"), DAMAGED)
def test_files_that_are_not_what_they_should_be(build, name, content, message, tmp_path):
    with pytest.raises(FormatError, match=message):
        build(name, **content)
    left = [path.name for path in (tmp_path / "cache").iterdir()] if (tmp_path / "cache").exists() else []
    assert left == []


def test_lung_of_other_classes(build):
    packed = io.BytesIO()
    scipy.io.savemat(packed, {"X": np.eye(3), "Y": [[1], [2], [3]]})
    with pytest.raises(FormatError, match=r"allowed: 1 and 5 among them"):
        build("LC", **{"lung.mat": packed.getvalue()})


# ---- archives ------------------------------------------------------------------------------------------------------


def test_members_are_bounded(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("K8.data", b"0" * 100_000)
    with (
        pytest.raises(FormatError, match=r"K8\.data has 100,000 bytes; allowed: at most 99,999"),
        archives_module.zip_member(tmp_path / "bomb.zip", "K8.data", 99_999),
    ):
        pass
    (tmp_path / "week.tar.gz").write_bytes(tiny_files.url_tar())
    with pytest.raises(FormatError, match=r"Day0\.svm has [\d,]+ bytes; allowed: at most 10"):
        archives_module.tar_members(tmp_path / "week.tar.gz", ["Day0.svm"], 10)


def test_a_link_is_no_member(tmp_path):
    (tmp_path / "week.tar.gz").write_bytes(tiny_files.url_tar())
    with pytest.raises(FormatError, match=r"lacks Day8\.svm"):
        archives_module.tar_members(tmp_path / "week.tar.gz", ["Day8.svm"], 1000)


def test_a_name_that_is_there_twice_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a/K8.data", b"1")
        archive.writestr("b/K8.data", b"2")
    with (
        pytest.raises(FormatError, match=r"has 2 files named K8\.data"),
        archives_module.zip_member(tmp_path / "two.zip", "K8.data", 10),
    ):
        pass
    with tarfile.open(tmp_path / "two.tar", "w") as archive:
        for folder in "ab":
            info = tarfile.TarInfo(f"{folder}/Day0.svm")
            archive.addfile(info)
    with pytest.raises(FormatError, match=r"several files named Day0\.svm"):
        archives_module.tar_members(tmp_path / "two.tar", ["Day0.svm", "Day1.svm"], 10)


def test_nothing_is_unpacked(build, tmp_path):
    """Not by a path that leads out either."""
    build("p53")
    build("URL")
    found = {path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*")}
    assert {name[:4] for name in found} == {"mine", "cach"}
    assert not list(tmp_path.rglob("K1.def"))
