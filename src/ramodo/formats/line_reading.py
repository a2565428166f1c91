"""Prepare a line before its tokens are counted: take the part that is ranked, and mask it.

    ... "GET /item.php?id=417&name=Ann HTTP/1.1" 200 512   ->   GET /item.php?id=000&name=<any> HTTP/0.0 000

Digits of numbers become zeros, so that the number of digits still counts. Words are masked, too, at places where nearly
every line has a different one: after a word, or after a key, as `name=` here, whose value keeps only characters other
than letters and digits. Which words and keys lead to such places is learned from the lines.

Each resulting character knows which characters of the line it stands for.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from .log_lines import KINDS
from .masking import TYPES, Masks, placeholder

if TYPE_CHECKING:
    from .schema import TextOptions

Integers = npt.NDArray[np.int64]

_PAIR = r'(\w+)=(?!=)("[^"]*"|[^\s&;"]*)'

_PIECE = re.compile(rf"{_PAIR}|(\w+)")
"""A key with its value, or a word."""

_PIECE_OR_PATH = re.compile(rf"{_PAIR}|((?:[\w.~-]*(?:/+[\w.+$~@%-]+)+/*)|\w+)")
"""The same, with paths as one word each."""

_ESCAPED = "%[0-7][0-9A-Fa-f]"
"""A character of ASCII, which is most often one that means something."""

_LETTERS = rf"(?:<(?:{'|'.join(TYPES)})>|%[89A-Fa-f][0-9A-Fa-f]|[\w\ufffd])+"
"""Letters and digits, of other alphabets as they are or escaped, and what is masked."""

_WORDS = re.compile(rf"{_ESCAPED}|({_LETTERS}(?:(?:[+.,-]|%2[0BCDEbcde]){{1,2}}{_LETTERS})*)")
"""Words of a value, and what joins them."""

ANY = "any"
"""The type of words that are masked because of their place."""

_MOST_DIGITS = 8
"""Maximum number of digits of a number that are kept as zeros."""

_FEWEST, _ONCE = 20, 0.2
"""A place is open if a word precedes it at least this often, and this share of the following words occurs only once."""

_MOST_KNOWN = 1 << 15

_LEARNED_FROM = 20_000
"""Maximum number of lines from which places are learned."""


class Read(NamedTuple):
    """The prepared text of a line and, for each of its characters, where the original ones begin and end."""

    text: str
    begins: Integers
    ends: Integers

    @classmethod
    def of(cls, line: str, parts: Sequence[tuple[int, int]]) -> Self:
        """Join parts of a line, with blanks between them."""
        joined = " ".join(line[begin:end] for begin, end in parts)
        begins = list[Integers]()
        for number, (begin, end) in enumerate(parts):
            begins += [np.array([begin], dtype=np.int64)] * (number > 0) + [np.arange(begin, end, dtype=np.int64)]
        found = np.concatenate(begins) if begins else np.empty(0, dtype=np.int64)
        return cls(joined, found, found + 1)

    def replaced(self, pieces: Iterable[tuple[int, int, str]]) -> Self:
        """Return the text with some pieces replaced."""
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
    """Prepares lines of one kind, with these masks."""

    kind: str
    masks: Masks | None
    open: frozenset[str]
    without_open: LineReader | None = None
    """The same without open places, whose texts are known from learning them."""
    _known: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Prepared texts by ranked part, since many lines differ only in other parts."""

    @property
    def piece(self) -> re.Pattern[str]:
        """The pattern of what lines may differ in as a whole: a word, a value, and a path unless it was asked for."""
        return _PIECE if KINDS[self.kind].asks else _PIECE_OR_PATH

    def __call__(self, line: str) -> Read:
        """Return the prepared text, and where it is in the line."""
        read = Read.of(line, KINDS[self.kind].parts(line))
        if self.masks is not None:
            masked = self.masks(read.text).masks
            read = read.replaced((m.begin, m.end, _shown(m.kind, read.text[m.begin : m.end])) for m in masked)
        return read.replaced(
            (begin, end, placeholder(ANY)) for begin, end in _open_places(read.text, self.open, self.piece)
        )

    def begin_of(self, line: str) -> int:
        """Return where the ranked part begins."""
        return min((begin for begin, _ in KINDS[self.kind].parts(line)), default=0)

    def text(self, line: str) -> str:
        """Return the prepared text."""
        return self._of_part(KINDS[self.kind].part(line))

    def _of_part(self, part: str) -> str:
        found = self._known.get(part)
        if found is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            found = self._known[part] = self._masked(part)
        return found

    def _masked(self, part: str) -> str:
        if self.without_open is None:
            return part if self.masks is None else self.masks.line(part, _shown)
        text, parts, done = self.without_open._of_part(part), list[str](), 0
        for begin, end in _open_places(text, self.open, self.piece):
            parts += text[done:begin], placeholder(ANY)
            done = end
        return "".join([*parts, text[done:]])


def _shown(kind: str, text: str) -> str:
    """Return the replacement for a masked text."""
    if kind != "number":
        return placeholder(kind)
    return ".".join("0" * min(len(digits), _MOST_DIGITS) for digits in text.split("."))


def _open_places(text: str, after: frozenset[str], pieces: re.Pattern[str]) -> list[tuple[int, int]]:
    found, before = list[tuple[int, int]](), ""
    for piece in pieces.finditer(text) if after else ():
        key = piece[1]
        if key is not None:
            if f"{key.lower()}=" in after:
                found += [words.span() for words in _WORDS.finditer(text, *piece.span(2)) if words[1]]
            before = ""
        elif before in after:
            found.append(piece.span())
            before = ANY
        else:
            before = piece[0].lower()
    return found


@lru_cache(maxsize=16)
def reader_of(options: TextOptions) -> LineReader | None:
    """Return a reader of lines with these options; None if texts are read unchanged."""
    if not options.lines:
        return None
    without_open = reader_of(replace(options, open=())) if options.open else None
    return LineReader(options.lines, Masks.asked(options.masks), frozenset(options.open), without_open)


def open_after(lines: Sequence[str], reader: LineReader) -> tuple[str, ...]:
    """Return words after which nearly every line differs; n lines with the same prepared text count as √n."""
    step = max(1, len(lines) // _LEARNED_FROM)
    texts, counts = np.unique([reader.text(line) for line in lines[::step]], return_counts=True)
    after: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for text, count in zip(texts.tolist(), np.ceil(np.sqrt(counts)).astype(np.int64).tolist(), strict=True):
        before = "^"
        for key, value, word in reader.piece.findall(text.lower()):
            if key:
                after[f"{key}="][value] += count
                before = ""
            else:
                after[before][word] += count
                before = word
    after.pop("", None)
    found = []
    for before, words in after.items():
        n, once = sum(words.values()), sum(count == 1 for count in words.values())
        if n >= _FEWEST and once >= _ONCE * n:
            found.append(before)
    return tuple(sorted(found))
