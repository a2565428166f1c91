"""Threads that the system refuses: at a limit on processes or on memory, work goes on with those that there are."""

import sys
from pathlib import Path

import pytest

from support.own_process import compiled, run

HERE = Path(__file__).parent
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="limits and preloaded libraries as Linux has them"),
]

MADE = """
import ctypes, os, resource, sys, threading
import numpy as np
import scipy.sparse as sp
from ramodo import REPEN
from ramodo.formats import svmlight

rng = np.random.default_rng(0)

def rows(n, each, d):
    columns = np.sort(rng.integers(0, d // each, (n, each)) + np.arange(each) * (d // each))
    return sp.csr_matrix((rng.random(n * each), columns.ravel(), np.arange(n + 1) * each), shape=(n, d))

def results(X, n_jobs, **options):
    "Scores, representation and reasons: all that runs on several threads."
    detector = REPEN(n_components=5, n_epochs=1, n_subsamples=5, random_state=0, n_jobs=n_jobs, **options).fit(X)
    why = detector.explain(X[:100], top=3)
    reasons = [reason.contribution for row in why for reason in row.reasons]
    return [detector.outlier_score(X), detector.transform(X), np.array(reasons)]

def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))

large = rows(1000, 120, 6000)          # batches with enough non-zeros for several threads
few_rows = rows(30, 5, 100)
"""


@pytest.fixture(scope="module")
def few_threads(tmp_path_factory):
    target = tmp_path_factory.mktemp("threads") / "few_threads.so"
    return compiled(target, "-shared", "-fPIC", "-O1", HERE / "few_threads.c", "-ldl", name="cc")


SAME_BITS = """
system = ctypes.CDLL(None)
for X in (large, large.toarray()):
    expected = results(X, 1)
    for allowed in (0, 1, 2, 5):
        system.allow_threads(allowed)
        assert same(results(X, 8), expected), allowed
        assert system.most_threads() == allowed, (allowed, system.most_threads())
print("sparse and dense rows")
"""

READING = """
text = np.frombuffer(b"1 1:2 7:3.5\\n-1 4:1\\n" * 50_000, dtype=np.uint8)
expected = svmlight.parse("it", text, 0, zero_based=True, n_threads=1).X
for allowed in (0, 1, 2):
    system.allow_threads(allowed)
    found = svmlight.parse("it", text, 0, zero_based=True, n_threads=8).X
    assert (found != expected).nnz == 0
    assert system.most_threads() == allowed, (allowed, system.most_threads())
print("reading")
"""

NO_MORE_THAN_WORK = """
for X, most in ((few_rows, 4), (large, 300)):
    expected = results(X, 1)
    system.allow_threads(1_000_000)
    assert same(results(X, 4096), expected)
    assert system.most_threads() <= most, system.most_threads()
print("no more than work")
"""


def test_fewer_threads(few_threads):
    """The same bits with whatever threads there are, and no more of them than work."""
    said = run(MADE + SAME_BITS + READING + NO_MORE_THAN_WORK, LD_PRELOAD=str(few_threads))
    assert said.splitlines() == ["sparse and dense rows", "reading", "no more than work"]


def test_tables_that_cannot_be_read_without_threads(few_threads, tmp_path):
    """Libraries that read them crash or hang where they are refused a thread. The last that is printed is what did."""
    program = """
import anndata, pandas
from ramodo.formats import FormatError, read

names = [f"{sys.argv[1]}/data.{suffix}" for suffix in ("csv", "parquet", "feather", "h5ad")]
frame = pandas.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
frame.to_csv(names[0], index=False)
frame.to_parquet(names[1])
frame.to_feather(names[2])
anndata.AnnData(frame.values).write_h5ad(names[3])
for allowed in (0, 1, 1_000_000):
    ctypes.CDLL(None).allow_threads(allowed)
    for name in names:
        print(name, end=" ", flush=True)
        try:
            print(read(name).X.shape)
        except FormatError as error:
            print(str(error).removeprefix(name))
"""
    said = run(MADE + program, tmp_path, LD_PRELOAD=str(few_threads)).splitlines()
    assert len(said) == 12
    assert all(" cannot be read: the system refuses to start the " in line for line in said[:8])
    assert all(line.endswith(" (2, 2)") for line in said[8:])


def test_limit_on_processes():
    program = """
expected = results(large, 1)
if os.getuid() == 0:                     # the limit does not bind root
    try:
        os.setuid(65534)
    except OSError as error:
        sys.exit(print(f"cannot be another user here: {error}"))
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
try:
    threading.Thread(target=print).start()
except RuntimeError:
    assert same(results(large, 4), expected)
else:
    print("the limit does not bind here")
"""
    said = run(MADE + program)
    if said.strip():
        pytest.skip(said)


def test_limit_on_memory():
    """Megabytes of addresses beyond those in use; a thread takes 8 for its stack, and may take 64 for its memory."""
    program = """
import signal

def limited(n_jobs, room):
    signal.alarm(30)                     # a hang is killed
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + room * 2**20,) * 2)
    return same(results(large, n_jobs), expected)

expected = results(large, 1)
for n_jobs, room in ((4096, 512), (4096, 200), (16, 200), (8, 60), (3, 60), (3, 35)):
    child = os.fork()
    if child == 0:
        os._exit(0 if limited(n_jobs, room) else 1)
    status = os.waitpid(child, 0)[1]
    assert status == 0, (n_jobs, room, status)
"""
    run(MADE + program)
