"""Finished cells, in an SQLite file: an interrupted run continues where it stopped."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from ... import __version__
from .cells import Cell, Limits, Outcome

_TABLE = """
create table if not exists cells (
    version text, fingerprint text, cell text, outcome text, finished text default current_timestamp,
    primary key (version, fingerprint, cell)
)
"""


_FOREIGN = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR)
"""SQLite's codes for a file that is not a database, is damaged, or has another table."""


class StoreError(OSError):
    """The file of results cannot be used."""


class Store:
    """Outcomes by cell, by ramodo's version and by the fingerprint of the cell's data, so that none is out of date."""

    def __init__(self, path: Path, fingerprints: Mapping[str, str]) -> None:
        self._fingerprints, self._path = fingerprints, path
        with self._trouble_said():
            self._database = sqlite3.connect(path)
        try:
            with self._trouble_said():
                self._database.execute(_TABLE)
        except StoreError:
            self._database.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def get(self, cell: Cell) -> Outcome | None:
        """Return the outcome of a cell, if it was computed."""
        query = "select outcome from cells where version = ? and fingerprint = ? and cell = ?"
        with self._trouble_said():
            found = self._database.execute(query, self._key(cell)).fetchone()
        if found is None:
            return None
        kept = json.loads(found[0])
        return Outcome(**{**kept, "limits": Limits(**kept["limits"])})

    def put(self, cell: Cell, outcome: Outcome) -> None:
        """Store the outcome of a cell at once."""
        text = json.dumps({**vars(outcome), "limits": vars(outcome.limits)})
        with self._trouble_said(), self._database:
            self._database.execute(
                "insert or replace into cells (version, fingerprint, cell, outcome) values (?, ?, ?, ?)",
                (*self._key(cell), text),
            )

    @contextmanager
    def _trouble_said(self) -> Iterator[None]:
        """Tell another kind of file from a disk that cannot be read or written: the remedy differs."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", None) in (None, *_FOREIGN):
                raise StoreError(
                    f"{self._path} is not a file of results: {error}. Move it away to begin again."
                ) from None
            raise StoreError(f"{self._path} could not be read or written: {error}.") from None

    def _key(self, cell: Cell) -> tuple[str, str, str]:
        return __version__, self._fingerprints.get(cell.dataset, ""), cell.key()
