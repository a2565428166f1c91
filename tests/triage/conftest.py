"""A detector on planted rows, and sessions over it."""

from types import SimpleNamespace

import pytest

from ramodo import Consensus
from ramodo.datasets import make_ultrahigh
from ramodo.triage import TriageSession
from support.browser import driver  # noqa: F401 - a fixture


@pytest.fixture(scope="session")
def planted():
    """400 rows with 40 outliers; `truth` is 1 or -1."""
    X, y = make_ultrahigh(400, 300, row_length=20, outlier_fraction=0.1, random_state=0)
    detector = Consensus(random_state=0).fit(X)
    return SimpleNamespace(detector=detector, X=X, truth=[1 if value else -1 for value in y])


@pytest.fixture
def session_of(planted, tmp_path):
    """Makes sessions on the same store."""
    opened = []

    def make(**options):
        session = TriageSession(planted.detector, planted.X, **{"store": str(tmp_path / "labels.db"), **options})
        opened.append(session)
        return session

    yield make
    for session in opened:
        session.close()
