"""Which lines of a log tell more of the event before: stack traces, indented lines, those without a time."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .log_lines import LineKind

_TRACEBACK = re.compile(r"\s*(?:\+ )?(?:Exception Group )?Traceback \(most recent call last\)")
"""The next line that is not indented names the exception, and ends the trace."""

_OPENS = re.compile(rf"{_TRACEBACK.pattern}|(?:[\w$]+\.)+[\w$]*(?:Error|Exception|Throwable)\b")
"""How a stack trace begins: it belongs to the line before it, unless that is the end of another event."""

_BETWEEN = re.compile("During handling of the above|The above exception was")


def events(lines: Sequence[str], kind: LineKind, begin: str | None) -> tuple[list[str], list[int]]:
    """Events, of one or more lines each, and the number of the first line of each; blank lines belong to none.

    begin : a regular expression that is found in the first line of each event; without one, the kind of lines says
        which go on
    """
    first = None if begin is None else re.compile(begin)
    found, numbers, in_trace = list[list[str]](), list[int](), False
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        before = found[-1] if found else []
        if first is not None:
            goes_on = first.search(line) is None
        else:
            goes_on = in_trace or kind.goes_on(line) or (kind.continued is not None and _opens(line, before))
            in_trace = _TRACEBACK.match(line) is not None or (in_trace and line[:1].isspace())
            in_trace = in_trace and kind.continued is not None and not kind.is_timed
        if goes_on and found:
            before.append(line)
        else:
            found.append([line])
            numbers.append(number)
    return ["\n".join(each) for each in found], numbers


def _opens(line: str, before: Sequence[str]) -> bool:
    """Whether a line begins the stack trace of a line before it that has none yet, or one of several."""
    if not before or _OPENS.match(line) is None:
        return False
    return _BETWEEN.match(before[-1]) is not None or (len(before) == 1 and _OPENS.match(before[0]) is None)
