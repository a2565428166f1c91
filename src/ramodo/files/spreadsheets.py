"""CSV that a spreadsheet does not compute: text that it would read as a formula gets an apostrophe in front."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from typing import Any

_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Spreadsheets compute, or run, text that begins with one of these."""


def guard(text: str) -> str:
    """Return the text for a CSV file, with an apostrophe in front of a formula; numbers stay as they are."""
    return f"'{text}" if text.startswith(_FORMULAS) and len(text) > 1 and not _is_number(text) else text


def unguard(text: str) -> str:
    """Return the text that was passed to `guard`."""
    return text[1:] if text.startswith("'") and guard(text[1:]) == text else text


def csv_lines(rows: Iterable[Iterable[Any]], shown: Callable[[str], str] = str) -> Iterator[str]:
    """Yield the lines of a CSV file with its text guarded; `shown` changes text after that."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for row in rows:
        writer.writerow([shown(guard(cell)) if isinstance(cell, str) else cell for cell in row])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
