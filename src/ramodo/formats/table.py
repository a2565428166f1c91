"""The contents of a file: a matrix, and facts about its rows and columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from .schema import Column, Schema

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .classes import Classes
    from .event_lines import Sessions
    from .frequencies import DocumentFrequencies


class FormatError(ValueError):
    """A file that cannot be read; the message names it, with line and column if there are any.

    row : the number of the faulty row, from 0, if there is one
    """

    def __init__(self, message: str, row: int | None = None) -> None:
        super().__init__(message)
        self.row = row


class MissingValueError(FormatError):
    """A value of a table is missing, and no option says how to replace it; `is_learned`: the model has that option."""

    def __init__(self, place: str, row: int, is_learned: bool = False, option: str = "--missing ") -> None:
        learned = f", and the model was fitted with {option}error; fill it in, or fit again with"
        advice = learned if is_learned else "; say what to do with"
        super().__init__(f"{place}: the value is missing{advice} {option}zero, mean or indicator.", row)


class RowError(FormatError):
    """A row cannot be read; the error has its number."""

    def __init__(self, place: str, row: int, problem: str) -> None:
        super().__init__(f"{place}, row {row}: {problem}", row)


class Unseen(NamedTuple):
    """Categories of a column that training did not have: rows in order, and the place of what each has in `texts`."""

    column: Column
    rows: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int64]
    texts: Sequence[str]

    def of(self, row: int) -> list[str]:
        """Those of a row."""
        first, end = self.rows.searchsorted([row, row + 1]).tolist()
        return [self.texts[code] for code in self.codes[first:end].tolist()]


@dataclass(frozen=True, kw_only=True)
class Table:
    """One row per object.

    classes : labels as they are in the file, numbers or text
    texts : documents, to be shown
    fields : documents by column, if there are several or other columns too: see text_and_columns.py
    schema : how the rows were read, with the columns that were learned
    frequencies : document frequencies by which tokens are weighted; None if values are counts, or without documents
    notes : messages about actions that the user may not have intended
    skipped : lines that could not be read
    beside : columns that were asked for as they are: a pyarrow array, or a list of values
    lines : the lines of each row, where rows are sessions of a log
    unseen : categories that the training data did not have, by column
    """

    X: Any = field(kw_only=False)
    ids: Sequence[str] | None = None
    classes: Classes | None = None
    texts: Sequence[str] | None = None
    fields: Mapping[str, Sequence[str]] | None = None
    schema: Schema = field(default_factory=Schema)
    frequencies: DocumentFrequencies | None = None
    notes: Sequence[str] = ()
    skipped: int = 0
    beside: Mapping[str, Any] = field(default_factory=dict)
    lines: Sequence[Sequence[str]] | None = None
    unseen: Sequence[Unseen] = ()

    @property
    def names(self) -> list[str] | None:
        """Names of the features, starting with the first that has one; None if none has."""
        return self.schema.names

    @property
    def is_text(self) -> bool:
        """Whether rows are documents without other columns."""
        return self.texts is not None and self.fields is None

    @cached_property
    def times(self) -> npt.NDArray[np.float64] | None:
        """The time of each line of a log, in seconds since 1970; None if rows are not lines with times."""
        from .event_lines import times_of  # which imports NumPy

        return times_of(self.texts or ()) if self.are_lines else None

    @cached_property
    def sessions(self) -> Sessions | None:
        """The sessions of the lines of a log; None if they cannot be told."""
        from .event_lines import sessions_of

        return sessions_of(self.texts or (), self.times) if self.are_lines else None

    @property
    def are_lines(self) -> bool:
        """Whether rows are lines of a log, and not documents."""
        return self.texts is not None and self.schema.format in ("text", "log", "accesslog")

    def learned_attributes(self) -> dict[str, Any]:
        """Attributes that a fitted detector keeps of how the rows were read."""
        import numpy as np  # imported here, so that the command's help need not wait for it

        found: dict[str, Any] = {"schema_": self.schema, "document_frequencies_": self.frequencies}
        if self.names is not None and self.schema.first_named == 0:
            found["feature_names_in_"] = np.array(self.names, dtype=object)
        return found

    def id_of(self, row: int) -> str:
        """Return the row's id, or its number if the file has no ids."""
        return str(row) if self.ids is None else self.ids[row]


def refuse_repeated(place: str, ids: Sequence[str]) -> None:
    """Raise if two rows have the same id."""
    if len(set(ids)) < len(ids):
        seen: set[str] = set()
        twice = next(value for value in ids if value in seen or seen.add(value))  # type: ignore[func-returns-value]
        raise FormatError(f"{place} must have each id once, got {twice!r} twice.")


def lacking(path: str, own: Sequence[str], names: Sequence[str], absent: Sequence[str]) -> str:
    """That columns of the model are absent."""
    return (
        f"{path} must have all {len(names):,} columns that the model was fitted with, by their names; it lacks "
        f"{len(absent):,}, such as {absent[0]!r}, and has {first_of([repr(name) for name in own[:11]])}."
    )


def first_of(names: Sequence[str]) -> str:
    """The first of some names, for a message."""
    return ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
