"""Small files in the formats of the eight publishers, and the numbers that are in them."""

import bz2
import io
import lzma
import tarfile
import zipfile

import numpy as np
import scipy.io

CLASSES_OF_LUNG = [1] * 30 + [2] * 5 + [3] * 6 + [4] * 4 + [5] * 4
CLASSES_OF_OVARIAN = ["1"] * 245 + ["2"] * 18 + ["3"] * 20

NEWS = 120
"""Rows of each class of the two svmlight files, about."""


def advertisements(n=40):
    """ad.data: spaces around some numbers, as in the original, and question marks in the first four columns."""
    rng = np.random.default_rng(0)
    lines = []
    for row in range(n):
        measures = ["   ?", "   ?", "     ?"] if row % 7 == 3 else [" 125", " 60", f"{rng.random():7.4f}"]
        local = "?" if row in (3, 4) else str(row % 2)
        flags = [str(int(flag)) for flag in rng.random(1554) < 0.01]
        lines.append(",".join([*measures, local, *flags, "ad." if row < 6 else "nonad."]))
    return "\n".join(lines).encode() + b"\n"


def p53_numbers(n=12):
    """NaN where K8.data has a question mark: a whole row, and one value."""
    values = np.random.default_rng(1).normal(size=(n, 5408)).round(3)
    values[4] = np.nan
    values[7, 100] = np.nan
    values[:, 200] = 0.5
    return values, np.array([row in (2, 4) for row in range(n)])


def k8():
    """Each line ends with a comma."""
    values, is_active = p53_numbers()
    lines = [
        ",".join("?" if np.isnan(value) else f"{value:.3f}" for value in row) + (",active," if active else ",inactive,")
        for row, active in zip(values, is_active, strict=True)
    ]
    return "\n".join(lines).encode() + b"\n"


def p53_zip():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("p53_old_2010/p53.names", "names")
        archive.writestr("p53_old_2010/K8.data", k8())
        archive.writestr("p53_old_2010/K8.instance.tags", "tags")
        archive.writestr("../../K1.def", "a path that leads out")
    return packed.getvalue()


def lung_numbers():
    return np.random.default_rng(2).normal(5, 3, size=(len(CLASSES_OF_LUNG), 17))


def lung():
    packed = io.BytesIO()
    order = np.random.default_rng(0).permutation(len(CLASSES_OF_LUNG))
    classes = np.array(CLASSES_OF_LUNG, dtype=np.uint8)[order]
    scipy.io.savemat(packed, {"X": lung_numbers(), "Y": classes[:, None]}, do_compression=True)
    return packed.getvalue(), classes


R8_TRAIN = (
    "earn\tchampion product approv stock split champion\n"
    "acq\tcomput termin system complet sale\n"
    "earn\tqtli div ct stock\n"
    "grain\twheat export stock\n"
    "earn\tnet loss ct shr loss\n"
    "crude\toil price\n"
    "acq\tshare offer\n"
    "crude\topec oil\n"
)
R8_TEST = "earn\tshr ct net\ncrude\toil well\nacq\tbid\nearn\tdiv champion\n"


def ovarian():
    """An ARFF file with classes in its last attribute."""
    values = np.random.default_rng(3).normal(size=(len(CLASSES_OF_OVARIAN), 9)).round(4)
    order = np.random.default_rng(4).permutation(len(values))
    classes = np.array(CLASSES_OF_OVARIAN)[order]
    header = ["% a comment", "@RELATION ovarianTumour", "", *[f"@ATTRIBUTE '{i}_at' REAL" for i in range(9)]]
    lines = [",".join([*map(str, row), label]) for row, label in zip(values, classes, strict=True)]
    return "\n".join([*header, "@ATTRIBUTE Decision {1,2,3}", "@DATA", *lines]).encode() + b"\n", values, classes


def svmlight(n_rows, n_features, share_positive, seed, positive="+1"):
    """Lines of classes 1 and -1 in mixed order, of which the first has the first feature and the last one."""
    rng = np.random.default_rng(seed)
    lines = []
    for row in range(n_rows):
        columns = np.unique(rng.integers(1, n_features + 1, 12))
        columns = np.unique([1, *columns, n_features]) if row == 0 else columns
        pairs = " ".join(
            f"{column}:{value:.6f}" for column, value in zip(columns, rng.random(len(columns)), strict=True)
        )
        lines.append(f"{positive if rng.random() < share_positive else '-1'} {pairs} \n")
    return "".join(lines).encode()


def news20():
    return svmlight(2 * NEWS, 1_355_191, 0.5, 5)


def url_days():
    """Nine days, of which seven are the first week."""
    return {f"Day{day}.svm": svmlight(30 + day, 3_231_961, 0.35, 10 + day) for day in (0, 1, 10, 2, 3, 4, 5, 6, 7)}


def url_tar(days=None):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in {"FeatureTypes": b"4\n5\n", **(url_days() if days is None else days)}.items():
            info = tarfile.TarInfo(f"url_svmlight/{name}")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))
        link = tarfile.TarInfo("Day8.svm")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return packed.getvalue()


def webspam():
    return svmlight(300, 16_609_143, 0.6, 6, positive="1")


def all_files():
    """Every file by its publisher's name."""
    return {
        "ad.data": advertisements(),
        "lung.mat": lung()[0],
        "p53_old_2010.zip": p53_zip(),
        "r8-train-stemmed.txt": R8_TRAIN.encode(),
        "r8-test-stemmed.txt": R8_TEST.encode(),
        "ovarianTumour.arff": ovarian()[0],
        "news20.binary.bz2": bz2.compress(news20()),
        "url_svmlight.tar.gz": url_tar(),
        "webspam_wc_normalized_trigram.svm.xz": lzma.compress(webspam()),
    }
