"""Sparse matrices whose arrays do not fit together: an error, never a crash. Each runs in a process of its own."""

import os

import pytest

pytestmark = pytest.mark.slow

DAMAGES = {
    "coo row too large": "A = X.tocoo(); row = A.row.copy(); row[5] = 10**6; A.coords = (row, A.col)",
    "coo row negative": "A = X.tocoo(); row = A.row.copy(); row[5] = -1; A.coords = (row, A.col)",
    "csc index too large": "A = X.tocsc(); A.indices[5] = 10**6",
    "csc index negative": "A = X.tocsc(); A.indices[5] = -1",
    "csc indptr jumps": "A = X.tocsc(); A.indptr[5] = 10**7",
    "csc indptr negative": "A = X.tocsc(); A.indptr[5] = -5",
    "csc indptr ends too late": "A = X.tocsc(); A.indptr[-1] = 10**7",
    "bsr indptr jumps": "A = X.tobsr(); A.indptr[5] = 10**7",
    "bsr index too large": "A = X.tobsr(); A.indices[0] = 10**6",
    "csr indptr jumps": "A = X.copy(); A.indptr[5] = 10**7",
    "csr indptr starts late": "A = X.copy(); A.indptr[0] = 3",
    "csr indptr too short": "A = X.copy(); A.indptr = A.indptr[:-5]",
    "csr indptr of floats": "A = X.copy(); A.indptr = A.indptr + 0.5",
    "csr indices of floats": "A = X.copy(); A.indices = A.indices + 0.5",
    "csr index too large": "A = X.copy(); A.indices[5] = 10**6",
    "csr index negative": "A = X.copy(); A.indices[5] = -1",
    "csr without indptr": "A = X.copy(); A.indptr = A.indptr[:0]",
    "csr data of two dimensions": "A = X.copy(); A.data = A.data[:, None]",
}

PROGRAM = """
import ast, os, sys, warnings
import scipy.sparse as sp
from ramodo import REPEN
from ramodo.data.validation import DataError

def refused(damage):
    names = {"X": X.copy()}
    exec(damage, names)
    for use in (REPEN(n_epochs=1).fit, detector.outlier_score):
        try:
            use(names["A"])
        except DataError as error:
            assert "X" in str(error) or "sparse matrix" in str(error), error
        else:
            return False
    return True

warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of every fork beside BLAS's threads
X = sp.random_array((60, 40), density=0.2, format="csr", random_state=0)
detector = REPEN(n_epochs=1, random_state=0).fit(X)
for name, damage in ast.literal_eval(sys.argv[1]).items():
    child = os.fork()
    if child == 0:
        os._exit(0 if refused(damage) else 1)
    print(name, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), sep=": ")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_damaged_matrices_are_refused(python):
    found = python(PROGRAM, repr(DAMAGES)).splitlines()
    assert found == [f"{name}: 0" for name in DAMAGES]
