"""What a file contains: a matrix, and what is known about its rows and columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .classes import Classes
    from .frequencies import DocumentFrequencies

MISSING = ("error", "zero", "mean", "indicator")

SCALES = ("auto", "none", "standard", "robust", "log")
"""What can be done to numbers: see scales.py."""


class FormatError(ValueError):
    """A file that cannot be read; the message names it, with line and column if there are any.

    row : the number of the row to blame, from 0, where one is
    """

    def __init__(self, message: str, row: int | None = None) -> None:
        super().__init__(message)
        self.row = row


class MissingValueError(FormatError):
    """A value of a table is missing, and no option says what to do about it; `place` is where."""

    def __init__(self, place: str, row: int | None = None) -> None:
        super().__init__(f"{place}: the value is missing; say what to do with --missing zero, mean or indicator.", row)
        self.place = place


@dataclass(frozen=True)
class TableOptions:
    """Columns with a special meaning, what missing values become, and how numbers are scaled.

    text : columns of documents
    missing : "error"; "zero"; "mean" of the column; "indicator", zero and a column `name is missing`
    categories : columns of text, even where all of their values look like numbers or dates
    means : what `missing="mean"` puts into columns, if known in advance
    optional : those of the above that may be absent
    numbers : columns that must not hold text, since they are numbers for the model
    text_only : columns that are not documents are left out
    scale : one of `SCALES`; with "none", dates are seconds since 1970, else cycles and days
    scales : center, width and unit of each scaled column, if known in advance: see scales.py
    dates : columns of dates, and the day from which each is counted, in days since 1970, if known in advance
    given : columns that the model's data had; records need not name those that they lack
    delimiter : between the values of a CSV file; None to find out
    header : whether a CSV file begins with a line of names; None to find out
    beside : columns to hand out as they are, for people to see beside the scores, whatever else becomes of them
    """

    id: str | None = None
    label: str | None = None
    text: Sequence[str] = ()
    ignore: Sequence[str] = ()
    missing: str = "error"
    categories: Sequence[str] = ()
    means: Mapping[str, float] = field(default_factory=dict)
    optional: Sequence[str] = ()
    numbers: Collection[str] = ()
    text_only: bool = False
    scale: str = "none"
    scales: Mapping[str, Sequence[float]] | None = None
    dates: Mapping[str, int] | None = None
    given: Sequence[str] = ()
    delimiter: str | None = None
    header: bool | None = None
    beside: Sequence[str] = ()

    def __post_init__(self) -> None:
        if isinstance(self.text, str):
            object.__setattr__(self, "text", (self.text,))


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
    texts : documents as they are shown
    fields : documents of each column of documents, where there are several, or other columns beside: see blending.py
    widths : columns that are tokens of each of the `fields`; all other columns come after them
    weights : what the values of the tokens of each field are multiplied by
    scales : center, width and unit of each column that was scaled: see scales.py
    dates : columns of dates, and the day from which each is counted, in days since 1970
    given : columns that the matrix was made of
    header : whether a CSV file began with a line of names
    skipped : lines that could not be read
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
    fields: Mapping[str, Sequence[str]] | None = None
    widths: Sequence[int] = ()
    weights: Sequence[float] = ()
    scales: Mapping[str, Sequence[float]] = field(default_factory=dict)
    dates: Mapping[str, int] = field(default_factory=dict)
    given: Sequence[str] = ()
    header: bool | None = None
    skipped: int = 0
    beside: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_text(self) -> bool:
        """Whether rows are documents and nothing else."""
        return self.texts is not None and self.fields is None

    @property
    def first_named(self) -> int:
        """The first column of which `names` holds the name: hashed tokens have none."""
        return 0 if self.names is None else self.X.shape[1] - len(self.names)

    def id_of(self, row: int) -> str:
        """The row's id, or its number if the file has no ids."""
        return str(row) if self.ids is None else self.ids[row]


def refuse_repeated(place: str, ids: Sequence[str]) -> None:
    """Raise if two rows have the same id."""
    if len(set(ids)) < len(ids):
        seen: set[str] = set()
        twice = next(value for value in ids if value in seen or seen.add(value))  # type: ignore[func-returns-value]
        raise FormatError(f"{place}: the id {twice!r} is given twice; allowed: each id once.")
