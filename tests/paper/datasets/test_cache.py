"""Where files are kept, on each system."""

from pathlib import Path

import pytest

from ramodo.paper.datasets import cache as cache_module
from ramodo.paper.datasets.cache import cache_folder


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("linux", None, ".cache/ramodo"),
        ("linux", "XDG_CACHE_HOME", "named/ramodo"),
        ("darwin", None, "Library/Caches/ramodo"),
        ("win32", None, "AppData/Local/ramodo"),
        ("win32", "LOCALAPPDATA", "named/ramodo"),
        ("linux", "RAMODO_CACHE", "named"),
    ],
)
def test_the_cache_is_where_the_system_has_it(platform, variable, expected, monkeypatch, tmp_path):
    for name in ("RAMODO_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    if variable is not None:
        monkeypatch.setenv(variable, str(tmp_path / "named"))
    monkeypatch.setattr(cache_module.sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert cache_folder() == tmp_path / expected
    assert cache_folder(tmp_path / "given") == tmp_path / "given"
