"""Logs: one event per line, or per few lines. The lines show the kind of log, which decides what is ranked; see
log_lines.py. Times, addresses, numbers and the like are masked; see masking.py.

A feature is a word, two consecutive words, or a run of other characters in the prepared text of an event. Its value is
1: only whether it occurs counts, not how often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .continued_lines import events
from .file_lines import lines_of, split
from .format import Format, How
from .line_reading import open_after, reader_of
from .log_lines import KINDS, LineKind, recognised
from .masking import MasksError
from .schema import TextOptions
from .table import FormatError, Table
from .text import as_table

WORDS, CHARACTERS = (1, 2), (0, 0)
"""Default n-grams of words and of characters."""


def read(path: str, how: How | None = None) -> Table:
    """Return a row for each event. If some events have several lines, the ids of rows are line numbers."""
    how = how or How()
    given = lines_of(path, how.show)
    kind = _kind(given, how)
    found = _table(given, kind, how)
    if found is None:
        raise FormatError(f"{path} has no lines.")
    return replace(found, notes=[kind.note(), *found.notes]) if how.schema.n_features is None else found


def _kind(given: Sequence[str], how: How) -> LineKind:
    return KINDS[how.schema.tokens.lines] if how.schema.tokens.lines else recognised(given)


def _table(given: Sequence[str], kind: LineKind, how: How) -> Table | None:
    options = how.schema.tokens
    if how.schema.columns and not options.lines:  # a model of whole lines
        return as_table(given, how)
    texts, numbers = events(given, kind, how.schema.multiline)
    if not texts:
        return None
    if not options.lines:
        options = _learned(options, kind, texts, how)
    table = as_table(texts, replace(how, schema=replace(how.schema, tokens=options)))
    return table if len(texts) == len(given) else replace(table, ids=[str(number) for number in numbers])


def _learned(options: TextOptions, kind: LineKind, texts: Sequence[str], how: How) -> TextOptions:
    """Return how to read lines, given the requested options."""
    if options == TextOptions(bits=options.bits, masks=options.masks):
        options = replace(options, words=WORDS, characters=CHARACTERS, idf=False, presence=True, marks=True)
    options = replace(options, lines=kind.name, masks=options.masks or ("auto",))
    try:
        reader = reader_of(options)
    except MasksError as error:
        raise FormatError(str(error)) from None
    assert reader is not None
    return options if how.grows or reader.masks is None else replace(options, open=open_after(texts, reader))


def _of_stream(name: str, block: bytes, line: int, how: How) -> Table:
    given = split(block)
    found = _table(given, _kind(given, how), how)
    if found is None:
        return Table(np.empty((0, 1)))
    numbers = range(len(given)) if found.ids is None else map(int, found.ids)
    return replace(found, ids=[str(line + number) for number in numbers])


def _begun(block: bytes, how: How) -> int:
    """Where the last event of whole lines begins: more lines of it may come. All of them where none can."""
    kind = KINDS.get(how.schema.tokens.lines)
    if kind is None or (kind.continued is None and how.schema.multiline is None):
        return len(block)
    numbers = events(split(block), kind, how.schema.multiline)[1]
    return sum(len(line) + 1 for line in block.split(b"\n")[: numbers[-1]]) if numbers else len(block)


FORMATS = (
    Format(
        "log",
        (".log",),
        "A log: an event per line, or per few lines. The lines show whether it is an access log, a syslog or another.",
        read,
        of_stream=_of_stream,
        begun=_begun,
        has_documents=True,
    ),
)
