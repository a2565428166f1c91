"""The declaration of a format by the module that reads it, and the options of a reader.

A format is one module that reads the files and declares itself in its `FORMATS`. A line in `ramodo.formats` leads to
it; flags, messages and docs/options.md follow.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

from .schema import Schema
from .table import Table

if TYPE_CHECKING:
    from .byte_streams import Show
    from .frequencies import DocumentFrequencies


@dataclass(frozen=True, kw_only=True)
class How:
    """How to read a path; a format uses the fields that apply to it.

    schema : the user's wishes or, with columns, what a model or other files learned
    frequencies : document frequencies by which a model weights tokens; None to learn them from these documents
    n_features : number of columns, if a model knows it
    optional : columns named by the schema that the data may lack
    beside : columns to pass on unchanged, shown next to the scores
    grows : whether rows are some of many: categories and marks of missing values are learned, the rest is known
    show : called with the megabytes read so far and in total, for formats read in pieces
    plain : return only these rows of a table, as pyarrow's table, not as a matrix
    leaves_out : columns that only count rows or hold one value are left out of what is learned: see left_out.py
    in_python : whether messages name options as in Python, instead of flags of the command
    """

    schema: Schema = field(default_factory=Schema)
    frequencies: DocumentFrequencies | None = None
    n_features: int | None = None
    optional: Collection[str] = ()
    beside: Sequence[str] = ()
    grows: bool = False
    n_threads: int = 1
    show: Show | None = None
    plain: slice | None = None
    leaves_out: bool = False
    in_python: bool = False

    def option(self, name: str, value: str | None = None) -> str:
        """Return an option as the user would write it, for a message."""
        if self.in_python:
            return f"{name}=" if value is None else f"{name}={value!r}"
        return f"--{name}" if value is None else f"--{name} {quote(value)}"


class Piece(NamedTuple):
    """Consecutive rows of a file in CSR form, and their largest index plus one."""

    indptr: Any
    indices: Any
    data: Any
    classes: Any
    width: int


@dataclass(frozen=True)
class Format:
    """One format.

    name : as in `--format`
    suffixes : of its files; the first is the usual one
    meaning : a sentence for the docs
    read : the whole file at this path
    columns : which of the flags id, label, text, ignore and with can name columns of it
    of_stream : rows of whole lines as they arrive on standard input: a name for messages, the lines, the number of
        lines before them; None if the whole file is needed
    begun : of whole lines of a stream, the number of bytes before the last row, where more lines of it may come
    has_names : the first line of a stream may be that of names, which `of_stream` gets before the lines; and values may
        hold line breaks, in quotes
    pieces : the file in pieces, for files larger than memory; None if that is not possible
    takes_width : the file does not say how many columns there are beyond the last one used
    names_rows : rows have ids of their own, with or without a column for them
    has_documents : each row is a text
    are_genes : columns are genes, and are scaled as these are
    is_table : columns have kinds and names, and are scaled as they are read
    lacks_keys : rows have the columns that they need, and missing values are ordinary
    """

    name: str
    suffixes: tuple[str, ...]
    meaning: str
    read: Callable[[str, How], Table]
    columns: tuple[str, ...] = ()
    of_stream: Callable[[str, bytes, int, How], Table] | None = None
    begun: Callable[[bytes, How], int] | None = None
    pieces: Callable[[str, How], Iterator[Piece]] | None = None
    takes_width: bool = False
    names_rows: bool = False
    has_documents: bool = False
    is_table: bool = False
    lacks_keys: bool = False
    has_names: bool = False
    are_genes: bool = False
