"""What a file holds: a matrix, and what is known of its rows and columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


class FormatError(ValueError):
    """A file that cannot be read; the message names it, and the line and column where there are such."""


@dataclass(frozen=True)
class Table:
    """One row per object.

    classes : labels as the file has them
    categories : columns of a table that became one column for each of their values
    means : of the columns of a table, where missing values were to become them
    zero_based : whether the indices of an svmlight file began at 0
    """

    X: Any
    ids: Sequence[str] | None = None
    names: Sequence[str] | None = None
    classes: npt.NDArray[np.float64] | None = None
    texts: Sequence[str] | None = None
    categories: Sequence[str] = ()
    means: Mapping[str, float] | None = None
    zero_based: bool | None = None

    def id_of(self, row: int) -> str:
        """The row's id, or its number where the file has none."""
        return str(row) if self.ids is None else self.ids[row]
