"""Files in: what is in them, by suffix or by name of the format. One module for each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import arrays, folder, h5ad, matrix_market, svmlight, tabular, text
from .opening import COMPRESSED, OTHER_PACKINGS, Show, suffixes_of
from .table import FormatError, Table, TableOptions
from .text import TextOptions

__all__ = ["FORMATS", "FormatError", "Table", "TableOptions", "TextOptions", "format_of", "read"]

_MODULES: dict[str, Any] = {
    "svmlight": svmlight,
    "numpy": arrays,
    "mtx": matrix_market,
    "table": tabular,
    "h5ad": h5ad,
    "text": text,
    "rows": folder,
}

FORMATS = ("svmlight", "numpy", "mtx", "csv", "tsv", "parquet", "feather", "h5ad", "text", "rows")


def format_of(path: str, given: str | None = None) -> str:
    """The format that was asked for, or the one of the suffix; raises `FormatError` where neither is known."""
    if given is not None:
        if given not in FORMATS:
            raise FormatError(f"format {given!r} was given; allowed: {', '.join(FORMATS)}.")
        return given
    if Path(path).is_dir():
        return "rows"
    suffix = (suffixes_of(path) or [""])[-1]
    for name, module in _MODULES.items():
        if suffix in module.SUFFIXES:
            return {"table": suffix[1:].replace("arrow", "feather")}.get(name, name)
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
    n_threads: int = 1,
    show: Show | None = None,
) -> Table:
    """The matrix that `path` holds, and what it says of rows and columns. `-` is standard input.

    `show` takes megabytes that are read, and all, where a format is read in pieces.
    """
    name = format_of(path, format)
    if name == "svmlight":
        return svmlight.read(path, zero_based=zero_based, n_features=n_features, n_threads=n_threads, show=show)
    if name == "text":
        return text.read(path, texts, n_threads=n_threads, show=show)
    if name in ("csv", "tsv", "parquet", "feather"):
        found = tabular.read(path, table, suffix=f".{name}", show=show)
        if found.texts is None:
            return found
        made = text.as_table(found.texts, texts or TextOptions(), n_threads=n_threads)
        return Table(made.X, found.ids, made.names, found.classes, found.texts)
    if name == "h5ad":
        return h5ad.read(path, table)
    return {"numpy": arrays, "mtx": matrix_market, "rows": folder}[name].read(path)
