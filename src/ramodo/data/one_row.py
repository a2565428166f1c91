"""One row of a stream: a dict of features and values; all other features are zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from .validation import DataError


class Places:
    """The columns of features: by name if the training data had names, otherwise by number, from 0."""

    def __init__(self, n_features: int, names: Sequence[str] | None) -> None:
        self.names, self._n_features = names, n_features
        self._by_name = None if names is None else {name: column for column, name in enumerate(names)}

    def are_of(self, n_features: int, names: Sequence[str] | None) -> bool:
        """Return whether these places belong to a fit with the given number and names of features."""
        return self.names is names and self._n_features == n_features

    def row(self, x: Any) -> sp.csr_array:
        """Return a matrix of one row. Names that the training data did not have are skipped, as in files."""
        if not isinstance(x, Mapping):
            raise DataError(
                f"x must be a dict of features and values, such as {{{self._first}: 1.0}}, got {_shown(x)}."
            )
        found = {self._column(key): _number(key, value) for key, value in x.items()}
        columns = np.array(sorted(column for column in found if column is not None), dtype=np.int64)
        if x and not len(columns):
            raise DataError(
                f"x must have features of the training data, such as {self._first}, got only unknown ones: "
                f"{_shown(list(x))}."
            )
        values = np.array([found[column] for column in columns.tolist()], dtype=np.float64)
        return sp.csr_array((values, columns, np.array([0, len(columns)])), shape=(1, self._n_features))

    def _column(self, key: Any) -> int | None:
        if self._by_name is not None:
            return self._by_name.get(key)
        if isinstance(key, Integral) and not isinstance(key, bool) and 0 <= int(key) < self._n_features:
            return int(key)
        raise DataError(
            f"features must be numbers of columns, from 0 to {self._n_features - 1}, got {_shown(key)}. The training "
            "data had no names."
        )

    @property
    def _first(self) -> str:
        return repr(0 if self.names is None else str(self.names[0]))


def _number(key: Any, value: Any) -> float:
    if isinstance(value, Real | np.bool_):
        return float(value)
    raise DataError(f"the feature {_shown(key)} must be a number, got {_shown(value)}.")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
