"""fit + score of the Internet advertisements against DeepOD's REPEN, each in its own environment, in one run.

    python -m benchmarks.peers

DeepOD 0.4.1 needs numpy < 2 and torch; a virtual environment for it is made under build/ at the first call.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from ramodo import REPEN
from ramodo.datasets import load_prepared

from .table import print_table, reached, seconds

ENVIRONMENT = Path("build/peers")
PACKAGES = ["numpy<2", "torch==2.13.0", "pandas<3", "scikit-learn<1.7", "scipy", "tqdm", "pyyaml"]
SCRIPT = """
import sys, time
import numpy as np
from deepod.models.tabular import REPEN
X = np.load(sys.argv[1])
model = REPEN(epochs=30, batch_size=256, rep_dim=20, device="cpu", verbose=0, random_state=0)
started = time.perf_counter()
model.fit(X)
scores = model.decision_function(X)
print("seconds", time.perf_counter() - started)
np.save(sys.argv[2], scores)
"""


def deepod_python() -> Path:
    python = ENVIRONMENT / "bin" / "python"
    if not (ENVIRONMENT / "ready").exists():
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        install = [python, "-m", "pip", "install", "--quiet"]
        subprocess.run([*install, *PACKAGES], check=True)
        subprocess.run([*install, "--no-deps", "deepod==0.4.1"], check=True)  # its own pins rule out this torch
        (ENVIRONMENT / "ready").touch()
    return python.absolute()


def run_deepod(X: np.ndarray) -> tuple[float, np.ndarray]:
    with tempfile.TemporaryDirectory() as folder:
        given, scores = Path(folder) / "x.npy", Path(folder) / "scores.npy"
        np.save(given, X)
        command = [deepod_python(), "-c", SCRIPT, given, scores]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"DeepOD failed:\n{done.stderr[-2000:]}")
        line = next(line for line in done.stdout.splitlines() if line.startswith("seconds"))
        return float(line.split()[1]), np.load(scores)


def main() -> None:
    data = load_prepared("AD_dedup")
    theirs, scores = run_deepod(data.X.toarray())
    detector = REPEN(random_state=0)
    ours = seconds(lambda: detector.fit(data.X).outlier_score(data.X), 5)
    alone = REPEN(random_state=0, n_jobs=1)
    one = seconds(lambda: alone.fit(data.X).outlier_score(data.X), 5)
    ratio = theirs / ours
    print_table(
        "AD_dedup (1,966 x 1,555), fit + score with the paper's settings",
        ["implementation", "seconds", "AUC", "times faster", "reached"],
        [
            ["DeepOD 0.4.1 REPEN", f"{theirs:.2f}", f"{roc_auc_score(data.y, scores):.3f}", "1", "-"],
            [
                "ramodo, all cores",
                f"{ours:.3f}",
                f"{roc_auc_score(data.y, detector.outlier_scores_):.3f}",
                f"{ratio:.0f} x",
                reached(ratio, 150),
            ],
            ["ramodo, one thread", f"{one:.3f}", "same", f"{theirs / one:.0f} x", reached(theirs / one, 150)],
        ],
    )


if __name__ == "__main__":
    main()
