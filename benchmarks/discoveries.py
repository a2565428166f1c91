"""False flags, and outliers found, at a false-discovery rate of 0.1, in noise with planted outliers.

python -m benchmarks.discoveries [--runs 200]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ramodo import REPEN, Conformal, Consensus

from .sizes import sized
from .table import print_table

N_ROWS = sized(1000, 100)

DETECTORS: dict[str, Callable[..., Any]] = {"REPEN": REPEN, "Consensus": Consensus}

PLANTED = {"none": (0.0, True), "1 %": (0.01, True), "5 %": (0.05, True), "5 % shifted": (0.05, False)}
"""Share of the rows, and whether they have features of their own."""


def uniform(rng: np.random.Generator) -> Any:
    """Rows of 20,000 columns, each with about 40 random non-zeros."""
    return sp.random(N_ROWS, 20_000, 0.002, format="csr", random_state=rng)


def gaussian(rng: np.random.Generator) -> Any:
    """20 columns."""
    return rng.normal(size=(N_ROWS, 20))


def one_hot(rng: np.random.Generator) -> Any:
    """12 columns of 3 to 39 categories."""
    parts = []
    for _ in range(12):
        n = int(rng.integers(3, 40))
        chosen = rng.choice(n, N_ROWS, p=rng.dirichlet(np.full(n, 2.0)))
        parts.append(sp.csr_array((np.ones(N_ROWS), (np.arange(N_ROWS), chosen)), shape=(N_ROWS, n)))
    return sp.hstack(parts, format="csr")


NOISE = {"uniform": uniform, "Gaussian": gaussian, "one-hot": one_hot}

OWN, OTHER = {"uniform": 30, "one-hot": 6}, {"uniform": 40, "one-hot": 8}
"""Further non-zeros of planted rows, among 200 columns of their own or among those of all."""


def planted(kind: str, X: Any, share: float, own: bool, rng: np.random.Generator) -> tuple[Any, Any]:
    """The rows with some of them changed, and which."""
    rows = rng.choice(N_ROWS, round(share * N_ROWS), replace=False)
    truth = np.isin(np.arange(N_ROWS), rows)
    if kind == "Gaussian":
        return _in_dense(X, rows, own, rng), truth
    width = X.shape[1]
    changed = sp.hstack([X, sp.csr_array((N_ROWS, 200))], format="lil")
    for row in rows:
        columns = (
            width + rng.choice(200, OWN[kind], replace=False) if own else rng.choice(width, OTHER[kind], replace=False)
        )
        changed[row, columns] = 1.0 if own or kind == "one-hot" else rng.random(len(columns))
    return sp.csr_array(changed), truth


def _in_dense(X: Any, rows: Any, own: bool, rng: np.random.Generator) -> Any:
    """Two columns of their own around 6, or all columns three deviations away, up or down."""
    if not own:
        X[rows] += 3 * rng.choice([-1, 1], size=(len(rows), 1))
        return X
    more = np.zeros((N_ROWS, 2))
    more[rows] = rng.normal(6, 1, size=(len(rows), 2))
    return np.hstack([X, more])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=sized(200, 1))
    runs = parser.parse_args().runs
    rows = []
    for kind, noise in NOISE.items():
        for name, (share, own) in PLANTED.items():
            found = {detector: [] for detector in DETECTORS}  # type: dict[str, list[tuple[float, float]]]
            for seed in range(runs):
                rng = np.random.default_rng([seed, int(share * 100), own])
                X, truth = planted(kind, noise(rng), share, own, rng)
                for detector, make in DETECTORS.items():
                    found[detector].append(_shares(make(cutoff=Conformal(0.1), random_state=seed), X, truth))
            means = [mean for each in found.values() for mean in np.mean(each, axis=0)]
            rows.append([f"{kind}, {name}", *[f"{mean:.3f}" if np.isfinite(mean) else "-" for mean in means]])
    columns = [f"{detector}, {what}" for detector in DETECTORS for what in ("false", "found")]
    print_table(f"Shares at a rate of 0.1 (mean of {runs} runs)", ["data", *columns], rows)


def _shares(detector: Any, X: Any, truth: Any) -> tuple[float, float]:
    """Of flagged rows that are no outliers, and of outliers that are flagged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        flagged = detector.fit_predict(X) == -1
    found = float(flagged[truth].mean()) if truth.any() else np.nan
    return float((flagged & ~truth).sum() / max(1, flagged.sum())), found


if __name__ == "__main__":
    main()
