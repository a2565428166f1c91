"""What a file says of a term, taken with suspicion: every number and every array is checked as it is taken out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..data.opening import open_block
from .references import Origin

CHECKED_AT_ONCE = 1 << 26
"""Bytes up to which values are looked at when a file is opened; those of larger arrays when they are used."""


class ModelFileError(ValueError):
    """The file is not a model that this version can read."""


def require(condition: bool, message: str) -> None:
    """Raise unless it holds."""
    if not condition:
        raise ModelFileError(message)


def check_array(name: str, array: npt.NDArray[Any], dtype: str, ndim: int) -> None:
    """Type, dimensions, and that all values are finite, where they are not too many."""
    require(array.dtype == dtype and array.ndim == ndim, f"{name} is {array.dtype} with {array.ndim} dimensions")
    if array.nbytes <= CHECKED_AT_ONCE:
        require(bool(np.isfinite(array).all()), f"{name} is not finite")


class Saved:
    """Facts and arrays of one term. What is taken out is gone; `finish` refuses what is left."""

    def __init__(self, facts: Any, tensors: dict[str, npt.NDArray[Any]], prefix: str, n_features: int) -> None:
        require(isinstance(facts, dict), "a term is not a table")
        self._facts, self._tensors, self._prefix = dict(facts), tensors, prefix
        self.n_features = n_features

    def kind(self) -> str:
        """Which term it is."""
        kind = self._facts.pop("kind", None)
        require(isinstance(kind, str), f"{self._prefix} is of no kind")
        return str(kind)

    def integer(self, name: str, low: int, high: int) -> int:
        """A whole number within bounds, both included."""
        value = self._take(name)
        require(type(value) is int and low <= value <= high, f"{self._prefix}{name} is {value!r}")
        return int(value)

    def real(self, name: str, low: float = -math.inf, high: float = math.inf) -> float:
        """A finite number within bounds, both included."""
        value = self._take(name)
        require(_is_finite(value) and low <= value <= high, f"{self._prefix}{name} is {value!r}")
        return float(value)

    def reals(self, name: str, low: float = -math.inf) -> list[float]:
        """A list of finite numbers."""
        values = self._take(name)
        fine = isinstance(values, list) and all(_is_finite(value) and value >= low for value in values)
        require(fine, f"{self._prefix}{name} is {str(values)[:50]}")
        return [float(value) for value in values]

    def flag(self, name: str) -> bool:
        """True or false."""
        value = self._take(name)
        require(isinstance(value, bool), f"{self._prefix}{name} is {value!r}")
        return bool(value)

    def text(self, name: str, allowed: tuple[str, ...]) -> str:
        """One of some words."""
        value = self._take(name)
        require(isinstance(value, str) and value in allowed, f"{self._prefix}{name} is {str(value)[:50]!r}")
        return str(value)

    def terms(self, read: Callable[[Saved], Any]) -> tuple[Any, ...]:
        """The terms that it is made of."""
        given = self._facts.pop("terms", [])
        require(isinstance(given, list) and len(given) <= 10_000, f"{self._prefix}terms is not a list")
        return tuple(
            read(Saved(facts, self._tensors, f"{self._prefix}{i}.", self.n_features)) for i, facts in enumerate(given)
        )

    def array(self, name: str, dtype: str, ndim: int) -> npt.NDArray[Any]:
        """An array of finite numbers."""
        name = f"{self._prefix}{name}"
        require(name in self._tensors, f"{name} is missing")
        array = self._tensors.pop(name)
        check_array(name, array, dtype, ndim)
        return array

    def features(self, name: str) -> npt.NDArray[np.int64]:
        """Increasing numbers of features."""
        columns = self.array(name, "int64", 1)
        if len(columns):
            increasing = columns.nbytes > CHECKED_AT_ONCE or bool((columns[1:] > columns[:-1]).all())
            require(increasing and columns[0] >= 0 and columns[-1] < self.n_features, "features are out of range")
        return columns

    def origin(self, n_references: int | None) -> Origin | None:
        """The reference rows, where the file holds them; checked like any other rows."""
        prefix = f"{self._prefix}origin."
        if f"{prefix}numbers" not in self._tensors:
            return None
        numbers = self.array("origin.numbers", "int64", 1)
        if f"{prefix}values" in self._tensors:
            given: Any = self._tensors.pop(f"{prefix}values")
        else:
            given = sp.csr_array((len(numbers), self.n_features))
            given.indptr = np.array(self._tensors.pop(f"{prefix}indptr"))
            given.indices, given.data = self._tensors.pop(f"{prefix}indices"), self._tensors.pop(f"{prefix}data")
        rows, _ = open_block(given, name=prefix.removesuffix("."))
        fine = rows.n_rows == len(numbers) == (len(numbers) if n_references is None else n_references)
        require(fine and rows.n_features == self.n_features, "its references do not fit")
        return Origin(rows, numbers)

    def finish(self) -> None:
        """Raise where something is left that nobody asked for."""
        require(not self._facts, f"{self._prefix} has {', '.join(map(str, self._facts))}, which is not known")

    def _take(self, name: str) -> Any:
        require(name in self._facts, f"{self._prefix}{name} is missing")
        return self._facts.pop(name)


def _is_finite(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= 1.7e308
