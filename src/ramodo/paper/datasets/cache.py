"""Where files of the sets are kept, and whether they may be downloaded."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ...options import option_error
from .sources import Source


def cache_folder(given: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder given, RAMODO_CACHE, or the system's cache folder."""
    named = given or os.environ.get("RAMODO_CACHE")
    return Path(named) if named else _of_the_system() / "ramodo"


def _of_the_system() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def is_offline(given: bool = False) -> bool:
    """Return the value given, or that of RAMODO_OFFLINE."""
    named = os.environ.get("RAMODO_OFFLINE", "").lower()
    if named not in ("", "0", "1"):
        raise option_error("RAMODO_OFFLINE", "0 or 1", repr(named))
    return given or named == "1"


def downloads(cache: Path, source: Source) -> Path:
    """Return the folder of a set's raw files."""
    return cache / "downloads" / source.name


def place_of(cache: Path, source: Source, seed: int, own: Sequence[Path] = ()) -> Path:
    """Path of a converted set, without suffix: by version, by seed if it matters, and by the user's files if any."""
    parts = [source.name, f"v{source.version}"]
    if source.is_downsampled:
        parts.append(f"seed{seed}")
    if own:
        parts.append(_fingerprint(own))
    return cache / "-".join(parts)


def _fingerprint(files: Sequence[Path]) -> str:
    """Return a key that changes with the files and their contents: by path, size and modification time."""
    facts = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:12]
