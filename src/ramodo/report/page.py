"""Renders content as one HTML file. Data are JSON in which no character can end the enclosing script element."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib import resources
from typing import Any

from ..extras import pip_install
from ..options import OptionError
from .content import Content
from .payload import Lengths, payload, shortened

LARGEST = 5_900_000
"""Largest size of a report, in bytes, whatever the data."""

SCRIPTS = ("elements.js", "charts.js", "timeline.js", "table.js", "page.js")

_ESCAPED = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})


def plotly_script() -> str:
    """Return the script of the plotting library."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise OptionError(f"a report needs the package plotly: {pip_install('report')}.") from None
    return str(get_plotlyjs()).replace("\r\n", "\n")  # as a browser reads it, for its hash


def render(content: Content, plotly: str) -> bytes:
    """Return the page; ids, names and documents are shortened until it is small enough."""
    ours = "\n".join(_part(name) for name in SCRIPTS)
    ours = f'(() => {{\n"use strict";\n{ours}\n}})();'
    for lengths in Lengths.ever_shorter():
        page = _page(content, plotly, ours, as_json(payload(content, lengths)))
        if len(page) <= LARGEST:
            break
    return page


def _page(content: Content, plotly: str, ours: str, data: str) -> bytes:
    policy = (
        f"default-src 'none'; script-src '{_hash(plotly)}' '{_hash(ours)}'; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": policy,
        "title": escape(shortened(content.title, 200)),
        "style": _part("page.css"),
        "data": data,
        "plotly": plotly,
        "script": ours,
    }
    pieces = _part("page.html").split("{{")
    page = [pieces[0]]
    for piece in pieces[1:]:
        name, rest = piece.split("}}", 1)
        page += [parts[name], rest]
    return "".join(page).encode("utf-8", "replace")


def as_json(value: Any) -> str:
    """JSON that is safe inside a script element."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(_ESCAPED)


def _part(name: str) -> str:
    return (resources.files(__package__) / name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    """Return the hash by which the page's policy allows a script; no other script runs."""
    digest = hashlib.sha256(script.encode("utf-8", "replace")).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
