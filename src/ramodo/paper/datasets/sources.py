"""The eight sets of the paper's section 6.1: what they are, where to get them, and their terms of use.

Addresses were looked up, not visited: if one has moved, the next is tried, and users can supply their own files. A
checksum is None if it was not published: the first download's is stored, and later ones must equal it.
"""

from __future__ import annotations

from dataclasses import dataclass

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
_CC_BY = "CC BY 4.0 (UCI); cite the donors"


@dataclass(frozen=True)
class RawFile:
    """A file as its publisher has it.

    unpacked : the name of the unpacked file, which a user may have instead
    size : bytes, if the publisher states them
    sha256 : as published, else None
    most : bytes after which a download is abandoned: several times the expected size
    """

    name: str
    addresses: tuple[str, ...]
    unpacked: str | None = None
    size: int | None = None
    sha256: str | None = None
    most: int = 1 << 30


@dataclass(frozen=True)
class Source:
    """One set: N and D are those of the paper's table 1, `version` changes whenever the conversion does."""

    name: str
    title: str
    outliers: str
    n_rows: int
    n_features: int
    files: tuple[RawFile, ...]
    licence: str
    notes: str
    is_downsampled: bool = False
    is_dense: bool = False
    version: int = 1


_ALL = (
    Source(
        "AD",
        "Internet advertisements",
        "images that are advertisements",
        3279,
        1555,
        (RawFile("ad.data", (f"{_UCI}/internet_ads/ad.data",)),),
        _CC_BY,
        "The file has 1,558 features: the paper's 1,555 are those without height, width and their ratio, all of them 0 "
        "or 1. The paper does not say what the few missing values of `local` become: 0 here. Duplicate rows stay.",
    ),
    Source(
        "LC",
        "Lung cancer (gene expression)",
        "the 6 samples of class 5, against the 139 of class 1",
        145,
        3312,
        (
            RawFile(
                "lung.mat",
                (
                    "https://jundongl.github.io/scikit-feature/files/datasets/lung.mat",
                    "https://raw.githubusercontent.com/jundongl/scikit-feature/master/skfeature/data/lung.mat",
                ),
            ),
        ),
        "none stated; measurements of Bhattacharjee et al., PNAS 2001",
        "The paper names UCI, whose lung cancer set has other sizes; N and D are those of two of the five classes of "
        "lung.mat. Columns are scaled to 0..1 over the rows that are kept; the paper does not mention scaling.",
        is_dense=True,
    ),
    Source(
        "p53",
        "p53 mutants",
        "mutants whose p53 is active",
        16772,
        5408,
        (RawFile("p53_old_2010.zip", (f"{_UCI}/p53/p53_old_2010.zip",), unpacked="K8.data"),),
        _CC_BY,
        "N is that of K8.data, the set of 2010, with the rows that have missing values. The paper does not say what "
        "these become: their column's mean here. Columns are then scaled to 0..1, which it does not mention.",
        is_dense=True,
    ),
    Source(
        "R8",
        "Reuters-21578 R8, stemmed",
        "documents of the rarest class, grain, against those of the largest, earn",
        3974,
        9467,
        tuple(
            RawFile(name, (f"https://www.cs.umb.edu/~smimarog/textmining/datasets/{name}",))
            for name in ("r8-train-stemmed.txt", "r8-test-stemmed.txt")
        ),
        "Reuters-21578: for research only",
        "The paper's footnote names a training file of all terms; its N needs training and test documents, and its D "
        "is that of the stemmed files, which ana.cachopo.org describes. A term is there or not: 1 or 0.",
    ),
    Source(
        "OT",
        "Ovarian tumour (gene expression), RSCTC 2010",
        "the class that makes 265 rows with the largest one",
        265,
        54621,
        (RawFile("ovarianTumour.arff", ("https://api.openml.org/data/v1/download/1390178/ovarianTumour.arff",)),),
        "public (OpenML 1086)",
        "The challenge's own page wants a registration; OpenML has its data, 283 samples. The paper keeps 265 and "
        "names no class: here the largest are the inliers, and the outliers the class that makes 265 rows with it. "
        "Columns are scaled to 0..1; the paper does not mention scaling.",
        is_dense=True,
    ),
    Source(
        "News20",
        "20 Newsgroups, two classes",
        "documents of the positive class, down to 2 %",
        10201,
        1355191,
        (RawFile("news20.binary.bz2", (f"{_LIBSVM}/news20.binary.bz2",), unpacked="news20.binary"),),
        "none stated; cite Keerthi and DeCoste, JMLR 2005",
        "N is that of all documents of the negative class with 204 others.",
        is_downsampled=True,
    ),
    Source(
        "URL",
        "Malicious URLs, the first week",
        "malicious URLs, down to 2 %",
        89063,
        3231961,
        (RawFile("url_svmlight.tar.gz", (f"{_UCI}/url/url_svmlight.tar.gz",)),),
        _CC_BY,
        "The first week is Day0.svm to Day6.svm. D is that of all 121 days, as in the paper.",
        is_downsampled=True,
    ),
    Source(
        "Webspam",
        "Web spam, normalised trigrams",
        "pages of the smaller class, down to 2 %",
        215001,
        16609143,
        (
            RawFile(
                "webspam_wc_normalized_trigram.svm.xz",
                (f"{_LIBSVM}/webspam_wc_normalized_trigram.svm.xz",),
                unpacked="webspam_wc_normalized_trigram.svm",
                most=1 << 34,
            ),
        ),
        "none stated; Pascal Large Scale Learning Challenge 2008",
        "The paper downsamples the small or the positive class; with its N most of the 350,000 pages are inliers, so "
        "it is the smaller one here. Its exact N could not be checked. The set is kept on disk and mapped from there: "
        "about 10 GB, and three times that while it is built.",
        is_downsampled=True,
    ),
)

SOURCES: dict[str, Source] = {source.name: source for source in _ALL}
"""The paper's sets by name, in the order of its table 1."""


def list_datasets() -> list[str]:
    """Return the names that `load_dataset` takes."""
    return list(SOURCES)
