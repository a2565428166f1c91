"""How the values of a CSV file are written: the delimiter, whether a line of names comes first, and whether a comma is
a decimal point. The first lines tell what the user does not specify.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from itertools import pairwise

from ..options import OptionError

HEAD = 1 << 16
"""Number of bytes to look at."""

_MOST_LINES = 200

_A_YEAR = 1900

_CANDIDATES = (",", ";", "\t", "|")

_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|", "space": " "}

_NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_WITH_COMMA, _WITH_POINT = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*"), re.compile(r"\s*[+-]?\d*\.\d+.*")


@dataclass(frozen=True)
class Dialect:
    """The dialect of one file.

    names : names of columns if the file has no line of names; else None
    skipped : lines at the beginning that the names stand for, as they are in it
    noticed : whether the absence of that line was found, not stated by the user
    unnamed : names, such as "column 1", for columns whose name is empty in that line
    """

    delimiter: str = ","
    decimal: str = "."
    names: tuple[str, ...] | None = None
    noticed: bool = False
    unnamed: tuple[str, ...] = ()
    skipped: int = 0


def delimiter_named(given: str) -> str:
    """Return the character that a name stands for; raise `OptionError` for more than one character."""
    meant = _WORDS.get(given.lower(), given)
    if len(meant) != 1 or meant in '"\r\n' or not meant.isascii():
        raise OptionError(
            f"--delimiter must be one character such as ';', or one of {', '.join(_WORDS)}, got {given!r}."
        )
    return meant


def dialect_of(head: bytes, usual: str, delimiter: str | None = None, header: bool | None = None) -> Dialect:
    """Return the dialect of a file with this beginning; `usual` is the delimiter that its suffix implies."""
    lines = head.decode("utf-8", "replace")
    if len(head) >= HEAD:  # the last line may be half of one
        lines = lines[: lines.rfind("\n") + 1] or lines
    if delimiter is None:
        delimiter = _delimiter(lines, usual)
    rows = _rows(lines, delimiter)
    if header is not False and _lacks_corner(rows):
        names = (by_place(0), *(value.removeprefix("\ufeff") for value in rows[0]))
        return Dialect(delimiter, _decimal(delimiter, rows[1:]), names, unnamed=(by_place(0),), skipped=1)
    decimal = _decimal(delimiter, rows)
    noticed = header is None and _lacks_names(rows)
    if noticed or header is False:
        return Dialect(delimiter, decimal, _names(rows), noticed)
    first = [value.removeprefix("\ufeff") for value in rows[0]] if rows and "\n" in lines else []
    return Dialect(delimiter, decimal, unnamed=tuple(by_place(i) for i, name in enumerate(first) if not name))


def _rows(lines: str, delimiter: str) -> list[list[str]]:
    """Return the values of the first lines. Lines that csv cannot read are left to the reader and its message."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader((line.rstrip("\r") for line in lines.split("\n")), delimiter=delimiter):
            if row:
                rows.append(row)
            if len(rows) == _MOST_LINES:
                break
    except csv.Error:
        pass
    return rows


def _delimiter(lines: str, usual: str) -> str:
    """Return the delimiter that splits all lines into the same number of values; of several, that with most numbers."""
    fitting: dict[str, float] = {}
    for candidate in sorted(_CANDIDATES, key=lambda candidate: candidate != usual):
        rows = _rows(lines, candidate)
        widths = {len(row) for row in (rows[1:] if _lacks_corner(rows) else rows)}
        if len(widths) == 1 and widths.pop() > 1:
            values = [value for row in rows[1:] or rows for value in row]
            fitting[candidate] = sum(map(_is_number, values)) / len(values)
    return max(fitting, key=lambda candidate: fitting[candidate], default=usual)


def _lacks_corner(rows: list[list[str]]) -> bool:
    """Whether the line of names has one value less than all others, as R writes names of rows: no name is theirs."""
    first, *others = rows or [[]]
    return len(others) > 1 and len(first) > 1 and {len(row) for row in others} == {len(first) + 1}


def _decimal(delimiter: str, rows: list[list[str]]) -> str:
    return "," if delimiter != "," and _has_decimal_commas(rows) else "."


def _is_number(value: str) -> bool:
    return _NUMBER.fullmatch(value) is not None


def _has_decimal_commas(rows: list[list[str]]) -> bool:
    values = [value for row in rows for value in row]
    return any(map(_WITH_COMMA.fullmatch, values)) and not any(map(_WITH_POINT.fullmatch, values))


def _lacks_names(rows: list[list[str]]) -> bool:
    """Return whether the first line holds a number in each column whose other values are all numbers.

    Numbers that count up from 0, 1 or a year are names: libraries write such lines.
    """
    first, *others = rows or [[]]
    if not others or any(len(row) != len(first) for row in others):
        return False
    numbers = [all(_is_number(row[place]) or not row[place] for row in others) for place in range(len(first))]
    columns = [value for value, is_number in zip(first, numbers, strict=True) if is_number]
    return bool(columns) and all(map(_is_number, columns)) and not _count(columns)


def _count(values: list[str]) -> bool:
    if len(values) < 2 or not all(value.strip().isdigit() for value in values):
        return False
    numbers = [int(value) for value in values]
    return (numbers[0] == 0 or numbers[0] >= _A_YEAR) and all(
        later == earlier + 1 for earlier, later in pairwise(numbers)
    )


def by_place(number: int) -> str:
    """Return the name for a column without a name; positions count from 1."""
    return f"column {number + 1}"


def _names(rows: list[list[str]]) -> tuple[str, ...]:
    return tuple(map(by_place, range(len(rows[0]) if rows else 1)))
