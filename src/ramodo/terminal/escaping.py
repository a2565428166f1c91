"""Untrusted text made safe for a terminal: characters that set colours, move the cursor or reverse text are escaped."""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    "["
    "\x00-\x08\x0a-\x1f\x7f-\x9f"  # control characters except tab
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction of writing
    "\u2028\u2029"  # ends of lines and paragraphs
    "\ud800-\udfff"  # bytes of file names that are not UTF-8: terminals reject them
    "]"
)

_SHORT = {"\n": "\\n", "\r": "\\r"}


def escape_controls(text: str) -> str:
    """Return the text on one line, with control characters as escapes: `\\x1b`, `\\u202e`."""
    return _HIDDEN.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
