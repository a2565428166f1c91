"""The hour of the day and the day of the week as circles: two columns each, in which 23:59 is next to 00:00."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]

_BEGINS = {"hour": 0.5 / 86_400, "weekday": 0.5 / 7}
"""In turns: half a second, and half a day, so that no time of whole seconds has a sine of 0, which would be as if it
was missing. Distances do not see where a circle begins."""

_WORDS = {"hour": "hour of the day", "weekday": "day of the week"}

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Circle(NamedTuple):
    """An hour or a day of the week, in the two columns of a matrix that are its sine and its cosine."""

    columns: tuple[int, int]
    cycle: str
    name: str

    def value(self, sine: float, cosine: float) -> float:
        """Hours after midnight, to the minute, or days after Monday."""
        turn = (np.arctan2(sine, cosine) / (2 * np.pi) - _BEGINS[self.cycle]) % 1
        return float(round(turn * 1440) % 1440 / 60 if self.cycle == "hour" else round(turn * 7) % 7)

    def shown(self, value: float) -> str:
        """03:12, or Monday."""
        minutes = round(value * 60)
        return f"{minutes // 60:02d}:{minutes % 60:02d}" if self.cycle == "hour" else _WEEKDAYS[round(value)]


def on_circle(cycle: str, turns: Doubles) -> Doubles:
    """Sine and cosine of each."""
    around = 2 * np.pi * (turns % 1 + _BEGINS[cycle])
    return np.stack([np.sin(around), np.cos(around)], axis=1)


def names_of_circle(name: str, cycle: str) -> list[str]:
    """Of its two columns, given that of the date."""
    return [f"{name} {cycle} (sine)", f"{name} {cycle} (cosine)"]


def circles_of(names: Sequence[str], dates: Collection[str], first: int = 0) -> list[Circle]:
    """Those of columns of dates, given the names of the columns of a matrix from the `first` on."""
    places = {name: first + place for place, name in enumerate(names)} if dates else {}
    found = []
    for date in dates:
        for cycle, words in _WORDS.items():
            sine, cosine = (places.get(name) for name in names_of_circle(date, cycle))
            if sine is not None and cosine is not None:
                found.append(Circle((sine, cosine), cycle, f"{date}, {words}"))
    return found
