"""Says which Debian packages some tests need and this machine lacks, and installs them where it may.

python tests/support/system_packages.py browser postgres

Root on Debian installs them, unless SYSTEM_PACKAGES=no; everyone else reads how to. It never fails: tests that lack a
package skip, and say so.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Need:
    packages: str
    reason: str
    programs: tuple[str, ...]

    def is_met(self) -> bool:
        """Debian keeps PostgreSQL's programs outside the search path."""
        folders = [os.environ.get("PATH", ""), *map(str, Path("/usr/lib/postgresql").glob("*/bin"))]
        return all(shutil.which(program, path=os.pathsep.join(folders)) for program in self.programs)


NEEDS = {
    "browser": Need("chromium chromium-driver", "tests of pages in a browser", ("chromium", "chromedriver")),
    "postgres": Need("postgresql", "tests of labels that a team shares", ("initdb",)),
    "java": Need("default-jre-headless", "the Spark example", ("java",)),
    "clang": Need("clang libclang-rt-dev", "make fuzz, which stops without them", ("clang++",)),
}


def notice(needs: list[Need], can_install: bool, allowed: bool) -> str:
    """What will be installed and how to prevent it, or what to install by hand."""
    packages = " ".join(need.packages for need in needs)
    reasons = "".join(f"\n  {need.packages}: {need.reason}" for need in needs)
    if not allowed:
        return f"SYSTEM_PACKAGES=no: these packages are not installed, and tests that need them skip:{reasons}"
    if not can_install:
        return (
            f"Tests that need these packages skip:{reasons}\n"
            f"To run them, install the packages first, on Debian or Ubuntu: sudo apt-get install {packages}"
        )
    return (
        f"Installing system packages with apt-get, since you are root and they are missing:{reasons}\n"
        "To prevent this: make SYSTEM_PACKAGES=no ..., and tests that need them skip."
    )


def install(packages: list[str]) -> str:
    """Why they could not be installed; empty if they were."""
    for line in ("apt-get update -qq", f"apt-get install -y -qq --no-install-recommends {shlex.join(packages)}"):
        done = subprocess.run(shlex.split(line), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return f"`{line}` failed: {done.stderr.strip()}"
    return ""


def main(names: list[str]) -> None:
    missing = [need for need in map(NEEDS.__getitem__, names) if not need.is_met()]
    if not missing:
        return
    can_install = hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get") is not None
    allowed = os.environ.get("SYSTEM_PACKAGES") != "no"
    print(notice(missing, can_install, allowed), flush=True)
    if can_install and allowed:
        failure = install(" ".join(need.packages for need in missing).split())
        if failure:
            print(f"{failure}\nTests that need these packages skip.")


if __name__ == "__main__":
    main(sys.argv[1:])
