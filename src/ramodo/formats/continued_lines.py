"""Which lines of a log tell more of the event before: stack traces, indented lines, those without a time."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from .file_lines import OnDemand
from .log_lines import LineKind

_TRACEBACK = re.compile(r"\s*(?:\+ )?(?:Exception Group )?Traceback \(most recent call last\)")
"""The next line that is not indented names the exception, and ends the trace."""

_OPENS = re.compile(rf"{_TRACEBACK.pattern}|(?:[\w$]+\.)+[\w$]*(?:Error|Exception|Throwable)\b")
"""How a stack trace begins: it belongs to the line before it, unless that is the end of another event."""

_BETWEEN = re.compile("During handling of the above|The above exception was")


def events(lines: Sequence[str], kind: LineKind, begin: str | None) -> tuple[Sequence[str], Sequence[int]]:
    """Events, of one or more lines each, and the number of the first line of each; blank lines belong to none.

    begin : a regular expression that is found in the first line of each event; without one, the kind of lines says
        which go on
    """
    first = None if begin is None else re.compile(begin)
    numbers, before, in_trace = array("q"), list[str](), False
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        if first is not None:
            goes_on = first.search(line) is None
        else:
            goes_on = in_trace or kind.goes_on(line) or (kind.continued is not None and _opens(line, before))
            in_trace = _TRACEBACK.match(line) is not None or (in_trace and line[:1].isspace())
            in_trace = in_trace and kind.continued is not None and not kind.is_timed
        if goes_on and numbers:
            before.append(line)
        else:
            numbers.append(number)
            before = [line]
    if len(numbers) == len(lines):
        return lines, numbers
    found = Events(lines, numbers)
    return list(found) if isinstance(lines, list) else found, numbers


class Events(OnDemand):
    """Events of several lines, joined when they are needed."""

    def __init__(self, lines: Sequence[str], numbers: Sequence[int]) -> None:
        self._lines, self._numbers = lines, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def some(self, places: range) -> list[str]:
        return [self._event(place) for place in places]

    def _event(self, place: int) -> str:
        end = self._numbers[place + 1] if place + 1 < len(self) else len(self._lines)
        return _joined(self._lines[self._numbers[place] : end])

    def __iter__(self) -> Iterator[str]:
        lines = iter(self._lines)
        for begin, end in pairwise([*self._numbers, len(self._lines)]):
            skipped = self._numbers[0] if begin == self._numbers[0] else 0
            yield _joined(list(islice(lines, skipped, skipped + end - begin)))


def _joined(lines: Sequence[str]) -> str:
    return "\n".join(line for line in lines if line.strip())


def _opens(line: str, before: Sequence[str]) -> bool:
    """Whether a line begins the stack trace of a line before it that has none yet, or one of several."""
    if not before or _OPENS.match(line) is None:
        return False
    return _BETWEEN.match(before[-1]) is not None or (len(before) == 1 and _OPENS.match(before[0]) is None)
