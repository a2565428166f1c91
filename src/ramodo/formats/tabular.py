"""Tables: CSV, TSV, Parquet and Feather, through pyarrow.

Numbers stay numbers, booleans become 0 and 1, dates seconds since 1970. Text becomes one column per value, named
`country=NZ`, and sparse. What is missing is an error unless the caller says what to do.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from .classes import Classes, classes_of, is_text, shown
from .columns import Column
from .format import Format, How
from .opening import Show, is_compressed, need_threads, refuse_cut, suffixes_of, whole
from .table import MISSING, FormatError, Table, TableOptions, refuse_repeated
from .text import as_table


def read(
    path: str, options: TableOptions | None = None, *, suffix: str | None = None, show: Show | None = None
) -> Table:
    """A table as a matrix with named columns; `Table.texts` holds the text column, if one is named."""
    options = options or TableOptions()
    if options.missing not in MISSING:
        raise FormatError(f"missing={options.missing!r} was given; allowed: {', '.join(MISSING)}.")
    shown_only = set(options.ignore).intersection(options.beside)  # which is text: 007 stays 007
    texts_given = (options.id, options.text, *options.categories, *shown_only)
    return of_arrow(path, _load(path, suffix or (suffixes_of(path) or [".csv"])[-1], texts_given, show), options)


def of_arrow(path: str, table: Any, options: TableOptions) -> Table:
    """The same for a table of pyarrow's, which messages call `path`."""
    if table.num_rows == 0:
        raise FormatError(f"{path} has no rows.")
    _refuse_unknown(path, table, options)
    special = {options.id, options.label, options.text, *options.ignore}
    ids = None if options.id is None else _ids(path, options.id, table)
    beside = {name: table.column(name) for name in options.beside if name in table.column_names}
    has_labels = options.label is not None and options.label in table.column_names
    classes = classes_of(table.column(str(options.label)).to_pylist()) if has_labels else None
    if options.text is not None:
        texts = ["" if text is None else str(text) for text in table.column(options.text).to_pylist()]
        return Table(None, ids, None, classes, texts, beside=beside)
    columns = [
        Column(path, name, table.column(name), options, ids) for name in table.column_names if name not in special
    ]
    parts = [part for column in columns for part in column.parts()]
    if not parts:
        raise FormatError(f"{path} has no columns besides {', '.join(sorted(filter(None, special)))}.")
    means = {column.name: column.mean for column in columns if column.mean is not None}
    categories = [column.name for column in columns if column.is_category]
    names = [name for _, names in parts for name in names]
    notes = [text for column in columns for text in column.notes]
    kept: dict[str, Any] = {"means": means, "categories": categories, "notes": notes, "beside": beside}
    return Table(_matrix(parts), ids, names, classes, **kept)


def read_pairs(path: str, id: str, label: str) -> list[tuple[str, float]]:
    """Two columns of a table: ids, each once, and numbers."""
    table = _load(path, (suffixes_of(path) or [".csv"])[-1], (id,))
    _refuse_unknown(path, table, TableOptions(id=id, label=label))
    labels = classes_of(table.column(label).to_pylist())
    if is_text(labels):
        found = ", ".join(map(shown, np.unique(labels)[:10]))
        raise FormatError(
            f"{path}, column {label!r} holds {found}; allowed as labels: numbers, 1 for a known outlier, -1 for a "
            "known inlier, 0 for unknown."
        )
    return list(zip(_ids(path, id, table), labels.tolist(), strict=True))


def read_labels(path: str, ids: Sequence[str], label: str | None) -> tuple[list[str] | None, Classes]:
    """Labels of a table, numbers or words, and the rows they are of, by the first of the columns `ids` that there is.

    A table of one column has the labels of all rows, in their order: its ids are None.
    """
    table = _load(path, (suffixes_of(path) or [".csv"])[-1], ids)
    names = table.column_names
    asked = label or ("label" if len(names) > 1 else names[0])
    _refuse_unknown(path, table, TableOptions(label=asked))
    id = next((name for name in ids if name in names and name != asked), None)
    if id is None and len(names) > 1:
        known = " or ".join(map(repr, dict.fromkeys(ids)))
        raise FormatError(
            f"{path} has no column {known} to say which row a label is of; it has {', '.join(names[:10])}. Rename one."
        )
    found = None if id is None else _ids(path, id, table)
    return found, classes_of(table.column(asked).to_pylist())


