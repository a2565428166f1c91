"""The tables of a store. `entries` and `models` only ever grow; `leases` come and go."""

from __future__ import annotations

from sqlalchemy import Column, Float, Integer, MetaData, SmallInteger, String, Table, Text

metadata = MetaData()

facts = Table(
    "triage_facts",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("value", Text, nullable=False),
)
"""The fingerprint of the data that the store belongs to, and the version of these tables."""

entries = Table(
    "triage_entries",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("at", String(40), nullable=False),
    Column("who", String(100), nullable=False),
    Column("batch", String(40), nullable=False, index=True),
    Column("undoes", String(40)),
    Column("row", Integer, nullable=False),
    Column("label", SmallInteger, nullable=False),
    Column("model", Integer, nullable=False),
    Column("queue", String(20), nullable=False),
    Column("stratum", String(20), nullable=False),
)
"""What was said, in order: a label for a row or, if `undoes` names a batch, that this batch no longer counts.

batch : labels that were given together are undone together
model : version of the model that ranked the row at the time
queue : the queue that the row came from
stratum : where the row stood against the cut-off at the time
"""

leases = Table(
    "triage_leases",
    metadata,
    Column("row", Integer, primary_key=True, autoincrement=False),
    Column("who", String(100), nullable=False),
    Column("until", Float, nullable=False),
)
"""Rows on somebody's screen: row, analyst, and when the lease expires."""

models = Table(
    "triage_models",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=True),
    Column("at", String(40), nullable=False),
    Column("who", String(100), nullable=False),
    Column("entry", Integer, nullable=False),
    Column("back_to", Integer),
    Column("summary", Text, nullable=False),
)
"""Models, in the order in which they became the current one.

entry : the last entry it learned from; fits are reproducible, so this is enough to rebuild it
back_to : the earlier version that it repeats
summary : what it changed, as JSON
"""
