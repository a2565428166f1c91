"""The cluster that all tests share, as the current one."""

import pytest


@pytest.fixture
def client(two_workers):
    """A client of two worker processes; without it, tests run on the threads of this one."""
    with two_workers.as_current():
        yield two_workers
