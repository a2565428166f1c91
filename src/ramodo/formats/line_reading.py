"""What is read of a line before its tokens are counted: the part that is ranked, masked.

    ... "GET /item.php?id=417&name=Ann HTTP/1.1" 200 512   ->   GET /item.php?id=000&name=<any> HTTP/0.0 000

Numbers keep their digits as zeros, so that the number of digits can speak. Words are masked, too, at places where
nearly each line has another: after `name=` here. Which words lead to such places is learned from the lines.

Each character that is read knows which characters of the line it stands for.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from .log_lines import KINDS
from .masking import Masks, placeholder

if TYPE_CHECKING:
    from .schema import TextOptions

Integers = npt.NDArray[np.int64]

_WORD = re.compile(r"\w+")

ANY = "any"
"""The type of what is masked because of its place."""

_MOST_DIGITS = 8
"""Of a number that speak."""

_FEWEST, _ONCE = 20, 0.2
"""A place is open if a word has come before it so often, and such a share of what followed occurs once there."""

_MOST_KNOWN = 1 << 15

_LEARNED_FROM = 20_000
"""Most lines that places are learned from."""


class Read(NamedTuple):
    """What is read of a line, and for each character of it, where those that it stands for begin and end."""

    text: str
    begins: Integers
    ends: Integers

    @classmethod
    def of(cls, line: str, parts: Sequence[tuple[int, int]]) -> Self:
        """Parts of a line, with blanks between them."""
        joined = " ".join(line[begin:end] for begin, end in parts)
        begins = list[Integers]()
        for number, (begin, end) in enumerate(parts):
            begins += [np.array([begin], dtype=np.int64)] * (number > 0) + [np.arange(begin, end, dtype=np.int64)]
        found = np.concatenate(begins) if begins else np.empty(0, dtype=np.int64)
        return cls(joined, found, found + 1)

    def replaced(self, pieces: Iterable[tuple[int, int, str]]) -> Self:
        """With other text in place of some of it."""
        parts, begins, ends, done = list[str](), list[Integers](), list[Integers](), 0
        for begin, end, new in pieces:
            parts += self.text[done:begin], new
            begins += self.begins[done:begin], np.full(len(new), self.begins[begin])
            ends += self.ends[done:begin], np.full(len(new), self.ends[end - 1])
            done = end
        rest = slice(done, None)
        return type(self)(
            "".join([*parts, self.text[rest]]),
            np.concatenate([*begins, self.begins[rest]]),
            np.concatenate([*ends, self.ends[rest]]),
        )


@dataclass(frozen=True)
class LineReader:
    """What is read of lines of one kind, with these masks."""

    kind: str
    masks: Masks | None
    open: frozenset[str]
    _known: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Lines often differ in what is not ranked alone."""

    def __call__(self, line: str) -> Read:
        """What is read, and where it is in the line."""
        read = Read.of(line, KINDS[self.kind].parts(line))
        if self.masks is not None:
            masked = self.masks(read.text).masks
            read = read.replaced((m.begin, m.end, _shown(m.kind, read.text[m.begin : m.end])) for m in masked)
        return read.replaced((begin, end, placeholder(ANY)) for begin, end in _open_places(read.text, self.open))

    def begin_of(self, line: str) -> int:
        """Where the part that is ranked begins."""
        return min((begin for begin, _ in KINDS[self.kind].parts(line)), default=0)

    def text(self, line: str) -> str:
        """What is read."""
        text = " ".join(line[begin:end] for begin, end in KINDS[self.kind].parts(line))
        found = self._known.get(text)
        if found is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            found = self._known[text] = self._masked(text)
        return found

    def _masked(self, text: str) -> str:
        if self.masks is not None:
            text = self.masks.line(text, _shown)
        if not self.open:
            return text
        parts, done = list[str](), 0
        for begin, end in _open_places(text, self.open):
            parts += text[done:begin], placeholder(ANY)
            done = end
        return "".join([*parts, text[done:]])


def _shown(kind: str, text: str) -> str:
    """What stands for a text that is masked."""
    if kind != "number":
        return placeholder(kind)
    return re.sub(r"\d+", _zeros, text)


def _zeros(found: re.Match[str]) -> str:
    return "0" * min(len(found[0]), _MOST_DIGITS)


def _open_places(text: str, after: frozenset[str]) -> list[tuple[int, int]]:
    found, before = list[tuple[int, int]](), ""
    for word in _WORD.finditer(text) if after else ():
        if before in after:
            found.append(word.span())
            before = ANY
        else:
            before = word[0].lower()
    return found


@lru_cache(maxsize=16)
def reader_of(options: TextOptions) -> LineReader | None:
    """What reads lines by these options; None where texts are read as they are."""
    if not options.lines:
        return None
    return LineReader(options.lines, Masks.asked(options.masks), frozenset(options.open))


def open_after(lines: Sequence[str], reader: LineReader) -> tuple[str, ...]:
    """Words after which nearly each line has another; lines that are read alike count by the root of their number."""
    step = max(1, len(lines) // _LEARNED_FROM)
    texts, counts = np.unique([reader.text(line) for line in lines[::step]], return_counts=True)
    after: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for text, count in zip(texts.tolist(), np.ceil(np.sqrt(counts)).astype(np.int64).tolist(), strict=True):
        before = "^"
        for word in _WORD.findall(text.lower()):
            after[before][word] += count
            before = word
    found = []
    for before, words in after.items():
        n, once = sum(words.values()), sum(count == 1 for count in words.values())
        if n >= _FEWEST and once >= _ONCE * n:
            found.append(before)
    return tuple(sorted(found))
