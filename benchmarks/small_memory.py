"""Makes a rows folder of 2 GB, then fits and scores it in a process that may take a quarter of that for itself.

python benchmarks/small_memory.py FOLDER
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

from ramodo import REPEN, formats
from ramodo.formats import folder

N_ROWS, LENGTH, N_FEATURES = 800_000, 300, 50_000


def make(path: str) -> None:
    """Rows of random features, a block at a time."""
    rng = np.random.default_rng(0)
    with folder.writing(path) as place, folder.FolderWriter(place) as writer:
        for _ in range(N_ROWS // 4000):
            gaps = rng.integers(1, 2 * N_FEATURES // LENGTH - 10, (4000, LENGTH))
            indices = np.minimum(np.cumsum(gaps, axis=1), N_FEATURES - LENGTH) + np.arange(LENGTH)
            data = np.ones(indices.size, dtype=np.float32)
            writer.add(np.arange(0, indices.size + 1, LENGTH), indices.ravel(), data)
        writer.finish(N_FEATURES)


def main() -> None:
    path = sys.argv[1]
    make(path)
    X = formats.read(path).X
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    resource.setrlimit(resource.RLIMIT_DATA, (size // 4, size // 4))
    started = time.perf_counter()
    detector = REPEN(random_state=0, n_jobs=-1).fit(X)
    scores = detector.outlier_score(X)
    assert np.array_equal(scores, detector.outlier_scores_)
    print(f"{time.perf_counter() - started:.0f} s|a folder of {size / 1e9:.2f} GB, limit {size / 4e9:.2f} GB")


if __name__ == "__main__":
    main()
