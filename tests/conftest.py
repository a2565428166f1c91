"""What all tests share: the kinds of sparse matrix, a small fitted detector, a cluster."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from ramodo import REPEN
from support.examples import KINDS, with_outliers
from support.loopback_cluster import cluster_of

# Prepared sets, where they are beside the project and nobody names another folder.
_BESIDE = Path(__file__).parents[2] / "shared" / "data"
if _BESIDE.is_dir():
    os.environ.setdefault("RAMODO_DATA", str(_BESIDE))

# The same examples in every run: a failure found once can be found again.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("searching", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("RAMODO_HYPOTHESIS", "steady"))


def pytest_collection_modifyitems(items):
    """What starts processes is slow: `make test-quick` leaves it out."""
    for item in items:
        if {"python", "two_workers"} & set(item.fixturenames):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(params=KINDS, ids=str)
def kind(request):
    return request.param


@pytest.fixture(scope="session")
def data():
    """X and its truth; tests do not change them."""
    return with_outliers()


@pytest.fixture(scope="session")
def two_workers():
    """A client of two worker processes of a Dask cluster, started once; not the current one."""
    with cluster_of(2) as client:
        yield client


@pytest.fixture
def quick():
    """Makes a detector that fits in milliseconds."""

    def make(**options):
        return REPEN(**{"n_components": 6, "n_epochs": 3, "n_subsamples": 10, "random_state": 0, **options})

    return make


@pytest.fixture
def fitted(quick, data):
    return quick().fit(data[0])


@pytest.fixture
def python(pytestconfig):
    """Runs a program in a Python of its own, which finds what this one finds; gives back what it printed.

    Warnings are errors there too, but those that pytest was called with as something else.
    """
    filters = ["error", *(pytestconfig.getoption("pythonwarnings") or ())]

    def run(program, *arguments, **environment):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
        command = [sys.executable, *(f"-W{each}" for each in filters), "-c", program, *map(str, arguments)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def record(monkeypatch):
    """Makes a method keep what it returns, in a list that is given back."""

    def spy(owner, name):
        original, returned = getattr(owner, name), []

        def wrapper(*arguments):
            returned.append(original(*arguments))
            return returned[-1]

        monkeypatch.setattr(owner, name, wrapper)
        return returned

    return spy
