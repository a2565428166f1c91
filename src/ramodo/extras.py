"""How to install what an extra of pyproject.toml adds."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

_REQUIREMENT = re.compile(r"""([\w.-]+)(?:\[([\w,-]+)\])?.*;.*\bextra == ["']([\w-]+)["']""")


def pip_install(extra: str) -> str:
    """The command that installs an extra's packages, by their own names: no index need know ramodo."""
    return f"pip install {shlex.join(dict.fromkeys(_packages(extra)))}"


def _packages(extra: str) -> Iterator[str]:
    from importlib.metadata import requires  # which takes a while, and is needed where something is missing

    for line in requires("ramodo") or ():
        match = _REQUIREMENT.match(line)
        if match is None or match[3] != extra:
            continue
        if match[1] != "ramodo":
            yield match[1] if match[2] is None else f"{match[1]}[{match[2]}]"
        else:
            for other in match[2].split(","):
                yield from _packages(other)
