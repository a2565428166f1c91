"""A document on a page: as much of it as there is room for, with the places that are reasons."""

from __future__ import annotations

from collections.abc import Sequence

from ..explain.reasons import Reason
from ..terminal.escaping import escape_controls

Mark = tuple[int, int, int]
"""First character, end, and which of the reasons it is."""

_BEFORE = 0.25
"""Share of the room that the beginning of a long document gets."""

_AROUND = 24
"""Characters of a long document that are shown before and after a reason."""

_GAP = " … "


def marked(text: str, reasons: Sequence[Reason], most: int) -> tuple[str, list[Mark]]:
    """The text, on one line and without control characters, and its marks: about `most` characters of it.

    Of a longer text the beginning is kept and the places of the reasons, strongest first, with what is around them.
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
    """As far as they lie in a piece of the text."""
    cut = [(max(a, begin), min(b, end), k) for a, b, k in spans]
    return [(a, b, k) for a, b, k in cut if a < b]


def _kept(length: int, spans: list[Mark], most: int) -> list[tuple[int, int]]:
    """The pieces of a text that are shown, in order."""
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
