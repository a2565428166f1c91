"""Where files of the sets are kept, and whether the network may be asked for them."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ..options import OptionError
from .sources import Source


def cache_folder(given: str | os.PathLike[str] | None = None) -> Path:
    """The folder that is given, RAMODO_CACHE, or where the system keeps what can be had again."""
    named = given or os.environ.get("RAMODO_CACHE")
    return Path(named) if named else _of_the_system() / "ramodo"


def _of_the_system() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def is_offline(given: bool = False) -> bool:
    """As asked for, or as RAMODO_OFFLINE says."""
    named = os.environ.get("RAMODO_OFFLINE", "").lower()
    if named not in ("", "0", "1"):
        raise OptionError(f"RAMODO_OFFLINE={named!r} was given; allowed: 0 or 1.")
    return given or named == "1"


def downloads(cache: Path, source: Source) -> Path:
    """The folder of a set's raw files."""
    return cache / "downloads" / source.name


def place_of(cache: Path, source: Source, seed: int, own: Sequence[Path] = ()) -> Path:
    """Where a converted set is kept, without a suffix: by version, seed where it has a part, and files of the user."""
    parts = [source.name, f"v{source.version}"]
    if source.is_downsampled:
        parts.append(f"seed{seed}")
    if own:
        parts.append(_fingerprint(own))
    return cache / "-".join(parts)


def _fingerprint(files: Sequence[Path]) -> str:
    """Other files, or other contents, make another one: by path, size and time of change."""
    facts = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:12]
