"""Servers that say nonsense, send no end, or send us elsewhere: an error that says so, and nothing left behind."""

import io
import urllib.request

import pytest
from file_server import CONTENT, SHA256

from ramodo.paper.datasets import SOURCES, RawFile, connections, download
from ramodo.paper.datasets.checksums import DownloadError
from ramodo.paper.datasets.download import download as fetch


def left(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != ".lock")


@pytest.mark.parametrize("said", ["-1", "-10240", "many", "1e4", "1_000", "0x10", "10 240", "9" * 30])
def test_a_length_that_is_none(server, file, folder, said):
    server.said_length = said
    with pytest.raises(DownloadError, match=r"must be a whole number of bytes, got '.*' from the server"):
        fetch(file, folder)
    assert left(folder) == []
    assert len(server.requests) == 1  # asking again would not help


def test_the_next_address_is_asked_where_one_says_nonsense(server, file, folder):
    other = type(server)()
    other.files["a.bin"], server.said_length = CONTENT, "-1"
    assert fetch(RawFile("a.bin", (*file.addresses, f"{other.address}/a.bin")), folder).read_bytes() == CONTENT
    other.close()


def test_a_part_that_was_not_asked_for_is_not_the_file(server, file, folder):
    """It would be taken for all of it."""
    server.unasked, server.wrong_range = 206, "bytes 0-10239/*"
    with pytest.raises(DownloadError, match="asked for all of the file, the server answers 206 Partial Content"):
        fetch(file, folder)
    assert left(folder) == []


@pytest.mark.parametrize("status", [201, 203])
def test_other_answers_are_not_the_file(server, file, folder, status):
    server.unasked = status
    with pytest.raises(DownloadError, match=f"the server answers {status}"):
        fetch(file, folder)
    assert left(folder) == []


def test_a_range_that_ends_early_is_gone_on_with(server, file, folder):
    """Its own length would make the file seem whole."""
    server.cut_after, server.range_ends = [1000], [4000]
    assert fetch(file, folder).read_bytes() == CONTENT
    assert server.ranges() == [None, "bytes=1000-", "bytes=4000-"]


@pytest.mark.parametrize("bound", ["size", "most"])
def test_a_body_without_end_is_given_up(server, file, folder, bound):
    server.never_ends = True
    with pytest.raises(DownloadError, match=r"the server sends more than 50,000 bytes"):
        fetch(RawFile("a.bin", file.addresses, **{bound: 50_000}), folder)
    assert [name for name in left(folder) if not name.endswith(".json")] == []
    assert len(server.requests) == 1


def test_a_length_beyond_all_bounds_is_refused_before_a_byte_is_written(server, file, folder):
    with pytest.raises(DownloadError, match=r"must have at most 10,000 bytes, got 10,240 from the server"):
        fetch(RawFile("a.bin", file.addresses, most=10_000), folder)
    assert left(folder) == []


@pytest.mark.parametrize("target", ["file:///etc", "ftp://127.0.0.1", "data:text/plain,x"])
def test_other_schemes_are_not_followed(server, file, folder, target):
    server.redirect = target
    with pytest.raises(DownloadError, match=target.split("/")[0]):
        fetch(file, folder)
    assert left(folder) == []
    assert len(server.requests) == 1


def test_an_encrypted_line_is_not_left_for_an_open_one():
    """Whatever is known of the file: its name and who asks for it would be for all to read."""
    redirects = connections._Redirects(is_known=True)
    asked, answer = urllib.request.Request("https://files.invalid/a.bin"), io.BytesIO()
    with pytest.raises(connections.RefusedError, match=r"must lead to https://, got .*, which is not encrypted"):
        redirects.redirect_request(asked, answer, 302, "Found", {}, "http://files.invalid/a.bin")
    assert answer.closed
    followed = redirects.redirect_request(asked, answer, 302, "Found", {}, "https://other.invalid/a.bin")
    assert followed.full_url == "https://other.invalid/a.bin"


NO_CHECKSUM = r"must be https://, since no checksum of the file is known, got .*, which is not encrypted"


def test_plain_http_needs_a_checksum(folder):
    with pytest.raises(DownloadError, match=NO_CHECKSUM):
        fetch(RawFile("a.bin", ("http://files.invalid/a.bin",)), folder)


def test_nor_is_it_followed_without_one(server, file, folder):
    server.redirect = "http://files.invalid"
    with pytest.raises(DownloadError, match=NO_CHECKSUM):
        fetch(file, folder)
    assert len(server.requests) == 1


@pytest.mark.parametrize("is_published", [True, False])
def test_with_a_checksum_plain_http_is_tried(folder, monkeypatch, is_published):
    """One that is published, or that of the first download. There is no such server: it was looked for."""
    monkeypatch.setattr(download, "PAUSES", ())
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    if not is_published:
        folder.mkdir()
        (folder / "a.bin.sha256").write_text(f"{SHA256}  a.bin\n")
    file = RawFile("a.bin", ("http://files.invalid/a.bin",), sha256=SHA256 if is_published else None)
    with pytest.raises(DownloadError, match="refused"):
        fetch(file, folder)


def test_what_we_name_ourselves_is_encrypted():
    for source in SOURCES.values():
        for file in source.files:
            assert file.sha256 or all(address.startswith("https://") for address in file.addresses)
