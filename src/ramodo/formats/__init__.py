"""Reading files, by suffix or by the name of a format.

Each format is a module that declares itself (see format.py), imported when a file is to be read. A new one is such a
module, and a line here.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from .format import Format, How
from .table import FormatError, Table, TableOptions, TextOptions

if TYPE_CHECKING:
    from .frequencies import DocumentFrequencies
    from .opening import Show

__all__ = ["FORMATS", "Format", "FormatError", "How", "Table", "TableOptions", "TextOptions"]
__all__ += ["all_formats", "format_named", "format_of", "read", "read_as"]

_HOMES = {
    "svmlight": "svmlight",
    "numpy": "arrays",
    "mtx": "matrix_market",
    "csv": "tabular",
    "tsv": "tabular",
    "parquet": "tabular",
    "feather": "tabular",
    "h5ad": "h5ad",
    "jsonl": "records",
    "accesslog": "accesslog",
    "text": "text",
    "documents": "documents",
    "rows": "folder",
}
"""Formats and the modules that read them."""

FORMATS = tuple(_HOMES)


def format_named(name: str) -> Format:
    """The format of this name; raises `FormatError` if there is none."""
    if name not in _HOMES:
        raise FormatError(f"format {name!r} was given; allowed: {', '.join(FORMATS)}.")
    declared: tuple[Format, ...] = import_module(f".{_HOMES[name]}", __name__).FORMATS
    return next(format for format in declared if format.name == name)


def all_formats() -> Iterator[Format]:
    """All formats, in order."""
    return map(format_named, FORMATS)


def format_of(path: str, given: str | None = None) -> str:
    """The format asked for, or the one that fits the suffix; raises `FormatError` if neither is known."""
    if given is not None:
        return format_named(given).name
    if Path(path).is_dir():
        from .documents import is_rows_folder

        return "rows" if is_rows_folder(path) else "documents"
    from .opening import OTHER_PACKINGS, suffixes_of
    from .recognising import COMPRESSED

    suffix = (suffixes_of(path) or [""])[-1]
    for format in all_formats():
        if suffix in format.suffixes:
            return format.name
    if suffix in OTHER_PACKINGS:
        raise FormatError(
            f"{path}: {suffix} files are not opened; allowed: plain files, and files packed as "
            f"{', '.join(COMPRESSED)}. Unpack it first."
        )
    raise FormatError(
        f"{path}: the suffix {suffix or '(none)'} says nothing of its format; give one with --format: "
        f"{', '.join(FORMATS)}."
    )


def read(
    path: str,
    format: str | None = None,
    *,
    table: TableOptions | None = None,
    texts: TextOptions | None = None,
    zero_based: bool | None = None,
    n_features: int | None = None,
    frequencies: DocumentFrequencies | None = None,
    n_threads: int = 1,
    show: Show | None = None,
) -> Table:
    """The matrix in `path`, and what the file says about rows and columns. `-` is standard input.

    `frequencies` are those by which a model weights tokens, its `document_frequencies_`; without them, they are learned
    from the documents. `show` is called with the megabytes read so far and in total, for formats that are read in
    pieces.
    """
    how = How(
        table or TableOptions(),
        texts or TextOptions(),
        zero_based,
        n_features,
        frequencies=frequencies,
        n_threads=n_threads,
        show=show,
    )
    return read_as(format_named(format_of(path, format)), path, how)


def read_as(kind: Format, path: str, how: How) -> Table:
    """A file of this format; the columns of a matrix are scaled here, those of a table by its reader."""
    table = kind.read(path, how)
    if kind.is_table or kind.has_documents or how.table.scale == "none":
        return table
    from .scales import scaled

    return scaled(path, table, how.table)
