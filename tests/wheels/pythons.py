"""The Pythons of this machine that ramodo supports."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

SUPPORTED = [(3, 11), (3, 12), (3, 13), (3, 14)]

_ASK = "import sys, json; print(json.dumps([sys.version_info[:2], sys.implementation.name, sys.executable]))"


def pythons() -> dict[tuple[int, int], Path]:
    """One of each version: this one, those on the path, pyenv's."""
    names = [f"python{major}.{minor}" for major, minor in SUPPORTED]
    candidates = [sys.executable, *filter(None, map(shutil.which, names))]
    candidates += map(str, sorted(Path.home().glob(".pyenv/versions/3.*/bin/python")))
    found: dict[tuple[int, int], Path] = {}
    for candidate in candidates:
        done = subprocess.run([candidate, "-c", _ASK], capture_output=True, text=True)  # a shim may lead nowhere
        if done.returncode:
            continue
        (major, minor), kind, path = json.loads(done.stdout)
        if (major, minor) in SUPPORTED and kind == "cpython":
            found.setdefault((major, minor), Path(path))
    return dict(sorted(found.items()))
