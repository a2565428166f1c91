"""Whole or not at all: nothing of a killed writer stays, nothing of a living one is touched, no umask is changed."""

import os
import signal
import stat
import subprocess
import sys
import threading

import pytest

from ramodo.files.whole import beside, put_in_place, remove_leftovers, write_whole

pytestmark = pytest.mark.skipif(os.name == "nt", reason="locks and modes of POSIX")

KILLED = """
import os, signal, sys
from pathlib import Path
from ramodo.files.whole import beside, write_whole
def write(path):
    Path(path).write_bytes(b"half of it")
    os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[2] == "file":
    write_whole(Path(sys.argv[1]), write)
with beside(Path(sys.argv[1]), folder=True) as folder:
    write(folder / "inside")
"""


def kill_a_writer(target, kind="file"):
    command = [sys.executable, "-c", KILLED, str(target), kind]
    done = subprocess.run(command, env={"PYTHONPATH": ":".join(sys.path)}, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def written(text):
    def write(path):
        with open(path, "w") as file:
            file.write(text)

    return write


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path, kind):
    target = tmp_path / "target"
    kill_a_writer(target, kind)
    (left,) = names(tmp_path)
    assert left.startswith(".target.ramodo-")
    write_whole(target, written("all of it"))
    assert names(tmp_path) == ["target"]
    assert target.read_text() == "all of it"


KILLED_ANYWHERE = """
import os, signal, sys
from itertools import count
from pathlib import Path
import numpy as np
import scipy.sparse as sp
from ramodo.files.whole import write_whole
from ramodo.formats import Table, folder, folder_place

target, way = Path(sys.argv[1]), sys.argv[2]
if way == "two renames":
    folder_place.exchange = lambda one, other: False

def write(number):
    if way == "file":
        write_whole(target, lambda path: Path(path).write_text(str(number)))
    else:
        folder.write(target, Table(sp.csr_array(np.full((3, 2), float(number)))))

def found():
    return int(target.read_text()) if way == "file" else int(folder.read(str(target)).X.data[0])

def killed_at(step, number):
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    steps = count()
    def hook(event, _):
        if event.partition(".")[0] in ("open", "os", "fcntl", "shutil") and next(steps) == step:
            os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(hook)
    write(number)
    os._exit(0)

write(1)
n_left, step = 0, 0
while killed_at(step, step + 2):
    n_left += len(os.listdir(target.parent)) > 1
    assert found() in (step + 1, step + 2), (step, found())
    write(step + 2)
    assert os.listdir(target.parent) == [target.name], step
    step += 1
print(step, n_left)
"""


@pytest.mark.parametrize("way", ["file", "exchange", "two renames"])
def test_a_writer_that_is_killed_before_any_call_of_the_system(tmp_path, python, way):
    """The target is as before or complete, and the next writer removes what is left."""
    (tmp_path / "out").mkdir()
    n_kills, n_left = map(int, python(KILLED_ANYWHERE, tmp_path / "out" / "target.rows", way).split())
    assert n_kills > 5
    assert n_left > 2


def test_what_was_left_for_other_targets_stays(tmp_path):
    """Another name may be a longer or a shorter one, and a user's files may look alike."""
    kill_a_writer(tmp_path / "target.old")
    alike = [".target.ramodo-", ".target.ramodo-12", ".target.ramodo-1-0123456789abcdefX", ".target.0123456789abcdef"]
    for name in alike:
        (tmp_path / name).write_text("mine")
    before = names(tmp_path)
    write_whole(tmp_path / "target", written("new"))
    assert names(tmp_path) == sorted([*before, "target"])


@pytest.mark.parametrize("folder", [False, True])
def test_what_a_living_writer_is_at_stays(tmp_path, folder):
    target = tmp_path / "target"
    with beside(target, folder=folder) as slow:
        write_whole(target, written("quick"))
        remove_leftovers(target)
        assert slow.exists()
    assert names(tmp_path) == ["target"]


