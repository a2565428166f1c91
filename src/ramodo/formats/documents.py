"""A folder of documents: each file is a document, and its path within the folder its id."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from .byte_streams import open_binary, read_safely
from .format import Format, How
from .table import FormatError, Table
from .text import as_table


def is_rows_folder(path: str) -> bool:
    """Return whether a folder holds rows, by its suffix or its files."""
    return Path(path).suffix.lower() == ".rows" or os.path.exists(os.path.join(path, "meta.json"))


def read(path: str, how: How | None = None) -> Table:
    """Return one row per file, in the order of paths, leaving out hidden files and files that are not text."""
    ids, texts, left_out = list[str](), list[str](), list[str]()
    for name in _files(path):
        with open_binary(os.path.join(path, name)) as stream:
            content = read_safely(os.path.join(path, name), stream, -1)
        id = os.fsencode(name).decode("utf-8", "backslashreplace")  # names of files need not be text
        if b"\0" in content:
            left_out.append(id)
            continue
        ids.append(id)
        texts.append(content.decode("utf-8", "replace"))
    if not texts:
        raise FormatError(f"{path} must be a folder in which each file is a document, got no file of text.")
    return replace(as_table(texts, how or How()), ids=ids, notes=_notes(left_out))


def _files(path: str) -> Iterator[str]:
    """Paths of the files in a folder and in those within it."""
    found = []
    for folder, inner, names in os.walk(path):
        inner[:] = [name for name in inner if not name.startswith(".")]
        found += [os.path.relpath(os.path.join(folder, name), path) for name in names if not name.startswith(".")]
    yield from sorted(found)


def _notes(left_out: list[str]) -> list[str]:
    if not left_out:
        return []
    were = "file holds no text and was" if len(left_out) == 1 else "files hold no text and were"
    return [f"{len(left_out):,} {were} left out, the first {left_out[0]}."]


FORMATS = (
    Format(
        "documents",
        (),
        "A folder: each file is a document, its path the id.",
        read,
        names_rows=True,
        has_documents=True,
    ),
)
