"""What a user knows to be fine: rules in a small TOML file, which mute rows without deleting them.

[[rule]]
name = "health checks"
column = "path"                 # or "text", for documents and lines of logs
pattern = "^/health"            # a regular expression that is found in the value; or range = [0, 10], or equals = "x"
until = 2026-12-31              # the last day on which it holds; optional, as who and reason are
who = "Ana"
reason = "the load balancer asks every second"
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Any, Self

from ..formats import FormatError

_TESTS = ("pattern", "range", "equals")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule; of `pattern`, `range` and `equals` it has one."""

    name: str
    column: str
    pattern: str | None = None
    range: tuple[float, float] | None = None
    equals: str | float | bool | None = None
    until: date | None = None
    who: str = ""
    reason: str = ""

    @classmethod
    def of(cls, given: Any, place: str) -> Self:
        """The rule that a table of the file describes; raises `FormatError` for anything else."""
        if not isinstance(given, dict):
            raise FormatError(f"{place} must be a table, [[rule]].")
        known = [field.name for field in fields(cls)]
        strange = [name for name in given if name not in known]
        if strange:
            raise FormatError(f"{place} must have {', '.join(known)}, got {strange[0]!r}.")
        for name in ("name", "column"):
            if not isinstance(given.get(name), str) or not given[name]:
                raise FormatError(f"{place} must have {name} = a text, got {given.get(name)!r}.")
        for name in ("who", "reason"):
            if not isinstance(given.get(name, ""), str):
                raise FormatError(f"{place}: {name} must be a text, got {given[name]!r}.")
        tests = [name for name in _TESTS if name in given]
        if len(tests) != 1:
            raise FormatError(f"{place} must have one of {', '.join(_TESTS)}, got {' and '.join(tests) or 'none'}.")
        if "pattern" in given:
            _refuse_pattern(given["pattern"], place)
        if "range" in given:
            given = {**given, "range": _range(given["range"], place)}
        if "equals" in given and not isinstance(given["equals"], str | int | float):
            raise FormatError(f"{place}: equals must be a text, a number, true or false, got {given['equals']!r}.")
        until = given.get("until")
        if until is not None and (not isinstance(until, date) or isinstance(until, datetime)):
            raise FormatError(f"{place}: until must be a day such as 2026-12-31, got {until!r}.")
        return cls(**given)

    def holds_on(self, day: date) -> bool:
        """Whether the rule has not expired."""
        return self.until is None or day <= self.until

    def fits(self, value: Any) -> bool:
        """Whether the rule mutes a row with this value."""
        if value is None:
            return False
        if self.pattern is not None:
            return re.search(self.pattern, str(value)) is not None
        if self.range is None and isinstance(self.equals, str):
            return str(value) == self.equals
        number = _number(value)
        if number is None:
            return False
        return self.range[0] <= number <= self.range[1] if self.range is not None else number == self.equals


@dataclass(frozen=True)
class Rules:
    """The rules of a file that hold today, in its order; the first that fits a row mutes it."""

    rules: tuple[Rule, ...]
    expired: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: str, today: date | None = None) -> Self:
        """The rules of a file; raises `FormatError` where it is wrong."""
        with open(path, "rb") as file:
            try:
                given = tomllib.load(file)
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                raise FormatError(f"{path} must be TOML: {str(error).rstrip('.')}.") from None
        tables = given.get("rule")
        if set(given) != {"rule"} or not isinstance(tables, list):
            raise FormatError(f"{path} must have rules, each after a line [[rule]], and nothing else.")
        found = [Rule.of(table, f"{path}, rule {number}") for number, table in enumerate(tables, 1)]
        day = date.today() if today is None else today
        holding = tuple(rule for rule in found if rule.holds_on(day))
        return cls(holding, tuple(rule.name for rule in found if not rule.holds_on(day)))

    @property
    def columns(self) -> list[str]:
        """The columns that the rules look at, each once."""
        return list(dict.fromkeys(rule.column for rule in self.rules))

    def muted(self, columns: dict[str, Sequence[Any]], n_rows: int) -> list[str]:
        """For each row the name of the rule that mutes it, or nothing."""
        found = [""] * n_rows
        for rule in self.rules:
            for row, value in enumerate(columns[rule.column]):
                if not found[row] and rule.fits(value):
                    found[row] = rule.name
        return found


def _refuse_pattern(pattern: Any, place: str) -> None:
    try:
        re.compile(pattern)
    except (re.error, TypeError) as error:
        raise FormatError(f"{place}: pattern must be a regular expression, got {pattern!r}: {error}.") from None


def _range(given: Any, place: str) -> tuple[float, float]:
    numbers = [value for value in given if type(value) in (int, float)] if isinstance(given, list) else []
    if len(numbers) != 2 or len(given) != 2 or not numbers[0] <= numbers[1]:
        raise FormatError(f"{place}: range must be two numbers, the lower first, such as [0, 10], got {given!r}.")
    return numbers[0], numbers[1]


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
