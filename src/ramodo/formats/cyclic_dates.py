"""The hour of the day and the day of the week as circles: two features each, in which 23:59 is next to 00:00."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Doubles = npt.NDArray[np.float64]

_BEGINS = {"hour": 0.5 / 86_400, "weekday": 0.5 / 7}
"""Shift in turns: half a second and half a day, so that no time in whole seconds has a sine of 0, which would look
missing. Distances do not depend on where a circle begins."""

CYCLES = {"hour": "hour of the day", "weekday": "day of the week"}

_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

_DAY, _THURSDAY = 86_400, 3
"""Seconds of each cycle, and the weekday of the first day of 1970, counted from Monday."""


class Circle(NamedTuple):
    """An hour or a weekday, given by two features of a matrix, its sine and its cosine."""

    columns: tuple[int, int]
    cycle: str
    date: str

    @property
    def name(self) -> str:
        """The name that explanations show."""
        return f"{self.date}, {CYCLES[self.cycle]}"

    def value(self, sine: float, cosine: float) -> float:
        """Return hours after midnight, to the minute, or days after Monday."""
        turn = (math.atan2(sine, cosine) / (2 * math.pi) - _BEGINS[self.cycle]) % 1
        return float(round(turn * 1440) % 1440 / 60 if self.cycle == "hour" else round(turn * 7) % 7)

    def shown(self, value: float) -> str:
        """03:12, or Mon."""
        minutes = round(value * 60)
        return f"{minutes // 60:02d}:{minutes % 60:02d}" if self.cycle == "hour" else _WEEKDAYS[round(value)]


def on_circles(seconds: Doubles) -> Doubles:
    """Return sine and cosine of the hour and the weekday, given seconds since 1970; zeros if they are missing."""
    import numpy as np

    gaps, days = np.isnan(seconds), seconds / _DAY
    turns = {"hour": days, "weekday": (np.floor(days) + _THURSDAY) / 7}
    around = [2 * np.pi * (np.where(gaps, 0.0, turns[cycle]) % 1 + _BEGINS[cycle]) for cycle in CYCLES]
    return np.stack([wave(angle) for angle in around for wave in (np.sin, np.cos)], axis=1) * ~gaps[:, None]
