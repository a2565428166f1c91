"""Downloads over a real connection: cut, changed, refused, and gone on with."""

import signal

import pytest
from file_server import CONTENT, SHA256

from ramodo.paper.datasets import RawFile, connections, download
from ramodo.paper.datasets.checksums import DownloadError
from ramodo.paper.datasets.download import download as fetch


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != ".lock")


def test_a_file_comes_whole_with_its_checksum_beside_it(server, file, folder):
    path = fetch(file, folder)
    assert path.read_bytes() == CONTENT
    assert (folder / "a.bin.sha256").read_text() == f"{SHA256}  a.bin\n"
    assert names(folder) == ["a.bin", "a.bin.sha256"]
    assert server.requests[0][0] == "/some/a.bin"
    assert server.requests[0][1]["User-Agent"].startswith("ramodo/")


def test_a_cut_connection_goes_on_where_it_was_cut(server, file, folder):
    server.cut_after = [1000, 2000]
    assert fetch(file, folder).read_bytes() == CONTENT
    assert server.ranges() == [None, "bytes=1000-", "bytes=3000-"]
    assert names(folder) == ["a.bin", "a.bin.sha256"]


def test_a_later_call_goes_on_with_the_part(server, file, folder, monkeypatch):
    monkeypatch.setattr(download, "PAUSES", ())
    server.cut_after = [5000]
    with pytest.raises(DownloadError, match=r"ended after 5,000 of 10,240 bytes; 5,000 bytes are kept"):
        fetch(file, folder)
    assert names(folder) == ["a.bin.part", "a.bin.part.json"]
    assert (folder / "a.bin.part").read_bytes() == CONTENT[:5000]
    assert fetch(file, folder).read_bytes() == CONTENT
    assert server.ranges() == [None, "bytes=5000-"]


def test_a_server_that_cuts_for_ever_is_given_up(server, file, folder):
    server.cut_after = [10] * 9
    with pytest.raises(DownloadError, match=r"40 bytes are kept"):
        fetch(file, folder)
    assert len(server.requests) == 4


def test_a_date_stands_in_for_a_weak_tag(server, file, folder):
    server.weak_tags, server.cut_after = True, [1000]
    assert fetch(file, folder).read_bytes() == CONTENT
    assert server.requests[1][1]["If-Range"] == "Mon, 01 Jan 2024 00:00:00 GMT"


@pytest.mark.parametrize("what", ["knows_range", "has_versions"])
def test_what_cannot_be_gone_on_with_begins_again(server, file, folder, what):
    """A server that ignores Range, or one that cannot say whether the file is still the same."""
    setattr(server, what, False)
    server.cut_after = [1000]
    assert fetch(file, folder).read_bytes() == CONTENT
    assert server.ranges() == [None, "bytes=1000-" if what == "knows_range" else None]


@pytest.mark.parametrize(
    ("changed", "keeps_if_range"),
    [
        pytest.param(CONTENT[::-1], True, id="other"),
        pytest.param(CONTENT[:500], True, id="shorter"),
        pytest.param(CONTENT[:500], False, id="shorter, of a server that does not look at If-Range"),
        pytest.param(b"more" + CONTENT, True, id="longer"),
        pytest.param(b"more" + CONTENT, False, id="longer, of a server that does not look at If-Range"),
    ],
)
def test_a_changed_file_is_never_joined_with_the_old_one(server, file, folder, changed, keeps_if_range, monkeypatch):
    monkeypatch.setattr(download, "PAUSES", ())
    server.cut_after = [1000]
    with pytest.raises(DownloadError):
        fetch(file, folder)
    server.files["a.bin"], server.keeps_if_range = changed, keeps_if_range
    monkeypatch.setattr(download, "PAUSES", (0.0,))
    assert fetch(file, folder).read_bytes() == changed


def test_a_range_that_was_not_asked_for_is_not_taken(server, file, folder):
    server.cut_after, server.wrong_range = [1000], "bytes 0-10239/10240"
    assert fetch(file, folder).read_bytes() == CONTENT
    assert server.ranges() == [None, "bytes=1000-", None]


def test_a_part_of_another_address_is_not_gone_on_with(server, file, folder, monkeypatch):
    monkeypatch.setattr(download, "PAUSES", ())
    server.cut_after = [1000]
    with pytest.raises(DownloadError):
        fetch(file, folder)
    fetch(RawFile("a.bin", (f"{server.address}/elsewhere/a.bin",)), folder)
    assert server.ranges() == [None, None]


