"""A labelling loop: a person says "yes, this is one", and the ranking of all other rows improves.

    store        what was said, append-only: SQLite or PostgreSQL          store, tables
    opinions     what it means: who currently holds which label            opinions
    queues       which row comes next                                      queues, ranking
    ranked rows  a detector with labels, its ranking, reasons and kinds    ranked_rows, raw, card, nearest
    learning     a new detector from the labels, in the background         learning, changes
    estimates    what the labels show                                      estimates
    session      everything together, all that the page calls              session, exports
    page         a local web application                                   pages

A model of a session is determined by its detector without labels and the labels up to some entry of the store. So the
store holds no models, and each can be rebuilt exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .session import Analyst, Kind, Summary, TriageSession

__all__ = ["Analyst", "Kind", "Summary", "TriageSession"]


def __getattr__(name: str) -> Any:
    """Import the session on demand: the command's help lists the queues and needs no database."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import session

    return getattr(session, name)
