"""The way from a name to rows: ready-made, cached, from files of the user, from the network, and without it."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import tiny_files

from ramodo.formats import FormatError
from ramodo.options import OptionError
from ramodo.paper.datasets import SOURCES, LabeledData, download, list_datasets, load_dataset
from ramodo.paper.datasets.checksums import DownloadError
from ramodo.paper.datasets.prepared import read_prepared, write_prepared

NAMES = ["AD", "LC", "p53", "R8", "OT", "News20", "URL", "Webspam"]
FILES = tiny_files.all_files()


@pytest.fixture
def mirror(server):
    server.files = dict(FILES)
    return server


@pytest.fixture
def mine(tmp_path):
    """A folder with every file that a user may have."""
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    return folder


def dense(matrix):
    """Over the columns that are used."""
    if not sp.issparse(matrix):
        return matrix
    columns, indices = np.unique(matrix.indices, return_inverse=True)
    return sp.csr_array((matrix.data, indices, matrix.indptr), (matrix.shape[0], len(columns))).toarray()


def same(first, second):
    assert np.array_equal(dense(first.X), dense(second.X))
    assert np.array_equal(first.y, second.y)
    assert (first.pool is None) == (second.pool is None)
    assert first.pool is None or np.array_equal(dense(first.pool), dense(second.pool))


def test_the_eight_sets_are_there():
    assert list_datasets() == NAMES
    for name, source in SOURCES.items():
        assert source.name == name
        assert source.is_downsampled == (name in ("News20", "URL", "Webspam"))
        for file in source.files:
            assert file.addresses
            assert all(address.startswith(("https://", "http://")) for address in file.addresses)
            assert file.sha256 is None or len(bytes.fromhex(file.sha256)) == 32


def test_the_page_says_what_the_table_says():
    lines = (Path(__file__).parents[3] / "docs" / "datasets.md").read_text(encoding="utf-8").splitlines()
    for source in SOURCES.values():
        (line,) = [line for line in lines if line.startswith(f"| {source.name} |")]
        assert line.startswith(f"| {source.name} | {source.n_rows:,} | {source.n_features:,} |")
        assert all(f"`{file.name}`" in line for file in source.files)
        assert ("dense" in line, "down to 2 %" in line) == (source.is_dense, source.is_downsampled)


@pytest.mark.parametrize("name", NAMES)
def test_from_the_network_once(name, mirror, mine, monkeypatch):
    """The second call needs no network, and gives the same as the same files of a user."""
    first = load_dataset(name, source=mirror.address)
    assert [path for path, _ in mirror.requests] == [f"/{file.name}" for file in SOURCES[name].files]
    monkeypatch.setenv("RAMODO_OFFLINE", "1")
    same(first, load_dataset(name))
    same(first, load_dataset(name, source=mine))
    assert len(mirror.requests) == len(SOURCES[name].files)
    assert set(np.unique(first.y)) == {0, 1}
    assert first.y.dtype == np.int8
    assert (first.pool is not None) == SOURCES[name].is_downsampled
    assert sp.issparse(first.X) != SOURCES[name].is_dense


def test_from_an_address_of_the_table(server, monkeypatch):
    server.files = dict(FILES)
    file = SOURCES["AD"].files[0]
    moved = type(file)(file.name, (f"{server.address}/gone", f"{server.address}/uci/{file.name}"))
    source = type(SOURCES["AD"])(**{**vars(SOURCES["AD"]), "files": (moved,)})
    monkeypatch.setitem(SOURCES, "AD", source)
    assert load_dataset("AD").X.shape == (40, 1555)
    assert [path for path, _ in server.requests] == ["/gone", "/uci/ad.data"]


def test_a_download_that_was_cut_goes_on_in_the_next_call(mirror, monkeypatch, tmp_path):
    monkeypatch.setattr(download, "PAUSES", ())
    mirror.cut_after = [1234]
    with pytest.raises(DownloadError, match="1,234 bytes are kept"):
        load_dataset("URL", source=mirror.address)
    assert (tmp_path / "cache" / "downloads" / "URL" / "url_svmlight.tar.gz.part").stat().st_size == 1234
    load_dataset("URL", source=mirror.address)
    assert mirror.ranges() == [None, "bytes=1234-"]


def test_a_file_that_is_not_the_published_one(mirror, monkeypatch, tmp_path):
    file = SOURCES["AD"].files[0]
    published = type(file)(file.name, file.addresses, sha256=hashlib.sha256(b"the real one").hexdigest())
    source = type(SOURCES["AD"])(**{**vars(SOURCES["AD"]), "files": (published,)})
    monkeypatch.setitem(SOURCES, "AD", source)
    with pytest.raises(DownloadError, match=f"expected: {published.sha256}, the one published"):
        load_dataset("AD", source=mirror.address)
    assert not list((tmp_path / "cache").glob("*.npz"))


def test_a_raw_file_that_changed_is_not_converted(mirror, tmp_path):
    """Another seed converts the same download again, once its checksum is right."""
    load_dataset("News20", source=mirror.address)
    load_dataset("News20", source=mirror.address, random_state=1)
    assert len(mirror.requests) == 1
    raw = tmp_path / "cache" / "downloads" / "News20" / "news20.binary.bz2"
    raw.write_bytes(FILES["news20.binary.bz2"] + b" ")
    with pytest.raises(DownloadError, match="of the first download"):
        load_dataset("News20", source=mirror.address, random_state=2)


@pytest.mark.parametrize("how", ["option", "environment"])
def test_offline_says_which_file_to_put_where(how, monkeypatch, tmp_path, mirror):
    if how == "environment":
        monkeypatch.setenv("RAMODO_OFFLINE", "1")
    folder = tmp_path / "cache" / "downloads" / "R8"
    with pytest.raises(DownloadError) as caught:
        load_dataset("R8", offline=how == "option")
    message = str(caught.value)
    assert "r8-train-stemmed.txt is missing" in message
    assert str(folder) in message
    assert SOURCES["R8"].files[0].addresses[0] in message
    folder.mkdir(parents=True)
    for name in ("r8-train-stemmed.txt", "r8-test-stemmed.txt"):
        (folder / name).write_bytes(FILES[name])
    assert load_dataset("R8", offline=how == "option").X.shape[0] == 6
    assert mirror.requests == []


def test_offline_takes_an_unpacked_file(tmp_path):
    folder = tmp_path / "cache" / "downloads" / "News20"
    folder.mkdir(parents=True)
    (folder / "news20.binary").write_bytes(tiny_files.news20())
    assert load_dataset("News20", offline=True).y.sum() > 1


def test_files_of_the_user_are_not_taken_for_the_published_ones(mine, tmp_path):
    """What is built from them is found again as long as they stay the same, and only for them."""
    first = load_dataset("AD", source=mine / "ad.data", offline=True)
    assert load_dataset("AD", source=mine).origin == first.origin
    with pytest.raises(DownloadError):
        load_dataset("AD", offline=True)
    (mine / "ad.data").write_bytes(tiny_files.advertisements(50))
    assert load_dataset("AD", source=mine).X.shape[0] == 50


def test_names_in_any_case(mine, tmp_path, monkeypatch):
    same(load_dataset("r8", source=mine), load_dataset("R8", source=mine))
    write_prepared(tmp_path / "R8.npz", load_dataset("R8", source=mine))
    monkeypatch.setenv("RAMODO_DATA", str(tmp_path))
    assert load_dataset("r8").origin == str(tmp_path / "R8.npz")
    for name in ("R9", "", None):
        with pytest.raises(OptionError, match=f"the name of a set must be AD, LC, .*, got {name!r}"):
            load_dataset(name)


def test_a_cache_of_ones_own(mine, tmp_path):
    load_dataset("AD", source=mine, cache=tmp_path / "elsewhere")
    assert [path.suffix for path in (tmp_path / "elsewhere").iterdir()] == [".npz"]
    assert not (tmp_path / "cache").exists()


def test_a_ready_made_file_comes_first(mine, tmp_path, monkeypatch):
    """But a stand-in of another name never, and files that are given before it."""
    ready = LabeledData(sp.csr_array(np.eye(4, dtype=np.float32)), np.array([0, 0, 0, 1], np.int8), None)
    (tmp_path / "ready").mkdir()
    monkeypatch.setenv("RAMODO_DATA", str(tmp_path / "ready"))
    for name in ("URL_iscx", "AD_dedup", "R8", "LC"):
        write_prepared(tmp_path / "ready" / f"{name}.npz", ready)
    found = load_dataset("R8", offline=True)
    assert found.X.shape == (4, 4)
    assert found.origin == str(tmp_path / "ready" / "R8.npz")
    assert isinstance(load_dataset("LC").X, np.ndarray)
    for name in ("URL", "AD"):
        with pytest.raises(DownloadError, match="is missing"):
            load_dataset(name, offline=True)
    assert load_dataset("R8", source=mine).X.shape[0] == 6


def test_a_set_that_is_interrupted_leaves_nothing(mine, tmp_path, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("ramodo.paper.datasets.prepared.write_npz", stop)
    with pytest.raises(KeyboardInterrupt):
        load_dataset("AD", source=mine)
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_damaged_cache_is_said_so(mine, tmp_path):
    load_dataset("AD", source=mine)
    (path,) = (tmp_path / "cache").iterdir()
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(FormatError, match=r"AD-v1-.*\.npz is not a prepared set: .* If it is in the cache, remove it"):
        load_dataset("AD", source=mine)


@pytest.mark.parametrize(
    "X", [np.eye(3, dtype=np.float32), sp.csr_array(np.eye(3, dtype=np.float32))], ids=["dense", "sparse"]
)
def test_what_is_written_is_read(X, tmp_path):
    data = LabeledData(X, np.array([0, 1, 0], np.int8), sp.csr_array(np.ones((2, 3), np.float32)))
    write_prepared(tmp_path / "set.npz", data)
    same(data, read_prepared(tmp_path / "set.npz"))
    with np.load(tmp_path / "set.npz", allow_pickle=False) as file:
        assert file["pool_indptr"].dtype == np.int64
        assert file["pool_shape"].tolist() == [2, 3]


# ---- what is not allowed -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("urls", {}, "the name of a set must be .*, got 'urls'"),
        ("AD", {"random_state": -1}, "random_state must be .*, got -1"),
        ("AD", {"random_state": None}, "random_state must be .*, got None"),
        ("AD", {"source": "/nowhere/at/all"}, "source must be a file or folder that exists, got '/nowhere/at/all'"),
        (
            "AD",
            {"source": "http://127.0.0.1:1", "offline": True},
            "source must be a file or folder where",
        ),
        (
            "R8",
            {"source": __file__},
            "source for R8 must be a folder with r8-train-stemmed.txt and ",
        ),
    ],
)
def test_options_that_are_not_allowed(name, options, message):
    with pytest.raises(OptionError, match=message):
        load_dataset(name, **options)


def test_a_folder_without_the_file(tmp_path):
    with pytest.raises(DownloadError, match=r"has no file news20\.binary\.bz2 or news20\.binary, which News20"):
        load_dataset("News20", source=tmp_path)


def test_offline_is_0_or_1(monkeypatch):
    monkeypatch.setenv("RAMODO_OFFLINE", "perhaps")
    with pytest.raises(OptionError, match="RAMODO_OFFLINE must be 0 or 1, got 'perhaps'"):
        load_dataset("AD")


def test_importing_asks_no_network(python):
    assert python("import sys, ramodo; print('urllib.request' in sys.modules)").strip() == "False"