def _load(path: str, suffix: str, texts: Sequence[str | None], show: Show | None = None) -> Any:
    """The file as a pyarrow table; `texts` are columns to leave as text if the file has no types of its own."""
    try:
        import pyarrow
        import pyarrow.csv
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError:
        raise FormatError(f"{path}: {suffix} files need the package pyarrow: pip install 'ramodo[files]'.") from None
    need_threads(path, pyarrow.cpu_count() + pyarrow.io_thread_count())
    try:
        if suffix in (".csv", ".tsv"):
            parse = pyarrow.csv.ParseOptions(delimiter="\t" if suffix == ".tsv" else ",", newlines_in_values=True)
            read_options = pyarrow.csv.ReadOptions(block_size=1 << 24)
            types = pyarrow.csv.ConvertOptions(column_types={name: pyarrow.string() for name in texts if name})
            with _stream(path, show) as stream:
                table = pyarrow.csv.read_csv(stream, read_options, parse, types)
        elif suffix == ".parquet":
            table = pyarrow.parquet.read_table(path, memory_map=False)
        else:
            table = pyarrow.feather.read_table(path, memory_map=False)  # a mapping that is cut ends the process
        table.validate(full=True)  # pyarrow trusts what it reads: what is damaged would lead it beyond its arrays
        assert table.column_names is not None  # which are decoded here
        return table
    except FormatError:
        raise
    except (pyarrow.ArrowException, UnicodeDecodeError, OSError) as error:
        if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
            raise
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        if "Empty CSV file" in reason:
            raise FormatError(f"{path} is empty; allowed: a line of names, and lines of values.") from None
        of = "standard input" if path == "-" else path
        other = "; if it is of another format, give that with --format"
        raise FormatError(f"{of} is not a {suffix[1:]} file{_what_to_do(reason)}: {reason}{other}.") from None


def _what_to_do(reason: str) -> str:
    """Advice about files that are sound but cannot be read here."""
    if "encrypt" in reason.lower() or "decrypt" in reason.lower():
        return " that can be read, as it is encrypted; write it again without"
    if "codec" in reason.lower():
        return " that can be read, as its compression is not known here; write it again with another, as zstd"
    return ""


@contextmanager
def _stream(path: str, show: Show | None) -> Iterator[Any]:
    """The bytes of a file, as a file or buffer of pyarrow's own.

    Its threads may release them at any time, which must not need Python: the interpreter may have ended.
    """
    import pyarrow

    if show is None and os.path.isfile(path) and not is_compressed(path):
        # By reads: a mapping that is cut would end the process. pyarrow 16 does not tell the descriptor of its file.
        with open(path, "rb") as same, pyarrow.OSFile(path) as file:
            before = os.fstat(same.fileno()).st_size
            yield file
            refuse_cut(path, before, os.fstat(same.fileno()).st_size)
        return
    read = whole(path, show)
    kept = pyarrow.allocate_buffer(len(read))
    np.frombuffer(kept, dtype=np.uint8)[:] = read
    yield pyarrow.BufferReader(kept)


def _refuse_unknown(path: str, table: Any, options: TableOptions) -> None:
    names = table.column_names
    repeated = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if repeated:
        raise FormatError(f"{path} has several columns named {repeated[0]!r}; allowed: one of each name.")
    for name in filter(None, (options.id, options.label, options.text, *options.ignore, *options.beside)):
        if name not in names and name not in options.optional:
            shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
            raise FormatError(f"{path} has no column {name!r}; it has {shown}.")


def _matrix(parts: list[tuple[Any, list[str]]]) -> Any:
    if not any(sp.issparse(part) for part, _ in parts):
        return np.hstack([part for part, _ in parts])
    return sp.hstack([sp.csr_array(part) for part, _ in parts], format="csr")


def _ids(path: str, name: str, table: Any) -> list[str]:
    ids = [str(value) for value in table.column(name).to_pylist()]
    refuse_repeated(f"{path}, column {name!r}", ids)
    return ids


def _read(path: str, how: How, suffix: str) -> Table:
    """The columns as a matrix; for a column of documents, their tokens."""
    found = read(path, how.table, suffix=suffix, show=how.show)
    if found.texts is None:
        return found
    return replace(as_table(found.texts, how), ids=found.ids, classes=found.classes, beside=found.beside)


def _format(name: str, suffixes: tuple[str, ...], meaning: str) -> Format:
    meaning = f"{meaning}; needs `ramodo[files]`."
    reader = partial(_read, suffix=suffixes[0])
    return Format(name, suffixes, meaning, reader, columns=("id", "label", "text", "ignore", "with"))


FORMATS = (
    _format("csv", (".csv",), "A table with a line of names, commas between values"),
    _format("tsv", (".tsv",), "The same with tabs"),
    _format("parquet", (".parquet",), "A table of Apache Parquet"),
    _format("feather", (".feather", ".arrow"), "A table of Apache Arrow"),
)
