"""Runs docs/tutorial.md from its top and writes what its commands print. `python docs/make_tutorial.py`"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parent / "tutorial.md"

_RAMODO = f'ramodo() {{ "{sys.executable}" -c "from ramodo.cli import main; main()" "$@"; }}\n'
_BLOCK = re.compile(r"```(python|console)\n(.*?)```", re.DOTALL)


def page(text: str) -> str:
    """The page, with the output of its commands as they print it now."""
    with tempfile.TemporaryDirectory() as folder:
        return _BLOCK.sub(lambda block: f"```{block[1]}\n{_ran(block[1], block[2], folder)}```", text)


def _ran(language: str, text: str, folder: str) -> str:
    """A block of Python as it is; one of a console with new output."""
    if language == "python":
        _output([sys.executable, "-c", text], folder)
        return text
    commands = re.findall(r"^\$ (.*)\n", text, re.MULTILINE)
    return "".join(f"$ {command}\n{_printed(command, folder)}" for command in commands)


def _printed(command: str, folder: str) -> str:
    lines = _output(["sh", "-c", _RAMODO + command], folder).splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines if not line.startswith("seconds  "))  # others in each run


def _output(command: list[str], folder: str) -> str:
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    return subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
