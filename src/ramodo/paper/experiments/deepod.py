"""DeepOD's REPEN, in its own virtual environment: DeepOD 0.4.1 needs numpy < 2 and torch."""

from __future__ import annotations

import subprocess
import tempfile
import venv
from pathlib import Path

import numpy as np
import numpy.typing as npt

ENVIRONMENT = Path("build/peers")
_PACKAGES = ["numpy<2", "torch==2.13.0", "pandas<3", "scikit-learn<1.7", "scipy", "tqdm", "pyyaml"]
_SCRIPT = """
import sys, time
import numpy as np
from deepod.models.tabular import REPEN
X = np.load(sys.argv[1])
model = REPEN(epochs=30, batch_size=256, rep_dim=20, device="cpu", verbose=0, random_state=int(sys.argv[3]))
started = time.perf_counter()
model.fit(X)
scores = model.decision_function(X)
print("seconds", time.perf_counter() - started)
np.save(sys.argv[2], scores)
"""


class NotInstalledError(RuntimeError):
    """A peer's package is missing."""


def is_installed() -> bool:
    """Return whether the environment exists under the current folder."""
    return (ENVIRONMENT / "ready").exists()


def install() -> None:
    """Create the environment if it does not exist."""
    if is_installed():
        return
    venv.create(ENVIRONMENT, with_pip=True, clear=True)
    pip: list[str | Path] = [ENVIRONMENT / "bin" / "python", "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, *_PACKAGES], check=True)
    subprocess.run([*pip, "--no-deps", "deepod==0.4.1"], check=True)  # its own pins rule out this torch
    (ENVIRONMENT / "ready").touch()


def deepod_scores(X: npt.NDArray[np.float32], seed: int) -> tuple[float, npt.NDArray[np.float64]]:
    """Seconds of fit and score with the paper's settings, and the scores."""
    if not is_installed():
        raise NotInstalledError(f"There is no environment for DeepOD in {ENVIRONMENT}: run with --install.")
    with tempfile.TemporaryDirectory() as folder:
        given, scores = Path(folder) / "x.npy", Path(folder) / "scores.npy"
        np.save(given, X)
        command: list[str | Path] = [
            (ENVIRONMENT / "bin" / "python").absolute(),
            "-c",
            _SCRIPT,
            given,
            scores,
            str(seed),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"DeepOD failed: {done.stderr.strip().splitlines()[-1]}")
        line = next(line for line in done.stdout.splitlines() if line.startswith("seconds"))
        return float(line.split()[1]), np.load(scores)
