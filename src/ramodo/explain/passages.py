"""The runs of characters that make a document stand out: overlapping tokens added up, each run once.

What a token adds to the score of a document is spread evenly over the characters of its occurrences. The worth of a
character is the sum over all n-grams and words that cover it, so characters sum exactly to the tokens. A run is a piece
of the text whose characters are worth more than the quadratic mean of all: the more of the score lies in a few places,
the higher it is above the plain mean, and the fewer characters reach it. If all characters are worth about the same, as
in a line that is odd from end to end, no place stands out, so the required worth goes to 0 with their variance. A word
belongs to a run if half of its characters do, so that no run begins inside a word.

Several columns can also form one fact: the sine and the cosine of an hour are that hour.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..formats import TextOptions
from ..formats.cyclic_dates import Circle
from ..formats.line_reading import Read, reader_of
from ..formats.text import spans_of
from ..formats.text_and_columns import Document
from .reasons import Span

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_OF_WORD = 0.5
"""Share of a word's characters that must be in a run for the whole word to join it."""

_ALIKE = 0.5
"""Characters are worth about the same if they deviate by less than this share of their mean."""

_BLANK = 32


class Passage(NamedTuple):
    """A run of characters of a document: its text, its place, what it adds, and the tokens inside it."""

    text: str
    spans: tuple[Span, ...]
    contribution: float
    places: Integers
    """Positions among the features of the row."""
    field: str = ""
    """The column of the document, where there are several."""
    circle: Circle | None = None
    """The date whose sine and cosine are the features at `places`; it has no spans."""

    @property
    def name(self) -> str:
        """The run in quotes, after the name of its column."""
        if self.circle is not None:
            return self.text
        return f"{self.field}: '{self.text}'" if self.field else f"'{self.text}'"


class Passages(NamedTuple):
    """The runs of documents. `is_token` marks the features of the row that are tokens or parts of a cyclic date."""

    found: list[Passage]
    is_token: npt.NDArray[np.bool_]


PassagesOf = Callable[[int, Integers, Doubles], Passages]
"""The runs of the document of a row, given its number, its features in increasing order, and what each adds."""


def facts_of(
    documents: Sequence[Document], circles: Sequence[Circle], columns: Integers, contributions: Doubles,
    options: TextOptions,
) -> Passages:  # fmt: skip
    """Return the runs in a row's documents and its cyclic dates, given its features, in order, and what each adds."""
    found, is_token = list[Passage](), np.zeros(len(columns), dtype=bool)
    for document in documents:
        first, end = np.searchsorted(columns, [document.first, document.end]).tolist()
        own = passages(document.text, columns[first:end] - document.first, contributions[first:end], options)
        is_token[first:end] = own.is_token
        found += [_moved(passage, first, document) for passage in own.found]
    for circle in circles:
        places = np.flatnonzero(np.isin(columns, circle.columns))
        if len(places) == len(circle.columns):  # a missing date has neither
            is_token[places] = True
            found.append(Passage(circle.name, (), float(contributions[places].sum()), places, circle=circle))
    return Passages(sorted(found, key=lambda passage: -passage.contribution), is_token)


def _moved(passage: Passage, first: int, document: Document) -> Passage:
    """Return a run of one document as a run of the row's documents together."""
    begin = document.begin
    spans = () if begin is None else tuple(Span(begin + a, begin + b, amount) for a, b, amount in passage.spans)
    return passage._replace(spans=spans, places=passage.places + first, field=document.field)


def passages(text: str, columns: npt.NDArray[np.integer], contributions: Doubles, options: TextOptions) -> Passages:
    """Return the runs of a text, given its features, in increasing order, and what each adds to the score."""
    reader = reader_of(options)
    read = Read.of(text, [(0, len(text))]) if reader is None else reader(text)
    tokens = spans_of(read.text, options)
    places = np.minimum(np.searchsorted(columns, tokens.columns), max(len(columns) - 1, 0))
    known = columns[places] == tokens.columns if len(columns) else np.zeros(len(places), dtype=bool)
    places, begins, ends = places[known], tokens.begins[known], tokens.ends[known]
    is_token = np.zeros(len(columns), dtype=bool)
    is_token[places] = True
    if not len(places):
        return Passages([], is_token)
    each = (contributions / np.maximum(np.bincount(places, minlength=len(columns)), 1))[places]
    normalised = np.frombuffer(tokens.normalised, dtype=np.uint8)
    worth = _worth(begins, ends, each, len(normalised))
    runs = _runs(normalised, worth)
    where = _in_characters(read.text, normalised)
    places_of = (read.begins[where], read.ends[where])
    found = _once(runs, tokens.normalised, worth)
    return Passages([_passage(text, spans, worth, places_of, places, begins, ends) for spans in found], is_token)


