"""Files that are not what they should be: said so, and nothing is left behind."""

import io

import numpy as np
import pytest
import scipy.io
import tiny_files

from ramodo.formats import FormatError

DAMAGED = [
    ("AD", {"ad.data": b""}, "has no rows"),
    ("AD", {"ad.data": b"1,2,ad.\n"}, "row 1: there must be 1,558 numbers in addition to the class, got 2"),
    (
        "AD",
        {"ad.data": tiny_files.advertisements().replace(b"nonad.", b"maybe")},
        "or 'nonad.', got 'maybe'",
    ),
    ("AD", {"ad.data": b"1,2,x" + b",0" * 1555 + b",ad.\n"}, "rows 1 to 1: values must be numbers or"),
    ("p53", {"p53_old_2010.zip": b"PK\3\4 not a zip file"}, "is damaged"),
    ("p53", {"p53_old_2010.zip": tiny_files.p53_zip()[:9000]}, "is damaged"),
    (
        "p53",
        {"K8.data": tiny_files.k8().replace(b",active", b",lively")},
        "or 'inactive', got 'lively'",
    ),
    ("LC", {"lung.mat": b"no MATLAB file"}, "is not a MATLAB file with X and Y"),
    ("R8", {"r8-train-stemmed.txt": b"earn a b\n", "r8-test-stemmed.txt": b""}, "line 1: class, tab and words"),
    ("R8", {"r8-train-stemmed.txt": b"earn\ta b\n", "r8-test-stemmed.txt": b""}, "several classes, got 1"),
    ("OT", {"ovarianTumour.arff": b"@RELATION x\n"}, "is not an ARFF file"),
    ("OT", {"ovarianTumour.arff": b"@ATTRIBUTE a REAL\n@DATA\n1\n"}, "one attribute named Decision, got 0"),
    ("News20", {"news20.binary": b"3 1:1\n"}, "must be 1 or -1, got 3"),
    ("News20", {"news20.binary.bz2": b"BZh9 damaged"}, "is damaged"),
    ("News20", {"news20.binary": b"1 1355192:1\n"}, "1,355,191"),
    ("URL", {"url_svmlight.tar.gz": b"\x1f\x8b damaged"}, "is damaged"),
    ("URL", {"url_svmlight.tar.gz": tiny_files.url_tar()[:3000]}, "is damaged"),
    ("Webspam", {"webspam_wc_normalized_trigram.svm": b""}, "has no rows"),
    ("Webspam", {"webspam_wc_normalized_trigram.svm": b"2 1:1\n"}, "must be 1 or -1, got 2"),
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
    with pytest.raises(FormatError, match=r"must have the classes 1 and 5"):
        build("LC", **{"lung.mat": packed.getvalue()})
