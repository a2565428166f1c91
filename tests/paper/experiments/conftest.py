"""The command in this process, on sets of a few rows."""

import sys
from types import SimpleNamespace

import pytest
from tiny_sets import write_sets

from ramodo.cli import main
from ramodo.paper.experiments import measures


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A folder of tiny sets as RAMODO_DATA; nothing of other sets is remembered."""
    write_sets(tmp_path / "data")
    monkeypatch.setenv("RAMODO_DATA", str(tmp_path / "data"))
    measures.load.cache_clear()
    yield tmp_path / "data"
    measures.load.cache_clear()


@pytest.fixture
def experiments(capsys, monkeypatch, tmp_path, tiny):
    """Runs `ramodo experiments`: its exit code, what it said, and the folder of its results."""

    def command(*arguments, output="out"):
        folder = tmp_path / output
        monkeypatch.setattr(sys, "argv", ["ramodo", "experiments", *map(str, arguments), "--output", str(folder)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capsys.readouterr()
        return SimpleNamespace(code=end.value.code or 0, out=out, err=err, folder=folder)

    return command
