"""Disks and memory without room: what happened, and to which file, in words."""

import sqlite3

import numpy as np
import pytest

from ramodo import Consensus
from ramodo.cli import _text
from ramodo.files.full_disk import writing_to
from ramodo.paper.experiments.cells import Cell
from ramodo.paper.experiments.store import Store, StoreError

SMALL_DISK = (
    "import resource, signal, sys; sys.dont_write_bytecode = True; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); "
)

SMALL_MEMORY = """
import resource, sys
import numpy, scipy.sparse, ramodo.cli.app, ramodo.formats, ramodo.repen
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (128 << 20), used + (128 << 20)))
"""


def test_a_model_says_so_in_python_too(python, tmp_path):
    """With the number that programs look at."""
    program = SMALL_DISK + "import numpy as np; from ramodo import REPEN\n"
    program += "detector = REPEN(n_epochs=1, random_state=0).fit(np.random.default_rng(0).random((40, 9)))\n"
    program += "try:\n    detector.save(sys.argv[1])\nexcept OSError as error:\n    print(error.errno, error.filename)"
    assert python(program, tmp_path / "model").split() == ["27", str((tmp_path / "model").resolve())]


def test_numpys_words_for_a_short_write():
    with (
        pytest.raises(OSError, match=r"only 0 of 6,000 values could be written; the disk is full") as caught,
        writing_to("x.rows"),
    ):
        raise OSError("6000 requested and 0 written")
    assert _text(caught.value).startswith("x.rows could not be written: only 0 of 6,000 values")


def test_other_errors_pass_as_they_are():
    with pytest.raises(OSError, match=r"^something else$"), writing_to("x.rows"):
        raise OSError("something else")


# ---- results of experiments ------------------------------------------------------------------------------------------


def test_a_full_disk_is_not_a_foreign_file(python, tmp_path):
    program = SMALL_DISK + "from pathlib import Path; from ramodo.paper.experiments.store import Store, StoreError\n"
    program += "try:\n    Store(Path(sys.argv[1]), {})\nexcept StoreError as error:\n    print(error)"
    said = python(program, tmp_path / "results.sqlite")
    assert "results.sqlite could not be read or written: " in said
    assert "Move it away" not in said


def test_a_foreign_file_is(tmp_path):
    (tmp_path / "results.sqlite").write_text("not a database " * 100)
    with pytest.raises(StoreError, match=r"is not a file of results: .* Move it away to begin again"):
        Store(tmp_path / "results.sqlite", {})


def test_another_table_is_foreign_too(tmp_path):
    with sqlite3.connect(tmp_path / "results.sqlite") as database:
        database.execute("create table cells (other text)")
    database.close()
    cell = Cell("auc", "R8", "REPEN")
    with Store(tmp_path / "results.sqlite", {}) as store, pytest.raises(StoreError, match="is not a file of results"):
        store.get(cell)


# ---- memory ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".npz", ".npy"])
def test_too_little_memory_is_said(start, tmp_path, suffix):
    """Not that the file is of a foreign kind."""
    path = tmp_path / f"large{suffix}"
    if suffix == ".npz":
        np.savez_compressed(path, X=np.zeros((1 << 13, 1 << 13), np.float32))
    else:
        np.lib.format.open_memmap(path, "w+", np.float32, (1 << 13, 1 << 13))  # a file of holes
    process = start("detect", path, before=SMALL_MEMORY)
    _, err = process.communicate()
    assert process.returncode == 3
    (line,) = err.decode().splitlines()
    assert line.startswith("ramodo: there is not enough memory: ")
    assert "ramodo convert DATA DATA.rows" in line


@pytest.mark.parametrize("said", ["", "std::bad_alloc"])
def test_an_error_without_words(run, files, monkeypatch, said):
    def no_memory(*_, **__):
        raise MemoryError(said)

    monkeypatch.setattr(Consensus, "fit", no_memory)
    done = run("detect", files.mail)
    assert done.code == 3
    assert done.err.startswith("ramodo: there is not enough memory. Use fewer rows")
