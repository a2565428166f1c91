"""Makes the cluster that all tests share the current one."""

import pytest


@pytest.fixture
def client(two_workers):
    """A client with two worker processes; tests without it run on the threads of this process."""
    with two_workers.as_current():
        yield two_workers
