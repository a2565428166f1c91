"""Where native code finds no memory, the error says what for and what needs less."""

import sys

import pytest

from support.own_process import run

CALLS = {
    "scan": "kernels.Scan(2**33, 2**32)",
    "read": "kernels.read_svmlight(np.frombuffer(b'1 1:1 2:2\\n' * 2_000_000, dtype=np.uint8), 1)",
    "text": "kernels.count_text(np.full(8_000_000, 120, np.uint8), np.array([0, 8_000_000]), (0, 0), (1, 9), 40, 1)",
    "train": "kernels.Trainer(rows, np.arange(10), **{**options, 'width': 5000})",
    "train dense": "kernels.Trainer(DenseRows(np.ones((10, 5000))), np.arange(10), **{**options, 'width': 5000})",
}

PROGRAM = """
import resource
import numpy as np
from ramodo import kernels
from ramodo.data.blocks import DenseRows, SparseRows

rows = SparseRows(np.arange(11) * 5000, np.arange(50_000), np.ones(50_000), 2**30)
options = dict(width=4, n_queries=1, k=1, average=False, margin=1.0, slope=0.0, scale=1.0, seed=0, limit=0.1,
               learning_rate=1.0, rho=0.95, epsilon=1e-6, n_threads=1)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 100 * 2**20,) * 2)
for call in (CALLS):
    try:
        call()
    except MemoryError as error:
        print(error)
    else:
        print("enough")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits as Linux has them")
def test_says_what_for_and_what_to_do():
    program = PROGRAM.replace("CALLS", "".join(f"lambda: {call}, " for call in CALLS.values()))
    said = dict(zip(CALLS, run(program).splitlines(), strict=True))
    more = "or allow this process more memory (a limit such as that of ulimit or of a container counts as well)."
    features = "no memory left for a list of the features that occur, of 8,589,934,592 and in 4,294,967,296 non-zeros."
    assert said["scan"] == f"{features} Give fewer rows at a time, {more}"
    assert said["read"].startswith("no memory left for the rows in 20,000,000 bytes of svmlight text. Split the file, ")
    assert said["text"].startswith("no memory left for the tokens in 8,000,000 bytes of text. Split the file, ")
    weights = "no memory left for training: 5,000 weights, with two running means each, of the features that occur, of"
    assert said["train"].startswith(f"{weights} 1,073,741,824. Use a smaller n_components, or fewer features ")
    assert said["train dense"].startswith(f"{weights} 5,000. Use a smaller n_components, ")
    assert all(message.endswith(more) for message in said.values())
