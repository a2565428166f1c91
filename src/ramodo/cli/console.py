"""Output for people: tables on standard output, progress and notes on standard error.

Control characters in data are escaped, never sent to the terminal.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table

from ..terminal.escaping import escape_controls
from ..terminal.progress import Bar

_PIPED = 500
"""Width if output is not a terminal, so that each row stays on one line."""


def _console(stream: TextIO | None, is_error: bool) -> Console:
    width = None if stream is not None and stream.isatty() else _PIPED
    return Console(stderr=is_error, highlight=False, markup=False, emoji=False, soft_wrap=True, width=width)


out = _console(sys.stdout, False)
err = _console(sys.stderr, True)

_TEXTS = ("id", "text", "reasons", "set", "here", "licence", "outliers")


def bar(name: str, unit: str, quiet: bool = False) -> Bar:
    """Return a progress bar on standard error, if that is a terminal and output is not quiet."""
    return Bar(name, not quiet and sys.stderr is not None and sys.stderr.isatty(), unit)


def note(text: str, quiet: bool) -> None:
    """Print a line on standard error, unless quiet."""
    if not quiet:
        err.print(escape_controls(text))


def print_facts(facts: Mapping[str, Any], as_json: bool, *, to_error: bool = False) -> None:
    """Print names and values, aligned or as JSON."""
    if as_json:
        print(json.dumps(facts, default=str), file=sys.stderr if to_error else sys.stdout)
        return
    width = max(map(len, facts), default=0) + 2
    for name, value in facts.items():
        print_line(f"{name:<{width}}{value}", to_error=to_error)


def print_line(text: str, *, to_error: bool = False) -> None:
    """Print a line of text."""
    (err if to_error else out).print(escape_controls(text))


def print_json(value: Any) -> None:
    """Print JSON on standard output."""
    print(json.dumps(value, default=str))


def print_rows(header: list[str], rows: Iterable[Iterable[Any]], *, to_error: bool = False) -> None:
    """Print a small table."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in header:
        table.add_column(column, justify="left" if column in _TEXTS else "right", overflow="ellipsis")
    for row in rows:
        table.add_row(*[escape_controls(str(cell)) for cell in row])
    (err if to_error else out).print(table)
