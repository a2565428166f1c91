"""Masks: text that differs from line to line without meaning anything becomes a placeholder of its type.

    2026-03-02 09:14:05 worker 17 lost 10.0.0.7   ->   <time> worker <number> lost <ip>

Lines that are equal when masked have the same template. Each mask knows its characters in the original line, so that
people still see these.

    time      dates and times of ISO 8601, syslog, web servers, and of the C library
    uuid      8-4-4-4-12 hexadecimal digits
    ip        addresses of IPv4, with a port or without, and of IPv6
    mac       six pairs of hexadecimal digits
    hex       0x and hexadecimal digits, or at least eight of them, both digits and letters
    base64    at least 20 letters and digits in a row, with small and capital letters and digits, and what follows
    number    all other digits, wherever they are; points between them belong to the number
    custom    text that fits a pattern of the user; these come first
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d+)?"

_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"

_PATTERNS = {
    "time": rf"\d{{4}}[-/.]\d\d[-/.]\d\d(?:[T -]\d\d[:.]\d\d[:.]\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?(?!\w)"
    rf"|(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?{_MONTH} [ \d]\d {_CLOCK}(?: \d{{4}})?"
    rf"|\d\d/{_MONTH}/\d{{4}}:{_CLOCK}(?: [+-]\d{{4}})?|{_CLOCK}(?!\w)",
    "uuid": r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}(?!\w)",
    "ip": r"\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?![\w.])|(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}(?!\w)"
    r"|(?:[0-9A-Fa-f]{1,4}:){1,6}:(?:[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){0,5})?(?![\w:])",
    "mac": r"(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}(?!\w)",
    "hex": r"0[xX][0-9A-Fa-f]+(?!\w)|(?=[A-Fa-f]*[0-9])(?=[0-9]*[A-Fa-f])[0-9A-Fa-f]{8,}(?!\w)",
    "base64": r"(?=[A-Za-z]*[0-9])(?=[0-9A-Z]*[a-z])(?=[0-9a-z]*[A-Z])[A-Za-z0-9]{20,}[A-Za-z0-9+/_-]*"
    r"(?:=|%3[Dd]){0,2}(?!\w)",
}
"""In the order in which they are tried; each begins where a word may."""

_NUMBER = r"(?<!%)(?<!%[0-9A-Fa-f])\d+(?:\.\d+)*"
"""Not the digits of an escaped character, as in %27."""

CUSTOM = "custom"

TYPES = (*_PATTERNS, CUSTOM)
"""What a placeholder may say, but for numbers."""

MOST_PATTERNS = 100


class MasksError(ValueError):
    """A pattern cannot be used; the message says why."""


class Mask(NamedTuple):
    """Characters `begin` up to `end` of a line, which have become the placeholder at `at` in the masked line."""

    kind: str
    begin: int
    end: int
    at: int


class Masked(NamedTuple):
    """A masked line, and its masks in order."""

    text: str
    masks: tuple[Mask, ...]


class Masks:
    """Masks of the types above, and of the user's patterns: regular expressions that do not match empty text."""

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        for pattern in patterns:
            _refuse(pattern)
        if len(patterns) > MOST_PATTERNS:
            raise MasksError(f"masks must be at most {MOST_PATTERNS} patterns, got {len(patterns)}.")
        typed = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _PATTERNS.items())
        own = [f"(?P<{CUSTOM}>{'|'.join(f'(?:{pattern})' for pattern in patterns)})"] if patterns else []
        self._found = re.compile("|".join([*own, rf"(?<![0-9A-Za-z])(?:{typed})", rf"(?P<number>{_NUMBER})"]), re.ASCII)

    @classmethod
    def asked(cls, given: Sequence[str]) -> Self | None:
        """Return the masks for the values of an option, `auto` or patterns; None for `none`."""
        return None if tuple(given) == ("none",) else cls([pattern for pattern in given if pattern != "auto"])

    def line(self, text: str, shown: Callable[[str, str], str] | None = None) -> str:
        """Return a line, masked; `shown` returns the replacement for a text of a kind, by default the placeholder."""
        if shown is None:
            return self._found.sub(_placeholder_of, text)
        return self._found.sub(lambda found: shown(str(found.lastgroup), found[0]), text)

    def __call__(self, text: str) -> Masked:
        """Return a line, masked, with its masks."""
        parts, masks, done, length = list[str](), list[Mask](), 0, 0
        for found in self._found.finditer(text):
            kind, begin, end = str(found.lastgroup), *found.span()
            length += begin - done
            masks.append(Mask(kind, begin, end, length))
            parts += text[done:begin], placeholder(kind)
            done, length = end, length + len(parts[-1])
        return Masked("".join([*parts, text[done:]]), tuple(masks))


def _refuse(pattern: str) -> None:
    """Raise if a pattern is invalid, matches empty text, or names a group, since our own patterns use names."""
    try:
        found = re.compile(pattern, re.ASCII)
    except re.error as error:
        raise MasksError(f"a mask must be a regular expression, got {pattern!r}: {error}.") from None
    if found.match("") is not None or found.groupindex or found.groups:
        raise MasksError(f"a mask must find text, and have no groups but (?:...), got {pattern!r}.")


def placeholder(kind: str) -> str:
    """Return the placeholder for this kind of text."""
    return f"<{kind}>"


def _placeholder_of(found: re.Match[str]) -> str:
    return f"<{found.lastgroup}>"


class Templates(NamedTuple):
    """Distinct masked lines in the order in which they first appear, their counts, and which one each line has."""

    texts: list[str]
    counts: npt.NDArray[np.int64]
    of_line: npt.NDArray[np.int64]


def templates_of(lines: Iterable[str], masks: Masks) -> Templates:
    """Return the templates of lines."""
    import numpy as np

    places: dict[str, int] = {}
    of_line = np.array([places.setdefault(masks.line(line), len(places)) for line in lines], dtype=np.int64)
    return Templates(list(places), np.bincount(of_line, minlength=len(places)), of_line)
