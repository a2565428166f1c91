"""What the lines of a log are, told from the lines themselves; which part of each is ranked, and which begin an event.

What the other side controls and the server acts on is ranked: the request and what became of it, or the message. Who
and when are shown with the line, and not ranked: each address and each second is new.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"


@dataclass(frozen=True)
class LineKind:
    """One kind of lines.

    said : what a log of them is called
    pattern : what fits a line; its groups are ranked, in order
    ranked, seen : names of what is ranked and of what is not, for people
    has_times : each event begins with its time, so that a line without one may belong to the event before
    """

    name: str
    said: str
    pattern: re.Pattern[str]
    ranked: str
    seen: str
    has_times: bool = True

    def parts(self, line: str) -> list[tuple[int, int]]:
        """Where the ranked parts of a line are; the whole line if it does not fit."""
        found = self.pattern.fullmatch(line)
        if found is None:
            return [(0, len(line))]
        return [span for span in map(found.span, range(1, self.pattern.groups + 1)) if span[0] >= 0]

    def note(self) -> str:
        """That lines were read so."""
        seen = f"; {self.seen} shown, not ranked by" if self.seen else ""
        return f"read as {self.said}: ranked by {self.ranked}{seen}; --format text ranks whole lines as they are."


def _kind(name: str, said: str, pattern: str, ranked: str, seen: str, has_times: bool = True) -> LineKind:
    return LineKind(name, said, re.compile(pattern, re.ASCII | re.DOTALL), ranked, seen, has_times)


_MESSAGE = "message", "time and host"

KINDS = {
    kind.name: kind
    for kind in (
        _kind(
            "access",
            "an access log",
            r'\S+ [^\["]*\[[^\]"]*\] "([^"\\]*(?:\\.[^"\\]*)*)" (\d{3}) (?:\d|-).*',
            "request and status",
            "client, time, size, referrer and agent are",
            has_times=False,
        ),
        _kind(
            "request",
            "requests, one a line",
            r"((?i:GET|POST|HEAD|PUT|DELETE|OPTIONS|PATCH|TRACE|CONNECT|PROPFIND) (?:/|\*|\w+://).*)",
            "the whole request",
            "",
            has_times=False,
        ),
        _kind(
            "syslog",
            "a syslog",
            rf"(?:<\d{{1,3}}>)?{_MONTH} [ \d]\d \d\d:\d\d:\d\d \S+ (.*)",
            "program and message",
            "time and host are",
        ),
        _kind(
            "syslog-5424",
            "a syslog (RFC 5424)",
            r"<\d{1,3}>\d+ (?:\d{4}-\S+|-) \S+ (.*)",
            "program and message",
            "time and host are",
        ),
        _kind(
            "apache-error",
            "an error log of Apache",
            rf"\[(?:\w{{3}} )?{_MONTH} [ \d]\d [\d:.]+ \d{{4}}\] (.*)",
            "level and message",
            "the time is",
        ),
        _kind(
            "nginx-error",
            "an error log of nginx",
            r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d (\[\w+\] .*)",
            "level and message",
            "the time is",
        ),
        _kind(
            "dated",
            "a log whose lines begin with the time",
            r"\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d)?[^\s\]]*\]?:? (.*)",
            "what follows",
            "the time is",
        ),
        _kind(
            "numbered",
            "a log whose lines begin with times, numbers and places",
            r"(?:- )?(?:\S*\d\S*[ \t]+){2,}(?=[^\d\s])(.*)",
            "what follows",
            "times, numbers and places are",
        ),
        _kind("any", "a log", r"(.*)", "the whole line, times and numbers masked", "", has_times=False),
    )
}
"""In the order in which lines are tried."""

_SHARE = 0.9
"""Of the lines looked at that must fit."""

_LOOKED_AT = 500

_CONTINUED = re.compile(
    r"\s|(?:at |Caused by:|Suppressed:|\.\.\. \d+ more|Traceback \(most)|[\w.$]+(?:Error|Exception|Throwable)\b"
)
"""How lines go on that tell more of the event before."""


def recognised(lines: Iterable[str]) -> LineKind:
    """The kind of these lines: of those that begin no event of their own, nothing is asked."""
    looked_at = [line for line, _ in zip((each for each in lines if each.strip()), range(_LOOKED_AT), strict=False)]
    for kind in KINDS.values():
        begun = [line for line in looked_at if not (kind.has_times and _CONTINUED.match(line))]
        if begun and sum(kind.pattern.fullmatch(line) is not None for line in begun) >= _SHARE * len(begun):
            return kind
    return KINDS["any"]


def events(lines: Sequence[str], kind: LineKind, begin: str | None) -> tuple[list[str], list[int]]:
    """Events, of one or more lines each, and the number of the first line of each; blank lines belong to none.

    begin : a regular expression that fits the first line of each event; without one, lines of logs with times belong to
        the event before if they have none and go on as stack traces do
    """
    first = None if begin is None else re.compile(begin)
    found, numbers = list[str](), list[int]()
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        if first is not None:
            continues = first.search(line) is None
        else:
            continues = kind.has_times and _CONTINUED.match(line) is not None and kind.pattern.fullmatch(line) is None
        if continues and found:
            found[-1] += f"\n{line}"
        else:
            found.append(line)
            numbers.append(number)
    return found, numbers
