"""The lowest versions that pyproject.toml allows, as constraints for pip: what `make test-oldest` installs.

python tests/support/oldest_versions.py > constraints.txt
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"

LEFT_OUT = ("spark", "bench", "lint", "mlflow", "docs", "wheels", "dev")
"""Extras and groups that the tests do not install."""

_BOUND = re.compile(r"([A-Za-z0-9._-]+)(?:\[[a-z,]+\])?>=([0-9.]+)")


def constraints(text: str) -> list[str]:
    """`name==lowest` for each package that the build, the package or its tests need."""
    content = tomllib.loads(text)
    project = content["project"]
    wanted = [*content["build-system"]["requires"], *project["dependencies"]]
    for extra, packages in (project["optional-dependencies"] | content["dependency-groups"]).items():
        if extra not in LEFT_OUT:
            wanted += [package for package in packages if not package.startswith(f"{project['name']}[")]
    return sorted(set(map(_lowest, wanted)))


def _lowest(package: str) -> str:
    found = _BOUND.fullmatch(package)
    if found is None:
        raise ValueError(
            f"packages in {PROJECT.name} must have a name and a lowest version, name>=1.2, got {package!r}."
        )
    return f"{found[1]}=={found[2]}"


if __name__ == "__main__":
    print("\n".join(constraints(PROJECT.read_text(encoding="utf-8"))))