def test_a_part_that_is_whole_needs_no_request(server, file, folder, monkeypatch):
    """As when the power went off between the last byte and the checksum."""

    def power_goes_off(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(download, "accept", power_goes_off)
        with pytest.raises(KeyboardInterrupt):
            fetch(file, folder)
    assert names(folder) == ["a.bin.part", "a.bin.part.json"]
    assert fetch(file, folder).read_bytes() == CONTENT
    assert len(server.requests) == 1


def test_the_next_address_is_tried(server, folder):
    server.files["b.bin"] = CONTENT
    file = RawFile("b.bin", (f"{server.address}/gone.bin", f"{server.address}/b.bin"))
    assert fetch(file, folder).read_bytes() == CONTENT
    with pytest.raises(DownloadError, match=r"gone\.bin: the server answers 404 Not Found.*may be given as source"):
        fetch(RawFile("c.bin", file.addresses[:1]), folder)
    assert len(server.requests) == 3  # what is not there is not asked for again


def test_a_mirror_is_asked_in_place_of_all_addresses(server, folder):
    server.files["b.bin"] = CONTENT
    fetch(RawFile("b.bin", ("http://127.0.0.1:1/never.bin",)), folder, mirror=f"{server.address}/mirror/")
    assert server.requests[0][0] == "/mirror/b.bin"


def test_a_server_that_is_busy_is_asked_again(server, file, folder):
    server.status = [503, 429]
    assert fetch(file, folder).read_bytes() == CONTENT


def test_no_server_at_all(folder, server):
    with pytest.raises(DownloadError, match=r"127\.0\.0\.1:1/a\.bin: .*refused"):
        fetch(RawFile("a.bin", ("http://127.0.0.1:1/a.bin",)), folder)


def test_a_server_that_falls_silent_is_asked_again(server, file, folder, monkeypatch):
    monkeypatch.setattr(connections, "TIMEOUT", 1.0)
    server.cut_after, server.stalls = [1000], 100.0
    assert fetch(file, folder).read_bytes() == CONTENT
    assert server.ranges()[:2] == [None, "bytes=1000-"]


def test_chunks_of_unknown_length(server, file, folder):
    server.is_chunked = True
    assert fetch(file, folder).read_bytes() == CONTENT
    server.files["b.bin"], server.cut_after = CONTENT, [5000]
    assert fetch(RawFile("b.bin", (f"{server.address}/b.bin",)), folder).read_bytes() == CONTENT


def test_a_length_that_nobody_says_is_refused(server, file, folder):
    server.says_no_length = True
    with pytest.raises(DownloadError, match="does not say how long it is"):
        fetch(file, folder)


def test_another_length_than_was_published_is_refused_before_a_byte_is_written(server, folder):
    server.files["a.bin"] = CONTENT
    with pytest.raises(DownloadError, match=r"has 10,240 bytes there; expected: 99, as published"):
        fetch(RawFile("a.bin", (f"{server.address}/a.bin",), size=99), folder)
    assert names(folder) == []


def test_a_full_disk_is_noticed_before_it_begins(file, folder, monkeypatch):
    class Usage:
        free = 1000

    monkeypatch.setattr(download.shutil, "disk_usage", lambda _: Usage)
    with pytest.raises(DownloadError, match=r"needs 10,240 bytes more; the disk has 1,000"):
        fetch(file, folder)
    assert names(folder) == []


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://example.org/a.bin", "a.bin"])
def test_other_kinds_of_addresses_are_refused(address, folder):
    with pytest.raises(DownloadError, match="must begin with http:// or https://"):
        fetch(RawFile("a.bin", (address,)), folder)


def test_redirects_are_followed(server, file, folder):
    other = type(server)()
    other.files["a.bin"] = CONTENT
    server.redirect = other.address
    assert fetch(file, folder).read_bytes() == CONTENT
    other.close()


def test_ctrl_c_keeps_the_part_and_leaves_no_file(server, file, folder):
    server.cut_after, server.stalls = [3000], 100.0
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
    try:
        with pytest.raises(KeyboardInterrupt):  # as soon as something has come
            fetch(file, folder, show=lambda done, total: signal.raise_signal(signal.SIGINT))
    finally:
        signal.signal(signal.SIGINT, before)
    assert names(folder) == ["a.bin.part", "a.bin.part.json"]
    assert (folder / "a.bin.part").read_bytes() == CONTENT[:3000]
    assert fetch(file, folder).read_bytes() == CONTENT
    assert server.ranges() == [None, "bytes=3000-"]


def test_two_processes_do_not_write_into_one_part(server, file, folder, python):
    program = "import sys; from pathlib import Path; from ramodo.paper.datasets import RawFile;"
    program += "from ramodo.paper.datasets.download import download;"
    program += "download(RawFile('a.bin', (sys.argv[1],)), Path(sys.argv[2]))"
    folder.mkdir()
    with download.alone(folder), pytest.raises(AssertionError, match="Another process is downloading into"):
        python(program, file.addresses[0], folder)
    assert server.requests == []
    python(program, file.addresses[0], folder)
    assert names(folder) == ["a.bin", "a.bin.sha256"]


def test_progress_ends_with_the_whole(server, file, folder):
    server.files["a.bin"] = CONTENT * 300
    shown = []
    fetch(file, folder, show=lambda done, total: shown.append((done, total)))
    assert shown[-1] == (3, 3)
    assert shown == sorted(shown)
