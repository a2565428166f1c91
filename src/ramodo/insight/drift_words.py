"""What happened to a column of numbers, in words."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]


def of_numbers(name: str, values: tuple[Doubles, Doubles], usual: Doubles, of_presence: bool) -> tuple[str, str]:
    """What happened to a column of numbers, as one word and as a sentence; empty if only how often it is there."""
    every, there = values
    varied = len(usual) > 0 and bool(np.ptp(usual) > 0)
    between = f"{number(np.quantile(usual, 0.1))} and {number(np.quantile(usual, 0.9))}"
    if varied and np.ptp(every) == 0:
        return "stuck", f"{name} is {number(every[0])} in all rows; in training, most values were between {between}"
    if len(there) == 0 or not (varied or np.ptp(there) > 0 or there[0] != usual[0]):
        return "", ""
    now = np.quantile(there, (np.arange(len(usual)) + 0.5) / len(usual))
    times = _times(now, usual)
    if times is not None:
        size = "larger" if times > 1 else "smaller"
        return "rescaled", f"{name} is about {_round(max(times, 1 / times))} times {size} than in training"
    if of_presence:
        return "", ""
    here, known = float(np.median(now)), float(np.median(usual))
    spread = f"half of the values are between {_half(now)}, in training between {_half(usual)}"
    if here == known:
        return "shifted", f"{name} is spread otherwise than in training: {spread}"
    return "shifted", f"{name} is {'higher' if here > known else 'lower'} than in training: {spread}"


_CLOSE, _LEAST_TIMES = 1.3, 1.5
"""How alike quantiles must be after a change of unit, and how large it must be."""


def _times(now: Doubles, usual: Doubles) -> float | None:
    """By what all values were multiplied; None if they were not."""
    fits = (usual != 0) & (now != 0)
    if fits.sum() < max(2, len(usual) // 2):
        return None
    ratios = now[fits] / usual[fits]
    middle = float(np.median(ratios))
    if middle <= 0 or max(middle, 1 / middle) < _LEAST_TIMES:
        return None
    low, high = np.quantile(ratios, (0.25, 0.75)) / middle
    spreads = [float(np.subtract(*np.quantile(each, (0.75, 0.25)))) for each in (now, usual)]
    of_spread = spreads[0] / spreads[1] / middle if spreads[1] > 0 else 1.0
    fine = low > 1 / _CLOSE and high < _CLOSE and 1 / _LEAST_TIMES < of_spread < _LEAST_TIMES
    return middle if fine else None


_UNITS = (*(10.0**power for power in range(1, 16)), 60.0, 3600.0)
"""Usual factors between units."""

_NOISE = 0.12
"""Quantiles of samples tell a factor no better than this."""


def _round(times: float) -> str:
    """A factor with two digits; the usual one where there is one that close."""
    return number(next((unit for unit in _UNITS if abs(times / unit - 1) <= _NOISE), times), 2)


def _half(values: Doubles) -> str:
    low, high = np.quantile(values, (0.25, 0.75))
    return f"{number(low)} and {number(high)}"


def number(value: float, digits: int = 4) -> str:
    """A number with a few digits."""
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 1000 or rounded == int(rounded) else f"{rounded:g}"


def percent(share: float) -> str:
    """A share of rows."""
    return f"{100 * share:.2g} %" if 0 < share < 0.1 else f"{100 * share:.0f} %"
