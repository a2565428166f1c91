"""Tries the wheels in a folder in clean environments: python tests/wheels/try_wheels.py FOLDER.

Each Python of this machine, with the newest versions of what ramodo needs, and with the lowest that pyproject.toml
allows and that have a wheel for that Python. Where two environments have the same versions, scores have the same bits.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from pythons import SUPPORTED, pythons

SMOKE = Path(__file__).with_name("smoke.py")
PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def main(folder: str) -> None:
    found = pythons()
    for version in SUPPORTED:
        if version not in found:
            print(f"Python {version[0]}.{version[1]} is not on this machine: not tried")
    bits: dict[str, set[str]] = {}
    for resolution in ("lowest-direct", "highest"):
        for python in found.values():
            _, packages, digest = tried(python, resolution, folder)
            bits.setdefault(packages, set()).add(digest)
    if any(len(digests) > 1 for digests in bits.values()):
        sys.exit(f"the scores differ between environments of the same versions: {bits}")
    print(f"{2 * len(found)} environments work, and the same versions give the same bits")


def tried(python: Path, resolution: str, folder: str) -> tuple[str, str, str]:
    """The Python, its packages and the digest that the smoke test prints."""
    needed = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    with tempfile.TemporaryDirectory() as made:
        uv = [sys.executable, "-m", "uv"]
        subprocess.run([*uv, "venv", "--quiet", "--python", python, f"{made}/environment"], check=True)
        own = f"{made}/environment/bin/python"
        how = ("--resolution", resolution, "--only-binary", ":all:", "--find-links", folder)
        subprocess.run([*uv, "pip", "install", "--quiet", "--python", own, *how, "ramodo", *needed], check=True)
        done = subprocess.run([own, "-I", SMOKE], stdout=subprocess.PIPE, text=True, cwd=made)
    if done.returncode:
        sys.exit(f"{python}, {resolution}: the smoke test ended with {done.returncode}")
    print(f"{resolution:>13}: {done.stdout.strip()}", flush=True)
    name, _, rest = done.stdout.strip().partition(", ")
    packages, _, result = rest.partition(": ")
    return name, packages, result.rpartition(", ")[2]


if __name__ == "__main__":
    main(*sys.argv[1:])
