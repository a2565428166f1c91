"""Marks: runs of characters that are no letters, digits or blanks, as tokens; against a regular expression."""

from __future__ import annotations

import re

import numpy as np
import pytest

from ramodo import kernels

_MARK = re.compile(rb"(?:%[0-9a-f]{2}|[^\x80-\xff\w\s]|_)+", re.ASCII)

TEXTS = ["a=%27%20or b", "x_y--'q'", "100%", "%2", "%zz %41", "../../etc", "größe, 7", "-", "a b", " ", "%00%", "_"]


@pytest.mark.parametrize("text", TEXTS)
def test_marks_are_those_of_the_pattern(text: str) -> None:
    given = np.frombuffer(text.encode(), dtype=np.uint8)
    found = kernels.text_spans(given, (0, 0), (0, 0), 30, True)
    expected = [(match.start(), match.end()) for match in _MARK.finditer(found.normalised)]
    assert list(zip(found.begins.tolist(), found.ends.tolist(), strict=True)) == expected
    assert found.n_words == 0
    of_text = {found.normalised[a:b]: c for a, b, c in zip(found.begins, found.ends, found.columns, strict=True)}
    assert len(set(of_text.values())) == len(of_text)
    offsets = np.array([0, len(given)])
    lengths, columns, counts = kernels.count_text(given, offsets, (0, 0), (0, 0), 30, 1, True)
    assert lengths.tolist() == [len(of_text)]
    assert sorted(of_text.values()) == columns.tolist()
    assert counts.sum() == len(expected)
