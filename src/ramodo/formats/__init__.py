"""Read files, by suffix or by the name of a format.

Each format is a module that declares itself (see format.py), imported when a file is to be read. A new one is such a
module, and a line here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from .format import Format, How
from .schema import Schema, TextOptions
from .table import FormatError, Table

if TYPE_CHECKING:
    from .byte_streams import Show
    from .frequencies import DocumentFrequencies

__all__ = ["FORMATS", "Format", "FormatError", "How", "Schema", "Table", "TextOptions"]
__all__ += ["all_formats", "format_named", "format_of", "read", "read_as", "read_lines"]

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
    "log": "log",
    "text": "text",
    "sessions": "sessions",
    "documents": "documents",
    "rows": "folder",
}
"""Formats and the modules that read them."""

FORMATS = tuple(_HOMES)


def format_named(name: str) -> Format:
    """Return the format of this name; raise `FormatError` for an unknown name."""
    if name not in _HOMES:
        raise FormatError(f"the format must be one of {', '.join(FORMATS)}, got {name!r}.")
    declared: tuple[Format, ...] = import_module(f".{_HOMES[name]}", __name__).FORMATS
    return next(format for format in declared if format.name == name)


def all_formats() -> Iterator[Format]:
    """Yield all formats, in order."""
    return map(format_named, FORMATS)


def format_of(path: str, given: str | None = None) -> str:
    """Return the given format, or the one for the suffix; raise `FormatError` if neither is known."""
    if given is not None:
        return format_named(given).name
    if Path(path).is_dir():
        from .documents import is_rows_folder

        return "rows" if is_rows_folder(path) else "documents"
    from .byte_streams import OTHER_PACKINGS, suffixes_of
    from .compression import COMPRESSED

    suffix = (suffixes_of(path) or [""])[-1]
    if Path(path).name.removesuffix(".gz").endswith("_series_matrix.txt"):  # of the Gene Expression Omnibus
        return "tsv"
    for format in all_formats():
        if suffix in format.suffixes:
            return format.name
    if suffix in OTHER_PACKINGS:
        raise FormatError(
            f"{path} must be a plain file, or packed as {', '.join(COMPRESSED)}, got {suffix}. Unpack it first."
        )
    raise FormatError(
        f"{path}: the suffix {suffix or '(none)'} says nothing about its format; give one with --format: "
        f"{', '.join(FORMATS)}."
    )


def read(
    path: str,
    format: str | None = None,
    *,
    schema: Schema | None = None,
    n_features: int | None = None,
    frequencies: DocumentFrequencies | None = None,
    n_threads: int = 1,
    show: Show | None = None,
) -> Table:
    """Return the matrix in `path`, with facts about its rows and columns. `-` is standard input.

    `schema` says how to read: with what is asked for, or as other data were read, the `schema` of their table; labels
    and columns that were left out need not be there again.
    `frequencies` are those by which a model weights tokens, its `document_frequencies_`; without them, they are learned
    from the documents. `show` is called with the megabytes read so far and in total, for formats that are read in
    pieces.
    """
    schema = schema or Schema()
    how = How(
        schema=schema,
        n_features=n_features,
        frequencies=frequencies,
        optional=schema.unneeded,
        n_threads=n_threads,
        show=show,
    )
    return read_as(format_named(format_of(path, format)), path, how)


def read_as(kind: Format, path: str, how: How) -> Table:
    """Read a file of this format; with the columns of `how`, if it has learned some."""
    return _as_learned(kind, path, kind.read, how)


def read_lines(kind: Format, name: str, block: bytes, line: int, how: How) -> Table:
    """Read whole lines of a stream, as they arrive, after `line` earlier ones."""
    read = kind.of_stream
    assert read is not None
    return _as_learned(kind, name, lambda name, how: read(name, block, line, how), how)


def _as_learned(kind: Format, path: str, read: Callable[[str, How], Table], how: How) -> Table:
    """Find and scale the columns of a matrix. For a table, its reader does this."""
    from .byte_streams import suffix_of
    from .match_model_columns import as_columns, other_data

    schema, of_model = how.schema, how.n_features or how.schema.n_features
    are_lines, is_lines = kind.has_documents and not kind.is_table, schema.is_text and not schema.text
    if (are_lines and schema.columns and not schema.is_text) or (is_lines and kind.is_table):
        raise FormatError(other_data(path, kind.name, None, schema, of_model))
    if schema.within is not None and not kind.is_table:
        how = replace(how, beside=(*how.beside, schema.within))
    table = read(path, replace(how, schema=schema.for_tables()) if kind.is_table else how)
    if how.plain is not None or table.X.shape[0] == 0:
        return table
    if not kind.is_table and not kind.has_documents:
        table = as_columns(path, kind.name, table, how, kind.are_genes)
    if how.n_features not in (None, table.X.shape[1]):
        raise FormatError(other_data(path, kind.name, table.X.shape[1], schema, of_model))
    return replace(table, schema=replace(table.schema, format=kind.name, suffix=suffix_of(path)))
