"""The SQLite file of a store: readable by its owner alone, and watched for being deleted or replaced while open."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import QueuePool

from ..options import OptionError

PATIENCE = 5.0
"""Seconds to wait while another process changes the store."""

_NOT_A_FILE = (-1, -1)


class StoreError(OSError):
    """The store could not be read or written; labels acknowledged before are safe."""


class StoreFile:
    """An open SQLite file."""

    def __init__(self, place: str) -> None:
        self._path = Path(place)
        try:
            os.close(os.open(place, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            raise StoreError(f"the store {place} cannot be used: {error.strerror}") from None
        self.engine = _engine(place)
        self._saving = threading.Lock()
        self._kept = sqlite3.connect(place, timeout=PATIENCE, check_same_thread=False, isolation_level=None)
        self._known = _identity(self._path)

    def check(self) -> None:
        """Raise if the file is not the one that was opened, after saving a copy of that one beside it.

        SQLite would go on writing into a file that nobody can open again.
        """
        with self._saving:
            try:
                if _identity(self._path) == self._known:
                    self._kept.execute("SELECT count(*) FROM sqlite_master").fetchall()  # opens its log, too
                    return
                saved = Path(f"{self._path}.rescued")
                self.copy(saved)
            except sqlite3.Error as error:
                raise StoreError(f"the store {self._path} cannot be used: {error}") from None
        raise StoreError(
            f"the store {self._path} was deleted or replaced while it was open. All labels acknowledged before are in "
            f"{saved}; stop the page, rename that file to {self._path.name}, and start again"
        )

    def copy(self, target: Path) -> None:
        """Write everything that was committed to another file, readable by its owner alone."""
        temporary = target.with_name(f".{target.name}.{os.getpid()}")
        temporary.unlink(missing_ok=True)
        os.close(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            with closing(sqlite3.connect(temporary)) as copied:
                self._kept.backup(copied)
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()
        self._kept.close()


def back_up(place: str, target: str) -> None:
    """Copy a store that may be in use, whole."""
    if not Path(place).is_file():
        raise OptionError(f"--store must be a file that exists, got {place}. A database has its own tools for backups.")
    if Path(target).exists():
        raise OptionError(f"--backup must be a new file, got {target}, which exists.")
    with closing(StoreFile(place)) as file:
        file.check()
        file.copy(Path(target))


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return _NOT_A_FILE
    return found.st_dev, found.st_ino


def _engine(place: str) -> Engine:
    engine = create_engine(
        f"sqlite+pysqlite:///{place}",
        connect_args={"timeout": PATIENCE, "check_same_thread": False},
        poolclass=QueuePool,
        pool_size=4,
    )

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _: object) -> None:
        connection.isolation_level = None  # we begin transactions ourselves
        cursor = connection.cursor()
        for pragma in ("journal_mode=WAL", "synchronous=FULL"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        changes = connection.get_execution_options().get("changes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if changes else "BEGIN")

    return engine
