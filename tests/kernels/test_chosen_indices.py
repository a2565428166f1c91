"""Feature indices chosen to fall on one place of a hash table cost no more than others, and change no result."""

import subprocess
from pathlib import Path

import pytest

from support.own_process import compiled, run

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
NATIVE = HERE.parent.parent / "native"


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """By key and number of indices: steps, and a digest of what the table gave back; for two processes."""
    program = compiled(
        tmp_path_factory.mktemp("chosen") / "chosen_indices",
        *("-std=c++17", "-O1", "-pthread", f"-I{NATIVE}", HERE / "chosen_indices.cpp"),
    )

    def once():
        said = subprocess.run([program], capture_output=True, text=True, check=True, timeout=60).stdout
        lines = (line.split() for line in said.splitlines())
        return {(key, int(n)): (int(steps), digest) for key, n, steps, digest in lines}

    return once(), once()


def test_steps_grow_with_the_square_without_a_key(told):
    """The chosen indices are what they should be: each is found behind all that came before."""
    for n in (2000, 16000):
        assert told[0]["none", n][0] == n * (n - 1) // 2


@pytest.mark.parametrize("table", ["process", "sorted"])
def test_steps_stay_few_with_a_key(told, table):
    for once in told:
        for n in (2000, 16000):
            assert once[table, n][0] < 4 * n


def test_every_process_has_a_key_of_its_own(told):
    assert told[0]["process", 16000][0] != told[1]["process", 16000][0]
    assert told[0]["fixed", 16000] == told[1]["fixed", 16000]


def test_what_is_found_does_not_depend_on_the_key(told):
    for n in (2000, 16000):
        assert len({once[table, n][1] for once in told for table in ("none", "process", "fixed")}) == 1
        assert told[0]["sorted", n][1] == told[1]["sorted", n][1]


def test_same_bits_in_two_processes():
    """With so many features that they are kept in hash tables: scores, representation, reasons, drivers, diagnosis."""
    program = """
import hashlib
import numpy as np
import scipy.sparse as sp
from ramodo import REPEN

rng = np.random.default_rng(0)
columns = np.sort(rng.choice(3000, (150, 20)).astype(np.int64) * 300_000_007 + np.arange(20))
X = sp.csr_array((rng.random(3000), columns.ravel(), np.arange(151) * 20), shape=(150, 2**40))
detector = REPEN(n_components=4, n_epochs=2, n_subsamples=5, random_state=0).fit(X)
why = detector.explain(X, top=3)
told = [why.to_dict(), why.drivers, why.groups(), str(detector.diagnose())]
for part in (detector.outlier_score(X).tobytes(), detector.transform(X).tobytes(), repr(told).encode()):
    print(hashlib.sha256(part).hexdigest())
"""
    first = run(program)
    assert len(first.split()) == 3
    assert first == run(program)
