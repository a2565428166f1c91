"""What must work wherever a wheel is installed, with what it needs and nothing else: python tests/wheels/smoke.py.

Prints a digest of all scores, which is the same for each Python of a machine.
"""

from __future__ import annotations

import hashlib
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import ramodo
from ramodo import RAMODO, REPEN, Conformal, Consensus, Ensemble, KthNN, Layers, Sp, load
from ramodo.datasets import make_ultrahigh
from ramodo.kernels import _native


def main() -> None:
    X, truth = make_ultrahigh(n_rows=600, n_features=20_000, random_state=0)
    digest = hashlib.sha256()
    for detector in (
        Consensus(random_state=0, n_jobs=2),
        REPEN(n_epochs=3, n_estimators=2, random_state=0),
        REPEN(n_epochs=3, cutoff=Conformal(0.1), random_state=0),
        RAMODO(KthNN(), representation=Layers((8, 4)), n_epochs=3, random_state=0),
        Sp(random_state=0),
        Ensemble([Sp(), KthNN()], random_state=0),
    ):
        detector.fit(X)
        again = detector.outlier_score(X)
        assert np.array_equal(again, detector.outlier_scores_), detector
        row = sp.csr_array(X[[3]])
        assert detector.score_one(dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))) == again[3], detector
        assert set(detector.predict(X)) <= {-1, 1}, detector
        digest.update(again.tobytes())
    found = Consensus(random_state=0).fit(X)
    assert found.outlier_scores_[truth == 1].mean() > found.outlier_scores_[truth == 0].mean()
    for row in found.explain(X[:3]):
        assert np.isclose(
            sum(reason.contribution for reason in row.reasons) + row.lacks.contribution + row.rest, row.score
        )
    with tempfile.TemporaryDirectory() as folder:
        path = found.save(Path(folder) / "model.ramodo")
        assert np.array_equal(load(path).outlier_score(X), found.outlier_scores_)
    dense = REPEN(n_epochs=3, random_state=0).fit(X[:, :300].toarray())
    digest.update(dense.outlier_scores_.tobytes())

    said = subprocess.run([sys.executable, "-m", "ramodo", "--version"], capture_output=True, text=True)
    try:
        version("typer")
    except ModuleNotFoundError:
        assert "pip install typer rich" in said.stderr, said
    else:
        assert said.stdout.strip() == ramodo.__version__ == version("ramodo"), said
    names = ("numpy", "scipy", "scikit-learn")
    print(
        f"Python {platform.python_version()}, {', '.join(f'{name} {version(name)}' for name in names)}: "
        f"{Path(_native.__file__).name}, {digest.hexdigest()[:16]}"
    )


if __name__ == "__main__":
    main()
