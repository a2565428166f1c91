"""The tables of a store. Rows are only ever added to `entries` and `models`; `leases` come and go."""

from __future__ import annotations

from sqlalchemy import Column, Float, Integer, MetaData, SmallInteger, String, Table, Text

metadata = MetaData()

facts = Table(
    "triage_facts",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("value", Text, nullable=False),
)
"""What the store is about: the fingerprint of the data, and the version of these tables."""

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
"""What was said, in order: a label of a row, or, where `undoes` names a batch, that this batch is not to count.

batch : labels that were given together, and are undone together
model : version of the model that ranked the row then
queue : the queue that the row came from
stratum : where it stood against the cut-off then
"""

leases = Table(
    "triage_leases",
    metadata,
    Column("row", Integer, primary_key=True, autoincrement=False),
    Column("who", String(100), nullable=False),
    Column("until", Float, nullable=False),
)
"""Rows that somebody has before them, and until when nobody else gets them."""

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
"""Models in the order in which they became the one that ranks.

entry : the last entry whose labels it learned from; since a fit is exact, that is all it takes to have it again
back_to : the earlier version that it is again
summary : what it changed, as JSON
"""
