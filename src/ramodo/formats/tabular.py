"""Tables: CSV, TSV, Parquet and Feather, through pyarrow; assembling.py turns their columns into features."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..extras import pip_install
from .assembling import assembled, ids_of, refuse_unknown
from .byte_streams import Show, is_plain_file, need_threads, refuse_cut, suffixes_of, whole
from .classes import Classes, classes_of
from .compression import refuse_bomb
from .dialect import HEAD, Dialect, by_place, delimiter_named, dialect_of
from .format import Format, How
from .left_out import without_left_out
from .schema import Schema
from .series_matrix import of_series
from .table import FormatError, Table, first_of
from .transposing import turned


def read_labels(path: str, ids: Sequence[str], label: str | None) -> tuple[list[str] | None, Classes]:
    """Return the ids of rows, from the first of the columns `ids` that exists, and their labels, numbers or words.

    A table of one column has the labels of all rows, in their order: its ids are None.
    """
    table, _ = _load(path, (suffixes_of(path) or [".csv"])[-1], How(schema=Schema(text=tuple(ids))))
    names = table.column_names
    asked = label or ("label" if len(names) > 1 else names[0])
    refuse_unknown(path, table, (asked,))
    id = next((name for name in ids if name in names and name != asked), None)
    if id is None and len(names) > 1:
        known = " or ".join(map(repr, dict.fromkeys(ids)))
        raise FormatError(
            f"{path} has no column {known} to match labels with rows; it has {', '.join(names[:10])}. Rename one."
        )
    found = None if id is None else ids_of(path, id, table)
    return found, classes_of(table.column(asked).to_pylist())


def _load(path: str, suffix: str, how: How) -> tuple[Any, Dialect | None]:
    """Return the file as a pyarrow table, with its dialect if it is text."""
    try:
        import pyarrow
        import pyarrow.csv
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError:
        raise FormatError(f"{path}: {suffix} files need the package pyarrow: {pip_install('files')}.") from None
    need_threads(path, pyarrow.cpu_count() + pyarrow.io_thread_count())
    try:
        dialect = None
        if suffix in (".csv", ".tsv"):
            with _stream(path, how.show) as stream:
                stream = of_series(stream)
                dialect = _dialect(bytes(stream.read(HEAD)), suffix, how.schema)
                table = _parse(stream, dialect, how)
        else:
            with pyarrow.OSFile(os.fsencode(path)) as file:  # not mapped: truncating a mapped file kills the process
                is_parquet = suffix == ".parquet"
                found = pyarrow.parquet.ParquetFile(file) if is_parquet else pyarrow.feather.read_table(file)
                facts = found.metadata if is_parquet else found
                refuse_bomb(path, file.size(), 8 * facts.num_rows * facts.num_columns)
                table = found.read() if is_parquet else found
        table.validate(full=True)  # pyarrow trusts what it reads: damaged offsets would lead it out of bounds
        return with_all_names(table), dialect  # which decodes the names
    except FormatError:
        raise
    except (pyarrow.ArrowException, UnicodeDecodeError, OSError) as error:
        if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
            raise
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        if "Empty CSV file" in reason:
            raise FormatError(f"{path} must have a line of names and lines of values, got an empty file.") from None
        of = "standard input" if path == "-" else path
        ragged = _RAGGED.search(reason)
        if ragged:
            raise FormatError(
                f"{of} must have a value for each of its {ragged[1]} columns in each row, got {ragged[2]} in "
                f"{ragged[3]!r}. Put values with a delimiter or a line break in them in double quotes."
            ) from None
        other = "; if it is of another format, give that with --format"
        raise FormatError(f"{of} is not a {suffix[1:]} file{_what_to_do(reason)}: {reason}{other}.") from None


def with_all_names(table: Any) -> Any:
    """Name columns without a name by their position, so that options can refer to them."""
    names = [name or by_place(place) for place, name in enumerate(table.schema.names)]
    return table if names == table.schema.names else table.rename_columns(names)


_BLOCK = 1 << 24
"""Bytes of a CSV file that are read at a time."""

_PLACE = re.compile("^CSV parse error: (?:Row #[0-9]+: )?")
"""What says nothing of lines that arrive one by one."""

_RAGGED = re.compile(r"Expected (\d+) columns, got (\d+): (.*)")


def _dialect(head: bytes, suffix: str, schema: Schema) -> Dialect:
    delimiter = None if schema.delimiter is None else delimiter_named(schema.delimiter)
    return dialect_of(head, "\t" if suffix == ".tsv" else ",", delimiter, schema.header)


def _parse(stream: Any, dialect: Dialect, how: How) -> Any:
    import pyarrow.csv

    schema = how.schema
    shown_only = set(schema.ignore).intersection(how.beside)  # read as text, so that 007 stays 007
    learned = (column.name for column in schema.columns if column.kind in ("category", "text"))
    texts = {name for name in (schema.id, *schema.text, *shown_only, *learned) if name is not None}
    texts = {"" if name in dialect.unnamed else name for name in texts}
    table = _converted(stream, dialect, texts)
    zoned = [each.name for each in table.schema if pyarrow.types.is_timestamp(each.type) and each.type.tz is not None]
    if zoned and len(set(table.column_names)) == len(table.column_names):
        written = _converted(stream, dialect, set(zoned), include_columns=zoned, strings_can_be_null=True)
        for name in zoned:
            place = table.schema.get_field_index(name)
            table = table.set_column(place, name, _as_written(written.column(name), table.schema.field(name).type.unit))
    return table


def _converted(stream: Any, dialect: Dialect, texts: Iterable[str], **options: Any) -> Any:
    """Return the values of a CSV file; `texts` are columns to read as text, whatever their values."""
    import pyarrow.csv

    stream.seek(0)
    is_large = stream.size() > _BLOCK  # threads take twice the work of one where columns are many and short
    names, types = None if dialect.names is None else list(dialect.names), dict.fromkeys(texts, pyarrow.string())
    return pyarrow.csv.read_csv(
        stream,
        pyarrow.csv.ReadOptions(use_threads=is_large, block_size=_BLOCK, column_names=names, skip_rows=dialect.skipped),
        pyarrow.csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True),
        pyarrow.csv.ConvertOptions(column_types=types, decimal_point=dialect.decimal, **options),
    )


def _as_written(texts: Any, unit: str) -> Any:
    """Return times without their offsets from UTC: see columns.py."""
    import pyarrow
    import pyarrow.compute as pc

    return pc.replace_substring_regex(texts, r"\s*(Z|[+-]\d{2}(:?\d{2})?)$", "").cast(pyarrow.timestamp(unit))


def _what_to_do(reason: str) -> str:
    """Return advice about valid files that cannot be read here."""
    if "encrypt" in reason.lower() or "decrypt" in reason.lower():
        return " that can be read, as it is encrypted; write it again without"
    if "codec" in reason.lower():
        return " that can be read, as its compression is unknown here; write it again with another, such as zstd"
    return ""


@contextmanager
def _stream(path: str, show: Show | None) -> Iterator[Any]:
    """Yield the bytes of a file, as a file or buffer that pyarrow owns.

    Its threads may release them at any time, even after the interpreter has ended, so this must not need Python.
    """
    import pyarrow

    if show is None and is_plain_file(path):
        # Not mapped: truncating a mapped file kills the process. pyarrow 16 does not tell the descriptor of its file.
        with open(path, "rb") as same, pyarrow.OSFile(os.fsencode(path)) as file:
            before = os.fstat(same.fileno()).st_size
            yield file
            refuse_cut(path, before, os.fstat(same.fileno()).st_size)
        return
    read = whole(path, show)
    kept = pyarrow.allocate_buffer(len(read))
    np.frombuffer(kept, dtype=np.uint8)[:] = read
    yield pyarrow.BufferReader(kept)


def _read(path: str, how: How, suffix: str) -> Table:
    table, dialect = _load(path, suffix, how)
    if table.num_rows == 0:
        raise FormatError(f"{path} has no rows.")
    table, how, turns = turned(path, table, how)
    how, notes = without_left_out(table, how)
    found = assembled(path, table, how)
    found = replace(found, notes=[*turns, *notes, *found.notes])
    if dialect is None:
        return found
    found = replace(found, schema=replace(found.schema, header=dialect.names is None or dialect.skipped > 0))
    schema = how.schema
    special = {schema.id, schema.label, *schema.text, *schema.ignore}
    unnamed = [name for name in dialect.unnamed if name not in special]
    if dialect.noticed:
        note = (
            f"{path} begins with numbers instead of names, so its first line is read as values and its columns are "
            "named column 1, column 2, ...; if it holds names give --header, else --no-header to confirm."
        )
    elif unnamed:
        note = (
            f"{first_of(unnamed)} {'has' if len(unnamed) == 1 else 'have'} no name: give the position instead, as in "
            f"--id {unnamed[0]!r} or --ignore {unnamed[0]!r}."
        )
    else:
        return found
    return replace(found, notes=[note, *found.notes])


def _of_stream(name: str, block: bytes, _: int, how: How, suffix: str) -> Table:
    """Read lines of a table; the first is a line of names if the model's file had one."""
    import pyarrow

    schema = replace(how.schema, header=how.schema.header is not False)
    dialect = _dialect(block[:HEAD], suffix, schema)
    try:
        table = with_all_names(_parse(pyarrow.BufferReader(block), dialect, how))
    except (pyarrow.ArrowException, UnicodeDecodeError) as error:
        reason = _PLACE.sub("", str(error)).splitlines()[0].rstrip(".")
        raise FormatError(f"{name}, {reason}.") from None
    there = set(table.column_names)
    absent = [column.name for column in schema.columns if column.name not in there]
    if absent:
        raise FormatError(
            f"{name} must name the columns of the model in its first line, among them "
            f"{', '.join(map(repr, absent[:5]))}, got {', '.join(map(repr, table.column_names[:10]))}."
        )
    return assembled(name, table, how) if table.num_rows else Table(np.empty((0, 1)))


def _format(name: str, suffixes: tuple[str, ...], meaning: str) -> Format:
    meaning = f"{meaning}; needs pyarrow."
    reader = partial(_read, suffix=suffixes[0])
    columns = ("id", "label", "text", "ignore", "with")
    streamed = partial(_of_stream, suffix=suffixes[0]) if name in ("csv", "tsv") else None
    return Format(
        name, suffixes, meaning, reader, columns, of_stream=streamed, is_table=True, has_names=streamed is not None
    )


FORMATS = (
    _format("csv", (".csv",), "A table: a line of names, commas, semicolons, tabs or bars between values"),
    _format("tsv", (".tsv",), "The same, usually with tabs"),
    _format("parquet", (".parquet",), "A table of Apache Parquet"),
    _format("feather", (".feather", ".arrow"), "A table of Apache Arrow"),
)
