"""Writes what README.md shows of a log, its one block of a console, as printed. `python docs/make_readme.py`"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

from ramodo.cli import main as ramodo
from ramodo.datasets import make_access_log

PAGE = Path(__file__).parent.parent / "README.md"

COMMAND = "ramodo detect access.log --top 7 -m access.ramodo"
LOG = {"n_lines": 5000, "n_attacks": 10, "random_state": 0}

_VARIES = ("seconds",)
"""Lines that are other ones in each run."""


def block() -> str:
    """The command and its output, ready for the page."""
    lines = [line.rstrip() for line in _printed().splitlines() if line.split(" ")[0] not in _VARIES]
    return "\n".join(["```console", f"$ {COMMAND}", *lines, "```"])


def attacks(made: str) -> list[bool]:
    """Of each row that a block shows, whether it is one of the planted attacks."""
    log = make_access_log(**LOG)  # type: ignore[arg-type]
    shown = made.partition("\nid ")[2].splitlines()[1:-2]
    return [bool(log.y[int(line.split()[0])]) for line in shown]


def _printed() -> str:
    """What the command prints in a folder with the log alone."""
    out, before = io.StringIO(), (Path.cwd(), sys.argv)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(out):
        os.chdir(folder)
        try:
            lines = make_access_log(**LOG).lines  # type: ignore[arg-type]
            Path("access.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
            sys.argv = shlex.split(COMMAND)
            with contextlib.suppress(SystemExit):
                ramodo()
        finally:
            os.chdir(before[0])
            sys.argv = before[1]
    return out.getvalue()


def page(text: str) -> str:
    """The page with the block in its place."""
    made = block()
    return re.sub(r"```console\n.*?\n```", lambda _: made, text, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
