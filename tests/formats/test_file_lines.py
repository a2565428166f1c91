"""Lines of large files, which are read again instead of being kept."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from ramodo.formats import FormatError, read
from ramodo.formats.file_lines import FileLines, lines_of

TEXTS = [
    "one line\n",
    "no end",
    "\n",
    "\n\nblank first\r\n\r\nblank between\n",
    "a\rb\nümläut — ✓\n\x00\n",
    "".join(f"line {number}\n" for number in range(500)),
]


@pytest.fixture
def always(monkeypatch):
    """Every plain file is large, and read a few bytes at a time."""
    monkeypatch.setattr("ramodo.formats.file_lines.LARGE", 1)
    monkeypatch.setattr("ramodo.formats.file_lines._BLOCK", 64)


@pytest.mark.parametrize("text", TEXTS)
def test_lines_read_again_are_the_lines(tmp_path, monkeypatch, always, text):
    path = tmp_path / "a.log"
    path.write_bytes(text.encode() + b"\xff\xc3\n")
    found = lines_of(str(path))
    assert isinstance(found, FileLines)
    monkeypatch.setattr("ramodo.formats.file_lines.LARGE", 1 << 30)
    kept = lines_of(str(path))
    assert list(found) == kept
    assert len(found) == len(kept)
    assert [found[at] for at in range(-len(kept), len(kept))] == kept + kept
    for some in (slice(None), slice(1, None), slice(None, -1), slice(0, None, 3), slice(None, None, -2), slice(5, 2)):
        assert found[some] == kept[some]
    with pytest.raises(IndexError):
        found[len(kept)]


def test_empty_and_packed_files_are_kept(tmp_path, always):
    (tmp_path / "empty.log").write_bytes(b"")
    (tmp_path / "packed.log.gz").write_bytes(gzip.compress(b"a\nb\n"))
    assert lines_of(str(tmp_path / "empty.log")) == []
    assert lines_of(str(tmp_path / "packed.log.gz")) == ["a", "b"]


def test_a_file_that_is_replaced_is_still_the_old_one_and_one_that_is_cut_is_refused(tmp_path, always):
    path = tmp_path / "a.log"
    path.write_text("old 1\nold 2\n")
    found = lines_of(str(path))
    (tmp_path / "new").write_text("new\n")
    (tmp_path / "new").rename(path)
    assert list(found) == ["old 1", "old 2"]
    cut = lines_of(str(path))
    path.write_text("")
    with pytest.raises(FormatError, match="was cut while it was read"):
        cut[0]


@pytest.mark.parametrize("name", ["a.log", "a.txt"])
def test_a_table_is_the_same(tmp_path, monkeypatch, name):
    path = tmp_path / name
    day = '203.0.113.{} - - [02/Mar/2026:09:{:02}:05 +0000] "GET /item?id={} HTTP/1.1" 200 {}\n'
    path.write_text("".join(day.format(i % 7, i % 60, i, 7 * i) for i in range(300)) + "\n")
    kept = read(str(path))
    monkeypatch.setattr("ramodo.formats.file_lines.LARGE", 1)
    monkeypatch.setattr("ramodo.formats.file_lines._BLOCK", 1000)
    monkeypatch.setattr("ramodo.formats.text._AT_ONCE", 7)
    again = read(str(path))
    assert (kept.X != again.X).nnz == 0
    assert list(again.texts) == list(kept.texts)
    assert again.schema == kept.schema
    np.testing.assert_array_equal(again.times, kept.times)
    np.testing.assert_array_equal(again.sessions.of_line, kept.sessions.of_line)


TRACE = """2026-03-02 09:14:05 INFO started

2026-03-02 09:14:06 ERROR failed
java.lang.IllegalStateException: no
    at a.b.C(D.java:1)
    at a.b.E(F.java:2)

2026-03-02 09:14:07 INFO stopped
"""


def test_events_of_several_lines_are_put_together_from_the_file(tmp_path, monkeypatch):
    path = tmp_path / "a.log"
    path.write_text("\n" + 40 * TRACE)
    kept = read(str(path))
    assert len(kept.texts) == 120
    monkeypatch.setattr("ramodo.formats.file_lines.LARGE", 1)
    monkeypatch.setattr("ramodo.formats.file_lines._BLOCK", 100)
    again = read(str(path))
    assert not isinstance(again.texts, list)
    assert list(again.texts) == list(again.texts[:]) == kept.texts
    assert again.texts[-1] == kept.texts[-1]
    assert again.ids == kept.ids
    assert (kept.X != again.X).nnz == 0
