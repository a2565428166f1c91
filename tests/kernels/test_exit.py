"""The interpreter ends while daemon threads are in native code: the process ends with its own exit code."""

import os

import pytest

from support.own_process import run

pytestmark = pytest.mark.slow

PROGRAM = """
import os, sys, threading
import scipy.sparse as sp
from ramodo import REPEN

X = sp.random(300, 500, 0.2, format="csr", random_state=0)

def detector():
    return REPEN(n_components=5, n_epochs=1, n_subsamples=5, random_state=0, n_jobs=2)

def score():
    while True:
        inside.release()
        fitted.outlier_score(X)

def fit():
    while True:
        inside.release()
        detector().fit(X)

work = {"score": score, "fit": fit}[sys.argv[1]]
fitted = detector().fit(X)
children = []
for _ in range(int(sys.argv[2])):
    children.append(os.fork())
    if children[-1] == 0:
        inside = threading.Semaphore(0)
        for _ in range(3):
            threading.Thread(target=work, daemon=True).start()
        for _ in range(6):
            inside.acquire()
        sys.exit(7)
print(*[os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
"""

TIMES = 3
"""Without what gil.hpp does, five of six runs aborted."""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("what", ["score", "fit"])
def test_daemon_threads_do_not_abort(what):
    assert run(PROGRAM, what, TIMES).split() == ["7"] * TIMES