def test_many_writers_of_one_target(tmp_path):
    """Each removes leftovers while others begin: none loses its file before it could lock it."""
    target, failed = tmp_path / "target", []

    def write_often(name):
        try:
            for _ in range(40):
                write_whole(target, written(name * 1000))
        except OSError as error:
            failed.append(error)

    threads = [threading.Thread(target=write_often, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if target.exists():
            assert target.read_text() in [name * 1000 for name in "abcd"]
    assert failed == []
    assert names(tmp_path) == ["target"]


def test_a_link_where_a_leftover_would_be_is_not_followed(tmp_path):
    (tmp_path / "precious").write_text("mine")
    (tmp_path / ".target.ramodo-1-0123456789abcdef").symlink_to(tmp_path / "precious")
    write_whole(tmp_path / "target", written("new"))
    assert (tmp_path / "precious").read_text() == "mine"


@pytest.mark.parametrize("name", ["n" * 255, "ü" * 127])
def test_the_longest_names(tmp_path, name):
    kill_a_writer(tmp_path / name)
    write_whole(tmp_path / name, written("all of it"))
    assert names(tmp_path) == [name]


def test_contents_and_names_are_on_the_disk_before_it_returns(tmp_path, monkeypatch):
    synced, replaced = [], []
    fsync, replace = os.fsync, os.replace

    def note_sync(handle):
        kind = "folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file"
        synced.append((kind, len(replaced)))
        fsync(handle)

    def note_replace(*paths):
        replaced.append(paths)
        replace(*paths)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(os, "replace", note_replace)
    write_whole(tmp_path / "target", written("new"))
    assert synced == [("file", 0), ("folder", 1)]


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    """Files are written all the same; who cannot know whether a writer lives removes nothing."""

    def refuse(*_):
        raise OSError(95, "Operation not supported")

    kill_a_writer(tmp_path / "target")
    (left,) = names(tmp_path)
    monkeypatch.setattr("fcntl.flock", refuse)
    write_whole(tmp_path / "target", written("new"))
    assert names(tmp_path) == sorted([left, "target"])


@pytest.mark.parametrize("folder", [False, True])
def test_a_system_without_such_locks(tmp_path, monkeypatch, folder):
    """On Windows nothing is open as it is renamed, which that refuses."""
    monkeypatch.setattr("ramodo.files.whole.fcntl", None)
    with beside(tmp_path / "target", folder=folder) as temporary:
        opened = [os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")]
        assert temporary.exists()
        assert str(temporary) not in opened
        temporary.rename(tmp_path / "target")
    assert names(tmp_path) == ["target"]


# ---- permissions -----------------------------------------------------------------------------------------------------


@pytest.fixture(params=[0o022, 0o027, 0o077, 0o002])
def mask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_new_files_and_folders_have_the_permissions_that_the_umask_leaves(tmp_path, mask):
    write_whole(tmp_path / "file", written("new"))
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o666 & ~mask
    with beside(tmp_path / "folder", folder=True) as folder:
        assert folder.stat().st_mode & 0o777 == 0o777 & ~mask
        os.rename(folder, tmp_path / "folder")


def test_the_umask_of_the_process_is_never_changed(tmp_path, monkeypatch, mask):
    """It belongs to all threads: another one would make files for everybody in that moment."""

    def refuse(_):
        raise AssertionError("the umask was changed")

    with monkeypatch.context() as patch:
        patch.setattr(os, "umask", refuse)
        write_whole(tmp_path / "file", written("new"))


def test_put_in_place_takes_any_file(tmp_path):
    """Some writers make a file of their own under the name that they are given."""

    def write(path):
        os.unlink(path)
        written("another file")(path)

    write_whole(tmp_path / "target", write)
    (tmp_path / "other").write_text("other")
    put_in_place(tmp_path / "other", tmp_path / "target")
    assert (tmp_path / "target").read_text() == "other"
    assert names(tmp_path) == ["target"]
