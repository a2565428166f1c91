"""Files that are cut while they are read: an error or the table as it was, never the end of the process."""

import os
import subprocess
import sys

import pytest

from ramodo.formats import FormatError, byte_streams, read, tabular

pytestmark = pytest.mark.slow

LINES = {
    "svm": ("", "1 1:{0} 7:2.5 90:0.125\n"),
    "csv": ("a,b\n", "{0},2.5\n"),
}

CUTTING = """
import os, random, sys, threading, time
from ramodo.formats import FormatError, read

path, content = sys.argv[1], open(sys.argv[1], "rb").read()
rng = random.Random(0)
read(path)
for _ in range(25):
    with open(path, "wb") as file:
        file.write(content)
    cut = threading.Timer(rng.random() * 0.01, os.truncate, (path, 10))
    cut.start()
    try:
        assert read(path).X.shape[0] > 0
    except FormatError as error:
        assert path in str(error), error
    cut.join()
"""


@pytest.mark.parametrize("kind", LINES)
def test_no_file_that_is_cut_ends_the_process(tmp_path, kind):
    head, line = LINES[kind]
    path = tmp_path / f"data.{kind}"
    path.write_text(head + "".join(line.format(i + 1) for i in range(60_000)))
    done = subprocess.run([sys.executable, "-c", CUTTING, str(path)], capture_output=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr.decode()


def test_a_cut_file_is_said_to_be_cut(tmp_path, monkeypatch):
    path = tmp_path / "data.svm"
    path.write_bytes(b"1 1:2\n" * 100)
    sized = byte_streams._read_sized

    def cut(path, file, size):
        os.truncate(path, 60)
        return sized(path, file, size)

    monkeypatch.setattr(byte_streams, "_read_sized", cut)
    with pytest.raises(FormatError, match=r"data.svm was cut while it was read: it had 600 bytes, and has 60\."):
        read(str(path))


def test_a_cut_table_is_said_to_be_cut(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"1,2\n" * 100)
    with pytest.raises(FormatError, match=r"data.csv was cut while it was read"), tabular._stream(str(path), None):
        os.truncate(path, 40)


def test_a_file_that_grows_is_read_as_it_was(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"1,2\n" * 100)
    with tabular._stream(str(path), None), open(path, "ab") as file:
        file.write(b"3,4\n")


def test_an_empty_file_and_one_without_a_size(tmp_path):
    (tmp_path / "empty").touch()
    assert len(byte_streams.whole(str(tmp_path / "empty"))) == 0
    if os.path.exists("/proc/self/status"):
        assert len(byte_streams.whole("/proc/self/status")) > 0
