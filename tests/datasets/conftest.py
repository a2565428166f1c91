"""A web server on this machine, and a world in which nothing is known of earlier downloads."""

import pytest
from file_server import FileServer

from ramodo.datasets import download


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(download, "PAUSES", (0.0, 0.0, 0.0))
    started = FileServer()
    yield started
    started.close()


@pytest.fixture(autouse=True)
def empty_world(monkeypatch, tmp_path):
    """No ready-made files, a cache of its own, and the network allowed."""
    monkeypatch.setenv("RAMODO_DATA", str(tmp_path / "nothing"))
    monkeypatch.setenv("RAMODO_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("RAMODO_OFFLINE", raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path
