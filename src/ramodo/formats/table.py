"""What a file contains: a matrix, and what is known about its rows and columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .classes import Classes
    from .frequencies import DocumentFrequencies

MISSING = ("error", "zero", "mean", "indicator")


class FormatError(ValueError):
    """A file that cannot be read; the message names it, with line and column if there are any."""


class MissingValueError(FormatError):
    """A value of a table is missing, and no option says what to do about it; `place` is where."""

    def __init__(self, place: str) -> None:
        super().__init__(f"{place}: the value is missing; say what to do with --missing zero, mean or indicator.")
        self.place = place


@dataclass(frozen=True)
class TableOptions:
    """Columns with a special meaning, and what missing values become.

    missing : "error"; "zero"; "mean" of the column; "indicator", zero and a column `name is missing`
    categories : columns of text, even where all of their values look like numbers or dates
    means : what `missing="mean"` puts into columns, if known in advance
    optional : those of the above that may be absent
    numbers : columns that must not hold text, since they are numbers for the model
    beside : columns to hand out as they are, for people to see beside the scores, whatever else becomes of them
    """

    id: str | None = None
    label: str | None = None
    text: str | None = None
    ignore: Sequence[str] = ()
    missing: str = "error"
    categories: Sequence[str] = ()
    means: Mapping[str, float] = field(default_factory=dict)
    optional: Sequence[str] = ()
    numbers: Collection[str] = ()
    beside: Sequence[str] = ()


@dataclass(frozen=True)
class TextOptions:
    """Which tokens: n-grams of words and of characters, from .. to, (0, 0) for none; 2^bits features.

    idf : weigh tokens by inverse document frequency, with sublinear counts; else their values are counts
    """

    words: tuple[int, int] = (1, 1)
    characters: tuple[int, int] = (3, 5)
    bits: int = 22
    vocabulary: bool = False
    idf: bool = True

    @property
    def n_features(self) -> int:
        """Columns of the matrix."""
        return 1 << self.bits


@dataclass(frozen=True)
class Table:
    """One row per object.

    classes : labels as they are in the file, numbers or text
    categories : columns of a table that became one column for each of their values
    means : means of the columns of a table, if missing values were replaced by them
    zero_based : whether the indices of an svmlight file began at 0
    frequencies : document frequencies by which tokens are weighted; None if values are counts, or without documents
    notes : what was done that the user may not have intended
    beside : columns that were asked for as they are: a pyarrow array, or a list of values
    """

    X: Any
    ids: Sequence[str] | None = None
    names: Sequence[str] | None = None
    classes: Classes | None = None
    texts: Sequence[str] | None = None
    categories: Sequence[str] = ()
    means: Mapping[str, float] | None = None
    zero_based: bool | None = None
    frequencies: DocumentFrequencies | None = None
    notes: Sequence[str] = ()
    beside: Mapping[str, Any] = field(default_factory=dict)

    def id_of(self, row: int) -> str:
        """The row's id, or its number if the file has no ids."""
        return str(row) if self.ids is None else self.ids[row]


def refuse_repeated(place: str, ids: Sequence[str]) -> None:
    """Raise if two rows have the same id."""
    if len(set(ids)) < len(ids):
        seen: set[str] = set()
        twice = next(value for value in ids if value in seen or seen.add(value))  # type: ignore[func-returns-value]
        raise FormatError(f"{place}: the id {twice!r} is given twice; allowed: each id once.")
