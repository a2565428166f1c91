"""Turn JSON values into a pyarrow array of the kind that a model expects, or that fits all of them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from .table import FormatError, RowError


def array_of(path: str, name: str, values: Sequence[Any], kind: str = "") -> Any:
    """Return a column of this kind, or of text if some of the text in it is of another kind."""
    import pyarrow as pa

    there = [value for value in values if value is not None]
    if not there:
        return pa.nulls(len(values))
    kind, found = kind or _kind_of(there), []
    for row, value in enumerate(values):
        try:
            found.append(None if value is None else _READ[kind](value))
        except ValueError:
            return pa.array([None if each is None else as_text(each) for each in values], pa.string())
        except TypeError as error:
            raise RowError(path, row, f"column {name!r} must have {error}, got {brief(value)}.") from None
    types = {"number": pa.float64(), "boolean": pa.float64(), "date": pa.timestamp("us")}
    types |= {"list": pa.list_(pa.float64()), "set": pa.list_(pa.string())}
    try:
        return pa.array(found, types.get(kind, pa.string()))
    except (pa.ArrowException, OverflowError, TypeError) as error:
        raise FormatError(f"{path}, column {name!r}: {str(error).rstrip('.')}. Leave it out with --ignore.") from None


def brief(value: Any) -> str:
    """Return a value for a message, shortened if necessary."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _kind_of(values: Sequence[Any]) -> str:
    """Return the kind of all values: numbers, dates, lists of numbers or of texts, or else text."""
    kinds = set(map(type, values))
    if kinds <= {bool, int, float}:
        return "boolean" if kinds == {bool} else "number"
    if kinds == {list}:
        are_numbers = all(isinstance(each, int | float) for value in values for each in value)
        return "list" if are_numbers else "set"
    return "date" if kinds == {str} and all(map(_is_date, values)) else "category"


def _is_date(text: str) -> bool:
    try:
        return "-" in text[1:] and datetime.fromisoformat(text) is not None  # digits alone are often something else
    except ValueError:
        return False


def is_plain(text: str) -> bool:
    """Return whether text is a number, a boolean, a date or a word for a missing value."""
    for read in (_number, _date):
        try:
            read(text)
        except ValueError:
            continue
        return True
    return False


# ---- one value: ValueError if it is text of another kind, TypeError saying what it must be if it is unusable ---------


def _number(value: Any) -> float | None:
    """Return a number, also from text with a number or a word for a missing value, as in CSV files."""
    if isinstance(value, str):
        word = value.strip().lower()
        if value in _nulls() or word in ("true", "false"):
            return None if value in _nulls() else float(word == "true")
        return float("_" if "_" in word else word)
    if not isinstance(value, int | float):
        raise TypeError("a number, a string or null")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isinf(number):
        raise TypeError("finite numbers")
    return number


@cache
def _nulls() -> frozenset[str]:
    import pyarrow.csv

    return frozenset(pyarrow.csv.ConvertOptions().null_values)


def _date(value: Any) -> datetime | None:
    """Return the local time as written, without its offset: people mean the hour at that place; see columns.py."""
    if not isinstance(value, str):
        raise TypeError("a date in a string, or null")
    return None if value in _nulls() else datetime.fromisoformat(value).replace(tzinfo=None)


def as_text(value: Any) -> str:
    """Return text without halves of surrogate pairs, which JSON can hold and UTF-8 cannot."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _set(value: Any) -> list[str]:
    return [as_text(each) for each in (value if isinstance(value, list) else [value])]


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list) or not all(isinstance(each, int | float) for each in value):
        raise TypeError("a list of numbers")
    return value


_READ: dict[str, Callable[[Any], Any]] = {"number": _number, "boolean": _number, "date": _date, "list": _list}
_READ |= {"set": _set, "category": as_text, "text": as_text}
