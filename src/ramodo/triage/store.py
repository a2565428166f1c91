"""Where labels are stored: a SQLite file, or a PostgreSQL database for a team. Nothing is ever overwritten.

A label that was acknowledged is on disk: each change is one transaction, in SQLite with a write-ahead log that is
flushed at every commit. Changes are made one at a time, even by several servers on one database, so everybody sees
entries in the order of their numbers.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

from sqlalchemy import Connection, Engine, create_engine, delete, insert, select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from ..options import OptionError
from . import tables
from .store_file import PATIENCE, StoreError, StoreFile

_VERSION = "1"
_LOCK = 7_262_036
"""The PostgreSQL advisory lock that is held during a change."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A label for a row, or the undoing of a batch of labels; tables.py describes the fields."""

    id: int
    at: str
    who: str
    batch: str
    undoes: str | None
    row: int
    label: int
    model: int
    queue: str
    stratum: str


@dataclass(frozen=True)
class Said:
    """A label to store."""

    row: int
    label: int
    queue: str
    stratum: str


@dataclass(frozen=True, kw_only=True)
class Version:
    """A model made from the labels up to an entry; tables.py describes the fields."""

    version: int
    at: str
    who: str
    entry: int
    back_to: int | None
    summary: dict[str, Any]


class Store:
    """The tables of one data set."""

    def __init__(self, place: str) -> None:
        self.place, self._changing = _shown(place), threading.Lock()
        self._file = None if "://" in place else StoreFile(place)
        self._engine = _engine(place) if self._file is None else self._file.engine

    @classmethod
    def open(cls, place: str, fingerprint: str) -> Self:
        """Return the store at a path or URL, created if it does not exist; refused if it belongs to other data."""
        store = cls(place)
        with store._change() as connection:
            tables.metadata.create_all(connection)
            known = {name: value for name, value in connection.execute(select(tables.facts))}  # noqa: C416 - rows, not pairs
            if not known:
                rows = [{"name": "version", "value": _VERSION}, {"name": "fingerprint", "value": fingerprint}]
                connection.execute(insert(tables.facts), rows)
                return store
        if known.get("version") != _VERSION:
            raise OptionError(f"--store {store.place} was written by another version of ramodo; name a new store.")
        if known.get("fingerprint") != fingerprint:
            raise OptionError(
                f"--store {store.place} holds labels of other data: its fingerprint is {known.get('fingerprint')}, "
                f"that of these data {fingerprint}. Name the store of these data, or a new one."
            )
        return store

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()
        if self._file is not None:
            self._file.close()

    # ---- entries -------------------------------------------------------------------------------------------------

    def since(self, last: int) -> list[Entry]:
        """Entries after the one with this number, in order."""
        query = select(tables.entries).where(tables.entries.c.id > last).order_by(tables.entries.c.id)
        with self._read() as connection:
            return [Entry(**row) for row in connection.execute(query).mappings()]

    def add(
        self,
        who: str,
        model: int,
        said: Sequence[Said],
        wanted: Iterable[int] = (),
        seconds: float = 0.0,
        last: int = 0,
    ) -> int | None:
        """Store labels as one batch and, in the same transaction, lease the first wanted row that is free.

        Rows labelled after the entry `last`, which the caller has not seen, are not free. Returns the leased row once
        everything is on disk.
        """
        batch, at = secrets.token_hex(8), _now()
        common = {"at": at, "who": who, "batch": batch, "undoes": None, "model": model}
        rows = [{**common, "row": s.row, "label": s.label, "queue": s.queue, "stratum": s.stratum} for s in said]
        with self._change() as connection:
            connection.execute(insert(tables.entries), rows)
            connection.execute(delete(tables.leases).where(tables.leases.c.row.in_([s.row for s in said])))
            return self._take_first(connection, who, wanted, seconds, last)

    def undo(self, who: str, model: int, batch: str, row: int) -> None:
        """Store that a batch no longer counts; `row` is one of its rows."""
        entry = {"at": _now(), "who": who, "batch": secrets.token_hex(8), "undoes": batch, "row": row, "label": 0}
        with self._change() as connection:
            connection.execute(insert(tables.entries), [{**entry, "model": model, "queue": "undo", "stratum": ""}])

    # ---- leases --------------------------------------------------------------------------------------------------

    def lease(self, who: str, wanted: Iterable[int], seconds: float, last: int = 0) -> int | None:
        """Lease to `who` the first wanted row that is free, and return it; None if all are taken."""
        with self._change() as connection:
            return self._take_first(connection, who, wanted, seconds, last)

    def _take_first(
        self, connection: Connection, who: str, wanted: Iterable[int], seconds: float, last: int
    ) -> int | None:
        leases, entries, now = tables.leases, tables.entries, time.time()
        gone = set(connection.execute(select(entries.c.row).where(entries.c.id > last)).scalars())
        held = {row: other for row, other, until in connection.execute(select(leases)) if until >= now}
        row = next((row for row in wanted if row not in gone and held.get(row, who) == who), None)
        if row is not None:
            connection.execute(self._taking(row, who, now + seconds))
        return row

    def release(self, who: str) -> None:
        """End all leases of an analyst."""
        with self._change() as connection:
            connection.execute(delete(tables.leases).where(tables.leases.c.who == who))

    def leased(self) -> dict[int, str]:
        """Leased rows, and who holds each."""
        query = select(tables.leases.c.row, tables.leases.c.who).where(tables.leases.c.until >= time.time())
        with self._read() as connection:
            return {row: who for row, who in connection.execute(query)}  # noqa: C416 - rows, not pairs

    def _taking(self, row: int, who: str, until: float) -> Any:
        dialect: Any = postgresql if self._file is None else sqlite
        taking = dialect.insert(tables.leases).values(row=row, who=who, until=until)
        return taking.on_conflict_do_update(index_elements=["row"], set_={"who": who, "until": until})

    # ---- models --------------------------------------------------------------------------------------------------

    def versions(self) -> list[Version]:
        """Return all models, in order."""
        query = select(tables.models).order_by(tables.models.c.version)
        with self._read() as connection:
            found = connection.execute(query).mappings()
            return [Version(**{**row, "summary": json.loads(row["summary"])}) for row in found]

    def add_version(self, who: str, entry: int, back_to: int | None, summary: dict[str, Any]) -> int:
        """Store a new current model and return its version."""
        values = {"at": _now(), "who": who, "entry": entry, "back_to": back_to, "summary": json.dumps(summary)}
        with self._change() as connection:
            found = connection.execute(insert(tables.models).values(**values))
            return int(found.inserted_primary_key[0])  # type: ignore[index]

    # ---- transactions --------------------------------------------------------------------------------------------

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        self._check()
        with _said_clearly(self.place), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _change(self) -> Iterator[Connection]:
        """One transaction; no other change happens at the same time, in this process or another."""
        self._check()
        with _said_clearly(self.place), self._changing, self._engine.connect() as connection:
            connection = connection.execution_options(changes=True)
            with connection.begin():
                if self._file is None:
                    connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
                yield connection
        self._check()  # a change is acknowledged only if it is in a file that can be opened again

    def _check(self) -> None:
        if self._file is not None:
            self._file.check()


def _engine(place: str) -> Engine:
    try:
        url = make_url(place)
    except ArgumentError:
        url = None
    if url is None or url.get_backend_name() != "postgresql":
        raise OptionError(
            f"--store must be a file, or postgresql://USER@HOST/DATABASE for a team, got {_shown(place)}."
        )
    options = {"connect_timeout": int(PATIENCE), "options": f"-c lock_timeout={int(1000 * PATIENCE)}"}
    return create_engine(url.set(drivername="postgresql+psycopg"), connect_args=options, pool_pre_ping=True)


@contextmanager
def _said_clearly(place: str) -> Iterator[None]:
    """Raise errors of a database as our own, without its address, which may contain a password."""
    try:
        yield
    except SQLAlchemyError as error:
        said = str(getattr(error, "orig", None) or error).strip().splitlines() or [type(error).__name__]
        raise StoreError(f"the store {place} cannot be used: {said[0]}") from None


def _shown(place: str) -> str:
    """Return a path or URL without its password."""
    try:
        return make_url(place).render_as_string(hide_password=True) if "://" in place else place
    except ArgumentError:
        return "given"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
