"""A document on a page: as much of it as fits, with the passages that are reasons marked."""

from __future__ import annotations

from collections.abc import Sequence

from ..explain.reasons import Reason
from ..terminal.escaping import escape_controls

Mark = tuple[int, int, int]
"""First character, end, and the number of the reason."""

_BEFORE = 0.25
"""Share of the space that goes to the beginning of a long document."""

_AROUND = 24
"""How many characters of a long document are shown before and after a reason."""

_GAP = " … "


def marked(text: str, reasons: Sequence[Reason], most: int) -> tuple[str, list[Mark]]:
    """Return about `most` characters of a text, on one line and without control characters, and its marks.

    A longer text is cut to its beginning and the passages of its reasons, strongest first, with some context.
    """
    spans = [(span.begin, min(span.end, len(text)), k) for k, reason in enumerate(reasons) for span in reason.spans]
    shown, marks = list[str](), list[Mark]()
    length, last = 0, 0
    for begin, end in _kept(len(text), spans, most):
        if begin > last:
            shown.append(_GAP)
            length += len(_GAP)
        places = {}
        for at in range(begin, end):
            places[at] = length
            character = text[at]
            if character.isspace():
                character = "" if not shown or shown[-1][-1:] == " " else " "
            if character:
                shown.append(escape_controls(character))
                length += len(shown[-1])
        places[end] = length
        marks += [(places[a], places[b], k) for a, b, k in _inside(spans, begin, end) if places[a] < places[b]]
        last = end
    return "".join(shown) + "…" * (last < len(text)), sorted(marks)


def _inside(spans: list[Mark], begin: int, end: int) -> list[Mark]:
    """Return the parts of spans that lie in a piece of the text."""
    cut = [(max(a, begin), min(b, end), k) for a, b, k in spans]
    return [(a, b, k) for a, b, k in cut if a < b]


def _kept(length: int, spans: list[Mark], most: int) -> list[tuple[int, int]]:
    """Return the pieces of a text that are shown, in order."""
    if length <= most:
        return [(0, length)]
    pieces = [(0, int(_BEFORE * most) if spans else most - 1)]
    room = most - pieces[0][1]
    for begin, end, _ in spans:
        piece = max(0, begin - _AROUND), min(length, end + _AROUND, begin + most // 2)
        if piece[1] - piece[0] > room:
            continue
        room -= piece[1] - piece[0]
        pieces.append(piece)
    pieces.sort()
    joined = pieces[:1]
    for begin, end in pieces[1:]:
        if begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined
