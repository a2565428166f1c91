"""Checksums: the published one, or that of the first download."""

import pytest
from file_server import CONTENT, SHA256

from ramodo.paper.datasets import RawFile
from ramodo.paper.datasets.checksums import DownloadError, recorded, verify
from ramodo.paper.datasets.download import download as fetch


def test_a_wrong_checksum_puts_the_file_aside(server, folder):
    server.files["a.bin"] = CONTENT
    file = RawFile("a.bin", (f"{server.address}/a.bin",), sha256="0" * 64)
    with pytest.raises(DownloadError, match=rf"a.bin has the sha256 {SHA256}; expected: 0{{64}}, the one published"):
        fetch(file, folder)
    assert not (folder / "a.bin").exists()
    assert (folder / "a.bin.wrong").read_bytes() == CONTENT
    assert not (folder / "a.bin.part").exists()


def test_a_right_checksum_is_accepted(server, folder):
    server.files["a.bin"] = CONTENT
    assert fetch(RawFile("a.bin", (f"{server.address}/a.bin",), sha256=SHA256), folder).read_bytes() == CONTENT


def test_the_first_download_is_trusted_and_the_next_compared_with_it(server, file, folder):
    path = fetch(file, folder)
    assert recorded(path) == SHA256
    path.unlink()
    server.files["a.bin"] = b"another"
    with pytest.raises(
        DownloadError, match=r"of the first download\. If the publisher changed the file, remove .*sha256"
    ):
        fetch(file, folder)
    (folder / "a.bin.sha256").unlink()
    assert fetch(file, folder).read_bytes() == b"another"


def test_a_file_that_changed_on_disk_is_noticed(file, folder):
    path = fetch(file, folder)
    verify(path, None)
    path.write_bytes(CONTENT[:-1])
    with pytest.raises(DownloadError, match=SHA256):
        verify(path, None)
