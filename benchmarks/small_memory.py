"""Makes a rows folder of 2 GB, then fits and scores it in a process that may take a quarter of that for itself.

python -m benchmarks.small_memory FOLDER
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

from ramodo import REPEN, formats
from ramodo.formats import folder

from .sizes import sized

N_ROWS, BLOCK, LENGTH, N_FEATURES = sized(800_000, 400), sized(4000, 200), 300, 50_000


def make(path: str) -> None:
    """Rows of random features, a block at a time."""
    rng = np.random.default_rng(0)
    with folder.writing(path) as place, folder.FolderWriter(place) as writer:
        for _ in range(N_ROWS // BLOCK):
            gaps = rng.integers(1, 2 * N_FEATURES // LENGTH - 10, (BLOCK, LENGTH))
            indices = np.minimum(np.cumsum(gaps, axis=1), N_FEATURES - LENGTH) + np.arange(LENGTH)
            data = np.ones(indices.size, dtype=np.float32)
            writer.add(np.arange(0, indices.size + 1, LENGTH), indices.ravel(), data)
        writer.finish(N_FEATURES)


def main() -> None:
    path = sys.argv[1]
    make(path)
    X = formats.read(path).X
    n_bytes = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    limit = sized(n_bytes // 4, 1 << 30)  # a tiny folder is smaller than the libraries' own memory
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    started = time.perf_counter()
    detector = REPEN(random_state=0, n_jobs=-1).fit(X)
    scores = detector.outlier_score(X)
    assert np.array_equal(scores, detector.outlier_scores_)
    print(f"{time.perf_counter() - started:.0f} s|a folder of {n_bytes / 1e9:.2f} GB, limit {limit / 1e9:.2f} GB")


if __name__ == "__main__":
    main()
