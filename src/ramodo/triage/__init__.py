"""A loop of labels: a person says "yes, this one", and the ranking of all other rows gets better.

    store      what was said, append-only: SQLite or PostgreSQL          store, tables
    labels     what that means: who holds which label of a row now       labels
    queues     which row is next                                         queues
    ranked     a detector with labels, its ranking, reasons and kinds    ranker, view, nearest
    learning   a new detector from the labels, in the background         learning, changes
    estimates  what the labels tell                                      estimates
    session    all of it together, and all that the page calls           session
    page       a local web application                                   pages

A model of a session is its detector without labels, and the labels up to an entry of the store. So the store holds no
models, and any of them can be had again exactly.
"""

from __future__ import annotations

from .session import Analyst, Kind, Summary, TriageSession

__all__ = ["Analyst", "Kind", "Summary", "TriageSession"]
