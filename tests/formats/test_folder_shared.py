"""A rows folder that is written, replaced and read by several at once, and left by those that were killed."""

import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

from ramodo.formats import FormatError, Table, folder, folder_place, read

pytestmark = pytest.mark.slow

N_ROUNDS = 25


def numbered(number):
    """Rows of which every array tells which it is."""
    n = 3 + number % 4
    matrix = sp.csr_array((np.full(n, 1.0 + number), np.full(n, number), np.arange(n + 1)), shape=(n, 1000))
    return Table(matrix, classes=np.full(n, float(number)))


def number_of(table):
    """Which it is; fails where its arrays are of several."""
    number = int(table.classes[0])
    expected = numbered(number)
    assert table.X.shape == expected.X.shape
    assert table.X.indices.tolist() == expected.X.indices.tolist()
    assert table.X.data.tolist() == expected.X.data.tolist()
    assert table.classes.tolist() == expected.classes.tolist()
    return number


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data.rows"


@pytest.fixture(params=["exchange", "two renames"])
def way(request, monkeypatch):
    """How a folder takes the place of another: as Linux can, and as it is done elsewhere."""
    if request.param == "two renames":
        monkeypatch.setattr(folder_place, "exchange", lambda one, other: False)
    return request.param


def test_this_system_can_exchange_names(tmp_path):
    """So that the tests below try what users get."""
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / f"in {name}").touch()
    assert folder_place.exchange(tmp_path / "a", tmp_path / "b")
    assert os.listdir(tmp_path / "a") == ["in b"]
    assert not folder_place.exchange(tmp_path / "a", tmp_path / "absent")


# ---- several at once -------------------------------------------------------------------------------------------------


def test_a_folder_that_is_replaced_while_it_is_opened_is_the_old_or_the_new_one(path, way):
    folder.write(path, numbered(0))
    done = threading.Event()

    def replace():
        try:
            for number in range(1, N_ROUNDS):
                folder.write(path, numbered(number))
        finally:
            done.set()

    def look():
        found = []
        while not done.is_set():
            found.append(number_of(read(str(path))))
        return found

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(look) for _ in range(2)]
        pool.submit(replace).result()
    for reader in readers:
        assert reader.result() == sorted(reader.result())
    assert number_of(read(str(path))) == N_ROUNDS - 1
    assert os.listdir(path.parent) == ["data.rows"]


def test_several_writers_do_not_fail(path, way):
    def write(first):
        for number in range(first, first + 15):
            folder.write(path, numbered(number))

    with ThreadPoolExecutor(4) as pool:
        for writer in [pool.submit(write, 100 * i) for i in range(4)]:
            writer.result()
    assert number_of(read(str(path))) % 100 == 14
    assert os.listdir(path.parent) == ["data.rows"]


def test_the_last_to_finish_wins(path):
    with folder.writing(path) as first, folder.writing(path) as second:
        for place, number in ((first, 1), (second, 2)):
            table = numbered(number)
            with folder.FolderWriter(place) as writer:
                writer.add(table.X.indptr, table.X.indices, table.X.data, table.classes)
                writer.finish(1000)
    assert number_of(read(str(path))) == 1


def test_a_table_that_is_in_use_outlives_its_folder(path, way):
    folder.write(path, numbered(1))
    table = read(str(path))
    folder.write(path, numbered(2))
    assert number_of(table) == 1
    shutil.rmtree(path)
    assert number_of(table) == 1


# ---- after a kill ----------------------------------------------------------------------------------------------------


def left_aside(path):
    """As a writer leaves it that was killed between its two renames."""
    folder.write(path, numbered(1))
    path.rename(path.with_name(".data.rows.ramodo-123-0123456789abcdef.old"))
    folder.write(path.with_name("new.rows"), numbered(2))
    path.with_name("new.rows").rename(path.with_name(".data.rows.ramodo-123-0123456789abcdef"))


def test_a_folder_that_was_left_aside_is_found_by_the_next_reader(path):
    left_aside(path)
    assert number_of(read(str(path))) == 1
    folder.write(path, numbered(3))
    assert os.listdir(path.parent) == ["data.rows"]


def test_a_folder_that_was_left_aside_is_found_by_the_next_writer(path):
    left_aside(path)
    with pytest.raises(KeyboardInterrupt), folder.writing(path):
        raise KeyboardInterrupt
    assert number_of(read(str(path))) == 1
    assert os.listdir(path.parent) == ["data.rows"]


def test_what_has_been_replaced_is_removed_where_it_was_left(path):
    left_aside(path)
    folder.write(path.with_name("other.rows"), numbered(4))
    path.with_name("other.rows").rename(path)
    folder.write(path, numbered(5))
    assert os.listdir(path.parent) == ["data.rows"]
    assert number_of(read(str(path))) == 5


def test_where_there_was_no_folder_there_is_none(path):
    with pytest.raises(FileNotFoundError):
        read(str(path))


# ---- what is not ours ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_comes_into_the_place_meanwhile_is_not_removed(path, kind):
    with pytest.raises(FileExistsError, match="exists and is not a rows folder"), folder.writing(path):  # noqa: PT012
        if kind == "folder":
            path.mkdir()
        (path / "thesis.txt" if kind == "folder" else path).write_text("precious")
    assert (path / "thesis.txt" if kind == "folder" else path).read_text() == "precious"
    assert os.listdir(path.parent) == ["data.rows"]


def test_arrays_are_not_to_be_written_over(path):
    folder.write(path, numbered(1))
    assert {file.stat().st_mode & 0o222 for file in path.iterdir()} == {0}


def test_a_folder_without_one_of_its_arrays(path):
    folder.write(path, numbered(1))
    (path / "data.npy").unlink()
    with pytest.raises(FormatError, match=r"data.rows is not a rows folder: .*No such file.*data.npy"):
        read(str(path))
