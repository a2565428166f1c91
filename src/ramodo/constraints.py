"""Constraints on options: each says which values it accepts, and describes them in words."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Integer:
    """A whole number within bounds."""

    low: int
    high: int = 2**31 - 1

    def accepts(self, value: object) -> bool:
        return (
            isinstance(value, numbers.Integral)
            and not isinstance(value, bool)
            and (self.low <= int(value) <= self.high)
        )

    def __str__(self) -> str:
        return f"an integer from {self.low:,} to {self.high:,}"


@dataclass(frozen=True)
class Real:
    """A finite number within bounds, both included; with `above`, the lower one is excluded."""

    low: float
    high: float = math.inf
    above: bool = False

    def accepts(self, value: object) -> bool:
        if not isinstance(value, numbers.Real) or isinstance(value, bool):
            return False
        try:
            number = float(value)
        except OverflowError:
            return False
        high_enough = number > self.low if self.above else number >= self.low
        return math.isfinite(number) and high_enough and number <= self.high

    def __str__(self) -> str:
        if math.isinf(self.high):
            return f"a number {'above' if self.above else 'of at least'} {self.low:g}"
        return f"a number {f'above {self.low:g} and at most' if self.above else f'from {self.low:g} to'} {self.high:g}"


@dataclass(frozen=True)
class Literal:
    """One fixed value."""

    value: object

    def accepts(self, value: object) -> bool:
        return type(value) is type(self.value) and value == self.value

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class RandomSource:
    """A numpy generator, from which one seed is drawn."""

    def accepts(self, value: object) -> bool:
        import numpy as np  # imported here, since the command does not need it before it reads data

        return isinstance(value, np.random.RandomState | np.random.Generator)

    def __str__(self) -> str:
        return "a numpy RandomState or Generator"


@dataclass(frozen=True)
class HasMethod:
    """An object with a method."""

    method: str
    examples: str

    def accepts(self, value: object) -> bool:
        return callable(getattr(value, self.method, None)) and not isinstance(value, type)

    def __str__(self) -> str:
        return f"an object with a method {self.method} ({self.examples})"


def either(words: Iterable[object]) -> str:
    """Return alternatives in words: "a, b or c"."""
    *most, last = map(str, words)
    return f"{', '.join(most)} or {last}" if most else last


Constraint = Integer | Real | Literal | RandomSource | HasMethod
