"""Means over runs, and Wilcoxon's signed rank test over pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import wilcoxon


def p_value(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Wilcoxon's two-sided p of pairs, as the paper pairs means over its sets; None without a pair that differs."""
    differences = np.subtract(first, second)
    if not len(differences) or not differences.any():
        return None
    return float(wilcoxon(differences, method="exact" if np.all(differences) else "auto").pvalue)


def counted(runs: int) -> str:
    """1 run, 2 runs."""
    return f"{runs} run" if runs == 1 else f"{runs} runs"


def decimals(value: float, digits: int = 4) -> str:
    """.9080 for 0.908, as AUCs are written here."""
    text = f"{value:.{digits}f}"
    return text[1:] if text.startswith("0.") else text


def mean_and_deviation(values: Sequence[float], mark: str = "") -> str:
    """Return the mean ± standard deviation, or the mark that stands for it."""
    if not values:
        return mark
    if len(values) == 1:
        return decimals(values[0], 3)
    return f"{decimals(float(np.mean(values)), 3)} ± {decimals(float(np.std(values)), 3)}"


def paper_number(value: float | str | None) -> str:
    """Return a number of the paper, or its mark."""
    if value is None:
        return "–"
    return value if isinstance(value, str) else decimals(value)


def seconds_text(values: Sequence[float], mark: str = "") -> str:
    """Return the mean in seconds, with the digits that matter."""
    if not values:
        return mark
    mean = float(np.mean(values))
    return f"{mean:.4f}" if mean < 0.1 else f"{mean:.2f}" if mean < 100 else f"{mean:,.0f}"
