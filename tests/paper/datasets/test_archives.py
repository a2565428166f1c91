"""Files in archives: by name, within bounds, and never unpacked."""

import tarfile
import zipfile

import pytest
import tiny_files

from ramodo.formats import FormatError
from ramodo.paper.datasets.archives import file_in_zip, files_in_tar


def test_files_are_bounded(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("K8.data", b"0" * 100_000)
    with (
        pytest.raises(FormatError, match=r"K8\.data must have at most 99,999 bytes, got 100,000"),
        file_in_zip(tmp_path / "bomb.zip", "K8.data", 99_999),
    ):
        pass
    (tmp_path / "week.tar.gz").write_bytes(tiny_files.url_tar())
    with pytest.raises(FormatError, match=r"Day0\.svm must have at most 10 bytes, got [\d,]+"):
        files_in_tar(tmp_path / "week.tar.gz", ["Day0.svm"], 10)


def test_a_link_is_no_file(tmp_path):
    (tmp_path / "week.tar.gz").write_bytes(tiny_files.url_tar())
    with pytest.raises(FormatError, match=r"lacks Day8\.svm"):
        files_in_tar(tmp_path / "week.tar.gz", ["Day8.svm"], 1000)


def test_a_name_that_is_there_twice_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a/K8.data", b"1")
        archive.writestr("b/K8.data", b"2")
    with (
        pytest.raises(FormatError, match=r"one file named K8\.data, got 2"),
        file_in_zip(tmp_path / "two.zip", "K8.data", 10),
    ):
        pass
    with tarfile.open(tmp_path / "two.tar", "w") as archive:
        for folder in "ab":
            info = tarfile.TarInfo(f"{folder}/Day0.svm")
            archive.addfile(info)
    with pytest.raises(FormatError, match=r"one file named Day0\.svm, got several"):
        files_in_tar(tmp_path / "two.tar", ["Day0.svm", "Day1.svm"], 10)


def test_nothing_is_unpacked(build, tmp_path):
    """Not by a path that leads out either."""
    build("p53")
    build("URL")
    found = {path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*")}
    assert {name[:4] for name in found} == {"mine", "cach"}
    assert not list(tmp_path.rglob("K1.def"))