def _worth(begins: Integers, ends: Integers, each: Doubles, n: int) -> Doubles:
    """Return what each byte adds to the score: its share of every token that covers it."""
    per_byte = each / (ends - begins)
    steps = np.bincount(begins, per_byte, n + 1) - np.bincount(ends, per_byte, n + 1)
    return np.cumsum(steps)[:n]


def _runs(normalised: npt.NDArray[np.uint8], worth: Doubles) -> list[tuple[int, int]]:
    """Return where bytes are worth more than the quadratic mean, as whole words without blanks at the ends."""
    mean, square = float(worth.mean()), float(np.mean(worth**2))
    line = np.sqrt(square)
    high = worth > (min(line, (square - mean**2) / (_ALIKE**2 * mean)) if mean > 0 else line)
    lower = normalised | 32
    letters = (normalised >= 128) | (normalised == ord("_")) | ((lower >= ord("a")) & (lower <= ord("z")))
    letters |= (normalised >= ord("0")) & (normalised <= ord("9"))
    starts = np.ones(len(normalised), dtype=bool)
    starts[1:] = ~(letters[1:] & letters[:-1])
    word = np.cumsum(starts) - 1
    inside = (np.bincount(word, high) / np.bincount(word) >= _OF_WORD)[word]
    edges = np.flatnonzero(np.diff(inside, prepend=False, append=False)).tolist()
    runs = []
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        while begin < end and normalised[begin] == _BLANK:
            begin += 1
        while begin < end and normalised[end - 1] == _BLANK:
            end -= 1
        if begin < end:
            runs.append((begin, end))
    return runs


def _once(runs: list[tuple[int, int]], normalised: bytes, worth: Doubles) -> list[list[tuple[int, int]]]:
    """Merge runs with the same text; keep those that raise the score, strongest first."""
    same: dict[bytes, list[tuple[int, int]]] = {}
    for begin, end in runs:
        same.setdefault(normalised[begin:end], []).append((begin, end))
    sums = {read: sum(float(worth[a:b].sum()) for a, b in places) for read, places in same.items()}
    return [same[read] for read in sorted(same, key=lambda read: -sums[read]) if sums[read] > 0]


def _in_characters(text: str, normalised: npt.NDArray[np.uint8]) -> Integers:
    """Return the position in the text of the character behind each normalised byte, and the end after the last."""
    given = np.frombuffer(text.encode("utf-8", "replace"), dtype=np.uint8)
    blank = given <= _BLANK
    kept = np.flatnonzero(~(blank & np.concatenate([[True], blank[:-1]])))[: len(normalised)]  # first of its run
    characters = np.cumsum((given & 0xC0) != 0x80) - 1
    return characters[kept]


def _passage(
    text: str, runs: list[tuple[int, int]], worth: Doubles, where: tuple[Integers, Integers], places: Integers,
    begins: Integers, ends: Integers,
) -> Passage:  # fmt: skip
    spans = tuple(Span(int(where[0][a]), int(where[1][b - 1]), float(worth[a:b].sum())) for a, b in runs)
    inside = np.zeros(len(places), dtype=bool)
    for begin, end in runs:
        inside |= (begins >= begin) & (ends <= end)
    if not inside.any():  # a run that is shorter than any token
        for begin, end in runs:
            inside |= (begins < end) & (ends > begin)
    first = spans[0]
    return Passage(
        text[first.begin : first.end], spans, sum(span.contribution for span in spans), np.unique(places[inside])
    )
