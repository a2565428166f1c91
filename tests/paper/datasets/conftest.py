"""A web server on this machine, and a world in which nothing is known of earlier downloads."""

import tempfile
from pathlib import Path

import pytest
import tiny_files
from file_server import CONTENT, FileServer

from ramodo.paper.datasets import RawFile, download, load_dataset


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(download, "PAUSES", (0.0, 0.0, 0.0))
    started = FileServer()
    yield started
    started.close()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "files"


@pytest.fixture
def file(server):
    server.files["a.bin"] = CONTENT
    return RawFile("a.bin", (f"{server.address}/some/a.bin",))


@pytest.fixture(autouse=True)
def empty_world(monkeypatch, tmp_path):
    """No ready-made files, a cache of its own, and the network allowed."""
    monkeypatch.setenv("RAMODO_DATA", str(tmp_path / "nothing"))
    monkeypatch.setenv("RAMODO_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("RAMODO_OFFLINE", raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path


@pytest.fixture
def build(tmp_path):
    """A set from files that are given by name."""

    def convert(name, seed=0, **files):
        folder = Path(tempfile.mkdtemp(prefix="mine", dir=tmp_path))
        for file, content in (files or tiny_files.all_files()).items():
            (folder / file).write_bytes(content)
        return load_dataset(name, source=folder, random_state=seed)

    return convert
