"""The content of a file about a term. Every number and array is checked when it is read."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..data.validation import open_block
from .references import Origin

CHECKED_AT_ONCE = 1 << 26
"""Arrays up to this many bytes are checked when a file is opened; larger ones when they are used."""


DEEPEST = 8
"""Maximum depth of terms within terms; a fit gives at most six, and each level is a nested call."""

MOST_TERMS = 10_000
"""Maximum number of terms side by side; a fit gives at most a thousand."""


SMALLEST_UNIT = 1e-300
"""Minimum unit, since scores are divided by units."""

_LONGEST_SHOWN = 50

_LONGEST_NAME = 200


class ModelFileError(ValueError):
    """The file is not a model that this version can read."""


def require(condition: bool, message: str) -> None:
    """Raise `ModelFileError` unless a condition holds."""
    if not condition:
        raise ModelFileError(message)


def shown(value: Any) -> str:
    """Return a value shortened for a message."""
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def check_array(name: str, array: npt.NDArray[Any], dtype: str, ndim: int) -> None:
    """Check type and dimensions, and that all values are finite, if they are not too many."""
    require(array.dtype == dtype and array.ndim == ndim, f"{name} is {array.dtype} with {array.ndim} dimensions")
    if array.nbytes <= CHECKED_AT_ONCE:
        require(bool(np.isfinite(array).all()), f"{name} is not finite")


def check_range(name: str, values: npt.NDArray[np.int64], end: int) -> None:
    """Check that integers are from 0 to below `end`, if they are not too many."""
    if len(values) and values.nbytes <= CHECKED_AT_ONCE:
        fine = bool(values.min() >= 0) and int(values.max()) < end
        require(fine, f"{name} has numbers that are not from 0 to {end - 1}")


def check_features(name: str, columns: npt.NDArray[np.int64], n_features: int) -> None:
    """Check that feature numbers increase; if there are too many, check only the first and the last."""
    if len(columns):
        increasing = columns.nbytes > CHECKED_AT_ONCE or bool((columns[1:] > columns[:-1]).all())
        fine = increasing and columns[0] >= 0 and columns[-1] < n_features
        require(fine, f"{name} are not increasing numbers from 0 to {n_features - 1}")


class Saved:
    """Facts and arrays of one term. Each read consumes the entry; `finish` refuses entries that are left."""

    def __init__(
        self,
        facts: Any,
        tensors: dict[str, npt.NDArray[Any]],
        n_features: int,
        n_rows: int,
        prefix: str = "term.",
        depth: int = 0,
    ) -> None:
        require(isinstance(facts, dict), f"{prefix.removesuffix('.')} is not a table")
        require(depth <= DEEPEST, f"{prefix.removesuffix('.')} is nested deeper than {DEEPEST} terms")
        self._facts, self._tensors, self._prefix, self._depth = dict(facts), tensors, prefix, depth
        self.n_features = n_features
        self._n_rows = n_rows

    def kind(self) -> str:
        """Return the kind of term."""
        kind = self._facts.pop("kind", None)
        require(isinstance(kind, str), f"{self._place} is of no kind")
        return str(kind)

    def integer(self, name: str, low: int, high: int) -> int:
        """Return an integer within bounds, both included."""
        value = self._take(name)
        require(type(value) is int and low <= value <= high, f"{self._prefix}{name} is {shown(value)}")
        return int(value)

    def real(self, name: str, low: float = -math.inf, high: float = math.inf) -> float:
        """Return a finite number within bounds, both included."""
        value = self._take(name)
        require(_is_finite(value) and low <= value <= high, f"{self._prefix}{name} is {shown(value)}")
        return float(value)

    def reals(self, name: str, low: float = -math.inf) -> list[float]:
        """Return a list of finite numbers."""
        values = self._take(name)
        fine = isinstance(values, list) and all(_is_finite(value) and value >= low for value in values)
        require(fine, f"{self._prefix}{name} is {shown(values)}")
        return [float(value) for value in values]

    def integers(self, name: str, low: int, high: int) -> list[int]:
        """Return a list of integers within bounds, both included."""
        values = self._take(name)
        fine = isinstance(values, list) and all(type(value) is int and low <= value <= high for value in values)
        require(fine, f"{self._prefix}{name} is {shown(values)}")
        return [int(value) for value in values]

    def flag(self, name: str, missing: bool | None = None) -> bool:
        """Return true or false; `missing` is the default for older files."""
        value = self._take(name) if missing is None else self._facts.pop(name, missing)
        require(isinstance(value, bool), f"{self._prefix}{name} is {shown(value)}")
        return bool(value)

    def text(self, name: str, allowed: tuple[str, ...]) -> str:
        """Return one of the `allowed` words."""
        value = self._take(name)
        require(isinstance(value, str) and value in allowed, f"{self._prefix}{name} is {shown(value)}")
        return str(value)

    def names(self, name: str) -> list[str]:
        """Return a list of short texts, all different."""
        values = self._take(name)
        fine = isinstance(values, list) and all(type(v) is str and 0 < len(v) <= _LONGEST_NAME for v in values)
        require(fine and all(map(str.isprintable, values)), f"{self._prefix}{name} is {shown(values)}")
        require(len(set(values)) == len(values), f"{self._prefix}{name} has the same name twice")
        return list(values)

    def terms(self, read: Callable[[Saved], Any]) -> tuple[Any, ...]:
        """Return the terms that this one is composed of."""
        given = self._facts.pop("terms", [])
        require(isinstance(given, list), f"{self._prefix}terms is not a list")
        require(len(given) <= MOST_TERMS, f"{self._prefix}terms are {len(given):,}, and must be at most {MOST_TERMS:,}")
        return tuple(read(self._inner(i, facts)) for i, facts in enumerate(given))

    def _inner(self, number: int, facts: Any) -> Saved:
        place, depth = f"{self._prefix}{number}.", self._depth + 1
        return Saved(facts, self._tensors, self.n_features, self._n_rows, place, depth)

    def array(self, name: str, dtype: str, ndim: int) -> npt.NDArray[Any]:
        """Return an array of finite numbers."""
        name = f"{self._prefix}{name}"
        require(name in self._tensors, f"{name} is missing")
        array = self._tensors.pop(name)
        check_array(name, array, dtype, ndim)
        return array

    def features(self, name: str) -> npt.NDArray[np.int64]:
        """Return increasing feature numbers."""
        columns = self.array(name, "int64", 1)
        check_features(f"{self._prefix}{name}", columns, self.n_features)
        return columns

    def origin(self, n_references: int | None) -> Origin | None:
        """Return the reference rows, if the file has them, checked like any other rows."""
        prefix = f"{self._prefix}origin."
        if f"{prefix}numbers" not in self._tensors:
            return None
        numbers = self.array("origin.numbers", "int64", 1)
        check_range(f"{prefix}numbers", numbers, self._n_rows)
        if f"{prefix}values" in self._tensors:
            given: Any = self._values("origin.values", 2)
        else:
            given = sp.csr_array((len(numbers), self.n_features))
            given.indptr = np.array(self.array("origin.indptr", "int64", 1))
            given.indices, given.data = self.array("origin.indices", "int64", 1), self._values("origin.data", 1)
        rows = open_block(given, name=prefix.removesuffix("."))
        fine = rows.n_rows == len(numbers) == (len(numbers) if n_references is None else n_references)
        require(fine and rows.n_features == self.n_features, f"{self._place} has references that do not fit")
        return Origin(rows, numbers)

    def finish(self) -> None:
        """Raise if the file has entries that no term uses."""
        require(not self._facts, f"{self._place} has unknown entries: {shown(', '.join(self._facts))}")

    @property
    def _place(self) -> str:
        """The position of the term in the tree of terms."""
        return self._prefix.removesuffix(".")

    def _values(self, name: str, ndim: int) -> npt.NDArray[Any]:
        """Return values of rows, in single or double precision."""
        there = self._tensors.get(f"{self._prefix}{name}")
        return self.array(name, "float32" if there is not None and there.dtype == np.float32 else "float64", ndim)

    def _take(self, name: str) -> Any:
        require(name in self._facts, f"{self._prefix}{name} is missing")
        return self._facts.pop(name)


def _is_finite(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max
