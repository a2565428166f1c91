"""What a terminal would obey is shown instead; all else stays as it is."""

import sys
import unicodedata

import pytest

from ramodo.terminal.escaping import escape_controls

ESCAPES = {
    "colour": ("\x1b[31mRED\x1b[0m", r"\x1b[31mRED\x1b[0m"),
    "title": ("\x1b]0;pwn\x07", r"\x1b]0;pwn\x07"),
    "one byte for ESC [": ("\x9b31m", r"\x9b31m"),
    "delete": ("a\x7f", r"a\x7f"),
    "lines": ("a\nb\r\nc", r"a\nb\r\nc"),
    "direction": ("a\u202eb\u2066\u200f", r"a\u202eb\u2066\u200f"),
    "line separator": ("a\u2028b\u2029", r"a\u2028b\u2029"),
    "a file name that is no UTF-8": ("\udcff.csv", r"\udcff.csv"),
}


@pytest.mark.parametrize(("text", "shown"), ESCAPES.values(), ids=ESCAPES.keys())
def test_escapes(text, shown):
    assert escape_controls(text) == shown
    assert escape_controls(shown) == shown


def test_plain_text_stays():
    text = "a\tb, naïve 日本語 עברית 👩\u200d🔬 C:\\new <b>&amp;"
    assert escape_controls(text) == text


def test_no_control_character_is_left():
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    left = {c for c in escape_controls(everything) if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")}
    assert left == {"\t"}
    bidi = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    assert not {c for c in escape_controls(everything) if unicodedata.bidirectional(c) in bidi}
