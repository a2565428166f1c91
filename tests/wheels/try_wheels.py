"""Tries the wheels in a folder in clean environments: python tests/wheels/try_wheels.py FOLDER.

Each Python of this machine, with the newest versions of what ramodo needs, and with the lowest that pyproject.toml
allows and that have a wheel for that Python. All must print one digest of scores.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from pythons import SUPPORTED, pythons

SMOKE = Path(__file__).with_name("smoke.py")


def main(folder: str) -> None:
    found = pythons()
    for version in SUPPORTED:
        if version not in found:
            print(f"Python {version[0]}.{version[1]} is not on this machine: not tried")
    digests = {tried(python, resolution, folder) for python in found.values() for resolution in ("lowest", "highest")}
    if len(digests) != 1:
        sys.exit(f"the scores differ between environments: {digests}")
    print(f"{2 * len(found)} environments, the same bits in all")


def tried(python: Path, resolution: str, folder: str) -> str:
    """The digest that the smoke test prints."""
    with tempfile.TemporaryDirectory() as made:
        uv = [sys.executable, "-m", "uv"]
        subprocess.run([*uv, "venv", "--quiet", "--python", python, f"{made}/environment"], check=True)
        own = f"{made}/environment/bin/python"
        how = ("--resolution", resolution, "--only-binary", ":all:", "--find-links", folder)
        subprocess.run([*uv, "pip", "install", "--quiet", "--python", own, *how, "ramodo"], check=True)
        done = subprocess.run([own, "-I", SMOKE], check=True, capture_output=True, text=True, cwd=made)
    print(f"{resolution:>8}: {done.stdout.strip()}", flush=True)
    return done.stdout.strip().rpartition(", ")[2]


if __name__ == "__main__":
    main(*sys.argv[1:])
