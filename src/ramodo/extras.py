"""How to install the packages of an extra of pyproject.toml."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

_REQUIREMENT = re.compile(r"""([\w.-]+)(?:\[([\w,-]+)\])?.*;.*\bextra == ["']([\w-]+)["']""")


def pip_install(extra: str) -> str:
    """Return the command that installs an extra's packages by their own names, which works without ramodo on PyPI."""
    return f"pip install {shlex.join(dict.fromkeys(_packages(extra)))}"


def _packages(extra: str) -> Iterator[str]:
    from importlib.metadata import requires  # slow to import, and only needed if a package is missing

    for line in requires("ramodo") or ():
        match = _REQUIREMENT.match(line)
        if match is None or match[3] != extra:
            continue
        if match[1] != "ramodo":
            yield match[1] if match[2] is None else f"{match[1]}[{match[2]}]"
        else:
            for other in match[2].split(","):
                yield from _packages(other)
