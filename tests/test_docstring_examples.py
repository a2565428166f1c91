"""Every public class and function shows how it is used, and what it shows is true."""

import doctest
import importlib

import pytest

import ramodo

MODULES = ("ramodo", "ramodo.neighbors", "ramodo.plots", "ramodo.bounds", "ramodo.datasets", "ramodo.pyod")

NEED = {"ramodo.plots": "matplotlib", "ramodo.pyod": "pyod", "open_dataset": "dask"}
"""Optional packages."""


def _public(name):
    """Classes and functions that a module exports, or has itself where it lists nothing."""
    module = importlib.import_module(name)
    own = [key for key, value in vars(module).items() if getattr(value, "__module__", "") == name and key[0] != "_"]
    return [(key, getattr(module, key)) for key in getattr(module, "__all__", own) if not key.startswith("__")]


def _cases():
    found = {}
    for name in MODULES:
        try:
            found |= {key: (value, NEED.get(key, NEED.get(name))) for key, value in _public(name)}
        except ModuleNotFoundError:
            continue
    return found


CASES = _cases()


def test_all_that_is_public_is_here():
    assert set(ramodo.__all__) - {"__version__"} <= set(CASES)
    assert {"plot_scores", "eta", "make_ultrahigh"} <= set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_the_examples_hold(name, monkeypatch):
    value, needs = CASES[name]
    if needs:
        pytest.importorskip(needs)
    if needs == "matplotlib":
        monkeypatch.setenv("MPLBACKEND", "agg")
    (test,) = doctest.DocTestFinder(recurse=False).find(value, name, globs={})
    assert test.examples
    runner = doctest.DocTestRunner(verbose=False)
    report = []
    runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)
