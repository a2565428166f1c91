"""`ramodo datasets`: the list, and one set as a file."""

import json
import signal
import socket

import numpy as np
import pytest
import scipy.sparse as sp

from ramodo.formats import read
from ramodo.paper.datasets import SOURCES, load_dataset
from ramodo.paper.datasets.prepared import read_prepared, write_prepared


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("RAMODO_DATA", str(tmp_path / "nothing"))
    monkeypatch.setenv("RAMODO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RAMODO_OFFLINE", "0")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path / "cache"


@pytest.fixture
def news(tmp_path):
    """A news20.binary of 98 negative and 10 positive rows."""
    rng = np.random.default_rng(0)
    lines = [f"{1 if row % 11 == 5 else -1} {row + 1}:{rng.random():.4f} 1355191:1" for row in range(108)]
    path = tmp_path / "news20.binary"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_list_names_every_set_with_its_sizes(ok):
    lines = ok("datasets").splitlines()
    for name, source in SOURCES.items():
        (line,) = [line for line in lines if line.startswith(f"{name} ")]
        assert f"{source.n_rows:,}" in line
        assert f"{source.n_features:,}" in line
        assert " no " in line


def test_the_list_says_which_sets_are_here(ok, cache, tmp_path, news, monkeypatch):
    downloads = cache / "downloads" / "News20"
    downloads.mkdir(parents=True)
    (downloads / "news20.binary").write_bytes(news.read_bytes())
    data = load_dataset("News20", offline=True)
    (tmp_path / "ready").mkdir()
    write_prepared(tmp_path / "ready" / "R8.npz", data)
    write_prepared(tmp_path / "ready" / "URL_iscx.npz", data)
    monkeypatch.setenv("RAMODO_DATA", str(tmp_path / "ready"))
    here = {entry["name"]: entry["here"] for entry in json.loads(ok("datasets", "--json"))}
    assert {name for name in here if here[name] != "no"} == {"News20", "R8"}
    assert (here["News20"], here["R8"]) == ("in the cache", "ready-made")
    elsewhere = json.loads(ok("datasets", "--json", "--cache", tmp_path / "elsewhere"))
    assert [entry["here"] for entry in elsewhere].count("no") == 7


def test_the_list_as_json_has_all_that_is_known(ok):
    entries = json.loads(ok("datasets", "--json"))
    assert [entry["name"] for entry in entries] == list(SOURCES)
    for entry in entries:
        source = SOURCES[entry["name"]]
        assert (entry["n_rows"], entry["licence"], entry["notes"]) == (source.n_rows, source.licence, source.notes)
        assert entry["files"][0]["addresses"] == list(source.files[0].addresses)
        assert entry["files"][0]["sha256"] is None


@pytest.mark.parametrize("suffix", ["npz", "svm", "rows"])
def test_a_set_as_a_file(run, news, tmp_path, suffix):
    target = tmp_path / f"made.{suffix}"
    done = run("datasets", "News20", "--source", news, "-o", target, "--seed", 3)
    assert done.code == 0
    expected = load_dataset("News20", source=news, random_state=3)
    table = read(str(target), n_features=1_355_191)
    assert (sp.csr_array(table.X) != expected.X).nnz == 0
    assert np.array_equal(table.classes, expected.y)
    if suffix == "npz":
        assert (read_prepared(target).pool != expected.pool).nnz == 0
        assert done.err == f"{target}: written\n"
    else:
        assert done.err == f"{target}: written, without the pool of {expected.pool.shape[0]:,} rows\n"


def test_what_is_said_of_a_set(ok, run, news):
    facts = json.loads(ok("datasets", "News20", "--source", news, "--json"))
    assert (facts["rows"], facts["features"], facts["outliers"], facts["pool"]) == (100, 1_355_191, 2, 8)
    assert facts["in the paper"] == "10,201 rows, 1,355,191 features"
    text = ok("datasets", "news20", "--source", news)
    assert "features      1,355,191\n" in text
    assert SOURCES["News20"].licence in text
    done = run("datasets", "News20", "--source", news, "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_a_ready_made_file_is_said_to_be_one(ok, news, tmp_path, monkeypatch):
    write_prepared(tmp_path / "News20.npz", load_dataset("News20", source=news))
    monkeypatch.setenv("RAMODO_DATA", str(tmp_path))
    facts = json.loads(ok("datasets", "News20", "--json"))
    assert facts["read from"] == f"{tmp_path / 'News20.npz'}, ready-made"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["urls"], 2, "the name of a set must be AD, "),
        (["AD", "-o", "ad.mtx"], 2, "must end in .npz, .svm, .rows, got .mtx."),
        (["AD", "--source", "nowhere"], 2, "source must be a file or folder that exists, got 'nowhere'"),
        (["AD", "--seed", "-1"], 2, "--seed must be "),
        (["AD", "--offline"], 3, "ad.data is missing and must not be downloaded"),
        (["AD", "--source", "."], 3, "has no file ad.data"),
        (["AD", "--source", "http://127.0.0.1:1"], 3, "ad.data could not be downloaded"),
    ],
)
def test_errors_and_their_codes(run, arguments, code, message, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ramodo.paper.datasets.download.PAUSES", ())
    done = run("datasets", *arguments)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert done.err.startswith("ramodo: ")


def test_ctrl_c_while_a_server_is_silent(start, cache):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        process = start("datasets", "AD", "--source", address)
        connection, _ = server.accept()
        connection.recv(1000)
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 130
        connection.close()
    assert not list(cache.rglob("ad.data*"))
