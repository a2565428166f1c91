"""Recognise the kind of a log by its lines: which part of a line is ranked, and which lines begin an event.

The ranked part is what the other side controls and the server acts on: the request and its result, or the message.
Client and time are shown with the line but not ranked, since every address and every second is new.
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
    continued : what fits lines that belong to the event before, unless they fit the pattern; None if each is for itself
    is_timed : each event begins with its time, in one spelling: a line without it belongs to the event before
    """

    name: str
    said: str
    pattern: re.Pattern[str]
    ranked: str
    seen: str
    continued: re.Pattern[str] | None
    is_timed: bool = False

    @property
    def asks(self) -> bool:
        """Whether lines tell what others ask for, as paths: they repeat as often as others like."""
        return self.name in _ASKED

    def fits(self, line: str) -> bool:
        """Whether a line is as events of this kind begin."""
        return self.pattern.fullmatch(line) is not None

    def goes_on(self, line: str) -> bool:
        """Whether a line tells more of the event before."""
        if self.continued is None or self.continued.match(line) is None:
            return False
        return self.name in _WHOLE_LINES or not self.fits(line)

    def parts(self, line: str) -> list[tuple[int, int]]:
        """Return where the ranked parts of a line are; the whole line if it does not fit."""
        found = self.pattern.fullmatch(line)
        if found is None:
            return [(0, len(line))]
        return [span for span in map(found.span, range(1, self.pattern.groups + 1)) if span[0] >= 0]

    def part(self, line: str) -> str:
        """Return the text of the ranked parts of a line, with blanks between them."""
        found = self.pattern.fullmatch(line)
        return line if found is None else " ".join([part for part in found.groups() if part is not None])

    def note(self) -> str:
        """Return a note that says how lines were read."""
        seen = f"; {self.seen} shown, not ranked by" if self.seen else ""
        return f"read as {self.said}: ranked by {self.ranked}{seen}; --format text ranks whole lines as they are."


_NEXT = r"Caused by:|Suppressed:|\.\.\. \d+ more|During handling of the above|The above exception was"

_TRACE = rf"\s+(?:at \S+\(|File \"|\.\.\. \d+ more)|{_NEXT}"

_CONTINUED = re.compile(rf"\s|at |{_NEXT}|Traceback \(most|[\w.$]+(?:Error|Exception|Throwable)\b")
"""How lines go on that tell more of the event before, where each event begins with a time."""

_EVERY = re.compile("")


def _kind(
    name: str, said: str, pattern: str, ranked: str, seen: str, continued: re.Pattern[str] | None = _EVERY
) -> LineKind:
    compiled = re.compile(pattern, re.ASCII | re.DOTALL)
    return LineKind(name, said, compiled, ranked, seen, continued, is_timed=continued is _EVERY)


_ASKED = ("access", "request", "apache-error", "nginx-error")

_WHOLE, _WHOLE_LINES = "the whole line, times and numbers masked", ("indented", "any")

KINDS = {
    kind.name: kind
    for kind in (
        _kind(
            "access",
            "an access log",
            r'\S+ [^\["]*\[[^\]"]*\] "([^"\\]*(?:\\.[^"\\]*)*)" (\d{3}) (?:\d|-).*',
            "request and status",
            "client, time, size, referrer and agent are",
            continued=None,
        ),
        _kind(
            "request",
            "requests, one a line",
            r"((?i:GET|POST|HEAD|PUT|DELETE|OPTIONS|PATCH|TRACE|CONNECT|PROPFIND) (?:/|\*|\w+://).*)",
            "the whole request",
            "",
            continued=None,
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
            _CONTINUED,
        ),
        _kind("indented", "a log", r"(.*)", _WHOLE, "", re.compile(_TRACE)),
        _kind("any", "a log", r"(.*)", _WHOLE, "", re.compile(rf"\s|{_NEXT}")),
    )
}
"""In the order in which lines are tried."""

_SHARE, _LEAST, _INDENTED = 0.9, 0.2, 0.5
"""Of the lines looked at: that must fit; that must at least, if they have times and the others are of no kind; and that
are indented in a log where this does not mean that they go on."""

_LOOKED_AT = 500


def recognised(lines: Iterable[str]) -> LineKind:
    """Return the kind of these lines, ignoring those that continue an event."""
    looked_at = [line for line, _ in zip((each for each in lines if each.strip()), range(_LOOKED_AT), strict=False)]
    kinds = [kind for kind in KINDS.values() if kind.name not in _WHOLE_LINES]
    for kind in kinds:
        begun = [line for line in looked_at if kind.continued is None or not _CONTINUED.match(line)]
        if begun and sum(map(kind.fits, begun)) >= _SHARE * len(begun):
            return kind
    for kind in kinds:
        if kind.is_timed and looked_at and kind.fits(looked_at[0]) and _others_go_on(kind, kinds, looked_at):
            return kind
    indented = [line[:1].isspace() for line in looked_at]
    are_events = any(indented[:1]) and sum(indented) >= _INDENTED * len(indented)
    return KINDS["indented" if are_events else "any"]


def _others_go_on(kind: LineKind, kinds: Iterable[LineKind], lines: Sequence[str]) -> bool:
    """Whether enough lines fit a kind with times, and the others no other kind with an order of its own."""
    others = [line for line in lines if not kind.fits(line)]
    ordered = [one for one in kinds if one.continued is not _CONTINUED]
    odd = sum(any(one.fits(line) for one in ordered) for line in others)
    return len(lines) - len(others) >= _LEAST * len(lines) and odd <= (1 - _SHARE) * len(lines)
